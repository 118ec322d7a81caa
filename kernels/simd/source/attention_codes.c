/* Attention over keys and values that are integer codes with one scale a row: int8 (127 levels to
 * each side) or 12 bits in an int16 (2,047). Integer dots are exact, take a quarter or half of the
 * bytes of floats and half of the instructions.
 *
 * Width is the bytes of a code, known to the compiler like the count of queries. The codes of the
 * queries lie together for each pair of lanes or positions, so that one pointer walks through them. */
#include "attention.h"

#include "near.h"

/* Queries and attention weights as 15-bit integers, so that what is added up fits 32 bits: up to 64
 * positions, or lanes of a head, of 2,047 times this. */
#define CODE_LEVELS 16384u

/* Lanes of the values that are mixed from registers: with three queries, all that engines keep. */
#define MIXED_LANES 8u

/* Positions that are mixed together: 4 kB of heads of 64. */
INLINE u32 chunk_of(u32 width) { return ATTENTION_CHUNK / width; }

INLINE v128_t load_codes(const u8 *at, u32 width) {
  return width == 1 ? wasm_i16x8_load8x8(at) : wasm_v128_load(at);
}

/* Codes of x [count, a multiple of eight], whose largest magnitude is given, each pair `stride` pairs
 * from the last; gives what a code is worth. */
INLINE f32 encode(const f32 *x, u32 count, f32 largest, f32 levels, u32 stride, u32 *pairs) {
  /* Added to 1.5 * 2^23 a number is rounded to the nearest whole one, which stands in the low bits. */
  v128_t whole = wasm_f32x4_splat(12582912.0f);
  v128_t factor = wasm_f32x4_splat(largest > 0.0f ? levels / largest : 0.0f);
  for (u32 i = 0; i < count; i += 8, pairs += 4 * stride) {
    v128_t low = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + i), factor), whole);
    v128_t high = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + i + 4), factor), whole);
    v128_t eight = wasm_i16x8_narrow_i32x4(wasm_i32x4_sub(low, whole), wasm_i32x4_sub(high, whole));
    wasm_v128_store32_lane(pairs, eight, 0);
    wasm_v128_store32_lane(pairs + stride, eight, 1);
    wasm_v128_store32_lane(pairs + 2 * stride, eight, 2);
    wasm_v128_store32_lane(pairs + 3 * stride, eight, 3);
  }
  return largest / levels;
}

static f32 encode_query(const f32 *query, u32 dim, u32 stride, u32 *pairs) {
  v128_t most = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < dim; i += 4) most = wasm_f32x4_pmax(most, wasm_f32x4_abs(wasm_v128_load(query + i)));
  f32 levels = (f32)(smaller(CODE_LEVELS, (1u << 20) / dim) - 1);
  return encode(query, dim, largest_lane(most), levels, stride, pairs);
}

/* Codes of weights, each times the scale of its value; neither is negative. */
static f32 encode_weights(const f32 *weights, const f32 *scales, u32 count, u32 stride, u32 *pairs) {
  f32 products[ATTENTION_CHUNK];
  v128_t most = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < count; i += 4) {
    v128_t product = wasm_f32x4_mul(wasm_v128_load(weights + i), wasm_v128_load(scales + i));
    most = wasm_f32x4_pmax(most, product);
    wasm_v128_store(products + i, product);
  }
  return encode(products, count, largest_lane(most), (f32)(CODE_LEVELS - 1), stride, pairs);
}

/* Whole scores of eight positions for `count` queries; lanes are a multiple of eight. */
INLINE void score_eight(const u32 *pairs, const u8 *keys, u32 dim, u32 count, u32 width, v128_t sum[][2]) {
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++) sum[q][0] = sum[q][1] = wasm_i32x4_splat(0);
#pragma clang loop unroll(disable)
  for (u32 left = dim / 2; left; left--, keys += 16 * width, pairs += count) {
    v128_t low = load_codes(keys, width), high = load_codes(keys + 8 * width, width);
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) {
      v128_t pair = wasm_v128_load32_splat(pairs + q);
      sum[q][0] = wasm_i32x4_add(sum[q][0], wasm_i32x4_dot_i16x8(low, pair));
      sum[q][1] = wasm_i32x4_add(sum[q][1], wasm_i32x4_dot_i16x8(high, pair));
    }
  }
}

INLINE void score_queries(const View *view, const f32 *queries, u32 first, u32 end, u32 count, u32 width,
                          f32 *scores) {
  u32 dim = view->head_dim, row = view->kv_head * view->cache->capacity, row_bytes = dim * width;
  const u8 *keys = view->layer->keys + row * row_bytes;
  const f32 *scales = view->layer->key_scales + row;
  u32 pairs[SHARED_QUERIES * 128];
  v128_t unit[SHARED_QUERIES];
  for (u32 q = 0; q < count; q++)
    unit[q] = wasm_f32x4_splat(encode_query(queries + q * dim, dim, count, pairs + q));
  for (u32 at = first; at < end; at += 8) {
    v128_t sum[SHARED_QUERIES][2];
    score_eight(pairs, keys + at * row_bytes, dim, count, width, sum);
    v128_t low = wasm_v128_load(scales + at), high = wasm_v128_load(scales + at + 4);
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) {
      f32 *to = scores + q * view->score_stride + at;
      wasm_v128_store(to, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[q][0]), wasm_f32x4_mul(low, unit[q])));
      wasm_v128_store(to + 4, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[q][1]), wasm_f32x4_mul(high, unit[q])));
    }
  }
}

void score_codes(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores) {
#define SCORE(done, count)                                                                       \
  (view->cache->kind == CACHE_INT8                                                               \
       ? score_queries(view, queries + (done) * view->head_dim, first, end, count, 1,            \
                       scores + (done) * view->score_stride)                                     \
       : score_queries(view, queries + (done) * view->head_dim, first, end, count, 2,            \
                       scores + (done) * view->score_stride))
  EACH_GROUP(view->group, SCORE);
#undef SCORE
}

/* Add a chunk of positions, a multiple of eight, of MIXED_LANES to the mixed rows of `count` queries. */
INLINE void mix_chunk(const u8 *values, const u32 *codes, u32 positions, u32 dim, u32 count, u32 width,
                      const v128_t *unit, f32 *mixed) {
  v128_t sum[SHARED_QUERIES][2];
  u32 step = 2 * dim * width;
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++) sum[q][0] = sum[q][1] = wasm_i32x4_splat(0);
#pragma clang loop unroll(disable)
  for (u32 left = positions / 2; left; left--, values += step, codes += count) {
    v128_t low = load_codes(values, width), high = load_codes(values + 8 * width, width);
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) {
      v128_t weight = wasm_v128_load32_splat(codes + q);
      sum[q][0] = wasm_i32x4_add(sum[q][0], wasm_i32x4_dot_i16x8(low, weight));
      sum[q][1] = wasm_i32x4_add(sum[q][1], wasm_i32x4_dot_i16x8(high, weight));
    }
  }
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    for (u32 v = 0; v < 2; v++) {
      f32 *to = mixed + q * dim + 4 * v;
      v128_t part = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[q][v]), unit[q]);
      wasm_v128_store(to, wasm_f32x4_add(wasm_v128_load(to), part));
    }
}

INLINE void mix_queries(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end, u32 count, u32 width,
                        f32 *mixed, u32 *codes) {
  u32 dim = view->head_dim, row = view->kv_head * view->cache->capacity, chunk = chunk_of(width);
  const u8 *values = view->layer->values + row * dim * width;
  const f32 *scales = view->layer->value_scales + row;
  for (u32 q = 0; q < count; q++)
    for (u32 lane = first; lane < end; lane++) mixed[q * dim + lane] = 0.0f;
  for (u32 at = 0; at < view->positions; at += chunk) {
    u32 here = smaller(chunk, view->positions - at), eights = (here + 7) & ~7u;
    const u8 *part = values + at * dim * width;
    v128_t unit[SHARED_QUERIES];
    for (u32 q = 0; q < count; q++)
      unit[q] = wasm_f32x4_splat(shares[q] * encode_weights(weights + q * view->score_stride + at,
                                                            scales + at, eights, count, codes + q));
    bring_near(part, here * dim * width);
    for (u32 lane = first; lane < end; lane += MIXED_LANES)
      mix_chunk(part + 2 * lane * width, codes, eights, dim, count, width, unit, mixed + lane);
  }
}

void mix_codes(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end, f32 *mixed,
               u32 *memory) {
#define MIX(done, count)                                                                         \
  (view->cache->kind == CACHE_INT8                                                               \
       ? mix_queries(view, weights + (done) * view->score_stride, shares + (done), first, end, count, 1,          \
                     mixed + (done) * view->head_dim, memory)                                    \
       : mix_queries(view, weights + (done) * view->score_stride, shares + (done), first, end, count, 2,          \
                     mixed + (done) * view->head_dim, memory))
  EACH_GROUP(view->group, MIX);
#undef MIX
}

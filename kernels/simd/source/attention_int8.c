/* Attention over int8 keys and values with one scale a row: exact integer dots, a third of the
 * bytes and less than half of the instructions of the float form. */
#include "attention.h"

#include "near.h"

/* Queries and attention weights as 15-bit integers: 256 positions of 127 times this fit 32 bits. */
#define CODE_LEVELS 16383.0f

/* Rows of keys that are brought near at a time: 4 kB of heads of 64. */
#define NEAR_ROWS 64u

/* Codes of x [count, a multiple of eight]; gives what a code is worth. */
static f32 encode(const f32 *x, u32 count, i16 *codes) {
  v128_t most = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < count; i += 4) most = wasm_f32x4_pmax(most, wasm_f32x4_abs(wasm_v128_load(x + i)));
  f32 largest = largest_lane(most);
  v128_t factor = wasm_f32x4_splat(largest > 0.0f ? CODE_LEVELS / largest : 0.0f);
  for (u32 i = 0; i < count; i += 8) {
    v128_t low = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x + i), factor));
    v128_t high = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x + i + 4), factor));
    wasm_v128_store(codes + i, wasm_i16x8_narrow_i32x4(wasm_i32x4_trunc_sat_f32x4(low),
                                                       wasm_i32x4_trunc_sat_f32x4(high)));
  }
  return largest / CODE_LEVELS;
}

/* Codes of weights, each times the scale of its value. */
static f32 encode_weights(const f32 *weights, const f32 *scales, u32 count, i16 *codes) {
  f32 products[ATTENTION_CHUNK];
  for (u32 i = 0; i < count; i += 4)
    wasm_v128_store(products + i, wasm_f32x4_mul(wasm_v128_load(weights + i), wasm_v128_load(scales + i)));
  return encode(products, count, codes);
}

/* Whole scores of eight positions for `count` queries, whose codes are `dim` apart. */
INLINE void score_eight(const i16 *codes, const i8 *keys, u32 dim, u32 count, v128_t sum[][2]) {
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++) sum[q][0] = sum[q][1] = wasm_i32x4_splat(0);
#pragma clang loop unroll(disable)
  for (u32 i = 0; i < dim; i += 2, keys += 16) {
    v128_t low = wasm_i16x8_load8x8(keys), high = wasm_i16x8_load8x8(keys + 8);
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) {
      v128_t pair = pair_in_all_lanes(codes + q * dim + i);
      sum[q][0] = wasm_i32x4_add(sum[q][0], wasm_i32x4_dot_i16x8(low, pair));
      sum[q][1] = wasm_i32x4_add(sum[q][1], wasm_i32x4_dot_i16x8(high, pair));
    }
  }
}

INLINE void score_queries(const View *view, const f32 *queries, u32 first, u32 end, u32 count, f32 *scores) {
  u32 dim = view->head_dim, row = view->kv_head * view->cache->capacity;
  const i8 *keys = (const i8 *)view->layer->keys + row * dim;
  const f32 *scales = view->layer->key_scales + row;
  i16 codes[SHARED_QUERIES * 256];
  v128_t unit[SHARED_QUERIES];
  for (u32 q = 0; q < count; q++)
    unit[q] = wasm_f32x4_splat(encode(queries + q * dim, dim, codes + q * dim));
  for (u32 at = first; at < end; at += 8) {
    if (at % NEAR_ROWS == 0) bring_near(keys + at * dim, smaller(NEAR_ROWS, end - at) * dim);
    v128_t sum[SHARED_QUERIES][2];
    score_eight(codes, keys + at * dim, dim, count, sum);
    v128_t low = wasm_v128_load(scales + at), high = wasm_v128_load(scales + at + 4);
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) {
      f32 *to = scores + q * view->score_stride + at;
      wasm_v128_store(to, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[q][0]), wasm_f32x4_mul(low, unit[q])));
      wasm_v128_store(to + 4, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[q][1]), wasm_f32x4_mul(high, unit[q])));
    }
  }
}

void score_int8(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores) {
#define SCORE(done, count)                                               \
  score_queries(view, queries + (done) * view->head_dim, first, end, count, \
                scores + (done) * view->score_stride)
  EACH_GROUP(view->group, SCORE);
#undef SCORE
}

/* Add up to ATTENTION_CHUNK positions of 4 * vectors lanes to the mixed rows of `count` queries. */
INLINE void mix_chunk(const i8 *values, const i16 *codes, u32 pairs, u32 dim, u32 count, u32 vectors,
                      const v128_t *unit, f32 *mixed) {
  v128_t sum[SHARED_QUERIES][4];
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    for (u32 v = 0; v < vectors; v++) sum[q][v] = wasm_i32x4_splat(0);
#pragma clang loop unroll(disable)
  for (u32 pair = 0; pair < pairs; pair++, values += 2 * dim, codes += 2) {
    v128_t weights[SHARED_QUERIES];
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) weights[q] = pair_in_all_lanes(codes + q * ATTENTION_CHUNK);
#pragma clang loop unroll(full)
    for (u32 v = 0; v < vectors; v++) {
      v128_t value = wasm_i16x8_load8x8(values + 8 * v);
#pragma clang loop unroll(full)
      for (u32 q = 0; q < count; q++)
        sum[q][v] = wasm_i32x4_add(sum[q][v], wasm_i32x4_dot_i16x8(value, weights[q]));
    }
  }
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    for (u32 v = 0; v < vectors; v++) {
      f32 *to = mixed + q * dim + 4 * v;
      v128_t part = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[q][v]), unit[q]);
      wasm_v128_store(to, wasm_f32x4_add(wasm_v128_load(to), part));
    }
}

INLINE void mix_queries(const View *view, const f32 *weights, u32 first, u32 end, u32 count, f32 *mixed,
                        i16 *codes) {
  u32 dim = view->head_dim, row = view->kv_head * view->cache->capacity;
  const i8 *values = (const i8 *)view->layer->values + row * dim;
  const f32 *scales = view->layer->value_scales + row;
  for (u32 q = 0; q < count; q++)
    for (u32 lane = first; lane < end; lane++) mixed[q * dim + lane] = 0.0f;
  for (u32 at = 0; at < view->positions; at += ATTENTION_CHUNK) {
    u32 here = smaller(ATTENTION_CHUNK, view->positions - at), eights = (here + 7) & ~7u, lane = first;
    const i8 *chunk = values + at * dim;
    v128_t unit[SHARED_QUERIES];
    for (u32 q = 0; q < count; q++)
      unit[q] = wasm_f32x4_splat(encode_weights(weights + q * view->score_stride + at, scales + at,
                                                eights, codes + q * ATTENTION_CHUNK));
    bring_near(chunk, here * dim);
    for (; lane + 16 <= end; lane += 16)
      mix_chunk(chunk + 2 * lane, codes, eights / 2, dim, count, 4, unit, mixed + lane);
    for (; lane < end; lane += 4)
      for (u32 q = 0; q < count; q++)
        mix_chunk(chunk + 2 * lane, codes + q * ATTENTION_CHUNK, eights / 2, dim, 1, 1, unit + q,
                  mixed + q * dim + lane);
  }
}

void mix_int8(const View *view, const f32 *weights, u32 first, u32 end, f32 *mixed, i16 *memory) {
#define MIX(done, count)                                                    \
  mix_queries(view, weights + (done) * view->score_stride, first, end, count, \
              mixed + (done) * view->head_dim, memory)
  EACH_GROUP(view->group, MIX);
#undef MIX
}

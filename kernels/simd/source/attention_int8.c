/* Attention over int8 keys and values with one scale a row: exact integer dots, a third of the
 * bytes and less than half of the instructions of the float form. */
#include "attention.h"

/* Queries and attention weights as 15-bit integers: 256 positions of 127 times this fit 32 bits. */
#define CODE_LEVELS 16383.0f

static f32 largest_magnitude(const f32 *x, u32 count) {
  f32 largest = 0.0f;
  for (u32 i = 0; i < count; i++) {
    f32 magnitude = __builtin_fabsf(x[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/* Codes of x [count, a multiple of four]; gives what a code is worth. */
static f32 encode(const f32 *x, u32 count, i16 *codes) {
  f32 largest = largest_magnitude(x, count);
  v128_t factor = wasm_f32x4_splat(largest > 0.0f ? CODE_LEVELS / largest : 0.0f);
  for (u32 i = 0; i < count; i += 4) {
    v128_t whole = wasm_i32x4_trunc_sat_f32x4(
        wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x + i), factor)));
    wasm_v128_store64_lane(codes + i, wasm_i16x8_narrow_i32x4(whole, whole), 0);
  }
  return largest / CODE_LEVELS;
}

INLINE v128_t score_four(const i16 *query, const i8 *keys, u32 dim) {
  v128_t sum[4];
  sum[0] = sum[1] = sum[2] = sum[3] = wasm_i32x4_splat(0);
  for (u32 i = 0; i < dim; i += 8) {
    v128_t q = wasm_v128_load(query + i);
#pragma clang loop unroll(full)
    for (u32 k = 0; k < 4; k++)
      sum[k] = wasm_i32x4_add(sum[k], wasm_i32x4_dot_i16x8(q, wasm_i16x8_load8x8(keys + k * dim + i)));
  }
  return wasm_i32x4_make(whole_sum_of_lanes(sum[0]), whole_sum_of_lanes(sum[1]),
                         whole_sum_of_lanes(sum[2]), whole_sum_of_lanes(sum[3]));
}

void score_int8(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores) {
  u32 dim = view->head_dim, row = view->kv_head * view->cache->capacity;
  const i8 *keys = (const i8 *)view->layer->keys + row * dim;
  const f32 *scales = view->layer->key_scales + row;
  i16 codes[256];
  for (u32 q = 0; q < view->group; q++, queries += dim, scores += view->score_stride) {
    v128_t unit = wasm_f32x4_splat(encode(queries, dim, codes));
    for (u32 at = first; at < end; at += 4) {
      v128_t scale = wasm_f32x4_mul(wasm_v128_load(scales + at), unit);
      v128_t whole = score_four(codes, keys + at * dim, dim);
      wasm_v128_store(scores + at, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(whole), scale));
    }
  }
}

/* Add up to 256 positions of 4 * vectors lanes to mixed. */
INLINE void mix_chunk(const i8 *values, const i16 *codes, u32 pairs, u32 dim, f32 unit, u32 vectors, f32 *mixed) {
  v128_t sum[8];
#pragma clang loop unroll(full)
  for (u32 v = 0; v < vectors; v++) sum[v] = wasm_i32x4_splat(0);
  for (u32 pair = 0; pair < pairs; pair++, values += 2 * dim) {
    v128_t weights = pair_in_all_lanes(codes + 2 * pair);
#pragma clang loop unroll(full)
    for (u32 v = 0; v < vectors; v++)
      sum[v] = wasm_i32x4_add(sum[v], wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(values + 8 * v), weights));
  }
#pragma clang loop unroll(full)
  for (u32 v = 0; v < vectors; v++) {
    v128_t part = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum[v]), wasm_f32x4_splat(unit));
    wasm_v128_store(mixed + 4 * v, wasm_f32x4_add(wasm_v128_load(mixed + 4 * v), part));
  }
}

/* The weights of one chunk times the scales of its values, as codes; missing positions are zero. */
static f32 encode_weights(const f32 *weights, const f32 *scales, u32 count, i16 *codes) {
  f32 products[ATTENTION_CHUNK];
  u32 even = (count + 7) & ~7u;
  for (u32 i = 0; i < even; i++) products[i] = i < count ? weights[i] * scales[i] : 0.0f;
  return encode(products, even, codes);
}

void mix_int8(const View *view, const f32 *weights, u32 first, u32 end, f32 *mixed, i16 *memory) {
  u32 dim = view->head_dim, row = view->kv_head * view->cache->capacity;
  const i8 *values = (const i8 *)view->layer->values + row * dim;
  const f32 *scales = view->layer->value_scales + row;
  for (u32 q = 0; q < view->group; q++, weights += view->score_stride, mixed += dim) {
    for (u32 lane = first; lane < end; lane++) mixed[lane] = 0.0f;
    for (u32 at = 0; at < view->positions; at += ATTENTION_CHUNK) {
      u32 count = smaller(ATTENTION_CHUNK, view->positions - at), pairs = (count + 1) / 2, lane = first;
      f32 unit = encode_weights(weights + at, scales + at, count, memory);
      const i8 *chunk = values + at * dim;
      for (; lane + 32 <= end; lane += 32)
        mix_chunk(chunk + 2 * lane, memory, pairs, dim, unit, 8, mixed + lane);
      for (; lane < end; lane += 4)
        mix_chunk(chunk + 2 * lane, memory, pairs, dim, unit, 1, mixed + lane);
    }
  }
}

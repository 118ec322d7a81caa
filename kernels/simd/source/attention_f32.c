/* Attention over float keys and values. */
#include "attention.h"

#include "near.h"

/* Rows that are brought near at a time: 8 kB of heads of 64. */
#define NEAR_ROWS 32u

INLINE void score_four(const f32 *queries, const f32 *keys, u32 dim, u32 count, u32 stride, f32 *scores) {
  v128_t sum[3][4];
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++) sum[q][0] = sum[q][1] = sum[q][2] = sum[q][3] = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < dim; i += 4) {
#pragma clang loop unroll(full)
    for (u32 k = 0; k < 4; k++) {
      v128_t key = wasm_v128_load(keys + k * dim + i);
#pragma clang loop unroll(full)
      for (u32 q = 0; q < count; q++)
        sum[q][k] = wasm_f32x4_add(sum[q][k], wasm_f32x4_mul(wasm_v128_load(queries + q * dim + i), key));
    }
  }
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    wasm_v128_store(scores + q * stride, sums_of_lanes(sum[q][0], sum[q][1], sum[q][2], sum[q][3]));
}

INLINE void score_queries(const View *view, const f32 *queries, u32 first, u32 end, u32 count, f32 *scores) {
  u32 dim = view->head_dim;
  const f32 *keys = (const f32 *)view->layer->keys + view->kv_head * view->cache->capacity * dim;
  /* The last four may reach past `end`, into rows that exist (the capacity is a multiple of four)
   * and scores that nobody reads. */
  for (u32 at = first; at < end; at += 4) {
    if (at % NEAR_ROWS == 0) bring_near(keys + at * dim, smaller(NEAR_ROWS, end - at) * dim * 4);
    score_four(queries, keys + at * dim, dim, count, view->score_stride, scores + at);
  }
}

void score_f32(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores) {
#define SCORE(done, count)                                               \
  score_queries(view, queries + (done) * view->head_dim, first, end, count, \
                scores + (done) * view->score_stride)
  EACH_GROUP(view->group, SCORE);
#undef SCORE
}

INLINE void mix_lanes(const f32 *values, const f32 *weights, const View *view, u32 count, u32 vectors, f32 *mixed) {
  v128_t sum[3][4];
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    for (u32 v = 0; v < vectors; v++) sum[q][v] = wasm_f32x4_splat(0.0f);
  for (u32 position = 0; position < view->positions; position++, values += view->head_dim) {
    v128_t weight[3];
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++)
      weight[q] = wasm_v128_load32_splat(weights + q * view->score_stride + position);
#pragma clang loop unroll(full)
    for (u32 v = 0; v < vectors; v++) {
      v128_t value = wasm_v128_load(values + 4 * v);
#pragma clang loop unroll(full)
      for (u32 q = 0; q < count; q++)
        sum[q][v] = wasm_f32x4_add(sum[q][v], wasm_f32x4_mul(weight[q], value));
    }
  }
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    for (u32 v = 0; v < vectors; v++) wasm_v128_store(mixed + q * view->head_dim + 4 * v, sum[q][v]);
}

INLINE void mix_queries(const View *view, const f32 *weights, u32 first, u32 end, u32 count, f32 *mixed) {
  u32 dim = view->head_dim, lane = first;
  const f32 *values = (const f32 *)view->layer->values + view->kv_head * view->cache->capacity * dim;
  for (; lane + 16 <= end; lane += 16)
    mix_lanes(values + lane, weights, view, count, 4, mixed + lane);
  for (; lane < end; lane += 4)
    for (u32 q = 0; q < count; q++)
      mix_lanes(values + lane, weights + q * view->score_stride, view, 1, 1, mixed + q * dim + lane);
}

void mix_f32(const View *view, const f32 *weights, u32 first, u32 end, f32 *mixed) {
#define MIX(done, count)                                                    \
  mix_queries(view, weights + (done) * view->score_stride, first, end, count, \
              mixed + (done) * view->head_dim)
  EACH_GROUP(view->group, MIX);
#undef MIX
}

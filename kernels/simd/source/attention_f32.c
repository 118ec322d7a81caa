/* Attention over float keys and values. */
#include "attention.h"

#include "near.h"

/* Rows that are brought near at a time: 8 kB of heads of 64. */
#define NEAR_ROWS 32u

/* Two keys at a time: with three queries, all sums stay in registers. */
INLINE void score_two(const f32 *queries, const f32 *keys, u32 dim, u32 count, v128_t sum[][2]) {
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++) sum[q][0] = sum[q][1] = wasm_f32x4_splat(0.0f);
#pragma clang loop unroll(disable)
  for (u32 left = dim / 4; left; left--, keys += 4, queries += 4) {
    v128_t first = wasm_v128_load(keys), second = wasm_v128_load(keys + dim);
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) {
      v128_t query = wasm_v128_load(queries + q * dim);
      sum[q][0] = wasm_f32x4_add(sum[q][0], wasm_f32x4_mul(query, first));
      sum[q][1] = wasm_f32x4_add(sum[q][1], wasm_f32x4_mul(query, second));
    }
  }
}

INLINE void score_four(const f32 *queries, const f32 *keys, u32 dim, u32 count, u32 stride, f32 *scores) {
  v128_t near[SHARED_QUERIES][2], far[SHARED_QUERIES][2];
  score_two(queries, keys, dim, count, near);
  score_two(queries, keys + 2 * dim, dim, count, far);
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    wasm_v128_store(scores + q * stride, sums_of_lanes(near[q][0], near[q][1], far[q][0], far[q][1]));
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

/* Add `positions` rows of 4 * vectors lanes to the mixed rows of `count` queries. */
INLINE void mix_lanes(const View *view, const f32 *values, const f32 *weights, u32 positions, u32 count,
                      u32 vectors, f32 *mixed) {
  u32 dim = view->head_dim;
  v128_t sum[SHARED_QUERIES][2];
#pragma clang loop unroll(full)
  for (u32 q = 0; q < count; q++)
    for (u32 v = 0; v < vectors; v++) sum[q][v] = wasm_v128_load(mixed + q * dim + 4 * v);
  for (; positions; positions--, values += dim, weights++) {
    v128_t weight[SHARED_QUERIES];
#pragma clang loop unroll(full)
    for (u32 q = 0; q < count; q++) weight[q] = wasm_v128_load32_splat(weights + q * view->score_stride);
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
    for (u32 v = 0; v < vectors; v++) wasm_v128_store(mixed + q * dim + 4 * v, sum[q][v]);
}

INLINE void mix_queries(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end,
                        u32 count, f32 *mixed) {
  u32 dim = view->head_dim;
  const f32 *values = (const f32 *)view->layer->values + view->kv_head * view->cache->capacity * dim;
  for (u32 q = 0; q < count; q++)
    for (u32 lane = first; lane < end; lane++) mixed[q * dim + lane] = 0.0f;
  for (u32 at = 0; at < view->positions; at += NEAR_ROWS) {
    u32 here = smaller(NEAR_ROWS, view->positions - at), lane = first;
    const f32 *rows = values + at * dim;
    bring_near(rows, here * dim * 4);
    for (; lane + 8 <= end; lane += 8)
      mix_lanes(view, rows + lane, weights + at, here, count, 2, mixed + lane);
    for (; lane < end; lane += 4)
      mix_lanes(view, rows + lane, weights + at, here, count, 1, mixed + lane);
  }
  for (u32 q = 0; q < count; q++)
    for (u32 lane = first; lane < end; lane++) mixed[q * dim + lane] *= shares[q];
}

void mix_f32(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end, f32 *mixed) {
#define MIX(done, count)                                                                     \
  mix_queries(view, weights + (done) * view->score_stride, shares + (done), first, end, count, \
              mixed + (done) * view->head_dim)
  EACH_GROUP(view->group, MIX);
#undef MIX
}

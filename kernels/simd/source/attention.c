/* The steps of attention that are the same for both kinds of cache: keeping rows, and softmax. */
#include "attention.h"

#include "exponential.h"

static f32 row_scale(const f32 *x, u32 dim) {
  v128_t largest = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < dim; i += 4)
    largest = wasm_f32x4_pmax(largest, wasm_f32x4_abs(wasm_v128_load(x + i)));
  return largest_lane(largest) / 127.0f;
}

static void codes_of_row(const f32 *x, u32 dim, f32 scale, i8 *codes) {
  f32 factor = scale > 0.0f ? 1.0f / scale : 0.0f;
  for (u32 i = 0; i < dim; i++) {
    f32 code = __builtin_rintf(x[i] * factor);
    code = code > 127.0f ? 127.0f : code < -127.0f ? -127.0f : code;
    codes[i] = (i8)(i32)code;
  }
}

void keep_row(const View *view, u32 position, const f32 *key, const f32 *value) {
  u32 dim = view->head_dim, head = view->kv_head * view->cache->capacity, row = head + position;
  const CacheLayer *layer = view->layer;
  if (view->cache->kind == CACHE_F32) {
    f32 *keys = (f32 *)layer->keys + row * dim, *values = (f32 *)layer->values + row * dim;
    for (u32 i = 0; i < dim; i += 4) {
      wasm_v128_store(keys + i, wasm_v128_load(key + i));
      wasm_v128_store(values + i, wasm_v128_load(value + i));
    }
    return;
  }
  layer->key_scales[row] = row_scale(key, dim);
  layer->value_scales[row] = row_scale(value, dim);
  i8 *eight = (i8 *)layer->keys + (head + (position & ~7u)) * dim + 2 * (position & 7);
  i8 codes[256];
  codes_of_row(key, dim, layer->key_scales[row], codes);
  for (u32 i = 0; i < dim; i += 2) eight[8 * i] = codes[i], eight[8 * i + 1] = codes[i + 1];
  i8 *pair = (i8 *)layer->values + (head + (position & ~1u)) * dim + (position & 1);
  codes_of_row(value, dim, layer->value_scales[row], codes);
  for (u32 i = 0; i < dim; i++) pair[2 * i] = codes[i];
}

static f32 largest_of(const f32 *x, u32 count) {
  v128_t largest = wasm_f32x4_splat(x[0]);
  u32 at = 0;
  for (; at + 4 <= count; at += 4) largest = wasm_f32x4_pmax(largest, wasm_v128_load(x + at));
  for (; at < count; at++) largest = wasm_f32x4_pmax(largest, wasm_v128_load32_splat(x + at));
  return largest_lane(largest);
}

void softmax_row(f32 *scores, u32 positions) {
  v128_t largest = wasm_f32x4_splat(largest_of(scores, positions)), total = wasm_f32x4_splat(0.0f);
  u32 at = 0;
  for (; at + 4 <= positions; at += 4) {
    v128_t e = exp_of(wasm_f32x4_sub(wasm_v128_load(scores + at), largest));
    total = wasm_f32x4_add(total, e);
    wasm_v128_store(scores + at, e);
  }
  f32 sum = sum_of_lanes(total);
  for (; at < positions; at++) {
    v128_t e = exp_of(wasm_f32x4_splat(scores[at] - wasm_f32x4_extract_lane(largest, 0)));
    scores[at] = wasm_f32x4_extract_lane(e, 0);
    sum += scores[at];
  }
  f32 share = 1.0f / sum;
  for (at = 0; at + 4 <= positions; at += 4)
    wasm_v128_store(scores + at, wasm_f32x4_mul(wasm_v128_load(scores + at), wasm_f32x4_splat(share)));
  for (; at < positions; at++) scores[at] *= share;
  for (; at % 8; at++) scores[at] = 0.0f;
}

/* The steps of attention that are the same for all kinds of cache: keeping rows, and softmax. */
#include "attention.h"

#include "exponential.h"

/* Codes of x [dim] with so many levels to each side; gives what a code is worth. */
static f32 codes_of_row(const f32 *x, u32 dim, f32 levels, i16 *codes) {
  v128_t most = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < dim; i += 4) most = wasm_f32x4_pmax(most, wasm_f32x4_abs(wasm_v128_load(x + i)));
  f32 scale = largest_lane(most) / levels, factor = scale > 0.0f ? 1.0f / scale : 0.0f;
  for (u32 i = 0; i < dim; i++) {
    f32 code = __builtin_rintf(x[i] * factor);
    code = code > levels ? levels : code < -levels ? -levels : code;
    codes[i] = (i16)(i32)code;
  }
  return scale;
}

INLINE void put_code(u8 *rows, u32 at, i16 code, u32 kind) {
  if (kind == CACHE_INT8) ((i8 *)rows)[at] = (i8)code;
  else ((i16 *)rows)[at] = code;
}

void keep_row(const View *view, u32 position, const f32 *key, const f32 *value) {
  u32 dim = view->head_dim, head = view->kv_head * view->cache->capacity, row = head + position;
  u32 kind = view->cache->kind;
  const CacheLayer *layer = view->layer;
  if (kind == CACHE_F32) {
    f32 *keys = (f32 *)layer->keys + row * dim, *values = (f32 *)layer->values + row * dim;
    for (u32 i = 0; i < dim; i += 4) {
      wasm_v128_store(keys + i, wasm_v128_load(key + i));
      wasm_v128_store(values + i, wasm_v128_load(value + i));
    }
    return;
  }
  f32 levels = kind == CACHE_INT8 ? 127.0f : 2047.0f;
  i16 codes[256];
  layer->key_scales[row] = codes_of_row(key, dim, levels, codes);
  u32 eight = (head + (position & ~7u)) * dim + 2 * (position & 7);
  for (u32 i = 0; i < dim; i++) put_code(layer->keys, eight + 8 * (i & ~1u) + (i & 1), codes[i], kind);
  layer->value_scales[row] = codes_of_row(value, dim, levels, codes);
  u32 pair = (head + (position & ~1u)) * dim + (position & 1);
  for (u32 i = 0; i < dim; i++) put_code(layer->values, pair + 2 * i, codes[i], kind);
}

/* What a score past the end becomes: its weight is too small to count. */
#define NOTHING (-1e30f)

static f32 largest_of(const f32 *x, u32 eights) {
  v128_t low = wasm_v128_load(x), high = wasm_v128_load(x + 4);
  for (x += 8; --eights; x += 8) {
    low = wasm_f32x4_pmax(low, wasm_v128_load(x));
    high = wasm_f32x4_pmax(high, wasm_v128_load(x + 4));
  }
  return largest_lane(wasm_f32x4_pmax(low, high));
}

/* Position p is added in lane p mod 8, so the sum does not depend on what came in which call. */
f32 softmax_row(f32 *scores, u32 positions) {
  u32 eights = (positions + 7) / 8;
  for (u32 at = positions; at < 8 * eights; at++) scores[at] = NOTHING;
  v128_t largest = wasm_f32x4_splat(largest_of(scores, eights));
  v128_t low_total = wasm_f32x4_splat(0.0f), high_total = low_total;
  for (u32 at = 0; at < 8 * eights; at += 8) {
    v128_t low = weight_of(wasm_f32x4_sub(wasm_v128_load(scores + at), largest));
    v128_t high = weight_of(wasm_f32x4_sub(wasm_v128_load(scores + at + 4), largest));
    low_total = wasm_f32x4_add(low_total, low), high_total = wasm_f32x4_add(high_total, high);
    wasm_v128_store(scores + at, low);
    wasm_v128_store(scores + at + 4, high);
  }
  for (u32 at = positions; at < 8 * eights; at++) scores[at] = 0.0f;
  return 1.0f / sum_of_lanes(wasm_f32x4_add(low_total, high_total));
}

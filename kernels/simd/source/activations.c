/* Takes float rows; gives normed rows and rows of 15-bit integers with one scale each. */
#include "activations.h"

void norm_row(const f32 *x, const f32 *weight, f32 epsilon, u32 width, f32 *y) {
  v128_t squares = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < width; i += 4) {
    v128_t v = wasm_v128_load(x + i);
    squares = wasm_f32x4_add(squares, wasm_f32x4_mul(v, v));
  }
  f32 mean = sum_of_lanes(squares) / (f32)width;
  v128_t scale = wasm_f32x4_splat(1.0f / __builtin_sqrtf(mean + epsilon));
  for (u32 i = 0; i < width; i += 4) {
    v128_t v = wasm_f32x4_mul(wasm_v128_load(x + i), scale);
    wasm_v128_store(y + i, wasm_f32x4_mul(v, wasm_v128_load(weight + i)));
  }
}

/* Sum of the codes whose lane has a one (the rest of `ones` is zero), over a block. */
INLINE i32 sum_where(const i16 *codes, v128_t ones) {
  v128_t total = wasm_i32x4_splat(0);
#pragma clang loop unroll(full)
  for (u32 i = 0; i < BLOCK; i += 8)
    total = wasm_i32x4_add(total, wasm_i32x4_dot_i16x8(wasm_v128_load(codes + i), ones));
  return (wasm_i32x4_extract_lane(total, 0) + wasm_i32x4_extract_lane(total, 1)) +
         (wasm_i32x4_extract_lane(total, 2) + wasm_i32x4_extract_lane(total, 3));
}

INLINE v128_t codes_of(const f32 *x, v128_t factor) {
  v128_t low = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x), factor));
  v128_t high = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x + 4), factor));
  return wasm_i16x8_narrow_i32x4(wasm_i32x4_trunc_sat_f32x4(low), wasm_i32x4_trunc_sat_f32x4(high));
}

INLINE v128_t steps_of(v128_t codes) {
  v128_t before = wasm_i32x4_shuffle(wasm_i32x4_splat(0), codes, 0, 4, 5, 6);
  return wasm_i16x8_sub(codes, wasm_i16x8_shl(before, 4));
}

static void quantise_block(const f32 *x, const Activations *to, u32 token, u32 block) {
  v128_t largest = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < BLOCK; i += 4)
    largest = wasm_f32x4_pmax(largest, wasm_f32x4_abs(wasm_v128_load(x + i)));
  f32 magnitude = largest_lane(largest);
  v128_t factor = wasm_f32x4_splat(magnitude > 0.0f ? ACTIVATION_LEVELS / magnitude : 0.0f);
  i16 codes[BLOCK];
  i16 *tiled = codes_at(to, token) + block * BLOCK * TILE_TOKENS;
  block += token * to->blocks;
  for (u32 i = 0; i < BLOCK; i += 8) {
    v128_t eight = codes_of(x + i, factor);
    wasm_v128_store(codes + i, eight);
    wasm_v128_store(to->steps + block * BLOCK + i, steps_of(eight));
    wasm_v128_store32_lane(tiled + i * TILE_TOKENS, eight, 0);
    wasm_v128_store32_lane(tiled + (i + 2) * TILE_TOKENS, eight, 1);
    wasm_v128_store32_lane(tiled + (i + 4) * TILE_TOKENS, eight, 2);
    wasm_v128_store32_lane(tiled + (i + 6) * TILE_TOKENS, eight, 3);
  }
  i32 sum = sum_where(codes, wasm_i16x8_splat(1));
  i32 last_pairs = sum_where(codes, wasm_i16x8_make(0, 0, 0, 0, 0, 0, 1, 1));
  to->scales[block] = magnitude / ACTIVATION_LEVELS;
  to->sums[block] = to->scales[block] * (f32)sum;
  to->unsigned_starts[block] = 8 * last_pairs;
  to->signed_starts[block] = 8 * (last_pairs - sum);
}

void quantise_row(const f32 *x, u32 width, const Activations *to, u32 token) {
  u32 at = 0;
  for (; at + BLOCK <= width; at += BLOCK) quantise_block(x + at, to, token, at / BLOCK);
  if (at == width) return;
  f32 last[BLOCK];
  for (u32 i = 0; i < BLOCK; i++) last[i] = at + i < width ? x[at + i] : 0.0f;
  quantise_block(last, to, token, at / BLOCK);
}

/* Products with 8-bit weights: signed codes, one float scale a block of a multiple of 32 columns.
 *
 * A panel holds eight rows: 32 bytes of scales a block, then for each pair of columns 16 bytes:
 * rows 0..3 and rows 4..7, two codes each. */
#include "activations.h"
#include "product.h"

typedef struct {
  v128_t low, high;
} Sums;

INLINE Sums sums_of_32(const i8 *at, const i16 *codes, v128_t scale) {
  v128_t low = wasm_i32x4_splat(0), high = wasm_i32x4_splat(0);
#pragma clang loop unroll_count(4)
  for (u32 pair = 0; pair < BLOCK / 2; pair++) {
    v128_t a = pair_in_all_lanes(codes + 2 * TILE_TOKENS * pair);
    low = wasm_i32x4_add(low, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(at + 16 * pair), a));
    high = wasm_i32x4_add(high, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(at + 16 * pair + 8), a));
  }
  Sums sums;
  sums.low = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(low), scale);
  sums.high = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(high), scale);
  return sums;
}

PanelSums panel_q8(const Matrix *weights, const u8 *panel, const Activations *a, u32 token) {
  const i8 *at = (const i8 *)panel + weights->blocks * 32;
  const i16 *codes = codes_at(a, token);
  const f32 *scales = a->scales + token * a->blocks;
  PanelSums total;
  total.low = total.high = wasm_f32x4_splat(0.0f);
  for (u32 block = 0; block < weights->blocks; block++, panel += 32) {
    Sums part;
    part.low = part.high = wasm_f32x4_splat(0.0f);
    for (u32 column = 0; column < weights->block_columns; column += BLOCK) {
      Sums sums = sums_of_32(at, codes, wasm_v128_load32_splat(scales));
      part.low = wasm_f32x4_add(part.low, sums.low);
      part.high = wasm_f32x4_add(part.high, sums.high);
      at += BLOCK * PANEL_ROWS, codes += BLOCK * TILE_TOKENS, scales++;
    }
    total.low = wasm_f32x4_add(total.low, wasm_f32x4_mul(part.low, wasm_v128_load(panel)));
    total.high = wasm_f32x4_add(total.high, wasm_f32x4_mul(part.high, wasm_v128_load(panel + 16)));
  }
  return total;
}

void open_panel_q8(const Matrix *weights, const u8 *panel, OpenPanel to) {
  const u8 *at = panel + weights->blocks * 32;
  u32 pairs = weights->blocks * weights->block_columns / 2;
  for (u32 pair = 0; pair < pairs; pair++, at += 16, to.codes += 16) {
    wasm_v128_store(to.codes, wasm_i16x8_load8x8(at));
    wasm_v128_store(to.codes + 8, wasm_i16x8_load8x8(at + 8));
  }
  for (u32 i = 0; i < weights->blocks * PANEL_ROWS; i += 4)
    wasm_v128_store(to.scales + i, wasm_v128_load(panel + 4 * i));
}

/* Products with float weights: a panel is [columns][8 rows]; columns are a multiple of four.
 *
 * Column c goes to chain c mod 4, and the chains are added in one fixed order at the end. */
#include "product.h"

PanelSums panel_f32(const Matrix *weights, const u8 *panel, const f32 *x) {
  const f32 *at = (const f32 *)panel;
  v128_t zero = wasm_f32x4_splat(0.0f);
  v128_t low[4] = {zero, zero, zero, zero}, high[4] = {zero, zero, zero, zero};
  for (u32 column = 0; column < weights->columns; column += 4, at += 32) {
#pragma clang loop unroll(full)
    for (u32 chain = 0; chain < 4; chain++) {
      v128_t v = wasm_v128_load32_splat(x + column + chain);
      low[chain] = wasm_f32x4_add(low[chain], wasm_f32x4_mul(wasm_v128_load(at + 8 * chain), v));
      high[chain] = wasm_f32x4_add(high[chain], wasm_f32x4_mul(wasm_v128_load(at + 8 * chain + 4), v));
    }
  }
  PanelSums sums = {
      wasm_f32x4_add(wasm_f32x4_add(low[0], low[1]), wasm_f32x4_add(low[2], low[3])),
      wasm_f32x4_add(wasm_f32x4_add(high[0], high[1]), wasm_f32x4_add(high[2], high[3]))};
  return sums;
}

/* Takes a matrix in panels and rows of activations; gives some of the rows of the product. */
#include "product.h"

#include "near.h"

void store_panel(Output output, u32 token, u32 row, u32 rows, PanelSums sums) {
  u32 at = token * output.stride + row;
  if (row + PANEL_ROWS <= rows) {
    if (output.add) {
      sums.low = wasm_f32x4_add(wasm_v128_load(output.add + at), sums.low);
      sums.high = wasm_f32x4_add(wasm_v128_load(output.add + at + 4), sums.high);
    }
    wasm_v128_store(output.out + at, sums.low);
    wasm_v128_store(output.out + at + 4, sums.high);
    return;
  }
  f32 lane[PANEL_ROWS];
  wasm_v128_store(lane, sums.low);
  wasm_v128_store(lane + 4, sums.high);
  for (u32 i = 0; row + i < rows; i++)
    output.out[at + i] = output.add ? output.add[at + i] + lane[i] : lane[i];
}

static PanelSums one_token(const Matrix *weights, const u8 *panel, const Input *input, u32 token) {
  if (weights->kind == KIND_F32)
    return panel_f32(weights, panel, input->floats + token * input->float_stride);
  PanelSums sums = weights->kind == KIND_Q8 ? panel_q8(weights, panel, input->codes, token)
                                            : panel_q4(weights, panel, input->codes, token);
  v128_t unit = unit_of(weights);
  sums.low = wasm_f32x4_mul(sums.low, unit);
  sums.high = wasm_f32x4_mul(sums.high, unit);
  return sums;
}

static OpenPanel open_panel(const Matrix *weights, const u8 *panel, u8 *memory) {
  u32 columns = weights->blocks * weights->block_columns;
  OpenPanel open = {(i16 *)memory, (f32 *)(memory + columns * 16),
                    (f32 *)(memory + columns * 16 + weights->blocks * 32)};
  if (weights->kind == KIND_Q8) open_panel_q8(weights, panel, open);
  else open_panel_q4(weights, panel, open);
  return open;
}

void multiply(const Matrix *weights, Span panels, const Input *input, Output output, u8 *memory) {
  for (u32 i = panels.first; i < panels.end; i++) {
    const u8 *panel = weights->panel + i * weights->panel_bytes;
    u32 row = i * PANEL_ROWS;
    bring_near(panel, weights->panel_bytes);
    if (input->tokens == 1 || weights->kind == KIND_F32) {
      for (u32 token = 0; token < input->tokens; token++)
        store_panel(output, token, row, weights->rows, one_token(weights, panel, input, token));
      continue;
    }
    OpenPanel open = open_panel(weights, panel, memory);
    for (u32 token = 0; token < input->tokens; token += TILE_TOKENS)
      tile(weights, open, input, token, row, output);
  }
}

/* Matrix products: out[token][row] = weights[row] . activations[token] (+ add[token][row]). */
#ifndef TINYLOOM_PRODUCT_H
#define TINYLOOM_PRODUCT_H

#include "model.h"
#include "team.h"

typedef struct {
  const Activations *codes; /* for quantised weights */
  const f32 *floats;        /* for f32 weights, [tokens][float_stride] */
  u32 float_stride, tokens;
} Input;

typedef struct {
  f32 *out;
  const f32 *add; /* a residual with the same stride, or null */
  u32 stride;
} Output;

/* Panels first..end, for all tokens. `memory` is the seat's own. */
void multiply(const Matrix *weights, Span panels, const Input *input, Output output, u8 *memory);

/* One panel against one token; the sums are still to be multiplied by unit_of. */
typedef struct {
  v128_t low, high; /* rows 0..3 and 4..7 */
} PanelSums;

PanelSums panel_q4(const Matrix *weights, const u8 *panel, const Activations *a, u32 token);
PanelSums panel_q8(const Matrix *weights, const u8 *panel, const Activations *a, u32 token);
PanelSums panel_f32(const Matrix *weights, const u8 *panel, const f32 *x);

/* A panel as 16-bit codes: for each pair of columns, rows 0..3 then rows 4..7, 32 bytes a pair,
 * and its scales (and minimums) as floats, eight a block. */
typedef struct {
  i16 *codes;
  f32 *scales, *minimums;
} OpenPanel;

/* What a sum over blocks must be multiplied by; see scale_at in product_q4.c. */
INLINE v128_t unit_of(const Matrix *weights) {
  return wasm_f32x4_splat(weights->kind == KIND_Q4_MINIMUM ? 0x1p112f : 1.0f);
}

void open_panel_q4(const Matrix *weights, const u8 *panel, OpenPanel to);
void open_panel_q8(const Matrix *weights, const u8 *panel, OpenPanel to);

void store_panel(Output output, u32 token, u32 row, u32 rows, PanelSums sums);

/* An open panel against up to TILE_TOKENS tokens from `token` on. */
void tile(const Matrix *weights, OpenPanel panel, const Input *input, u32 token, u32 row, Output output);

#endif

/* Float rows to rows of exact integers. */
#ifndef TINYLOOM_ACTIVATIONS_H
#define TINYLOOM_ACTIVATIONS_H

#include "model.h"

/* Root-mean-square norm of x [width] times weight [width] into y [width]. */
void norm_row(const f32 *x, const f32 *weight, f32 epsilon, u32 width, f32 *y);

/* The codes of a token: its pairs are TILE_TOKENS pairs apart. */
INLINE i16 *codes_at(const Activations *a, u32 token) {
  u32 tile = token / TILE_TOKENS;
  return a->codes + (tile * a->blocks * BLOCK * TILE_TOKENS) + token % TILE_TOKENS * 2;
}

/* Quantise x [width] into row `token` of `to`; what lies past width becomes zero. */
void quantise_row(const f32 *x, u32 width, const Activations *to, u32 token);

#endif

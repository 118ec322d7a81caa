/* Rotary positions on adjacent pairs. */
#ifndef TINYLOOM_ROTARY_H
#define TINYLOOM_ROTARY_H

#include "numbers.h"

/* Fill turns [tokens][2][head_dim] for positions from start on: the cosine of each pair twice, then
 * minus its sine and its sine, so that turned = x * cosines + swapped pairs of x * sines. */
void fill_turns(const f64 *frequencies, u32 head_dim, u32 start, u32 tokens, f32 *turns);

/* Turn x [head_dim] in place and multiply by scale; turns [2][head_dim]. */
void turn_row(f32 *x, const f32 *turns, u32 head_dim, f32 scale);

#endif

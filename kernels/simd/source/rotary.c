/* Takes positions and frequencies; gives rotations and turned rows.
 *
 * Sine and cosine are our own: reduction by quarter turns in float64, then Taylor polynomials that
 * are good to 1e-13 on an eighth of a turn to each side. */
#include "rotary.h"

typedef struct {
  f64 sine, cosine;
} Turn;

/* Taylor series at |r| <= pi / 4. */
static f64 sine_near_zero(f64 r) {
  f64 s = r * r;
  f64 y = -1.0 / 1307674368000.0;
  y = y * s + 1.0 / 6227020800.0;
  y = y * s - 1.0 / 39916800.0;
  y = y * s + 1.0 / 362880.0;
  y = y * s - 1.0 / 5040.0;
  y = y * s + 1.0 / 120.0;
  y = y * s - 1.0 / 6.0;
  return r + r * s * y;
}

static f64 cosine_near_zero(f64 r) {
  f64 s = r * r;
  f64 y = 1.0 / 20922789888000.0;
  y = y * s - 1.0 / 87178291200.0;
  y = y * s + 1.0 / 479001600.0;
  y = y * s - 1.0 / 3628800.0;
  y = y * s + 1.0 / 40320.0;
  y = y * s - 1.0 / 720.0;
  y = y * s + 1.0 / 24.0;
  y = y * s - 0.5;
  return 1.0 + s * y;
}

static Turn turn_of(f64 angle) {
  f64 quarters = __builtin_rint(angle * 0.63661977236758134308);
  /* pi / 2 in two parts: the first has 33 bits, so its products with whole numbers are exact. */
  f64 r = (angle - quarters * 1.57079632673412561417) - quarters * 6.07710050650619224932e-11;
  f64 sine = sine_near_zero(r), cosine = cosine_near_zero(r);
  Turn turn;
  switch ((u32)(int64_t)quarters & 3) {
    case 0: turn.sine = sine, turn.cosine = cosine; break;
    case 1: turn.sine = cosine, turn.cosine = -sine; break;
    case 2: turn.sine = -sine, turn.cosine = -cosine; break;
    default: turn.sine = -cosine, turn.cosine = sine;
  }
  return turn;
}

void fill_turns(const f64 *frequencies, u32 head_dim, u32 start, u32 tokens, f32 *turns) {
  for (u32 token = 0; token < tokens; token++, turns += 2 * head_dim) {
    for (u32 i = 0; i < head_dim; i += 2) {
      Turn turn = turn_of((f64)(start + token) * frequencies[i / 2]);
      turns[i] = turns[i + 1] = (f32)turn.cosine;
      turns[head_dim + i] = -(f32)turn.sine;
      turns[head_dim + i + 1] = (f32)turn.sine;
    }
  }
}

void turn_row(f32 *x, const f32 *turns, u32 head_dim, f32 scale) {
  for (u32 i = 0; i < head_dim; i += 4) {
    v128_t v = wasm_v128_load(x + i);
    v128_t along = wasm_f32x4_mul(v, wasm_v128_load(turns + i));
    v128_t across = wasm_f32x4_mul(wasm_i32x4_shuffle(v, v, 1, 0, 3, 2),
                                   wasm_v128_load(turns + head_dim + i));
    v128_t turned = wasm_f32x4_add(along, across);
    wasm_v128_store(x + i, wasm_f32x4_mul(turned, wasm_f32x4_splat(scale)));
  }
}

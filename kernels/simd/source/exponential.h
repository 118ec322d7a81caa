/* exp by range reduction and our own polynomial: the same bits wherever the module runs. */
#ifndef TINYLOOM_EXPONENTIAL_H
#define TINYLOOM_EXPONENTIAL_H

#include "numbers.h"

/* x = n ln 2 + r with |r| <= ln 2 / 2. */
typedef struct {
  v128_t moved, r; /* n stands in the low bits of `moved` */
} Reduced;

INLINE Reduced reduce(v128_t x) {
  /* Added to 1.5 * 2^23 a number is rounded to the nearest whole one, which stands in the low bits. */
  v128_t whole = wasm_f32x4_splat(12582912.0f);
  v128_t moved = wasm_f32x4_add(wasm_f32x4_mul(x, wasm_f32x4_splat(1.44269504f)), whole);
  v128_t n = wasm_f32x4_sub(moved, whole);
  /* ln 2 in two parts: the first has few enough bits that n times it is exact. */
  v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, wasm_f32x4_splat(0.693359375f)));
  Reduced reduced = {moved, wasm_f32x4_sub(r, wasm_f32x4_mul(n, wasm_f32x4_splat(-2.12194440e-4f)))};
  return reduced;
}

/* exp(r) * 2^n by the Taylor series, where y holds its terms from r^5 on, divided by r^5. */
INLINE v128_t finish(v128_t y, Reduced x) {
  y = wasm_f32x4_add(wasm_f32x4_mul(y, x.r), wasm_f32x4_splat(4.1666667e-2f));
  y = wasm_f32x4_add(wasm_f32x4_mul(y, x.r), wasm_f32x4_splat(1.6666667e-1f));
  y = wasm_f32x4_add(wasm_f32x4_mul(y, x.r), wasm_f32x4_splat(0.5f));
  y = wasm_f32x4_add(wasm_f32x4_mul(y, x.r), wasm_f32x4_splat(1.0f));
  y = wasm_f32x4_add(wasm_f32x4_mul(y, x.r), wasm_f32x4_splat(1.0f));
  return wasm_i32x4_add(y, wasm_i32x4_shl(x.moved, 23));
}

/* exp(x) for x in [-87, 88], clamped outside, to r^7; relative error below 2e-7. */
INLINE v128_t exp_of(v128_t x) {
  Reduced reduced = reduce(wasm_f32x4_pmin(wasm_f32x4_pmax(x, wasm_f32x4_splat(-87.0f)), wasm_f32x4_splat(88.0f)));
  v128_t y = wasm_f32x4_splat(1.9841270e-4f);
  y = wasm_f32x4_add(wasm_f32x4_mul(y, reduced.r), wasm_f32x4_splat(1.3888889e-3f));
  y = wasm_f32x4_add(wasm_f32x4_mul(y, reduced.r), wasm_f32x4_splat(8.3333333e-3f));
  return finish(y, reduced);
}

/* exp(x) for x of 0 or less, clamped at -87, to r^5: relative error below 3e-6, a tenth of what an
 * attention weight is rounded by. */
INLINE v128_t weight_of(v128_t x) {
  Reduced reduced = reduce(wasm_f32x4_pmax(x, wasm_f32x4_splat(-87.0f)));
  return finish(wasm_f32x4_splat(8.3333333e-3f), reduced);
}

#endif

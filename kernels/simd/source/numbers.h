/* Number types, vector loads and the constants that every kernel shares.
 *
 * Rule of the module: integer sums are exact and float sums have one written order, so a result
 * cannot depend on the engine, the number of threads or the number of tokens in a call. */
#ifndef TINYLOOM_NUMBERS_H
#define TINYLOOM_NUMBERS_H

#include <stdint.h>
#include <wasm_simd128.h>

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef float f32;
typedef double f64;

/* Rows of a weight matrix that lie side by side in a panel. */
#define PANEL_ROWS 8u

/* Columns that share one activation scale, and the block of the 4-bit types. */
#define BLOCK 32u

/* Largest activation code: just under 12 bits with sign, so that a - 16 a' of two codes, which
 * product_q4.c needs, still fits 16 bits. */
#define ACTIVATION_LEVELS 1927.0f

/* Tokens that one tiled product takes through the registers together. */
#define TILE_TOKENS 4u

#define EXPORT(name) __attribute__((export_name(name)))
#define INLINE static inline __attribute__((always_inline))

/* (a[0], a[1]) in all four 32-bit lanes. */
INLINE v128_t pair_in_all_lanes(const i16 *pair) { return wasm_v128_load32_splat(pair); }

INLINE f32 sum_of_lanes(v128_t x) {
  return (wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1)) +
         (wasm_f32x4_extract_lane(x, 2) + wasm_f32x4_extract_lane(x, 3));
}

INLINE f32 largest_lane(v128_t x) {
  v128_t half = wasm_f32x4_pmax(x, wasm_i32x4_shuffle(x, x, 2, 3, 0, 1));
  return wasm_f32x4_extract_lane(wasm_f32x4_pmax(half, wasm_i32x4_shuffle(half, half, 1, 0, 3, 2)), 0);
}

/* The sums of the lanes of four vectors, each in the order of sum_of_lanes. */
INLINE v128_t sums_of_lanes(v128_t a, v128_t b, v128_t c, v128_t d) {
  v128_t ab_low = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), ab_high = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
  v128_t cd_low = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), cd_high = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
  v128_t first = wasm_f32x4_add(wasm_i64x2_shuffle(ab_low, cd_low, 0, 2),
                                wasm_i64x2_shuffle(ab_low, cd_low, 1, 3));
  v128_t second = wasm_f32x4_add(wasm_i64x2_shuffle(ab_high, cd_high, 0, 2),
                                 wasm_i64x2_shuffle(ab_high, cd_high, 1, 3));
  return wasm_f32x4_add(first, second);
}

INLINE i32 whole_sum_of_lanes(v128_t x) {
  return (wasm_i32x4_extract_lane(x, 0) + wasm_i32x4_extract_lane(x, 1)) +
         (wasm_i32x4_extract_lane(x, 2) + wasm_i32x4_extract_lane(x, 3));
}

INLINE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

#endif

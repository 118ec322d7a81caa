/* Products with 4-bit weights in blocks of 32: with a minimum (codes 0..15) or signed (-8..7).
 *
 * A panel holds eight rows: 32 bytes of scales a block, then the codes. In a code vector each
 * 32-bit lane is a row and each of its 16-bit halves holds the codes q0 q1 q2 q3 of one column of
 * four column pairs, lowest nibble first; the top one has its high bit flipped, so the half is the
 * signed number w = q0 + 16 q1 + 256 q2 + 4096 (q3 - 8).
 *
 * No code is ever masked out. With the activations a0..a3 and their steps b_k = a_k - 16 a_(k-1),
 *     b0 w + b1 (w >> 4) + b2 (w >> 8) + b3 (w >> 12) = a0 q0 + a1 q1 + a2 q2 + a3 (q3 - 8),
 * because every unwanted term appears twice with opposite signs (32-bit sums may wrap on the way;
 * the result fits). The sum starts at 8 times the sum of the a3, which restores q3; for signed
 * codes it starts lower by 8 times the sum of all a. */
#include "product.h"

INLINE v128_t add_vector(v128_t sum, v128_t codes, v128_t b0, v128_t b1, v128_t b2, v128_t b3) {
  sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(codes, b0));
  sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_i16x8_shr(codes, 4), b1));
  sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_i16x8_shr(codes, 8), b2));
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_i16x8_shr(codes, 12), b3));
}

/* The scales of four rows. A KIND_Q4_MINIMUM word is (minimum << 16 | scale), both float16, the
 * scale not negative; moved into the fields of a float32 they are exact but 2^112 too small, which
 * `unit_of` makes good. */
INLINE v128_t scale_at(u32 kind, v128_t words) {
  if (kind == KIND_Q4_SYMMETRIC) return words;
  return wasm_v128_and(wasm_i32x4_shl(words, 13), wasm_i32x4_splat(0x0fffe000));
}

INLINE v128_t minimum_at(v128_t words) {
  return wasm_v128_and(wasm_i32x4_shr(words, 3), wasm_i32x4_splat((i32)0x8fffe000));
}

INLINE v128_t scaled(v128_t whole, v128_t scale, v128_t weight_scale) {
  return wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_convert_i32x4(whole), scale), weight_scale);
}

INLINE PanelSums panel_of_kind(u32 kind, u32 blocks, const u8 *panel, const Activations *a, u32 first) {
  const u8 *at = panel + blocks * 32;
  const i16 *steps = a->steps + first * BLOCK;
  const i32 *starts = (kind == KIND_Q4_MINIMUM ? a->unsigned_starts : a->signed_starts) + first;
  const f32 *scales = a->scales + first, *sums = a->sums + first;
  v128_t zero = wasm_i32x4_splat(0);
  v128_t low_total = zero, high_total = zero, low_minimum = zero, high_minimum = zero;
  for (u32 block = 0; block < blocks; block++, panel += 32, at += 128, steps += BLOCK) {
    v128_t low = wasm_v128_load32_splat(starts + block), high = low;
#pragma clang loop unroll(disable)
    for (u32 v = 0; v < 4; v++) {
      v128_t b0 = pair_in_all_lanes(steps + 8 * v), b1 = pair_in_all_lanes(steps + 8 * v + 2);
      v128_t b2 = pair_in_all_lanes(steps + 8 * v + 4), b3 = pair_in_all_lanes(steps + 8 * v + 6);
      low = add_vector(low, wasm_v128_load(at + 32 * v), b0, b1, b2, b3);
      high = add_vector(high, wasm_v128_load(at + 32 * v + 16), b0, b1, b2, b3);
    }
    v128_t low_words = wasm_v128_load(panel), high_words = wasm_v128_load(panel + 16);
    v128_t scale = wasm_v128_load32_splat(scales + block);
    low_total = wasm_f32x4_add(low_total, scaled(low, scale, scale_at(kind, low_words)));
    high_total = wasm_f32x4_add(high_total, scaled(high, scale, scale_at(kind, high_words)));
    if (kind != KIND_Q4_MINIMUM) continue;
    v128_t sum = wasm_v128_load32_splat(sums + block);
    low_minimum = wasm_f32x4_add(low_minimum, wasm_f32x4_mul(minimum_at(low_words), sum));
    high_minimum = wasm_f32x4_add(high_minimum, wasm_f32x4_mul(minimum_at(high_words), sum));
  }
  PanelSums total;
  total.low = wasm_f32x4_add(low_total, low_minimum);
  total.high = wasm_f32x4_add(high_total, high_minimum);
  return total;
}

PanelSums panel_q4(const Matrix *weights, const u8 *panel, const Activations *a, u32 token) {
  u32 first = token * a->blocks;
  if (weights->kind == KIND_Q4_MINIMUM)
    return panel_of_kind(KIND_Q4_MINIMUM, weights->blocks, panel, a, first);
  return panel_of_kind(KIND_Q4_SYMMETRIC, weights->blocks, panel, a, first);
}

INLINE void open_vector(v128_t codes, v128_t offset, i16 *to) {
  v128_t mask = wasm_i16x8_splat(0x000f);
  wasm_v128_store(to, wasm_i16x8_sub(wasm_v128_and(codes, mask), offset));
  wasm_v128_store(to + 16, wasm_i16x8_sub(wasm_v128_and(wasm_u16x8_shr(codes, 4), mask), offset));
  wasm_v128_store(to + 32, wasm_i16x8_sub(wasm_v128_and(wasm_u16x8_shr(codes, 8), mask), offset));
  v128_t top = wasm_i16x8_add(wasm_i16x8_shr(codes, 12), wasm_i16x8_splat(8));
  wasm_v128_store(to + 48, wasm_i16x8_sub(top, offset));
}

void open_panel_q4(const Matrix *weights, const u8 *panel, OpenPanel to) {
  const u8 *at = panel + weights->blocks * 32;
  v128_t offset = wasm_i16x8_splat(weights->kind == KIND_Q4_SYMMETRIC ? 8 : 0);
  for (u32 block = 0; block < weights->blocks; block++, panel += 32) {
    for (u32 v = 0; v < 4; v++, at += 32, to.codes += 64) {
      open_vector(wasm_v128_load(at), offset, to.codes);
      open_vector(wasm_v128_load(at + 16), offset, to.codes + 8);
    }
    for (u32 half = 0; half < 2; half++) {
      v128_t words = wasm_v128_load(panel + 16 * half);
      wasm_v128_store(to.scales + 8 * block + 4 * half, scale_at(weights->kind, words));
      wasm_v128_store(to.minimums + 8 * block + 4 * half, minimum_at(words));
    }
  }
}

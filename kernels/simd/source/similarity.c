/* Exact search: the dot product of rows of bytes with one question, as whole numbers. */
#include "near.h"
#include "numbers.h"

#define ROWS_AT_ONCE 4u

INLINE void dot_rows(const i8 *rows, u32 width, const i16 *query, i32 *out, u32 count) {
  v128_t total[ROWS_AT_ONCE];
  for (u32 row = 0; row < count; row++) total[row] = wasm_i32x4_splat(0);
  u32 column = 0;
#pragma clang loop unroll_count(2)
  for (; column + 8 <= width; column += 8) {
    v128_t q = wasm_v128_load(query + column);
    for (u32 row = 0; row < count; row++)
      total[row] = wasm_i32x4_add(
          total[row], wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(rows + row * width + column), q));
  }
  for (u32 row = 0; row < count; row++) {
    i32 sum = whole_sum_of_lanes(total[row]);
#pragma clang loop unroll(disable)
    for (u32 rest = column; rest < width; rest++) sum += rows[row * width + rest] * query[rest];
    out[row] = sum;
  }
}

/* rows [count][width]; query [width]; out [count]. */
EXPORT("score_rows")
u32 score_rows(const i8 *rows, u32 count, u32 width, const i16 *query, i32 *out) {
  u32 row = 0;
  for (; row + ROWS_AT_ONCE <= count; row += ROWS_AT_ONCE) {
    const i8 *at = rows + row * width;
    bring_near(at, ROWS_AT_ONCE * width);
    dot_rows(at, width, query, out + row, ROWS_AT_ONCE);
  }
  for (; row < count; row++) dot_rows(rows + row * width, width, query, out + row, 1);
  return 0;
}

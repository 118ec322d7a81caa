/* Takes weights as they are stored in a file, row by row; gives panels of eight rows, and rows back.
 *
 * The panels were zeroed before, so rows past the end stay zero. */
#include "model.h"

static u8 *scales_at(const Matrix *m, u32 row, u32 block) {
  return (u8 *)m->panel + row / PANEL_ROWS * m->panel_bytes + block * 32 + row % PANEL_ROWS * 4;
}

static u8 *codes_of_panel(const Matrix *m, u32 row) {
  return (u8 *)m->panel + row / PANEL_ROWS * m->panel_bytes + m->blocks * 32;
}

/* rows..: float rows [count][columns] for rows first.. of the matrix. */
EXPORT("pack_f32") u32 pack_f32(const Matrix *m, u32 first, u32 count, const f32 *rows) {
  for (u32 row = first; row < first + count; row++) {
    f32 *to = (f32 *)(m->panel + row / PANEL_ROWS * m->panel_bytes) + row % PANEL_ROWS;
    for (u32 column = 0; column < m->columns; column++) to[column * PANEL_ROWS] = *rows++;
  }
  return 0;
}

/* codes: int8 [count][columns]; scales: float [count][blocks]. */
EXPORT("pack_q8")
u32 pack_q8(const Matrix *m, u32 first, u32 count, const i8 *codes, const f32 *scales) {
  for (u32 row = first; row < first + count; row++) {
    i8 *to = (i8 *)codes_of_panel(m, row) + row % PANEL_ROWS * 2;
    for (u32 column = 0; column < m->columns; column += 2, to += 2 * PANEL_ROWS) {
      to[0] = *codes++;
      to[1] = *codes++;
    }
    for (u32 block = 0; block < m->blocks; block++) *(f32 *)scales_at(m, row, block) = *scales++;
  }
  return 0;
}

/* Every second nibble of four bytes, close together. */
INLINE u32 gather_nibbles(u32 x) {
  x &= 0x0f0f0f0f;
  x = (x | x >> 4) & 0x00ff00ff;
  return (x | x >> 8) & 0xffff;
}

/* codes: nibbles [count][columns / 2], even columns low; scales: one 32-bit word a block, a float
 * for KIND_Q4_SYMMETRIC (whose signed nibbles become codes 0..15), or (minimum << 16 | scale). */
EXPORT("pack_q4")
u32 pack_q4(const Matrix *m, u32 first, u32 count, const u8 *codes, const u32 *scales) {
  u32 flip = m->kind == KIND_Q4_SYMMETRIC ? 0x88888888 : 0;
  for (u32 row = first; row < first + count; row++) {
    u32 *to = (u32 *)codes_of_panel(m, row) + row % PANEL_ROWS;
    for (u32 column = 0; column < m->columns; column += 8, codes += 4, to += PANEL_ROWS) {
      u32 eight = (codes[0] | (u32)codes[1] << 8 | (u32)codes[2] << 16 | (u32)codes[3] << 24) ^ flip;
      /* The top code of each half has its high bit flipped; see product_q4.c. */
      *to = (gather_nibbles(eight) | gather_nibbles(eight >> 4) << 16) ^ 0x80008000;
    }
    for (u32 block = 0; block < m->blocks; block++) *(u32 *)scales_at(m, row, block) = *scales++;
  }
  return 0;
}

INLINE f32 float_of_half(u32 half) {
  union { u32 bits; f32 number; } sign, magnitude;
  magnitude.bits = (half & 0x7fff) << 13;
  magnitude.number *= 0x1p112f;
  sign.bits = magnitude.bits | (half & 0x8000) << 16;
  return sign.number;
}

static void open_row_q4(const Matrix *m, u32 row, f32 *to) {
  const u32 *at = (const u32 *)codes_of_panel(m, row) + row % PANEL_ROWS;
  for (u32 column = 0; column < m->columns; column += 8, at += PANEL_ROWS) {
    u32 eight = *at ^ 0x80008000, word = *(const u32 *)scales_at(m, row, column / BLOCK);
    union { u32 bits; f32 number; } scale = {word};
    for (u32 i = 0; i < 8; i++) {
      u32 code = eight >> (16 * (i & 1) + 4 * (i / 2)) & 15;
      to[column + i] = m->kind == KIND_Q4_SYMMETRIC
                           ? (f32)((i32)code - 8) * scale.number
                           : (f32)code * float_of_half(word & 0xffff) + float_of_half(word >> 16);
    }
  }
}

static void open_row_q8(const Matrix *m, u32 row, f32 *to) {
  const i8 *at = (const i8 *)codes_of_panel(m, row) + row % PANEL_ROWS * 2;
  for (u32 column = 0; column < m->columns; column++) {
    f32 scale = *(const f32 *)scales_at(m, row, column / m->block_columns);
    to[column] = (f32)at[column / 2 * 2 * PANEL_ROWS + column % 2] * scale;
  }
}

static void open_row_f32(const Matrix *m, u32 row, f32 *to) {
  const f32 *at = (const f32 *)(m->panel + row / PANEL_ROWS * m->panel_bytes) + row % PANEL_ROWS;
  for (u32 column = 0; column < m->columns; column++) to[column] = at[column * PANEL_ROWS];
}

/* Rows of the embedding: out [tokens][hidden_size]. */
EXPORT("embed") u32 embed(const Model *model, const u32 *ids, u32 tokens, f32 *out) {
  const Matrix *m = &model->embedding;
  for (u32 token = 0; token < tokens; token++, out += model->hidden_size) {
    if (m->kind == KIND_F32) open_row_f32(m, ids[token], out);
    else if (m->kind == KIND_Q8) open_row_q8(m, ids[token], out);
    else open_row_q4(m, ids[token], out);
  }
  return 0;
}

/* Move rows of `bytes` from one block of memory to another that does not overlap it. */
EXPORT("copy_rows")
u32 copy_rows(u8 *to, u32 to_step, const u8 *from, u32 from_step, u32 bytes, u32 rows) {
  for (u32 row = 0; row < rows; row++)
    __builtin_memcpy(to + row * to_step, from + row * from_step, bytes);
  return 0;
}

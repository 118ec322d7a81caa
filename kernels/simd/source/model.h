/* The records that Python lays out in memory (kernels/simd/records.py) and the kernels read.
 *
 * All fields are 32 bits wide and little-endian; a pointer is an address in the linear memory. */
#ifndef TINYLOOM_MODEL_H
#define TINYLOOM_MODEL_H

#include "numbers.h"

enum { KIND_F32 = 1, KIND_Q8 = 2, KIND_Q4_SYMMETRIC = 3, KIND_Q4_MINIMUM = 4 };
enum { CACHE_F32 = 0, CACHE_INT8 = 1, CACHE_INT16 = 2 };

/* A weight matrix in panels of eight rows. A panel is its scales, 32 bytes a block, followed by its
 * codes; rows past the end are zero. */
typedef struct {
  u32 kind, rows, columns, block_columns, blocks, panels, panel_bytes;
  const u8 *panel;
} Matrix;

typedef struct {
  const f32 *attention_norm, *ffn_norm;
  Matrix wq, wk, wv, wo, w1, w3, w2;
} Layer;

typedef struct {
  u32 hidden_size, head_count, kv_head_count, head_dim, ffn_size;
  f32 epsilon, score_scale;
  const f32 *final_norm;
  const f64 *frequencies; /* [head_dim / 2]: how far a pair turns from one position to the next */
  const Layer *layers;
  Matrix embedding, output;
} Model;

/* Keys and values of one layer. Float: [kv_head][capacity][head_dim]. Codes of keys lie in eights of
 * positions, [kv_head][capacity / 8][head_dim / 2][8][2], and values in pairs of positions,
 * [kv_head][capacity / 2][head_dim][2]; each row has a scale, [kv_head][capacity]. */
typedef struct {
  u8 *keys, *values;
  f32 *key_scales, *value_scales;
} CacheLayer;

typedef struct {
  u32 kind, capacity;
  const CacheLayer *layers;
} Cache;

/* Rows of activations as exact integers, one scale a block of 32. A row has `blocks` blocks. */
typedef struct {
  i16 *codes;      /* [tokens / 4][blocks][16 pairs of columns][4 tokens][2] */
  i16 *steps;      /* [tokens][blocks][32]: each code less 16 times the code two before it */
  f32 *scales;     /* [tokens][blocks] */
  f32 *sums;       /* [tokens][blocks]: scale times the sum of the codes */
  i32 *unsigned_starts, *signed_starts; /* [tokens][blocks]: see product_q4.c */
  u32 blocks;
} Activations;

/* Memory for the steps inside a block call; rows are `token_limit` tokens at most. */
typedef struct {
  struct Team *team; /* null for a single seat */
  u32 position_limit, seat_bytes;
  u8 *seats; /* private memory of each seat, seat_bytes apiece */
  Activations activations;
  f32 *normed;                   /* [tokens][hidden_size] */
  f32 *queries, *keys, *values;  /* [tokens][heads][head_dim] */
  f32 *mixed;                    /* [tokens][heads * head_dim] */
  f32 *gate, *up;                /* [tokens][ffn_size] */
  f32 *turns;                    /* [tokens][2][head_dim], see rotary.h */
  f32 *scores;                   /* [heads][position_limit], for one token that all seats share */
} Scratch;

#endif

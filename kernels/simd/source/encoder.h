/* The records of a text encoder (kernels/simd/encoder_records.py), 32-bit fields like model.h. */
#ifndef TINYLOOM_ENCODER_H
#define TINYLOOM_ENCODER_H

#include "model.h"

typedef struct {
  const f32 *weight, *bias;
} Norm;

typedef struct {
  Matrix query, key, value, mixed, wide, narrow;
  const f32 *query_bias, *key_bias, *value_bias, *mixed_bias, *wide_bias, *narrow_bias;
  Norm attention_norm, ffn_norm;
} EncoderLayer;

typedef struct {
  u32 hidden_size, head_count, head_dim, ffn_size;
  f32 epsilon, score_scale;
  Norm norm;
  const EncoderLayer *layers;
} Encoder;

/* Memory for one text of up to token_limit tokens. */
typedef struct {
  Activations activations;
  u8 *panel;                    /* one open panel */
  f32 *hidden;                  /* [tokens][hidden_size]: input and output of every step */
  f32 *queries, *keys, *values; /* [tokens][hidden_size] */
  f32 *mixed;                   /* [tokens][hidden_size] */
  f32 *wide;                    /* [tokens][ffn_size] */
  f32 *scores;                  /* [token_limit + 8] */
} EncoderRoom;

#endif

/* A text encoder of the BERT kind: layer norm after each residual, attention over the whole text,
 * exact GELU, and the mean of all tokens as a unit vector.
 *
 * Takes rows that Python has looked up, in `hidden`; every step leaves new rows there. One thread. */
#include "encoder.h"

#include "activations.h"
#include "attention.h"
#include "exponential.h"
#include "product.h"

#define ROOT_HALF 0.70710678f

/* Short code where little time is spent: the products are elsewhere. */
#define SMALL __attribute__((minsize, noinline))

SMALL static void add_to_row(f32 *x, const f32 *more, u32 width) {
  for (u32 i = 0; i < width; i += 4)
    wasm_v128_store(x + i, wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(more + i)));
}

/* x = (x - mean) / sqrt(variance + epsilon) * weight + bias */
SMALL static void layer_norm(f32 *x, Norm norm, f32 epsilon, u32 width) {
  v128_t total = wasm_f32x4_splat(0.0f), squares = total;
  for (u32 i = 0; i < width; i += 4) total = wasm_f32x4_add(total, wasm_v128_load(x + i));
  v128_t mean = wasm_f32x4_splat(sum_of_lanes(total) / (f32)width);
  for (u32 i = 0; i < width; i += 4) {
    v128_t v = wasm_f32x4_sub(wasm_v128_load(x + i), mean);
    wasm_v128_store(x + i, v);
    squares = wasm_f32x4_add(squares, wasm_f32x4_mul(v, v));
  }
  f32 variance = sum_of_lanes(squares) / (f32)width;
  v128_t scale = wasm_f32x4_splat(1.0f / __builtin_sqrtf(variance + epsilon));
  for (u32 i = 0; i < width; i += 4) {
    v128_t v = wasm_f32x4_mul(wasm_f32x4_mul(wasm_v128_load(x + i), scale), wasm_v128_load(norm.weight + i));
    wasm_v128_store(x + i, wasm_f32x4_add(v, wasm_v128_load(norm.bias + i)));
  }
}

/* x / 2 * (1 + erf(x / sqrt 2)); erf by formula 7.1.26 of Abramowitz and Stegun, off by 1.5e-7. */
INLINE v128_t gelu_of(v128_t x) {
  v128_t one = wasm_f32x4_splat(1.0f), scaled = wasm_f32x4_mul(x, wasm_f32x4_splat(ROOT_HALF));
  v128_t size = wasm_f32x4_abs(scaled);
  v128_t step = wasm_f32x4_div(
      one, wasm_f32x4_add(one, wasm_f32x4_mul(size, wasm_f32x4_splat(0.3275911f))));
  v128_t y = wasm_f32x4_mul(step, wasm_f32x4_splat(1.061405429f));
  y = wasm_f32x4_mul(wasm_f32x4_add(y, wasm_f32x4_splat(-1.453152027f)), step);
  y = wasm_f32x4_mul(wasm_f32x4_add(y, wasm_f32x4_splat(1.421413741f)), step);
  y = wasm_f32x4_mul(wasm_f32x4_add(y, wasm_f32x4_splat(-0.284496736f)), step);
  y = wasm_f32x4_mul(wasm_f32x4_add(y, wasm_f32x4_splat(0.254829592f)), step);
  v128_t tail = wasm_f32x4_mul(y, exp_of(wasm_f32x4_neg(wasm_f32x4_mul(size, size))));
  v128_t sign = wasm_v128_and(scaled, wasm_f32x4_splat(-0.0f));
  v128_t erf = wasm_v128_or(wasm_v128_andnot(wasm_f32x4_sub(one, tail), wasm_f32x4_splat(-0.0f)), sign);
  return wasm_f32x4_mul(wasm_f32x4_mul(x, wasm_f32x4_splat(0.5f)), wasm_f32x4_add(one, erf));
}

SMALL static void gelu_row(f32 *x, const f32 *bias, u32 width) {
  for (u32 i = 0; i < width; i += 4)
    wasm_v128_store(x + i, gelu_of(wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(bias + i))));
}

SMALL static void quantise(const EncoderRoom *room, const f32 *rows, u32 tokens, u32 width) {
  for (u32 token = 0; token < tokens; token++)
    quantise_row(rows + token * width, width, &room->activations, token);
}

/* out = weights . rows (+ add), where the activations are the same rows. */
SMALL static void product(const EncoderRoom *room, const Matrix *weights, const f32 *rows, u32 tokens,
                    f32 *out, const f32 *add) {
  Input input;
  input.codes = &room->activations, input.floats = rows;
  input.float_stride = weights->columns, input.tokens = tokens;
  Output output;
  output.out = out, output.add = add, output.stride = weights->rows;
  multiply(weights, all_parts(weights->panels), &input, output, room->panel);
}

INLINE v128_t dot(const f32 *a, const f32 *b, u32 width) {
  v128_t total = wasm_f32x4_splat(0.0f);
  for (u32 i = 0; i < width; i += 4)
    total = wasm_f32x4_add(total, wasm_f32x4_mul(wasm_v128_load(a + i), wasm_v128_load(b + i)));
  return total;
}

SMALL static void score_row(const Encoder *encoder, const f32 *query, const f32 *keys, u32 tokens, f32 *scores) {
  u32 step = encoder->hidden_size, dim = encoder->head_dim, at = 0;
  v128_t scale = wasm_f32x4_splat(encoder->score_scale);
  for (; at + 4 <= tokens; at += 4) {
    v128_t sums[4];
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < 4; i++, keys += step) sums[i] = dot(query, keys, dim);
    v128_t four = sums_of_lanes(sums[0], sums[1], sums[2], sums[3]);
    wasm_v128_store(scores + at, wasm_f32x4_mul(four, scale));
  }
  for (; at < tokens; at++, keys += step)
    scores[at] = sum_of_lanes(dot(query, keys, dim)) * encoder->score_scale;
}

/* Some lanes of the values, mixed by the weights times the share; `vectors` is known to the compiler. */
INLINE void mix_lanes(const f32 *weights, f32 share, const f32 *values, u32 step, u32 tokens, f32 *mixed, u32 vectors) {
  v128_t total[4];
  for (u32 i = 0; i < vectors; i++) total[i] = wasm_f32x4_splat(0.0f);
  for (u32 token = 0; token < tokens; token++, values += step) {
    v128_t weight = wasm_v128_load32_splat(weights + token);
    for (u32 i = 0; i < vectors; i++)
      total[i] = wasm_f32x4_add(total[i], wasm_f32x4_mul(weight, wasm_v128_load(values + 4 * i)));
  }
  for (u32 i = 0; i < vectors; i++)
    wasm_v128_store(mixed + 4 * i, wasm_f32x4_mul(total[i], wasm_f32x4_splat(share)));
}

SMALL static void attend(const Encoder *encoder, const EncoderRoom *room, u32 tokens) {
  u32 step = encoder->hidden_size, dim = encoder->head_dim;
  for (u32 head = 0; head < encoder->head_count; head++) {
    for (u32 token = 0; token < tokens; token++) {
      u32 row = token * step + head * dim, lane = 0;
      score_row(encoder, room->queries + row, room->keys + head * dim, tokens, room->scores);
      f32 share = softmax_row(room->scores, tokens);
      for (; lane + 16 <= dim; lane += 16)
        mix_lanes(room->scores, share, room->values + head * dim + lane, step, tokens, room->mixed + row + lane, 4);
      for (; lane < dim; lane += 4)
        mix_lanes(room->scores, share, room->values + head * dim + lane, step, tokens, room->mixed + row + lane, 1);
    }
  }
}

/* hidden holds word and position rows, added up: norm them. */
EXPORT("encoder_begin") SMALL
u32 encoder_begin(const Encoder *encoder, const EncoderRoom *room, u32 tokens) {
  u32 width = encoder->hidden_size;
  for (u32 token = 0; token < tokens; token++)
    layer_norm(room->hidden + token * width, encoder->norm, encoder->epsilon, width);
  return 0;
}

SMALL static void close_block(const Encoder *encoder, f32 *hidden, const f32 *bias, Norm norm, u32 tokens) {
  u32 width = encoder->hidden_size;
  for (u32 token = 0; token < tokens; token++, hidden += width) {
    add_to_row(hidden, bias, width);
    layer_norm(hidden, norm, encoder->epsilon, width);
  }
}

EXPORT("encoder_attention") SMALL
u32 encoder_attention(const Encoder *encoder, const EncoderRoom *room, u32 tokens, u32 index) {
  const EncoderLayer *layer = encoder->layers + index;
  u32 width = encoder->hidden_size;
  quantise(room, room->hidden, tokens, width);
  product(room, &layer->query, room->hidden, tokens, room->queries, 0);
  product(room, &layer->key, room->hidden, tokens, room->keys, 0);
  product(room, &layer->value, room->hidden, tokens, room->values, 0);
  for (u32 token = 0; token < tokens; token++) {
    add_to_row(room->queries + token * width, layer->query_bias, width);
    add_to_row(room->keys + token * width, layer->key_bias, width);
    add_to_row(room->values + token * width, layer->value_bias, width);
  }
  attend(encoder, room, tokens);
  quantise(room, room->mixed, tokens, width);
  product(room, &layer->mixed, room->mixed, tokens, room->hidden, room->hidden);
  close_block(encoder, room->hidden, layer->mixed_bias, layer->attention_norm, tokens);
  return 0;
}

EXPORT("encoder_feed_forward") SMALL
u32 encoder_feed_forward(const Encoder *encoder, const EncoderRoom *room, u32 tokens, u32 index) {
  const EncoderLayer *layer = encoder->layers + index;
  u32 wide = encoder->ffn_size;
  quantise(room, room->hidden, tokens, encoder->hidden_size);
  product(room, &layer->wide, room->hidden, tokens, room->wide, 0);
  for (u32 token = 0; token < tokens; token++) gelu_row(room->wide + token * wide, layer->wide_bias, wide);
  quantise(room, room->wide, tokens, wide);
  product(room, &layer->narrow, room->wide, tokens, room->hidden, room->hidden);
  close_block(encoder, room->hidden, layer->narrow_bias, layer->ffn_norm, tokens);
  return 0;
}

/* The mean of all rows, scaled to length 1: out [hidden_size]. */
EXPORT("encoder_end") SMALL
u32 encoder_end(const Encoder *encoder, const EncoderRoom *room, u32 tokens, f32 *out) {
  u32 width = encoder->hidden_size;
  v128_t squares = wasm_f32x4_splat(0.0f), count = wasm_f32x4_splat((f32)tokens);
  for (u32 i = 0; i < width; i += 4) {
    v128_t total = wasm_f32x4_splat(0.0f);
    const f32 *at = room->hidden + i;
    for (u32 token = 0; token < tokens; token++, at += width)
      total = wasm_f32x4_add(total, wasm_v128_load(at));
    total = wasm_f32x4_div(total, count);
    squares = wasm_f32x4_add(squares, wasm_f32x4_mul(total, total));
    wasm_v128_store(out + i, total);
  }
  f32 length = __builtin_sqrtf(sum_of_lanes(squares));
  if (!(length > 0.0f)) return 0;
  for (u32 i = 0; i < width; i += 4)
    wasm_v128_store(out + i, wasm_f32x4_div(wasm_v128_load(out + i), wasm_f32x4_splat(length)));
  return 0;
}

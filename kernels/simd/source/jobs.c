/* The three jobs of a decoder: attention block, feed-forward block, logits.
 *
 * Takes a model, its memory and rows of hidden states; gives new rows. A job is a few steps; in each
 * a seat does its share, and all seats meet before the next one reads what the others wrote. */
#include "activations.h"
#include "attention.h"
#include "exponential.h"
#include "model.h"
#include "product.h"
#include "rotary.h"
#include "team.h"

/* What all steps of a job need. */
typedef struct {
  const Model *model;
  const Scratch *scratch;
  Seat seat;
  u8 *memory; /* the seat's own */
  u32 tokens;
} Work;

static Work work_of(const Job *job, Seat seat) {
  Work work;
  work.model = (const Model *)job->arguments[0];
  work.scratch = (const Scratch *)job->arguments[1];
  work.tokens = job->arguments[2];
  work.seat = seat;
  work.memory = work.scratch->seats + seat.index * work.scratch->seat_bytes;
  return work;
}

static void norm_rows(const Work *work, const f32 *x, const f32 *weight) {
  u32 width = work->model->hidden_size;
  Span tokens = share_of(work->tokens, work->seat);
  for (u32 token = tokens.first; token < tokens.end; token++) {
    f32 *normed = work->scratch->normed + token * width;
    norm_row(x + token * width, weight, work->model->epsilon, width, normed);
    quantise_row(normed, width, &work->scratch->activations, token);
  }
}

static void quantise_rows(const Work *work, const f32 *x, u32 width) {
  Span tokens = share_of(work->tokens, work->seat);
  for (u32 token = tokens.first; token < tokens.end; token++)
    quantise_row(x + token * width, width, &work->scratch->activations, token);
}

/* out = weights . rows (+ add), where `floats` are the same rows as the activations. */
static void product(const Work *work, const Matrix *weights, const f32 *floats, f32 *out, const f32 *add) {
  Input input;
  input.codes = &work->scratch->activations, input.floats = floats;
  input.float_stride = weights->columns, input.tokens = work->tokens;
  Output output;
  output.out = out, output.add = add, output.stride = weights->rows;
  multiply(weights, &input, output, work->seat, work->memory);
}

static View view_of(const Work *work, const Cache *cache, u32 layer, u32 kv_head, u32 positions) {
  const Model *model = work->model;
  View view;
  view.cache = cache, view.layer = cache->layers + layer;
  view.kv_head = kv_head, view.group = model->head_count / model->kv_head_count;
  view.head_dim = model->head_dim, view.positions = positions;
  view.score_stride = work->scratch->position_limit;
  return view;
}

static f32 *queries_at(const Work *work, u32 token, u32 kv_head) {
  const Model *model = work->model;
  u32 head = kv_head * (model->head_count / model->kv_head_count);
  return work->scratch->queries + (token * model->head_count + head) * model->head_dim;
}

/* Turn queries and keys to their positions, and keep keys and values. */
static void place_rows(const Work *work, const Cache *cache, u32 layer, u32 start) {
  const Model *model = work->model;
  const Scratch *scratch = work->scratch;
  u32 dim = model->head_dim, heads = model->kv_head_count, group = model->head_count / heads;
  Span units = share_of(work->tokens * heads, work->seat);
  for (u32 unit = units.first; unit < units.end; unit++) {
    u32 token = unit / heads, kv_head = unit % heads;
    const f32 *turns = scratch->turns + token * 2 * dim;
    f32 *queries = queries_at(work, token, kv_head), *key = scratch->keys + unit * dim;
    for (u32 i = 0; i < group; i++) turn_row(queries + i * dim, turns, dim, model->score_scale);
    turn_row(key, turns, dim, 1.0f);
    View view = view_of(work, cache, layer, kv_head, 0);
    keep_row(&view, start + token, key, scratch->values + unit * dim);
  }
}

static void score(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores) {
  if (view->cache->kind == CACHE_F32) score_f32(view, queries, first, end, scores);
  else score_codes(view, queries, first, end, scores);
}

static void mix(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end, f32 *mixed,
                u8 *memory) {
  if (view->cache->kind == CACHE_F32) mix_f32(view, weights, shares, first, end, mixed);
  else mix_codes(view, weights, shares, first, end, mixed, (u32 *)memory);
}

static f32 *mixed_at(const Work *work, const f32 *queries) {
  return work->scratch->mixed + (queries - work->scratch->queries);
}

/* Many tokens: each seat takes whole heads of whole tokens. */
static void attend_by_token(const Work *work, const Cache *cache, u32 layer, u32 start) {
  u32 heads = work->model->kv_head_count;
  Span units = share_of(work->tokens * heads, work->seat);
  f32 *scores = (f32 *)(work->memory + SHARED_QUERIES * ATTENTION_CHUNK * 2);
  f32 *shares = scores + work->model->head_count / heads * work->scratch->position_limit;
  for (u32 unit = units.first; unit < units.end; unit++) {
    u32 token = unit / heads, positions = start + token + 1;
    View view = view_of(work, cache, layer, unit % heads, positions);
    const f32 *queries = queries_at(work, token, unit % heads);
    score(&view, queries, 0, positions, scores);
    for (u32 i = 0; i < view.group; i++) shares[i] = softmax_row(scores + i * view.score_stride, positions);
    mix(&view, scores, shares, 0, view.head_dim, mixed_at(work, queries), work->memory);
  }
}

/* One token: seats share each head, first by positions, then by lanes of the values. */
static void attend_together(const Work *work, const Cache *cache, u32 layer, u32 start) {
  const Model *model = work->model;
  u32 positions = start + 1, stride = work->scratch->position_limit, dim = model->head_dim;
  f32 *scores = work->scratch->scores, *shares = scores + model->head_count * stride;
  Span eights = share_of((positions + 7) / 8, work->seat);
  u32 end = smaller(eights.end * 8, positions);
  for (u32 head = 0; head < model->kv_head_count; head++) {
    View view = view_of(work, cache, layer, head, positions);
    score(&view, queries_at(work, 0, head), eights.first * 8, end, scores + head * view.group * stride);
  }
  meet(work->seat);
  Span rows = share_of(model->head_count, work->seat);
  for (u32 row = rows.first; row < rows.end; row++) shares[row] = softmax_row(scores + row * stride, positions);
  meet(work->seat);
  u32 width = dim % 8 ? 4 : 8, parts = dim / width;
  Span units = share_of(model->kv_head_count * parts, work->seat);
  for (u32 unit = units.first, next; unit < units.end; unit = next) {
    u32 head = unit / parts, row = head * model->head_count / model->kv_head_count;
    next = smaller((head + 1) * parts, units.end);
    View view = view_of(work, cache, layer, head, positions);
    mix(&view, scores + row * stride, shares + row, unit % parts * width, (next - head * parts) * width,
        mixed_at(work, queries_at(work, 0, head)), work->memory);
  }
}

static void attention_job(const Job *job, Seat seat) {
  Work work = work_of(job, seat);
  u32 index = job->arguments[3], start = job->arguments[7];
  const f32 *in = (const f32 *)job->arguments[4];
  f32 *out = (f32 *)job->arguments[5];
  const Cache *cache = (const Cache *)job->arguments[6];
  const Scratch *scratch = work.scratch;
  const Layer *layer = work.model->layers + index;
  norm_rows(&work, in, layer->attention_norm);
  meet(seat);
  product(&work, &layer->wq, scratch->normed, scratch->queries, 0);
  product(&work, &layer->wk, scratch->normed, scratch->keys, 0);
  product(&work, &layer->wv, scratch->normed, scratch->values, 0);
  meet(seat);
  place_rows(&work, cache, index, start);
  meet(seat);
  if (work.tokens == 1 && seat.count > 1) attend_together(&work, cache, index, start);
  else attend_by_token(&work, cache, index, start);
  meet(seat);
  quantise_rows(&work, scratch->mixed, work.model->hidden_size);
  meet(seat);
  product(&work, &layer->wo, scratch->mixed, out, in);
}

/* gate = silu(gate) * up for one token and the rows that this seat has just computed. */
static void gate_span(f32 *gate, const f32 *up, u32 first, u32 end) {
  for (u32 i = first; i < end; i += 4) {
    v128_t g = wasm_v128_load(gate + i);
    v128_t below = wasm_f32x4_add(wasm_f32x4_splat(1.0f), exp_of(wasm_f32x4_neg(g)));
    wasm_v128_store(gate + i, wasm_f32x4_mul(wasm_f32x4_div(g, below), wasm_v128_load(up + i)));
  }
}

static void gate_rows(const Work *work) {
  u32 width = work->model->ffn_size;
  Span panels = share_of((width + PANEL_ROWS - 1) / PANEL_ROWS, work->seat);
  u32 first = panels.first * PANEL_ROWS, end = smaller(panels.end * PANEL_ROWS, width);
  for (u32 token = 0; token < work->tokens; token++) {
    u32 row = token * width;
    gate_span(work->scratch->gate + row, work->scratch->up + row, first, end);
  }
}

static void feed_forward_job(const Job *job, Seat seat) {
  Work work = work_of(job, seat);
  const f32 *in = (const f32 *)job->arguments[4];
  f32 *out = (f32 *)job->arguments[5];
  const Scratch *scratch = work.scratch;
  const Layer *layer = work.model->layers + job->arguments[3];
  norm_rows(&work, in, layer->ffn_norm);
  meet(seat);
  product(&work, &layer->w1, scratch->normed, scratch->gate, 0);
  product(&work, &layer->w3, scratch->normed, scratch->up, 0);
  gate_rows(&work);
  meet(seat);
  quantise_rows(&work, scratch->gate, work.model->ffn_size);
  meet(seat);
  product(&work, &layer->w2, scratch->gate, out, in);
}

static void logits_job(const Job *job, Seat seat) {
  Work work = work_of(job, seat);
  norm_rows(&work, (const f32 *)job->arguments[4], work.model->final_norm);
  meet(seat);
  product(&work, &work.model->output, work.scratch->normed, (f32 *)job->arguments[5], 0);
}

void do_job(const Job *job, Seat seat) {
  switch (job->kind) {
    case JOB_ATTENTION: attention_job(job, seat); return;
    case JOB_FEED_FORWARD: feed_forward_job(job, seat); return;
    default: logits_job(job, seat);
  }
}

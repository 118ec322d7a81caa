/* The jobs of a decoder: attention block, feed-forward block, whole layers, logits.
 *
 * Takes a model, its memory and rows of hidden states; gives new rows. A job is a few steps; in each
 * a seat takes parts, and all seats meet before the next one reads what the others wrote. */
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
  Activations activations;
  f32 *normed;
} Work;

/* A single token's activations in the seat's own memory: every seat makes them for itself, which
 * takes less time than to wait for the one that does it for all. The room is that of an open panel. */
static Activations own_activations(const Scratch *scratch, u8 *memory) {
  Activations own;
  u32 blocks = own.blocks = scratch->activations.blocks;
  own.codes = (i16 *)memory, memory += blocks * BLOCK * TILE_TOKENS * 2;
  own.steps = (i16 *)memory, memory += blocks * BLOCK * 2;
  own.scales = (f32 *)memory, own.sums = own.scales + blocks;
  own.unsigned_starts = (i32 *)(own.sums + blocks), own.signed_starts = own.unsigned_starts + blocks;
  return own;
}

static u32 is_single_shared(const Work *work) { return work->tokens == 1 && work->seat.count > 1; }

static Work work_of(const Job *job, Seat seat) {
  Work work;
  work.model = (const Model *)job->arguments[0];
  work.scratch = (const Scratch *)job->arguments[1];
  work.tokens = job->arguments[2];
  work.seat = seat;
  work.memory = work.scratch->seats + seat.index * work.scratch->seat_bytes;
  work.activations = work.scratch->activations, work.normed = work.scratch->normed;
  if (is_single_shared(&work)) {
    work.activations = own_activations(work.scratch, work.memory);
    work.normed = (f32 *)(work.activations.signed_starts + work.activations.blocks);
  }
  return work;
}

/* Units that a seat takes at a time. Panels: two at least, whose rows are a cache line of 64 bytes;
 * tokens: those of a tile, which lie together. */
static u32 panels_at_once(const Work *work) { return work->tokens > 1 ? 2 : 4; }
#define TOKENS_AT_ONCE TILE_TOKENS
#define POSITIONS_AT_ONCE 256u

static void norm_span(const Work *work, Span tokens, const f32 *x, const f32 *weight) {
  u32 width = work->model->hidden_size;
  for (u32 token = tokens.first; token < tokens.end; token++) {
    f32 *normed = work->normed + token * width;
    norm_row(x + token * width, weight, work->model->epsilon, width, normed);
    quantise_row(normed, width, &work->activations, token);
  }
}

static void norm_rows(const Work *work, const f32 *x, const f32 *weight) {
  if (is_single_shared(work)) {
    norm_span(work, all_parts(1), x, weight);
    return;
  }
  EACH_PART(tokens, work->tokens, TOKENS_AT_ONCE, work->seat) norm_span(work, tokens, x, weight);
  meet(work->seat);
}

static void quantise_rows(const Work *work, const f32 *x, u32 width) {
  if (is_single_shared(work)) {
    quantise_row(x, width, &work->activations, 0);
    return;
  }
  EACH_PART(tokens, work->tokens, TOKENS_AT_ONCE, work->seat)
    for (u32 token = tokens.first; token < tokens.end; token++)
      quantise_row(x + token * width, width, &work->activations, token);
  meet(work->seat);
}

/* Some panels of out = weights . rows (+ add), where `floats` are the same rows as the activations. */
static void multiply_part(const Work *work, const Matrix *weights, Span panels, const f32 *floats, f32 *out,
                          const f32 *add) {
  Input input;
  input.codes = &work->activations, input.floats = floats;
  input.float_stride = weights->columns, input.tokens = work->tokens;
  Output output;
  output.out = out, output.add = add, output.stride = weights->rows;
  multiply(weights, panels, &input, output, work->memory);
}

static void product(const Work *work, const Matrix *weights, const f32 *floats, f32 *out, const f32 *add) {
  EACH_PART(panels, weights->panels, panels_at_once(work), work->seat)
    multiply_part(work, weights, panels, floats, out, add);
}

/* The part of a span of panels that lies in a matrix whose panels begin at `from`. */
static Span cut(Span span, u32 from, u32 panels) {
  Span inside = {span.first < from ? 0 : smaller(span.first - from, panels),
                 span.end < from ? 0 : smaller(span.end - from, panels)};
  return inside;
}

/* Queries, keys and values in one step: the panels of three matrices as if they were one. */
static void project(const Work *work, const Layer *layer) {
  const Scratch *scratch = work->scratch;
  u32 keys_from = layer->wq.panels, values_from = keys_from + layer->wk.panels;
  EACH_PART(part, values_from + layer->wv.panels, panels_at_once(work), work->seat) {
    multiply_part(work, &layer->wq, cut(part, 0, layer->wq.panels), work->normed, scratch->queries, 0);
    multiply_part(work, &layer->wk, cut(part, keys_from, layer->wk.panels), work->normed, scratch->keys, 0);
    multiply_part(work, &layer->wv, cut(part, values_from, layer->wv.panels), work->normed, scratch->values, 0);
  }
  meet(work->seat);
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

static void place_row(const Work *work, const Cache *cache, u32 layer, u32 start, u32 unit) {
  const Model *model = work->model;
  u32 dim = model->head_dim, heads = model->kv_head_count, token = unit / heads, kv_head = unit % heads;
  const f32 *turns = work->scratch->turns + token * 2 * dim;
  f32 *queries = queries_at(work, token, kv_head), *key = work->scratch->keys + unit * dim;
  for (u32 i = 0; i < model->head_count / heads; i++)
    turn_row(queries + i * dim, turns, dim, model->score_scale);
  turn_row(key, turns, dim, 1.0f);
  View view = view_of(work, cache, layer, kv_head, 0);
  keep_row(&view, start + token, key, work->scratch->values + unit * dim);
}

/* Turn queries and keys to their positions, and keep keys and values. */
static void place_rows(const Work *work, const Cache *cache, u32 layer, u32 start) {
  u32 heads = work->model->kv_head_count;
  EACH_PART(part, work->tokens * heads, TOKENS_AT_ONCE * heads, work->seat)
    for (u32 unit = part.first; unit < part.end; unit++) place_row(work, cache, layer, start, unit);
  meet(work->seat);
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
  f32 *scores = (f32 *)(work->memory + SHARED_QUERIES * ATTENTION_CHUNK * 2);
  f32 *shares = scores + work->model->head_count / heads * work->scratch->position_limit;
  EACH_PART(part, work->tokens * heads, 1, work->seat)
    for (u32 unit = part.first; unit < part.end; unit++) {
      u32 token = unit / heads, positions = start + token + 1;
      View view = view_of(work, cache, layer, unit % heads, positions);
      const f32 *queries = queries_at(work, token, unit % heads);
      score(&view, queries, 0, positions, scores);
      for (u32 i = 0; i < view.group; i++) shares[i] = softmax_row(scores + i * view.score_stride, positions);
      mix(&view, scores, shares, 0, view.head_dim, mixed_at(work, queries), work->memory);
    }
  meet(work->seat);
}

static void score_together(const Work *work, const Cache *cache, u32 layer, u32 positions) {
  u32 stride = work->scratch->position_limit, pieces = (positions - 1) / POSITIONS_AT_ONCE + 1;
  EACH_PART(part, work->model->kv_head_count * pieces, 1, work->seat) {
    u32 head = part.first / pieces, first = part.first % pieces * POSITIONS_AT_ONCE;
    View view = view_of(work, cache, layer, head, positions);
    score(&view, queries_at(work, 0, head), first, smaller(first + POSITIONS_AT_ONCE, positions),
          work->scratch->scores + head * view.group * stride);
  }
  meet(work->seat);
}

/* Pieces of a head's lanes that are multiples of eight, about as many as there are seats. */
static u32 lane_pieces(u32 dim, Seat seat) {
  u32 pieces = 1;
  while (pieces < seat.count && dim / 8 % (2 * pieces) == 0) pieces *= 2;
  return pieces;
}

static void mix_together(const Work *work, const Cache *cache, u32 layer, u32 positions, const f32 *shares) {
  const Model *model = work->model;
  u32 pieces = lane_pieces(model->head_dim, work->seat), lanes = model->head_dim / pieces;
  EACH_PART(part, model->kv_head_count * pieces, 1, work->seat) {
    u32 head = part.first / pieces, lane = part.first % pieces * lanes;
    View view = view_of(work, cache, layer, head, positions);
    mix(&view, work->scratch->scores + head * view.group * view.score_stride, shares + head * view.group,
        lane, lane + lanes, mixed_at(work, queries_at(work, 0, head)), work->memory);
  }
  meet(work->seat);
}

/* One token: seats share each head, first by positions, then by lanes of the values. */
static void attend_together(const Work *work, const Cache *cache, u32 layer, u32 start) {
  u32 heads = work->model->head_count, stride = work->scratch->position_limit;
  f32 *scores = work->scratch->scores, *shares = scores + heads * stride;
  score_together(work, cache, layer, start + 1);
  EACH_PART(rows, heads, 1, work->seat)
    shares[rows.first] = softmax_row(scores + rows.first * stride, start + 1);
  meet(work->seat);
  mix_together(work, cache, layer, start + 1, shares);
}

/* Norm, attention, residual; the seats are still to meet. */
static void attend(const Work *work, const Job *job, u32 index, const f32 *in, f32 *out) {
  const Cache *cache = (const Cache *)job->arguments[6];
  u32 start = job->arguments[7];
  const Layer *layer = work->model->layers + index;
  norm_rows(work, in, layer->attention_norm);
  project(work, layer);
  place_rows(work, cache, index, start);
  if (is_single_shared(work)) attend_together(work, cache, index, start);
  else attend_by_token(work, cache, index, start);
  quantise_rows(work, work->scratch->mixed, work->model->hidden_size);
  product(work, &layer->wo, work->scratch->mixed, out, in);
}

/* gate = silu(gate) * up for one token and the rows that this seat has just computed. */
static void gate_span(f32 *gate, const f32 *up, u32 first, u32 end) {
  for (u32 i = first; i < end; i += 4) {
    v128_t g = wasm_v128_load(gate + i);
    v128_t below = wasm_f32x4_add(wasm_f32x4_splat(1.0f), exp_of(wasm_f32x4_neg(g)));
    wasm_v128_store(gate + i, wasm_f32x4_mul(wasm_f32x4_div(g, below), wasm_v128_load(up + i)));
  }
}

static void gate_rows(const Work *work, Span panels) {
  u32 width = work->model->ffn_size;
  u32 first = panels.first * PANEL_ROWS, end = smaller(panels.end * PANEL_ROWS, width);
  for (u32 token = 0; token < work->tokens; token++) {
    u32 row = token * width;
    gate_span(work->scratch->gate + row, work->scratch->up + row, first, end);
  }
}

/* Norm, SwiGLU, residual; the seats are still to meet. */
static void feed_forward(const Work *work, u32 index, const f32 *in, f32 *out) {
  const Scratch *scratch = work->scratch;
  const Layer *layer = work->model->layers + index;
  norm_rows(work, in, layer->ffn_norm);
  EACH_PART(panels, layer->w1.panels, panels_at_once(work), work->seat) {
    multiply_part(work, &layer->w1, panels, work->normed, scratch->gate, 0);
    multiply_part(work, &layer->w3, panels, work->normed, scratch->up, 0);
    gate_rows(work, panels);
  }
  meet(work->seat);
  quantise_rows(work, scratch->gate, work->model->ffn_size);
  product(work, &layer->w2, scratch->gate, out, in);
}

/* Whole layers first..end: rows come and go in `rows`, `between` is memory for as many. */
static void run_layers(const Work *work, const Job *job, f32 *rows, f32 *between) {
  for (u32 index = job->arguments[3]; index < job->arguments[8]; index++) {
    attend(work, job, index, rows, between);
    meet(work->seat);
    feed_forward(work, index, between, rows);
    meet(work->seat);
  }
}

static void logits(const Work *work, const f32 *in, f32 *out) {
  norm_rows(work, in, work->model->final_norm);
  product(work, &work->model->output, work->normed, out, 0);
}

void do_job(const Job *job, Seat seat) {
  Work work = work_of(job, seat);
  f32 *in = (f32 *)job->arguments[4], *out = (f32 *)job->arguments[5];
  switch (job->kind) {
    case JOB_ATTENTION: attend(&work, job, job->arguments[3], in, out); return;
    case JOB_FEED_FORWARD: feed_forward(&work, job->arguments[3], in, out); return;
    case JOB_LAYERS: run_layers(&work, job, in, out); return;
    default: logits(&work, in, out);
  }
}

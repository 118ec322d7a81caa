/* What Python calls. Numbers in, addresses into the memory that both sides see; 0 means done. */
#include "model.h"
#include "rotary.h"
#include "team.h"

INLINE u32 run(u32 kind, const Model *model, const Scratch *scratch, u32 tokens, u32 layer,
               u32 end, const f32 *in, f32 *out, const Cache *cache, u32 start) {
  Job job;
  job.kind = kind;
  job.arguments[0] = (u32)model, job.arguments[1] = (u32)scratch, job.arguments[2] = tokens;
  job.arguments[3] = layer, job.arguments[4] = (u32)in, job.arguments[5] = (u32)out;
  job.arguments[6] = (u32)cache, job.arguments[7] = start, job.arguments[8] = end;
  return run_job(&job, scratch->team);
}

/* Prepare the rotations of positions start..start + tokens, for attention_block. */
EXPORT("set_positions") u32 set_positions(const Model *model, const Scratch *scratch, u32 start, u32 tokens) {
  fill_turns(model->frequencies, model->head_dim, start, tokens, scratch->turns);
  return 0;
}

EXPORT("attention_block")
u32 attention_block(const Model *model, const Scratch *scratch, u32 tokens, u32 layer, const f32 *in,
                    f32 *out, const Cache *cache, u32 start) {
  return run(JOB_ATTENTION, model, scratch, tokens, layer, layer + 1, in, out, cache, start);
}

EXPORT("feed_forward_block")
u32 feed_forward_block(const Model *model, const Scratch *scratch, u32 tokens, u32 layer,
                       const f32 *in, f32 *out) {
  return run(JOB_FEED_FORWARD, model, scratch, tokens, layer, layer + 1, in, out, 0, 0);
}

/* Layers first..end in one go: the rows are changed in place, `between` has room for as many. */
EXPORT("layers")
u32 layers(const Model *model, const Scratch *scratch, u32 tokens, u32 first, u32 end, f32 *rows,
           f32 *between, const Cache *cache, u32 start) {
  return run(JOB_LAYERS, model, scratch, tokens, first, end, rows, between, cache, start);
}

EXPORT("logits")
u32 logits(const Model *model, const Scratch *scratch, u32 tokens, const f32 *in, f32 *out) {
  return run(JOB_LOGITS, model, scratch, tokens, 0, 0, in, out, 0, 0);
}

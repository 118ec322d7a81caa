/* Attention of query heads that share a key/value head, in steps that seats may share.
 *
 * Queries are [group][head_dim], scores [group][score_stride]. A score belongs to one position and
 * a mixed lane to one column, so cutting positions or lanes among seats changes no sum. */
#ifndef TINYLOOM_ATTENTION_H
#define TINYLOOM_ATTENTION_H

#include "model.h"

typedef struct {
  const Cache *cache;
  const CacheLayer *layer;
  u32 kv_head, group, head_dim, positions, score_stride;
} View;

/* Write the key and value of one key/value head at one position. */
void keep_row(const View *view, u32 position, const f32 *key, const f32 *value);

/* Scores of positions first..end; first is a multiple of EIGHT. Scores up to the next multiple of
 * eight are written, as zeros or as what lies in rows that nobody reads. */
void score_f32(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores);
void score_codes(const View *view, const f32 *queries, u32 first, u32 end, f32 *scores);

/* Turn one row of scores into weights, followed by zeros up to a multiple of eight; gives the share
 * that makes their sum one. */
f32 softmax_row(f32 *scores, u32 positions);

/* Mix lanes first..end of the values by the weights times the shares [group] into mixed
 * [group][head_dim]. The lanes are multiples of four, of eight for codes.
 * The form for codes uses memory for SHARED_QUERIES times ATTENTION_CHUNK / 2 pairs. */
void mix_f32(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end, f32 *mixed);
void mix_codes(const View *view, const f32 *weights, const f32 *shares, u32 first, u32 end, f32 *mixed,
               u32 *memory);

/* Most positions whose products of codes are added as integers before they become a float. */
#define ATTENTION_CHUNK 64u

/* Query heads that look at a key or value together, from registers. */
#define SHARED_QUERIES 3u

/* Run `step` on three query heads of a group at a time and on what is left one by one; the count is
 * known to the compiler. */
#define EACH_GROUP(group, step)                                                         \
  do {                                                                                  \
    u32 done = 0;                                                                       \
    for (; done + SHARED_QUERIES <= (group); done += SHARED_QUERIES) step(done, SHARED_QUERIES); \
    for (; done < (group); done++) step(done, 1u);                                      \
  } while (0)

#endif

/* Work shared by the threads ("seats") of a team. A single seat needs no team and no barrier. */
#ifndef TINYLOOM_TEAM_H
#define TINYLOOM_TEAM_H

#include "numbers.h"

typedef struct Team Team;

typedef struct {
  u32 index, count;
  Team *team;
} Seat;

typedef struct {
  u32 first, end;
} Span;

/* The contiguous part of `units` that belongs to a seat. */
INLINE Span share_of(u32 units, Seat seat) {
  Span span;
  span.first = units * seat.index / seat.count;
  span.end = units * (seat.index + 1) / seat.count;
  return span;
}

/* What a team can be asked to do, and the arguments: addresses and counts. */
enum { JOB_ATTENTION = 1, JOB_FEED_FORWARD, JOB_LOGITS };
#define JOB_ARGUMENTS 8u

typedef struct {
  u32 kind, arguments[JOB_ARGUMENTS];
} Job;

/* One seat's part of a job; in jobs.c. */
void do_job(const Job *job, Seat seat);

/* Return when every seat has arrived, or the team has failed. */
void meet(Seat seat);

/* Do a job with all seats of a team (null: this thread alone). Give 0, or 1 when a seat was lost:
 * the result is then unusable and the team is over. */
u32 run_job(const Job *job, Team *team);

#endif

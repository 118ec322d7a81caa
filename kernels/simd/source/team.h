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

/* Take the next `size` units of a step that no seat has taken yet. Seats take what they can do, so
 * one that is held up holds up no more than what it has in hand. */
Span take_part(Team *team, u32 units, u32 size);

INLINE Span all_parts(u32 units) {
  Span span = {0, units};
  return span;
}

/* Run a loop over parts of a step; a single seat has all units as one part. Every seat must come to
 * each such loop, with a `meet` between one and the next. */
#define EACH_PART(part, units, size, seat)                                                          \
  for (Span part = (seat).count > 1 ? take_part((seat).team, units, size) : all_parts(units);       \
       part.first < part.end;                                                                       \
       part = (seat).count > 1 ? take_part((seat).team, units, size) : all_parts(0))

/* What a team can be asked to do, and the arguments: addresses and counts. */
enum { JOB_ATTENTION = 1, JOB_FEED_FORWARD, JOB_LAYERS, JOB_LOGITS };
#define JOB_ARGUMENTS 9u

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

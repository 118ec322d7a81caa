/* Work shared by the threads ("seats") of a team. One seat needs no barrier at all. */
#ifndef TINYLOOM_TEAM_H
#define TINYLOOM_TEAM_H

#include "numbers.h"

typedef struct {
  u32 index, count;
} Seat;

typedef struct {
  u32 first, end;
} Span;

/* The contiguous part of `units` that belongs to a seat. */
INLINE Span share_of(u32 units, Seat seat) {
  Span span = {units * seat.index / seat.count, units * (seat.index + 1) / seat.count};
  return span;
}

/* Return when every seat has arrived. */
void meet(Seat seat);

#endif

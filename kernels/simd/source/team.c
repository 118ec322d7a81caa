/* Takes a job; gives it done by all seats. Built without threads, there is one seat.
 *
 * Seats meet at a barrier that spins for a bounded time and then sleeps, so a machine with other
 * work on all its cores is not blocked by waiting: the bound is halved each time that spinning was
 * in vain, and grows slowly while it pays, since to wake a sleeper takes longer than a step. A seat that does not come within the deadline
 * is taken for lost, and the team for failed: nobody waits for it again. */
#include "team.h"

#ifndef TINYLOOM_THREADS

void meet(Seat seat) { (void)seat; }

Span take_part(Team *team, u32 units, u32 size) {
  (void)team, (void)size;
  return all_parts(units);
}

u32 run_job(const Job *job, Team *team) {
  Seat seat;
  seat.index = 0, seat.count = 1, seat.team = team;
  do_job(job, seat);
  return 0;
}

#else

/* All fields are 32-bit words; Python sets `count` and reads `seats_ready`. */
struct Team {
  u32 count;
  i32 seats_ready, failed;
  i32 arrived, round, sleepers;
  i32 order; /* counts the jobs */
  u32 spins; /* how long to spin; changed by all seats without care, it is only a guess */
  Job job;
  /* The first unit of the step that nobody has taken; a cache line away from what others watch. */
  __attribute__((aligned(64))) u32 next;
};

#define FEW_SPINS 20000u
#define MOST_SPINS 400000u /* about 0.4 ms */
#define DEADLINE_NS 2000000000ll
#define NO_DEADLINE (-1ll)
#define TIMED_OUT 2

INLINE i32 read(const i32 *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
INLINE void write(i32 *word, i32 value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

/* Wait until *word is no longer `old`; 0 when the deadline passed first. */
static u32 wait_for_change(Team *team, i32 *word, i32 old, int64_t deadline) {
  u32 spins = team->spins < FEW_SPINS ? FEW_SPINS : team->spins;
  for (u32 i = 0; i < spins; i++) {
    if (read(word) == old) continue;
    team->spins = smaller(spins + spins / 4, MOST_SPINS);
    return 1;
  }
  team->spins = spins / 2;
  while (read(word) == old) {
    __atomic_fetch_add(&team->sleepers, 1, __ATOMIC_SEQ_CST);
    i32 outcome = __builtin_wasm_memory_atomic_wait32(word, old, deadline);
    __atomic_fetch_sub(&team->sleepers, 1, __ATOMIC_SEQ_CST);
    if (outcome == TIMED_OUT && read(word) == old) return 0;
  }
  return 1;
}

static void change(Team *team, i32 *word, i32 value) {
  write(word, value);
  if (read(&team->sleepers)) __builtin_wasm_memory_atomic_notify(word, 0xffffffffu);
}

void meet(Seat seat) {
  Team *team = seat.team;
  if (seat.count == 1 || read(&team->failed)) return;
  i32 round = read(&team->round);
  if (__atomic_fetch_add(&team->arrived, 1, __ATOMIC_SEQ_CST) + 1 == (i32)seat.count) {
    write(&team->arrived, 0);
    __atomic_store_n(&team->next, 0, __ATOMIC_SEQ_CST);
    change(team, &team->round, round + 1);
  } else if (!wait_for_change(team, &team->round, round, DEADLINE_NS)) {
    write(&team->failed, 1);
  }
}

Span take_part(Team *team, u32 units, u32 size) {
  u32 first = __atomic_fetch_add(&team->next, size, __ATOMIC_SEQ_CST);
  Span span = {smaller(first, units), smaller(first + size, units)};
  return span;
}

u32 run_job(const Job *job, Team *team) {
  Seat seat;
  seat.index = 0, seat.team = team, seat.count = team ? team->count : 1;
  if (seat.count > 1) {
    if (read(&team->failed)) return 1;
    team->job = *job;
    __atomic_store_n(&team->next, 0, __ATOMIC_SEQ_CST);
    change(team, &team->order, read(&team->order) + 1);
  }
  do_job(job, seat);
  meet(seat);
  return seat.count > 1 ? (u32)read(&team->failed) : 0;
}

/* What the thread of a seat does until it is ended from outside, or the team fails. */
EXPORT("serve") void serve(Team *team, u32 index) {
  Seat seat;
  seat.index = index, seat.count = team->count, seat.team = team;
  i32 order = read(&team->order);
  __atomic_fetch_add(&team->seats_ready, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    wait_for_change(team, &team->order, order, NO_DEADLINE);
    order++;
    if (read(&team->failed)) return;
    do_job(&team->job, seat);
    meet(seat);
  }
}

#endif

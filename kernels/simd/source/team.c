/* Takes a job; gives it done by all seats. Built without threads, there is one seat.
 *
 * Seats meet at a barrier that spins for a bounded time and then sleeps, so a machine with other
 * work on all its cores is not blocked by waiting. A seat that does not come within the deadline
 * is taken for lost, and the team for failed: nobody waits for it again. */
#include "team.h"

#ifndef TINYLOOM_THREADS

void meet(Seat seat) { (void)seat; }

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
  Job job;
};

#define SPINS 20000
#define DEADLINE_NS 2000000000ll
#define NO_DEADLINE (-1ll)
#define TIMED_OUT 2

INLINE i32 read(const i32 *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
INLINE void write(i32 *word, i32 value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

/* Wait until *word is no longer `old`; 0 when the deadline passed first. */
static u32 wait_for_change(Team *team, i32 *word, i32 old, int64_t deadline) {
  for (u32 i = 0; i < SPINS; i++)
    if (read(word) != old) return 1;
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
    change(team, &team->round, round + 1);
  } else if (!wait_for_change(team, &team->round, round, DEADLINE_NS)) {
    write(&team->failed, 1);
  }
}

u32 run_job(const Job *job, Team *team) {
  Seat seat;
  seat.index = 0, seat.team = team, seat.count = team ? team->count : 1;
  if (seat.count > 1) {
    if (read(&team->failed)) return 1;
    team->job = *job;
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

/* The event loop of the server: its turns, which are the work between two waits, its clock and its
 * log.
 *
 * No function may hold the loop for long: one with more work than fits into its share of a turn
 * does the rest in the next turn.  With POET_TEST_WATCHDOG_MS set, longer turns are logged with
 * the activity that took most of their time, and the longest turn at the end; CPU time of other
 * processes is not counted. */
#ifndef SERVER_EVENTLOOP_EVENT_LOOP_H
#define SERVER_EVENTLOOP_EVENT_LOOP_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#define LOOP_TURN_READ_NS 5000000u  /* messages of all peers */
#define LOOP_TURN_POLL_NS 10000000u /* queues, and what was put off */
#define LOOP_TURN_TELL_NS                                                                          \
    3000000u /* what was taken: a thread that begins waits for the turn's end */
#define LOOP_TURN_LITTLE_NS 750000u /* queues of a run that saves, and keeps only a part */
#define LOOP_TURN_SAVE_NS 3000000u  /* states of runs that are written */
#define LOOP_TURN_WORK_NS 5000000u  /* requests of viewers */

/* Returns the monotonic clock: as it is, or as tests shift it for this server. */
uint64_t loop_monotonic_ns(void);
uint64_t loop_clock_ns(void);
const char *loop_host_name(void); /* what this machine is called */

/* Time that may be spent, from now on. */
struct loop_share {
    uint64_t end_ns;
};
struct loop_share loop_share_new(uint64_t ns);
bool loop_share_left(struct loop_share share);

void loop_turn_watch(struct ev_loop *loop);
void loop_turn_set_activity(const char *what); /* a constant; holds until the next call */
/* Returns whether the time for reading in this turn, shared by all peers, is not used up. */
bool loop_turn_may_read(void);
/* Gives reading this time from now on, however much of the turn is used up. */
void loop_turn_allow_reading(struct loop_share share);
void loop_turn_report(void); /* at the end */

/* Writes a line of the server's log to standard error, with a time; masks unprintable
 * characters. */
void server_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

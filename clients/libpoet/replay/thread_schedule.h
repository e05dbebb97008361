/* A run that is repeated: each thread plays the part that it had (wire/replay_schedule.h).
 *
 * What a thread records is compared with its script, event by event, and takes its number on a line
 * only when the line has come to it.  Calls that take something ask before they do which end the
 * call had, and wait for their turn then:  so what they stand before is there when they ask for
 * it.  Where a thread does something else, or what it waits for can never come, the script is left
 * by all: from there on everybody goes freely. */
#ifndef CLIENTS_LIBPOET_REPLAY_THREAD_SCHEDULE_H
#define CLIENTS_LIBPOET_REPLAY_THREAD_SCHEDULE_H

#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/likely.h"
#include "wire/replay_schedule.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct record;
struct trace_line;

#define THREAD_SCHEDULE_AHEAD 5u

/* Of a thread. */
struct thread_schedule {
    struct schedule_line *line; /* NULL: it has none */
    const struct schedule_event *events;
    uint64_t next, count; /* of them the first that is not met */
    uint32_t met; /* of those from `next` on, as bits */
    bool sought;
    uint32_t before,
        records; /* it had done so many events, by so many records, when its part was found */
    const struct schedule_event
        *now[THREAD_SCHEDULE_AHEAD]; /* those of the record that is being made */
    unsigned now_count;
    /* so much of the input that is recorded of `given_line` was given back (replayed_input.c) */
    uint64_t given;
    uint32_t given_line;
};

extern bool replay_with_remote,
    replay_without_remote; /* with streams of bytes to other machines, or without */
extern bool replay_active; /* there is a script; set at the start and never changed */

void replay_begin(void); /* reads POET_REPLAY */
void replay_program_begin(uint64_t message); /* a program begins, by that message of who made it */

/* A thread is called that now: where it has no part yet, as nobody was seen to make it, that one
 * which was called so in the end is its. */
void thread_schedule_named(struct traced_thread *thread, uint16_t named);

/* ---- what comes next, before a call ---- */

bool thread_schedule_is_enabled(void); /* Do threads that have a part play it? */
/* Does the calling thread play a part, whether or not it is over? */
bool thread_schedule_active(struct traced_thread *thread);
/* The type of its k-th event from here on, k < THREAD_SCHEDULE_AHEAD; TYPE_NONE: its part is over,
 * or it has none. */
enum trace_type thread_schedule_next_type(struct traced_thread *thread, unsigned k);
/* Is there none of its events left? */
bool thread_schedule_is_over(struct traced_thread *thread);
/* Is its next event of that type? */
bool thread_schedule_next_is(struct traced_thread *thread, uint16_t type);
/* Is the k-th from here of that type, and about the line, of those without events, that has the key
 * in all processes (0: whichever)? PERHAPS: nobody has used that line yet. */
enum thread_schedule_match { SCHEDULE_MATCH_NO, SCHEDULE_MATCH_YES, SCHEDULE_MATCH_POSSIBLE };
enum thread_schedule_match thread_schedule_next_is_about(struct traced_thread *thread,
                                                         uint16_t type, uint64_t key, unsigned k);
/* From here on what the next one is about, if it is of that type, has the key. */
void thread_schedule_commit(struct traced_thread *thread, uint16_t type, uint64_t key);
/* Is one of the next few of that type? */
bool thread_schedule_has_next(struct traced_thread *thread, enum trace_type type);
/* Whether its next event, of that type, had that text; else: where it has no such event. */
bool thread_schedule_next_has_text(struct traced_thread *thread, enum trace_type type,
                                   const char *text, bool otherwise);
/* What its next event chose, a choice among `of`; else: where it has no such event.  One among
 * another number is something else: the script is left. */
uint32_t thread_schedule_next_choose(struct traced_thread *thread, uint32_t of, uint32_t otherwise);
/* Whether its next event, of that type, is about that line of a thread, whose beginning it was
 * after: that is waited for. */
bool thread_schedule_next_about_thread(struct traced_thread *thread, enum trace_type type,
                                       const struct trace_line *line);
/* What the thread's ask of that number got, as one of its next events, of that type, says; else:
 * none does. */
uint32_t thread_schedule_choice_result(struct traced_thread *thread, uint16_t type, uint32_t asked,
                                       uint32_t otherwise);
/* Of which ask its next event tells, if it has that type, and what that got; 0: of none. */
uint32_t thread_schedule_next_choice(struct traced_thread *thread, uint16_t type, uint32_t *got,
                                     bool *together);
/* The event of another thread that its next one, of that type, was after by an order edge; {0, 0}:
 * none. */
struct event_id thread_schedule_next_cause(struct traced_thread *thread, enum trace_type type);
/* Waits until what its next event received, if that is of that type, is sent, and gives that back,
 * as this process calls it; {0, 0}: its next event is another one, received nothing that is known,
 * or need not be waited for any more. */
struct event_id thread_schedule_await_send(struct traced_thread *thread, uint16_t type);
/* It is about to receive that: where its next event, of that type, received something else, the
 * script is left. */
void thread_schedule_commit_receive(struct traced_thread *thread, uint16_t type,
                                    struct event_id send);
/* So long it may wait for what its next event needs, at most; UINT_MAX: for ever, since it is
 * debugged. */
unsigned thread_schedule_timeout_ms(struct traced_thread *thread);
bool thread_schedule_next_has_cause(
    struct traced_thread *thread); /* there is one, in whichever process */
/* Waits until the first of the next few of that type may happen.  False: it need not be waited for
 * any more. */
bool thread_schedule_wait(struct traced_thread *thread, uint16_t type);
/* The line of the script that a line is, or that the next event of the thread is about; 0: not
 * known. */
uint32_t thread_schedule_line(struct traced_thread *thread, const struct trace_line *line);
/* The same for whatever is to be done on such a line by a thread whose part is over: until all that
 * others did there is done. */
void thread_schedule_wait_rest(struct traced_thread *thread, uint32_t line);

/* A millisecond; no cancellation point, as the calls that wait here are none. */
void thread_schedule_nap(void);
/* Until one of these bits is set, which another thread is about to do; ten seconds at most. */
void thread_schedule_wait_bits(struct traced_thread *thread, const _Atomic unsigned *bits,
                               unsigned mask);
/* Whether it is known who sent what its next event, of that type, received; in which process, by
 * the system's number, 0: that has not begun yet. */
bool thread_schedule_next_sender(struct traced_thread *thread, enum trace_type type,
                                 uint32_t *process);
/* Before the process ends, until others have done what they did before the thread's last event:
 * nobody may wait for them to end. */
void thread_schedule_wait_others(struct traced_thread *thread);

/* ---- what is done ---- */

/* Before a record takes its numbers. */
void thread_schedule_before_record(struct traced_thread *thread, const struct record *record);
/* Afterwards, with the first numbers that it took on its lines: the lines have come so far.  Where
 * they are others than in the script, it is left. */
void thread_schedule_after_record(struct traced_thread *thread, const struct record *record,
                                  uint64_t first_a, uint64_t first_b);

#pragma GCC visibility pop
#endif

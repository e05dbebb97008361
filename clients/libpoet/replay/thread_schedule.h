/* Replay of a run: each thread follows its recorded schedule (wire/replay_schedule.h).
 *
 * Each record of a thread is compared with its schedule, event by event, and takes its number on a
 * line only when the line has reached that number. Interposed calls that may have several outcomes
 * query the recorded one before the real call, and wait for their turn then: so the state that they
 * need is there when they are made.
 *
 * If a thread does something else, or what it waits for can never come, all threads abandon the
 * schedule and run on unconstrained. */
#ifndef CLIENTS_LIBPOET_REPLAY_THREAD_SCHEDULE_H
#define CLIENTS_LIBPOET_REPLAY_THREAD_SCHEDULE_H

#include "base/likely.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "wire/replay_schedule.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct trace_line;

/* ---- what comes next, before a call ---- */

bool thread_schedule_is_enabled(void); /* Returns whether threads that have a schedule follow it. */
/* Returns whether the calling thread follows a schedule, even if that has ended. thread: may be
 * NULL, then it does not. */
bool thread_schedule_is_found(struct traced_thread *thread);
static inline bool thread_schedule_active(struct traced_thread *thread)
{
    return UNLIKELY(replay_is_active()) && thread && thread_schedule_is_found(thread);
}
/* Returns the type of its k-th event from here on, k < THREAD_SCHEDULE_AHEAD; TYPE_NONE: the
 * schedule of the thread has ended, or it has none. thread: may be NULL. */
enum trace_type thread_schedule_peek_type(struct traced_thread *thread, unsigned k);
static inline enum trace_type thread_schedule_next_type(struct traced_thread *thread, unsigned k)
{
    return UNLIKELY(replay_is_active()) && thread ? thread_schedule_peek_type(thread, k)
                                                  : TYPE_NONE;
}
/* Returns whether none of its events is left. */
bool thread_schedule_is_over(struct traced_thread *thread);
/* Returns whether its next event has that type. */
bool thread_schedule_next_is(struct traced_thread *thread, uint16_t type);
/* Compares the k-th event from here with a type and a line without events, given by the key that it
 * has in all processes (0: any). SCHEDULE_MATCH_POSSIBLE: no thread has used that line yet. */
enum thread_schedule_match { SCHEDULE_MATCH_NO, SCHEDULE_MATCH_YES, SCHEDULE_MATCH_POSSIBLE };
enum thread_schedule_match thread_schedule_next_is_about(struct traced_thread *thread,
                                                         uint16_t type, uint64_t key, unsigned k);
/* From here on the object of the next event, if it has that type, has the key. */
void thread_schedule_commit(struct traced_thread *thread, uint16_t type, uint64_t key);
/* Returns whether one of the next few events has that type. */
bool thread_schedule_has_next(struct traced_thread *thread, enum trace_type type);
/* Returns whether its next event, of that type, had that text; `otherwise` if it has no such
 * event. */
bool thread_schedule_next_has_text(struct traced_thread *thread, enum trace_type type,
                                   const char *text, bool otherwise);
/* Returns whether its next event, of that type, names that thread line as its object and came after
 * the start of that thread; waits for that start. */
bool thread_schedule_next_about_thread(struct traced_thread *thread, enum trace_type type,
                                       const struct trace_line *line);
/* Returns the result of the thread's nondeterministic call of that number, from one of its next
 * events of that type; `otherwise` if none reports it. */
uint32_t thread_schedule_choice_result(struct traced_thread *thread, uint16_t type, uint32_t asked,
                                       uint32_t otherwise);
/* Returns which nondeterministic call its next event reports, if it has that type, and sets its
 * result; 0: none. */
uint32_t thread_schedule_next_choice(struct traced_thread *thread, uint16_t type, uint32_t *got,
                                     bool *together);
/* Returns the event of another thread after which its next event, of that type, came by an order
 * edge; {0, 0}: none. */
struct event_id thread_schedule_next_cause(struct traced_thread *thread, enum trace_type type);
/* Waits until the message that its next event receives, if it has that type, is sent, and returns
 * that send, in codes of this process. Returns {0, 0} if its next event is another one, received
 * nothing that is known, or need not be waited for any more. */
struct event_id thread_schedule_await_send(struct traced_thread *thread, uint16_t type);
/* It is about to receive that message: if its next event, of that type, received another one, the
 * schedule is abandoned. */
void thread_schedule_commit_receive(struct traced_thread *thread, uint16_t type,
                                    struct event_id send);
/* Returns for how many milliseconds it may wait for what its next event needs; UINT_MAX: without
 * limit, since it is debugged. */
unsigned thread_schedule_timeout_ms(struct traced_thread *thread);
/* Returns whether there is one, in any process. */
bool thread_schedule_next_has_cause(struct traced_thread *thread);
/* Waits until the first of the next few events of that type may happen. Returns false if it need
 * not be waited for any more. */
bool thread_schedule_wait(struct traced_thread *thread, uint16_t type);
/* Returns whether the first of the next few events of that type may happen now; of a thread at the
 * end of its schedule, whether thread_schedule_wait_rest would not wait. */
bool thread_schedule_is_turn(struct traced_thread *thread, const struct trace_line *line,
                             uint16_t type);
/* Returns the line of the schedule for a line, or for the object of the next event of the thread;
 * 0: not known. */
uint32_t thread_schedule_line(struct traced_thread *thread, const struct trace_line *line);
/* For an action on such a line by a thread at the end of its schedule: waits until all other
 * threads have done there what is recorded. */
void thread_schedule_wait_rest(struct traced_thread *thread, uint32_t line);

/* A lock request: what was recorded for it, and its result. */
struct thread_schedule_lock {
    enum trace_type got; /* TYPE_NONE: the recording ended before that */
    bool last; /* and it was requested: the thread must wait for it */
    bool requested; /* the request was recorded again */
};
/* Called before a thread requests a lock: records the request if it was recorded. If that had no
 * result, the thread's turn is over when this returns. */
struct thread_schedule_lock thread_schedule_request_lock(struct traced_thread *thread,
                                                         const struct trace_line *line,
                                                         uintptr_t site);

/* Sleeps for a millisecond; not a cancellation point, like the calls that wait here. */
void thread_schedule_nap(void);
/* Waits until one of these bits is set, which another thread is about to do; at most ten
 * seconds. */
void thread_schedule_wait_bits(struct traced_thread *thread, const _Atomic unsigned *bits,
                               unsigned mask);
/* Returns the thread that sent what its next event, of that type, received, 0 if it is not known;
 * and sets its process id, 0 if that process has not begun yet. */
uint32_t thread_schedule_next_sender(struct traced_thread *thread, enum trace_type type,
                                     uint32_t *process);

#pragma GCC visibility pop
#endif

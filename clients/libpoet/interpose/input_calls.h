/* Input: what calls of the program bring from outside (wire/recorded_input.h). */
#ifndef CLIENTS_LIBPOET_INTERPOSE_INPUT_CALLS_H
#define CLIENTS_LIBPOET_INTERPOSE_INPUT_CALLS_H

#include "clients/libpoet/replay/replayed_input.h"
#include "wire/recorded_input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* Finds the interposed functions; must be called before signals arrive. */
void input_call_find_functions(void);
/* Reads POET_INPUT and POET_REPLAY_INPUT. first: this is the first program of the run, whose pipes
 * are external. */
void input_call_begin(bool first);
/* Reports what will not be recorded, once there is a thread that can. */
void input_call_report_stdio(void);
/* The calling thread enters a signal handler, or leaves it (-1). */
void input_call_enter_handler(int enters);

/* ---- for the calls ---- */

extern bool input_call_is_traced, input_call_is_replayed; /* set at the start and never changed */

/* Returns the thread that calls from a site of the program; NULL if the call is not recorded. */
struct traced_thread *input_call_thread(uintptr_t site);

/* Replays the call. Returns true, with result and errno set, if it was recorded. */
bool input_call_replay(struct traced_thread *thread, struct input *call,
                       struct replayed_input *given);
/* Does the same and copies up to `room` bytes of its input. */
bool input_call_replay_bytes(struct traced_thread *thread, struct input *call, void *bytes,
                             size_t room);
/* Records the call when it has returned: its result, or errno if negative, and its bytes. */
void input_call_end(struct traced_thread *thread, struct input *call, int64_t result,
                    const void *bytes, size_t size);

/* Input of a call that is scattered: in leading buffers, then in the program's, up to `size`
 * bytes. */
#define INPUT_FRONT 3
struct input_buffers {
    struct iovec front[INPUT_FRONT];
    const struct iovec *iov;
    size_t count, size;
};
void input_call_end_vector(struct traced_thread *thread, struct input *call, int64_t result,
                           const struct input_buffers *brought);

/* Ends the call without recording: its input was sent on this machine. */
void input_call_end_local(struct traced_thread *thread, struct input *call);

#if defined(POET_STATIC) /* the program may define functions of that name (next_input.h) */
#define INPUT_EXPORTED __attribute__((visibility("default"), weak))
#else
#define INPUT_EXPORTED __attribute__((visibility("default")))
#endif
#define INPUT_CALL_THREAD                                                                          \
    (LIKELY(!input_call_is_traced) ? NULL : input_call_thread(site_of_program(SITE)))

#pragma GCC visibility pop
#endif

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

/* Before signals come: finds what we stand before. */
void input_call_find_functions(void);
/* Reads POET_INPUT, and POET_REPLAY_INPUT.  first: of the run, its pipes are from outside. */
void input_call_begin(bool first);
void input_call_report_stdio(
    void); /* tells what will not be recorded, once there is a thread that can */
void input_call_enter_handler(
    int enters); /* the calling thread is in a signal handler, or leaves it (-1) */

/* ---- for the calls ---- */

extern bool input_call_is_traced, input_call_is_replayed; /* set at the start and never changed */

/* Who calls from a site of the program; NULL: it is not looked at. */
struct traced_thread *input_call_thread(uintptr_t site);

/* Was the call given back?  Then result and errno are there. */
bool input_call_replay(struct traced_thread *thread, struct input *call,
                       struct replayed_input *given);
/* The same, and up to `room` bytes that it brought. */
bool input_call_replay_bytes(struct traced_thread *thread, struct input *call, void *bytes,
                             size_t room);
/* It is over: recorded is its result, errno if that is negative, and so many bytes. */
void input_call_end(struct traced_thread *thread, struct input *call, int64_t result,
                    const void *bytes, size_t size);

/* What a call brought that lies in several places: some in front, and those of a program, as far as
 * `size` goes. */
#define INPUT_FRONT 3
struct input_buffers {
    struct iovec front[INPUT_FRONT];
    const struct iovec *iov;
    size_t count, size;
};
void input_call_end_vector(struct traced_thread *thread, struct input *call, int64_t result,
                           const struct input_buffers *brought);

/* It brought what was sent on this machine, as it turned out. */
void input_call_end_local(struct traced_thread *thread, struct input *call);

#if defined(POET_STATIC) /* the program may have calls of its own of that name (next_input.h) */
#define INPUT_EXPORTED __attribute__((visibility("default"), weak))
#else
#define INPUT_EXPORTED __attribute__((visibility("default")))
#endif
#define INPUT_CALL_THREAD                                                                          \
    (LIKELY(!input_call_is_traced) ? NULL : input_call_thread(site_of_program(SITE)))

#pragma GCC visibility pop
#endif

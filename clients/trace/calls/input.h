/* Input: what calls of the program bring from outside (wire/input.h). */
#ifndef CLIENTS_TRACE_CALLS_INPUT_H
#define CLIENTS_TRACE_CALLS_INPUT_H

#include "clients/trace/replay/given.h"
#include "wire/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

struct thread;

/* Before signals come: finds what we stand before. */
void input_find(void);
/* Reads POET_INPUT, and POET_REPLAY_INPUT.  first: of the run, its pipes are from outside. */
void input_begin(bool first);
void input_streams(void); /* tells what will not be recorded, once there is a thread that can */
void input_handler(int enters); /* the calling thread is in a signal handler, or leaves it (-1) */

/* ---- for the calls ---- */

extern bool input_looks, input_gives; /* set at the start and never changed */

/* Who calls from a site of the program; NULL: it is not looked at. */
struct thread *input_who(uintptr_t site);

/* Was the call given back?  Then result and errno are there. */
bool input_given(struct thread *thread, struct input *call, struct given *given);
/* The same, and up to `room` bytes that it brought. */
bool input_give(struct thread *thread, struct input *call, void *bytes, size_t room);
/* It is over: recorded is its result, errno if that is negative, and so many bytes. */
void input_end(struct thread *thread, struct input *call, int64_t result, const void *bytes,
               size_t size);

/* What a call brought that lies in several places: some in front, and those of a program, as far as `size`
 * goes. */
#define INPUT_FRONT 3
struct brought {
    struct iovec front[INPUT_FRONT];
    const struct iovec *iov;
    size_t count, size;
};
void input_end_of(struct thread *thread, struct input *call, int64_t result,
                  const struct brought *brought);

/* It brought what was sent on this machine, as it turned out. */
void input_end_own(struct thread *thread, struct input *call);

#if defined(POET_STATIC) /* the program may have calls of its own of that name (behind.h) */
#define INPUT_EXPORTED __attribute__((visibility("default"), weak))
#else
#define INPUT_EXPORTED __attribute__((visibility("default")))
#endif
#define INPUT_WHO (LIKELY(!input_looks) ? NULL : input_who(site_of_program(SITE)))

#pragma GCC visibility pop
#endif

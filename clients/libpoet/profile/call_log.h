/* Call log (WANTED_EVERY): when each call began and ended, as words in a ring that the server
 * empties (wire/call_records.h). */
#ifndef CLIENTS_LIBPOET_PROFILE_CALL_LOG_H
#define CLIENTS_LIBPOET_PROFILE_CALL_LOG_H

#include "wire/profile_region.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct thread_profile;
struct call_records_head;

/* The call log of a thread. Written by the thread in call_log.c. */
struct thread_call_log {
    struct call_records_head *ring; /* NULL: not wanted, or not available */
    uint32_t retry; /* how often to skip before the next attempt */
    uint64_t room; /* how many words may have been reserved, at the last look */
    _Atomic uint64_t open; /* calls with an end that will be written, too */
    _Atomic uint64_t lost; /* calls that are missing, not reported yet */
    uint8_t begun[REGION_FRAMES]; /* for each frame: its begin was written */
};

/* A call has begun in a frame, at that time; and the call in a frame has ended. */
void call_log_begin(struct thread_profile *m, const struct profile_region_frame *frame,
                    uint32_t context, uint64_t now);
void call_log_end(struct thread_profile *m, const struct profile_region_frame *frame,
                  uint32_t context, uint64_t now);
/* Leaves the ring to the server when the thread ends; in a child after fork, to the parent. */
void call_log_leave(struct thread_profile *m);
void call_log_forked(struct thread_profile *m);
/* Sets up a ring that no reader empties, to measure the overhead. Returns false if there is no
 * memory. */
bool call_log_rehearse(struct thread_profile *m);

#pragma GCC visibility pop
#endif

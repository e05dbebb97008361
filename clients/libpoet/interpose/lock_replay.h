/* Lock requests in a replayed run: the recorded request and its result. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_LOCK_REPLAY_H
#define CLIENTS_LIBPOET_INTERPOSE_LOCK_REPLAY_H

#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct lock_replay {
    enum trace_type got; /* TYPE_NONE: the recording ended before that */
    bool last; /* and it was requested: the thread must wait for it */
    bool requested; /* the request was recorded again */
};

/* If the recorded request had no result, the thread's turn is over when this returns. */
struct lock_replay lock_replay_requested(struct traced_thread *thread,
                                         const struct trace_line *line, uintptr_t site);

#pragma GCC visibility pop
#endif

/* A lock in a run that is repeated: what was asked for there, and what came of it. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_LOCK_REPLAY_H
#define CLIENTS_LIBPOET_INTERPOSE_LOCK_REPLAY_H

#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct lock_replay {
    enum trace_type got; /* TYPE_NONE: what there was ended before that */
    bool last; /* and it was asked for: the thread is to wait for it */
    bool petitioned; /* that was recorded anew */
};

/* Where nothing came of it the thread has had its turn when this returns. */
struct lock_replay lock_replay_requested(struct traced_thread *thread,
                                         const struct trace_line *line, uintptr_t site);

#pragma GCC visibility pop
#endif

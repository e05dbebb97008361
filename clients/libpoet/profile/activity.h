/* What a thread did since its last record: the steps that it ran (wire/activity_record.h), told
 * with the next one.
 *
 * The thread alone writes it, and handlers that come in between; what such a one meets half done it
 * leaves right, or some of its time is not told, never any twice. */
#ifndef CLIENTS_LIBPOET_PROFILE_ACTIVITY_H
#define CLIENTS_LIBPOET_PROFILE_ACTIVITY_H

#include "clients/libpoet/profile/thread_profile.h"
#include "wire/slot.h"

#pragma GCC visibility push(hidden)

struct activity_step {
    uint64_t ticks;
    uint32_t calls, epoch; /* of another epoch: it is not among those of this one */
};

#define ACTIVITY_REST_STEP (2 * REGION_CONTEXTS)
#define ACTIVITY_BYTES ((ACTIVITY_REST_STEP + 1) * sizeof(struct activity_step))

/* False: there is no memory for it, and no steps are told. */
bool activity_begin(struct thread_profile *m);
void activity_end(struct thread_profile *m);
/* Which step it is in from now on, as it is not among those since the last record. */
void activity_add_segment(struct thread_profile *m, uint32_t step);

static inline uint64_t activity_elapsed(uint64_t from, uint64_t to)
{
    return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* From `now` on it is in that step. */
static inline void activity_switch(struct thread_profile *m, uint64_t now, uint32_t step)
{
    if (!m->did)
        return;
    if (LIKELY(m->stepping))
        m->did[m->at].ticks += activity_elapsed(m->since, now);
    m->stepping = m->moved = true;
    m->since = now;
    m->step = step;
    if (LIKELY(m->did[step].epoch == m->epoch))
        m->at = step;
    else
        activity_add_segment(m, step);
    m->did[m->at].calls++;
}

/* Bytes that are to go with a record that is made now; then, with the time of the record, to write
 * them.  Nothing happens in between but handlers. */
uint32_t activity_size(struct thread_profile *m, bool wanted);
void activity_write(struct thread_profile *m, uint32_t size, uint32_t context, uint64_t now,
                    struct ring_slot *(*at)(void *context, uint64_t i), void *queue);
/* A record without them was made: the thread is in the step that was told last, or nothing can be
 * told of what it did. */
void activity_skip(struct thread_profile *m, uint64_t now);

/* A record must tell of steps. */
static inline bool activity_is_pending(const struct thread_profile *m) { return m->moved; }

#pragma GCC visibility pop
#endif

/* Code segments that a thread has run since its last record (wire/slot.h), reported with
 * the next record. Only the thread and its signal handlers write them; an update that a handler
 * interrupts stays correct, or some of its time is not reported, but none is counted twice. */
#ifndef CLIENTS_LIBPOET_PROFILE_ACTIVITY_H
#define CLIENTS_LIBPOET_PROFILE_ACTIVITY_H

#include "clients/libpoet/profile/thread_profile.h"
#include "wire/slot.h"

#pragma GCC visibility push(hidden)

#define ACTIVITY_REST_STEP (2 * REGION_CONTEXTS)
#define ACTIVITY_BYTES ((ACTIVITY_REST_STEP + 1) * sizeof(struct activity_step))

/* Allocates the segments. Returns false if there is no memory; then none are reported. */
bool activity_begin(struct thread_profile *m);
void activity_end(struct thread_profile *m);
/* Begins a segment that is not yet among those since the last record. */
void activity_add_segment(struct thread_profile *m, uint32_t step);

static inline uint64_t activity_elapsed(uint64_t from, uint64_t to)
{
    return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* The thread is in that segment from `now` on. */
static inline void activity_switch(struct thread_profile *m, uint64_t now, uint32_t step)
{
    if (!m->activity.segments)
        return;
    if (LIKELY(m->activity.known))
        m->activity.segments[m->activity.attributed].ticks +=
            activity_elapsed(m->activity.since, now);
    m->activity.known = m->activity.changed = true;
    m->activity.since = now;
    m->activity.step = step;
    if (LIKELY(m->activity.segments[step].epoch == m->activity.epoch))
        m->activity.attributed = step;
    else
        activity_add_segment(m, step);
    m->activity.segments[m->activity.attributed].calls++;
}

/* Returns the size in bytes of the segments to append to the record that is being made; then they
 * are written, with the time of the record. Only signal handlers may run in between. */
uint32_t activity_size(struct thread_profile *m, bool wanted);
void activity_write(struct thread_profile *m, uint32_t size, uint32_t context, uint64_t now,
                    struct ring_slot *(*at)(void *context, uint64_t i), void *queue);
/* Called when a record was made without segments: the thread stays in the last reported segment, or
 * its activity cannot be reported. */
void activity_skip(struct thread_profile *m, uint64_t now);

/* Returns whether the next record must report segments. */
static inline bool activity_is_pending(const struct thread_profile *m)
{
    return m->activity.changed;
}

#pragma GCC visibility pop
#endif

/* Code segments that a thread has run since its last record. Their sums are in memory of the
 * thread's own, of which only used parts are touched: 16 bytes a segment. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/activity.h"

#include <string.h>
#include <sys/mman.h>

bool activity_begin(struct thread_profile *m)
{
    void *memory = mmap(NULL, ACTIVITY_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    m->activity.segments = memory == MAP_FAILED ? NULL : memory;
    m->activity.epoch = 1;
    m->activity.attributed = ACTIVITY_REST_STEP;
    return m->activity.segments != NULL;
}

void activity_end(struct thread_profile *m)
{
    struct activity_step *segments = m->activity.segments;
    m->activity.segments = NULL;
    m->activity.known = false;
    if (segments)
        munmap(segments, ACTIVITY_BYTES);
}

void activity_add_segment(struct thread_profile *m, uint32_t step)
{
    uint32_t i = m->activity.touched_count;
    if (i >= ACTIVITY_AT_ONCE - 1) {
        m->activity.attributed = ACTIVITY_REST_STEP;
        return;
    }
    m->activity.touched_count = i + 1;
    m->activity.touched[i] = step;
    m->activity.segments[step].ticks = m->activity.segments[step].calls = 0;
    m->activity.segments[step].epoch = m->activity.epoch;
    m->activity.attributed = step;
}

static void activity_reset(struct thread_profile *m)
{
    m->activity.touched_count = 0;
    m->activity.epoch++;
    m->activity.segments[ACTIVITY_REST_STEP] = (struct activity_step){0};
    m->activity.changed = false;
    if (m->activity.known)
        activity_add_segment(m, m->activity.step);
}

uint32_t activity_size(struct thread_profile *m, bool wanted)
{
    if (!m->activity.segments || (!m->activity.changed && (wanted || !m->activity.known)))
        return 0;
    if (!wanted) { /* not any more */
        m->activity.known = false;
        m->activity.touched_count = 0;
    }
    uint32_t rest = m->activity.known && m->activity.attributed == ACTIVITY_REST_STEP;
    return (uint32_t)(sizeof(struct activity_record) +
                      (m->activity.touched_count + rest) * sizeof(struct code_segment));
}

static struct code_segment activity_segment(const struct thread_profile *m, uint32_t step)
{
    const struct activity_step *sum = &m->activity.segments[step];
    return (struct code_segment){step == ACTIVITY_REST_STEP ? ACTIVITY_REST : step, sum->calls,
                                 sum->ticks};
}

/* The current segment comes last. */
static struct code_segment activity_get(const struct thread_profile *m, uint32_t i, uint32_t count)
{
    if (i + 1 == count)
        return activity_segment(m, m->activity.attributed);
    uint32_t step = m->activity.touched[i];
    return activity_segment(m,
                            step == m->activity.attributed ? m->activity.touched[count - 1] : step);
}

void activity_write(struct thread_profile *m, uint32_t size, uint32_t context, uint64_t now,
                    struct ring_slot *(*at)(void *context, uint64_t i), void *queue)
{
    uint32_t count =
        (uint32_t)((size - sizeof(struct activity_record)) / sizeof(struct code_segment));
    struct activity_record head = {
        .context = context, .what = ACTIVITY_STEPS, .count = (uint16_t)count};
    if (m->activity.known)
        m->activity.segments[m->activity.attributed].ticks +=
            activity_elapsed(m->activity.since, now);
    m->activity.since = now;
    memcpy(at(queue, 1), &head, sizeof head);
    for (uint32_t i = 0; i < count; i++) {
        struct code_segment step = activity_get(m, i, count);
        memcpy((char *)at(queue, 1 + (i + 1) / 4) + (i + 1) % 4 * sizeof step, &step, sizeof step);
    }
    activity_reset(m);
}

void activity_skip(struct thread_profile *m, uint64_t now) { m->activity.since = now; }

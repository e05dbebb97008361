/* The steps of a thread since its last record.  Their sums lie in memory of the thread's own, which is touched where
 * they are: 16 bytes a step. */
#define _GNU_SOURCE
#include "clients/trace/measure/did.h"

#include <string.h>
#include <sys/mman.h>

bool did_begin(struct measured *m)
{
    void *memory = mmap(NULL, DID_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    m->did = memory == MAP_FAILED ? NULL : memory;
    m->epoch = 1;
    m->at = DID_REST;
    return m->did != NULL;
}

void did_end(struct measured *m)
{
    struct did_step *did = m->did;
    m->did = NULL;
    m->stepping = false;
    if (did)
        munmap(did, DID_BYTES);
}

void did_touch(struct measured *m, uint32_t step)
{
    uint32_t i = m->touched_count;
    if (i >= MEASURED_AT_ONCE - 1) {
        m->at = DID_REST;
        return;
    }
    m->touched_count = i + 1;
    m->touched[i] = step;
    m->did[step].ticks = m->did[step].calls = 0;
    m->did[step].epoch = m->epoch;
    m->at = step;
}

static void again(struct measured *m)
{
    m->touched_count = 0;
    m->epoch++;
    m->did[DID_REST] = (struct did_step){0};
    m->moved = false;
    if (m->stepping)
        did_touch(m, m->step);
}

uint32_t did_size(struct measured *m, bool wanted)
{
    if (!m->did || (!m->moved && (wanted || !m->stepping)))
        return 0;
    if (!wanted) { /* not any more */
        m->stepping = false;
        m->touched_count = 0;
    }
    uint32_t rest = m->stepping && m->at == DID_REST;
    return (uint32_t)(sizeof(struct measured_head) +
                      (m->touched_count + rest) * sizeof(struct measured_step));
}

static struct measured_step told(const struct measured *m, uint32_t step)
{
    const struct did_step *did = &m->did[step];
    return (struct measured_step){step == DID_REST ? MEASURED_REST : step, did->calls, did->ticks};
}

/* The one in which it is comes last. */
static struct measured_step nth(const struct measured *m, uint32_t i, uint32_t count)
{
    if (i + 1 == count)
        return told(m, m->at);
    uint32_t step = m->touched[i];
    return told(m, step == m->at ? m->touched[count - 1] : step);
}

void did_write(struct measured *m, uint32_t size, uint32_t context, uint64_t now,
               struct slot *(*at)(void *context, uint64_t i), void *queue)
{
    uint32_t count =
        (uint32_t)((size - sizeof(struct measured_head)) / sizeof(struct measured_step));
    struct measured_head head = {
        .context = context, .what = MEASURED_STEPS, .count = (uint16_t)count};
    if (m->stepping)
        m->did[m->at].ticks += did_passed(m->since, now);
    m->since = now;
    memcpy(at(queue, 1), &head, sizeof head);
    for (uint32_t i = 0; i < count; i++) {
        struct measured_step step = nth(m, i, count);
        memcpy((char *)at(queue, 1 + (i + 1) / 4) + (i + 1) % 4 * sizeof step, &step, sizeof step);
    }
    again(m);
}

void did_skip(struct measured *m, uint64_t now) { m->since = now; }

#include "server/run/course.h"

#include "memory/memory.h"
#include "server/run/doing.h"

#include <stdlib.h>

static const struct course_teller *tellers[COURSE_SOURCES] = {
    [COURSE_ORDER] = &doing_teller,
};

void course_told_by(enum course_source source, const struct course_teller *teller)
{
    tellers[source] = teller;
}

struct course {
    struct told {
        struct pyramid *pyramid; /* NULL: nobody asked yet */
        void *state;
        uint64_t known, made; /* made: the teller's number when it began */
    } told[COURSE_SOURCES];
};

static void told_free(struct told *told, enum course_source source)
{
    if (!told->pyramid)
        return;
    tellers[source]->free(told->state);
    pyramid_free(told->pyramid);
    *told = (struct told){0};
}

static void course_free(struct course *course)
{
    for (unsigned i = 0; course && i < COURSE_SOURCES; i++)
        told_free(&course->told[i], i);
    free(course);
}

static struct told *told_of(const struct run *run, enum course_source source)
{
    struct run *cache = (struct run *)(uintptr_t)run; /* nothing that is told of it changes */
    if (!cache->course)
        cache->course = memory_zeroed(1, sizeof *cache->course);
    cache->course_free = course_free;
    struct told *told = &cache->course->told[source];
    if (told->pyramid && told->made != tellers[source]->made(run))
        told_free(told, source);
    if (!told->pyramid)
        *told = (struct told){pyramid_new(), tellers[source]->begin(run), 0,
                              tellers[source]->made(run)};
    return told;
}

bool course_learn(const struct run *run, enum course_source source, uint64_t *budget)
{
    struct told *told = told_of(run, source);
    uint64_t first = order_first(run->order), count = order_count(run->order);
    if (first && source == COURSE_ORDER) /* (others begin anew then) */
        pyramid_forget(told->pyramid, first);
    told->known = told->known < first ? first : told->known;
    while (told->known < count && *budget)
        told->known = tellers[source]->learn(told->state, told->pyramid, told->known, budget);
    return told->known >= count && told->made == tellers[source]->made(run);
}

uint64_t course_known(const struct run *run, enum course_source source)
{
    return run->course ? run->course->told[source].known : 0;
}

const struct pyramid *course_pyramid(const struct run *run, enum course_source source)
{
    return run->course ? run->course->told[source].pyramid : NULL;
}

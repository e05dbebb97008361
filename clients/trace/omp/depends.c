/* Which of its siblings a task depends on.  One thread at a time works with it: that which is in the parent. */
#include "clients/trace/omp/depends.h"

#include "clients/trace/mix.h"

#include <stdlib.h>

#define BUCKETS 64u
#define BEFORE_MOST 4000u

struct place {
    const void *address;
    struct place *next;
    uint64_t writer; /* the last one; 0: none */
    uint64_t *readers; /* since then */
    uint32_t reader_count, reader_room;
};

struct depends {
    struct place *buckets[BUCKETS];
};

struct depends *depends_new(void) { return calloc(1, sizeof(struct depends)); }

void depends_forget(struct depends *d)
{
    for (unsigned i = 0; d && i < BUCKETS; i++) {
        for (struct place *p = d->buckets[i], *next; p; p = next) {
            next = p->next;
            free(p->readers);
            free(p);
        }
        d->buckets[i] = NULL;
    }
}

void depends_free(struct depends *d)
{
    depends_forget(d);
    free(d);
}

static struct place *find(struct depends *d, const void *address)
{
    struct place **at = &d->buckets[mix((uintptr_t)address, 0) % BUCKETS], *p = *at;
    while (p && p->address != address)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct place){.address = address, .next = *at};
    return *at = p;
}

/* Adds one that is not 0 and not the task itself; the list has room for one more afterwards, too. */
static bool add(uint64_t **list, uint32_t *count, uint64_t key, uint64_t task)
{
    if (!key || key == task)
        return true;
    for (uint32_t i = 0; i < *count && i < 16; i++)
        if ((*list)[i] == key)
            return true;
    if (*count == BEFORE_MOST)
        return false;
    if ((*count & (*count - 1)) == 0) { /* 0 or a power of two: as many again, and one */
        uint64_t *more = realloc(*list, (2 * (size_t)*count + 3) * sizeof *more);
        if (!more)
            return false;
        *list = more;
    }
    (*list)[(*count)++] = key;
    return true;
}

static bool add_reader(struct place *p, uint64_t task)
{
    if (p->reader_count == p->reader_room) {
        uint32_t room = p->reader_room ? 2 * p->reader_room : 4;
        uint64_t *more = realloc(p->readers, room * sizeof *more);
        if (!more)
            return false;
        p->readers = more;
        p->reader_room = room;
    }
    p->readers[p->reader_count++] = task;
    return true;
}

bool depends_on(struct depends *d, const void *address, bool writes, uint64_t task,
                uint64_t **before, uint32_t *count)
{
    struct place *p = d ? find(d, address) : NULL;
    bool all = p && add(before, count, p->writer, task);
    for (uint32_t i = 0; p && writes && i < p->reader_count; i++)
        all &= add(before, count, p->readers[i], task);
    if (!p || !task)
        return all;
    if (!writes)
        return p->writer == task || (add_reader(p, task) && all);
    p->writer = task;
    p->reader_count = 0;
    return all;
}

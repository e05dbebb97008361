/* Which of its siblings a task depends on.  One thread at a time works with it: that which is in the parent. */
#include "clients/trace/omp/depends.h"

#include "clients/trace/mix.h"

#include <stdlib.h>

#define BUCKETS 64u
#define BEFORE_MOST 4000u

struct list { /* of keys */
    uint64_t *keys;
    uint32_t count, room;
};

/* Tasks that do alike with a place one after the other are a group: readers, or members of a set; a writer is one by
 * itself.  Who is in a group comes after all of the group before it. */
struct place {
    const void *address;
    struct place *next;
    struct list before, group;
    enum dependence how;
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
            free(p->before.keys);
            free(p->group.keys);
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

static bool join(struct list *group, uint64_t task)
{
    if (group->count == group->room) {
        uint32_t room = group->room ? 2 * group->room : 4;
        uint64_t *more = realloc(group->keys, room * sizeof *more);
        if (!more)
            return false;
        group->keys = more;
        group->room = room;
    }
    group->keys[group->count++] = task;
    return true;
}

static void next_group(struct place *p, enum dependence how)
{
    struct list was = p->before;
    p->before = p->group;
    p->group = was;
    p->group.count = 0;
    p->how = how;
}

bool depends_on(struct depends *d, const void *address, enum dependence how, uint64_t task,
                uint64_t **before, uint32_t *count)
{
    struct place *p = d ? find(d, address) : NULL;
    if (!p)
        return false;
    bool alone = task && p->group.count == 1 && p->group.keys[0] == task;
    bool joins = p->group.count && p->how == how && how != DEPEND_WRITES;
    const struct list *earlier = joins ? &p->before : &p->group;
    bool all = true;
    for (uint32_t i = 0; i < earlier->count; i++)
        all &= add(before, count, earlier->keys[i], task);
    if (!task || (alone && how == DEPEND_READS))
        return all;
    if (!joins && p->group.count)
        next_group(p, how);
    p->how = how;
    return join(&p->group, task) && all;
}

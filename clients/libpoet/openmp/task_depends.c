/* Dependences among sibling tasks. One thread at a time uses it: the one that runs the parent. */
#include "clients/libpoet/openmp/task_depends.h"

#include "clients/libpoet/key_mixing.h"

#include <stdlib.h>

#define BUCKETS 64u
#define BEFORE_MOST 4000u

struct depends_list { /* of keys */
    uint64_t *keys;
    uint32_t count, room;
};

/* Tasks that access a location in the same way one after the other are a group: readers, or members
 * of a set; a writer is a group by itself. Each member of a group comes after all members of the
 * previous one. */
struct depends_place {
    const void *address;
    struct depends_place *next;
    struct depends_list before, group;
    enum dependence how;
};

struct task_dependences {
    struct depends_place *buckets[BUCKETS];
};

struct task_dependences *task_depends_new(void)
{
    return calloc(1, sizeof(struct task_dependences));
}

void task_depends_forget(struct task_dependences *d)
{
    for (unsigned i = 0; d && i < BUCKETS; i++) {
        for (struct depends_place *p = d->buckets[i], *next; p; p = next) {
            next = p->next;
            free(p->before.keys);
            free(p->group.keys);
            free(p);
        }
        d->buckets[i] = NULL;
    }
}

void task_depends_free(struct task_dependences *d)
{
    task_depends_forget(d);
    free(d);
}

static struct depends_place *task_depends_find(struct task_dependences *d, const void *address)
{
    struct depends_place **at = &d->buckets[key_mix((uintptr_t)address, 0) % BUCKETS], *p = *at;
    while (p && p->address != address)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct depends_place){.address = address, .next = *at};
    return *at = p;
}

/* Adds a key that is not 0 and not the task's own; the list has room for one more afterwards,
 * too. */
static bool task_depends_add_key(uint64_t **list, uint32_t *count, uint64_t key, uint64_t task)
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

static bool task_depends_join_group(struct depends_list *group, uint64_t task)
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

static void task_depends_next_group(struct depends_place *p, enum dependence how)
{
    struct depends_list was = p->before;
    p->before = p->group;
    p->group = was;
    p->group.count = 0;
    p->how = how;
}

bool task_depends_add(struct task_dependences *d, const void *address, enum dependence how,
                      uint64_t task, uint64_t **before, uint32_t *count)
{
    struct depends_place *p = d ? task_depends_find(d, address) : NULL;
    if (!p)
        return false;
    /* its access is implied by one that it has made there, by itself */
    bool implied = task && p->group.count == 1 && p->group.keys[0] == task &&
                   (p->how == how || p->how == DEPEND_WRITES);
    bool joins = p->group.count && p->how == how && how != DEPEND_WRITES;
    const struct depends_list *earlier = joins ? &p->before : &p->group;
    bool all = true;
    for (uint32_t i = 0; i < earlier->count; i++)
        all &= task_depends_add_key(before, count, earlier->keys[i], task);
    if (!task || implied)
        return all;
    if (!joins && p->group.count)
        task_depends_next_group(p, how);
    p->how = how;
    return task_depends_join_group(&p->group, task) && all;
}

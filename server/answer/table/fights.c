#include "server/answer/table/fights.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>

#define ALWAYS_SHARE 0.8 /* of the run, that somebody waits for it, where several do */
#define RETAKEN_LEAST 4u /* times that others took it again as one waited */

/* What one thread waited for one object. */
struct fight {
    uint32_t thread, about;
    int64_t ns, longest_ns;
    uint32_t longest; /* wait */
    uint64_t waits;
    int64_t passed_ns, passed_longest_ns; /* in waits in which somebody took it twice and more */
    uint32_t passed_longest; /* wait */
    uint64_t passed; /* how often somebody took it again */
    uint32_t passer; /* the segment of the last who did, in the longest of them */
};

/* When somebody waited for one object. */
struct siege {
    uint32_t about, longest; /* wait */
    int64_t ns, longest_ns;
    int64_t from_ns; /* from here on it is counted */
    uint64_t waits;
};

struct fights {
    struct hinting *hinting;
    struct fight *items;
    uint32_t count;
    size_t room;
    struct map index;
    struct siege *sieges;
    uint32_t siege_count;
    size_t siege_room;
    struct map siege_of;
    uint32_t *seen; /* by thread's index: 1 + the wait in which a segment of it was seen last */
};

static const struct intervals *measured(const struct fights *f)
{
    return f->hinting->view->measured;
}

/* Until somebody gave it back that had it: a lock; or what begins with such a one, as of a semaphore.  (Who waits to be
 * called, and then for a lock, waited to be called.) */
static bool is_fight(const struct intervals *all, const struct wait *w)
{
    return w->about && (w->class == WAIT_EXCLUSION ||
                        (w->count && all->segments[w->segment].class == WAIT_EXCLUSION));
}

static struct fight *fight_of(struct fights *f, uint32_t thread, uint32_t about)
{
    uintptr_t known = (uintptr_t)map_get(&f->index, thread, about);
    if (!known) {
        f->items = grow(f->items, &f->room, f->count + 1, sizeof *f->items);
        f->items[f->count++] = (struct fight){.thread = thread, .about = about};
        known = f->count;
        map_put(&f->index, thread, about, (void *)known);
    }
    return &f->items[known - 1];
}

/* How often in a wait somebody took it who had had it in that wait before; *again: the last segment of such a one. */
static uint32_t count_again(struct fights *f, size_t wait, uint32_t *again)
{
    const struct intervals *all = measured(f);
    const struct wait *w = &all->waits[wait];
    uint32_t passed = 0;
    for (uint32_t i = w->segment; i < w->segment + w->count; i++) {
        const struct course_of *c = intervals_of(all, all->segments[i].thread);
        if (!c)
            continue;
        uint32_t *seen = &f->seen[c - all->threads];
        if (*seen == wait + 1) {
            passed++;
            *again = i;
        }
        *seen = (uint32_t)wait + 1;
    }
    return passed;
}

static void add_wait(struct fights *f, size_t wait, int64_t ns)
{
    const struct wait *w = &measured(f)->waits[wait];
    struct fight *fight = fight_of(f, w->thread, w->about);
    uint32_t again = 0, passed = count_again(f, wait, &again);
    fight->ns += ns;
    fight->waits++;
    if (ns > fight->longest_ns) {
        fight->longest_ns = ns;
        fight->longest = (uint32_t)wait;
    }
    if (!passed)
        return;
    fight->passed += passed;
    fight->passed_ns += ns;
    if (ns > fight->passed_longest_ns) {
        fight->passed_longest_ns = ns;
        fight->passed_longest = (uint32_t)wait;
        fight->passer = again;
    }
}

/* Waits come with the last to end first, so that what of one is not counted yet is before what was. */
static void add_siege(struct fights *f, size_t wait, int64_t ns)
{
    const struct wait *w = &measured(f)->waits[wait];
    const struct table_view *view = f->hinting->view;
    uintptr_t known = (uintptr_t)map_get(&f->siege_of, w->about, 0);
    if (!known) {
        f->sieges = grow(f->sieges, &f->siege_room, f->siege_count + 1, sizeof *f->sieges);
        f->sieges[f->siege_count++] = (struct siege){.about = w->about, .from_ns = view->to_ns};
        known = f->siege_count;
        map_put(&f->siege_of, w->about, 0, (void *)known);
    }
    struct siege *s = &f->sieges[known - 1];
    int64_t from_ns = w->from_ns > view->from_ns ? w->from_ns : view->from_ns,
            until_ns = hinting_until(f->hinting, w->thread),
            to_ns = w->to_ns < s->from_ns ? w->to_ns : s->from_ns;
    to_ns = to_ns < until_ns ? to_ns : until_ns;
    s->ns += to_ns > from_ns ? to_ns - from_ns : 0;
    s->from_ns = from_ns < s->from_ns ? from_ns : s->from_ns;
    s->waits++;
    if (ns > s->longest_ns) {
        s->longest_ns = ns;
        s->longest = (uint32_t)wait;
    }
}

static void find(struct fights *f)
{
    const struct intervals *all = measured(f);
    for (size_t i = all->wait_count; i-- > 0;) {
        const struct wait *w = &all->waits[i];
        int64_t ns = is_fight(all, w) ? hinting_wait_ns(f->hinting, w) : 0;
        if (!ns || !table_wants(f->hinting->view, w->thread))
            continue;
        add_wait(f, i, ns);
        add_siege(f, i, ns);
    }
}

/* ---- one hint an object ---- */

/* Of all threads that wait much for it: the one that waits most is named. */
static void add_lock(struct fights *f, const struct fight *all, const struct fight *worst,
                     uint32_t threads, int64_t lives_ns)
{
    const struct wait *w = &measured(f)->waits[worst->longest];
    enum hint_kind kind = w->class == WAIT_EXCLUSION ? HINT_LOCK : HINT_GIVEN;
    struct table_cell *cells = hinting_add(f->hinting, kind, threads, worst->thread, all->ns,
                                           lives_ns, table_event(f->hinting->view, w->begin));
    if (!cells)
        return;
    if (w->count)
        hinting_release(f->hinting, cells, &measured(f)->segments[w->segment + w->count - 1]);
    hinting_wait(f->hinting, cells, w, all->waits);
}

/* Of an object that several wait much for. */
static void look_at_siege(struct fights *f, uint32_t about)
{
    const struct siege *s = &f->sieges[(uintptr_t)map_get(&f->siege_of, about, 0) - 1];
    const struct wait *w = &measured(f)->waits[s->longest];
    if (s->ns < FEW_NS || (double)s->ns < ALWAYS_SHARE * (double)f->hinting->run_ns)
        return;
    struct table_cell *cells =
        hinting_add(f->hinting, HINT_ALWAYS, 1, w->thread, s->ns, f->hinting->run_ns,
                    table_event(f->hinting->view, w->begin));
    if (cells)
        hinting_wait(f->hinting, cells, w, s->waits);
}

static int by_object(const void *a, const void *b)
{
    const struct fight *x = a, *y = b;
    return x->about != y->about ? (x->about < y->about ? -1 : 1)
           : x->ns != y->ns     ? (x->ns > y->ns ? -1 : 1)
                                : 0;
}

static void look_at_locks(struct fights *f)
{
    if (f->count)
        qsort(f->items, f->count, sizeof *f->items, by_object);
    for (uint32_t i = 0, end; i < f->count; i = end) {
        const struct fight *worst = &f->items[i];
        struct fight all = {.about = worst->about};
        uint32_t threads = 0;
        int64_t lives_ns = 0;
        for (end = i; end < f->count && f->items[end].about == worst->about; end++) {
            const struct fight *one = &f->items[end];
            int64_t life_ns = hinting_life(f->hinting, one->thread);
            if (one->ns < FEW_NS || (double)one->ns < LIFE_SHARE * (double)life_ns)
                continue;
            all.ns += one->ns;
            all.waits += one->waits;
            lives_ns += life_ns;
            threads++;
        }
        if (threads)
            add_lock(f, &all, worst, threads, lives_ns);
        if (threads > 1)
            look_at_siege(f, all.about);
    }
}

/* The one of an object's waiters that it was kept from longest: they stand together. */
static void look_at_retaken(struct fights *f)
{
    for (uint32_t i = 0, end; i < f->count; i = end) {
        const struct fight *worst = &f->items[i];
        for (end = i; end < f->count && f->items[end].about == f->items[i].about; end++)
            if (f->items[end].passed_ns > worst->passed_ns)
                worst = &f->items[end];
        int64_t life_ns = hinting_life(f->hinting, worst->thread);
        if (worst->passed < RETAKEN_LEAST || worst->passed_ns < FEW_NS ||
            (double)worst->passed_ns < LIFE_SHARE * (double)life_ns)
            continue;
        const struct wait *w = &measured(f)->waits[worst->passed_longest];
        struct table_cell *cells =
            hinting_add(f->hinting, HINT_RETAKEN, 1, worst->thread, worst->passed_ns, life_ns,
                        table_event(f->hinting->view, w->begin));
        if (!cells)
            return;
        hinting_release(f->hinting, cells, &measured(f)->segments[worst->passer]);
        hinting_wait(f->hinting, cells, w, worst->passed);
    }
}

void fights_look(struct hinting *hinting)
{
    struct fights f = {.hinting = hinting};
    f.seen = memory_zeroed(hinting->view->measured->thread_count + 1, sizeof *f.seen);
    find(&f);
    look_at_locks(&f);
    look_at_retaken(&f);
    free(f.seen);
    free(f.items);
    free(f.sieges);
    map_free(&f.index);
    map_free(&f.siege_of);
}

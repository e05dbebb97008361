#include "server/timing/placements.h"

#include "base/lower_bound.h"
#include "base/map.h"
#include "base/alloc.h"
#include "wire/limits.h"

#include <stdlib.h>

#define PLACEMENT_INTERVALS_MAX ((size_t)4 << 20) /* maximum for all tasks, 24 bytes each */
/* placements of a task, from the newest on, that are searched for an open one */
#define LATE_MOST 4096u

struct task_placements {
    uint32_t line; /* 0: not known yet */
    struct placement_interval *items;
    size_t count, room;
};

struct placements {
    struct map tasks; /* session, code -> struct task_placements */
    struct map lines; /* line -> struct task_placements */
    struct map numbers; /* session, number -> carrier */
    struct placement_carrier *carriers;
    size_t carrier_count, carrier_room;
    size_t count;
    uint64_t lost;
    bool full; /* some were dropped at the limit */
};

struct placements *placements_new(void) { return xcalloc(1, sizeof(struct placements)); }

void placements_free(struct placements *all)
{
    if (!all)
        return;
    for (struct map_walk walk = {.map = &all->tasks}; map_next(&walk);) {
        free(((struct task_placements *)walk.value)->items);
        free(walk.value);
    }
    for (size_t i = 0; i < all->carrier_count; i++) {
        free(all->carriers[i].name);
        free(all->carriers[i].cluster);
    }
    free(all->carriers);
    map_free(&all->tasks);
    map_free(&all->lines);
    map_free(&all->numbers);
    free(all);
}

/* ---- filling ---- */

uint32_t placements_carrier(struct placements *all, uint32_t session, uint32_t number)
{
    uintptr_t on = (uintptr_t)map_get(&all->numbers, session, number);
    if (on || all->carrier_count >= LIMIT_CARRIERS)
        return (uint32_t)on;
    all->carriers = array_reserve(all->carriers, &all->carrier_room, all->carrier_count + 1,
                                  sizeof *all->carriers);
    all->carriers[all->carrier_count++] = (struct placement_carrier){.session = session,
                                                                     .number = number,
                                                                     .until_ns = INT64_MIN,
                                                                     .name = xstrdup(""),
                                                                     .cluster = xstrdup("")};
    on = all->carrier_count;
    map_put(&all->numbers, session, number, (void *)on);
    return (uint32_t)on;
}

void placements_name_carrier(struct placements *all, uint32_t on, uint32_t tid, const char *name,
                             const char *cluster)
{
    if (!on || on > all->carrier_count)
        return;
    struct placement_carrier *carrier = &all->carriers[on - 1];
    carrier->tid = tid;
    free(carrier->name);
    free(carrier->cluster);
    carrier->name = xstrdup(name);
    carrier->cluster = xstrdup(cluster);
}

void placements_set_task_line(struct placements *all, uint32_t session, uint32_t code,
                              uint32_t line)
{
    struct task_placements *t = map_get(&all->tasks, session, code);
    if (!t || t->line || !line)
        return;
    t->line = line;
    map_put(&all->lines, line, 0, t);
}

static struct task_placements *task_of(struct placements *all, uint32_t session, uint32_t code)
{
    struct task_placements *t = map_get(&all->tasks, session, code);
    if (!t)
        map_put(&all->tasks, session, code, t = xcalloc(1, sizeof *t));
    return t;
}

/* Returns the index of the open placement on a worker thread; the count if there is none. */
static size_t placements_open_on_carrier(const struct task_placements *t, uint32_t on)
{
    for (size_t i = t->count; i > 0 && t->count - i < LATE_MOST; i--)
        if (t->items[i - 1].on == on && t->items[i - 1].to_ns == PLACEMENT_OPEN)
            return i - 1;
    return t->count;
}

/* Inserts a placement by its begin, as the records of two worker threads are received one after
 * the other. */
static void placements_insert(struct placements *all, struct task_placements *t,
                              struct placement_interval interval)
{
    if (all->count >= PLACEMENT_INTERVALS_MAX) {
        all->lost++;
        all->full = true;
        return;
    }
    t->items = array_reserve(t->items, &t->room, t->count + 1, sizeof *t->items);
    size_t at = t->count++;
    for (; at && t->items[at - 1].from_ns > interval.from_ns; at--)
        t->items[at] = t->items[at - 1];
    t->items[at] = interval;
    all->count++;
}

/* Drops the open placement on a worker thread, as its end is not known. */
static void placements_drop_open(struct placements *all, struct task_placements *t, uint32_t on)
{
    size_t i = placements_open_on_carrier(t, on);
    if (i == t->count)
        return;
    for (t->count--; i < t->count; i++)
        t->items[i] = t->items[i + 1];
    all->count--;
}

static void placements_end_placement(struct placements *all, const struct placement_switch *record)
{
    struct task_placements *t = task_of(all, record->session, record->ends);
    size_t i = placements_open_on_carrier(t, record->on);
    if (i < t->count) {
        t->items[i].to_ns =
            record->at_ns > t->items[i].from_ns ? record->at_ns : t->items[i].from_ns;
        t->items[i].left = record->left;
    } else if (record->since_ns <= record->at_ns) {
        placements_insert(
            all, t,
            (struct placement_interval){record->since_ns, record->at_ns, record->on, record->left});
    }
    placements_set_task_line(all, record->session, record->ends, record->ends_line);
}

static void note_time(struct placement_carrier *carrier, const struct placement_switch *record)
{
    if (record->at_ns < carrier->until_ns && !carrier->crossed++) {
        carrier->crossed_is = record->at_ns;
        carrier->crossed_should = carrier->until_ns;
        carrier->crossed_line = record->begins_line;
    }
    carrier->until_ns = record->at_ns > carrier->until_ns ? record->at_ns : carrier->until_ns;
}

void placements_switched(struct placements *all, struct placement_switch record)
{
    struct placement_carrier *carrier = &all->carriers[record.on - 1];
    note_time(carrier, &record);
    all->lost += record.lost;
    if (record.lost && carrier->task)
        placements_drop_open(all, task_of(all, record.session, carrier->task), record.on);
    else if (record.ends)
        placements_end_placement(all, &record);
    carrier->task = record.begins;
    if (!record.begins)
        return;
    struct task_placements *t = task_of(all, record.session, record.begins);
    placements_insert(all, t,
                      (struct placement_interval){record.at_ns, PLACEMENT_OPEN, record.on, 0});
    placements_set_task_line(all, record.session, record.begins, record.begins_line);
}

/* ---- reading ---- */

const struct placement_interval *placements_for_task(const struct placements *all, uint32_t task,
                                                     size_t *count)
{
    const struct task_placements *t = all ? map_get(&all->lines, task, 0) : NULL;
    *count = t ? t->count : 0;
    return t ? t->items : NULL;
}

const struct placement_carrier *placements_carrier_at(const struct placements *all, uint32_t on)
{
    return all && on && on <= all->carrier_count ? &all->carriers[on - 1] : NULL;
}

size_t placements_overlap(const struct placement_interval *all, size_t count, size_t from)
{
    for (size_t i = from ? from : 1; i < count; i++)
        if (all[i - 1].to_ns > all[i].from_ns && all[i - 1].to_ns != PLACEMENT_OPEN)
            return i;
    return count;
}

uint32_t placements_carriers(const struct placements *all)
{
    return all ? (uint32_t)all->carrier_count : 0;
}

uint64_t placements_limit(const struct placements *all)
{
    return all && all->full ? PLACEMENT_INTERVALS_MAX : 0;
}

uint64_t placements_lost(const struct placements *all) { return all ? all->lost : 0; }

/* Returns how many placements begin at or before a time; *near: the previous result. */
static size_t begun_before(const struct placement_interval *all, size_t count, int64_t at_ns,
                           size_t *near)
{
    size_t low = *near, high = count;
    if (low > count || (low && all[low - 1].from_ns > at_ns))
        low = 0;
    if (low < high && all[low].from_ns > at_ns)
        return low;
    low = LOWER_BOUND(i, low, high, all[i].from_ns <= at_ns);
    return *near = low;
}

/* A placement without a recorded end ends where the next one begins, at the latest. */
void placements_visit(const struct placement_interval *all, size_t count, size_t *near,
                      int64_t from_ns, int64_t to_ns,
                      void (*visit)(void *context, uint32_t on, uint32_t left, int64_t from_ns,
                                    int64_t to_ns),
                      void *context)
{
    size_t next = begun_before(all, count, from_ns, near);
    while (from_ns < to_ns) {
        const struct placement_interval *interval = next ? &all[next - 1] : NULL;
        int64_t until = next < count && all[next].from_ns < to_ns ? all[next].from_ns : to_ns,
                left = interval && interval->to_ns < until ? interval->to_ns : until;
        if (interval && left > from_ns) {
            visit(context, interval->on, next > 1 ? all[next - 2].left : 0, from_ns, left);
            from_ns = left;
        }
        if (until > from_ns)
            visit(context, 0, interval ? interval->left : 0, from_ns, until);
        from_ns = until;
        next++;
    }
}

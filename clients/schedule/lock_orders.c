#define _GNU_SOURCE
#include "clients/schedule/lock_orders.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/text_hash.h"

#include <stdlib.h>
#include <string.h>

/* Orders with the same held lock. */
struct lock_node {
    char *name;
    uint32_t *orders, order_count; /* indices of those in which it is held */
    uint32_t *after, after_count; /* locks that are intended to be acquired later */
};

struct lock_orders {
    struct lock_node *locks;
    size_t lock_count, lock_room;
    struct map by_name, known;
    struct acquisition_order *orders;
    size_t order_count, order_room;
};

struct lock_orders *lock_orders_new(void) { return xcalloc(1, sizeof(struct lock_orders)); }

void lock_orders_free(struct lock_orders *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->lock_count; i++) {
        free(o->locks[i].name);
        free(o->locks[i].orders);
        free(o->locks[i].after);
    }
    for (size_t i = 0; i < o->order_count; i++) {
        free((char *)(uintptr_t)o->orders[i].thread);
        free((char *)(uintptr_t)o->orders[i].text);
    }
    map_free(&o->by_name);
    map_free(&o->known);
    free(o->locks);
    free(o->orders);
    free(o);
}

static uint64_t lock_orders_hash(uint64_t hash, const char *text)
{
    return text_hash_add(hash, text, strlen(text) + 1);
}

uint32_t lock_orders_lock(struct lock_orders *o, const char *name)
{
    uint64_t hash = lock_orders_hash(TEXT_HASH_EMPTY, name);
    uintptr_t known = (uintptr_t)map_get(&o->by_name, hash, strlen(name));
    if (!known) {
        o->locks = array_reserve(o->locks, &o->lock_room, o->lock_count + 1, sizeof *o->locks);
        o->locks[o->lock_count++] = (struct lock_node){.name = xstrdup(name)};
        known = o->lock_count;
        map_put(&o->by_name, hash, strlen(name), (void *)known);
    }
    return (uint32_t)(known - 1);
}

const char *lock_orders_name(const struct lock_orders *o, uint32_t lock)
{
    return o->locks[lock].name;
}

void lock_orders_add(struct lock_orders *o, const struct acquisition_order *order)
{
    uint64_t hash = lock_orders_hash(TEXT_HASH_EMPTY, order->thread);
    hash = text_hash_add(hash, (const char *)&order->run, sizeof order->run);
    hash =
        text_hash_add(hash, (const char *)order->outer, order->outer_count * sizeof *order->outer);
    uint64_t locks = (uint64_t)order->held << 32 | order->requested;
    if (order->held == order->requested || map_get(&o->known, hash, locks))
        return;
    map_put(&o->known, hash, locks, o);
    struct lock_node *node = &o->locks[order->held];
    ARRAY_PUSH(node->orders, node->order_count, (uint32_t)o->order_count);
    o->orders = array_reserve(o->orders, &o->order_room, o->order_count + 1, sizeof *o->orders);
    o->orders[o->order_count] = *order;
    o->orders[o->order_count].thread = xstrdup(order->thread);
    o->orders[o->order_count++].text = xstrdup(order->text);
}

/* ---- cycles ---- */

struct lock_search {
    const struct lock_orders *of;
    bool of_one_run; /* cycles of one run are only noted: they are found without other runs */
    struct lock_cycle path, *cycles;
    uint32_t cycle_count;
    struct map found; /* by hash of the locks */
};

static bool lock_order_has_outer(const struct acquisition_order *a, uint32_t lock)
{
    for (unsigned i = 0; i < a->outer_count; i++)
        if (a->outer[i] == lock)
            return true;
    return false;
}

/* Returns whether two orders of a cycle can be performed at the same time. */
static bool lock_orders_may_overlap(const struct acquisition_order *a,
                                    const struct acquisition_order *b)
{
    for (unsigned i = 0; i < a->outer_count; i++)
        if (lock_order_has_outer(b, a->outer[i]))
            return false;
    return strcmp(a->thread, b->thread) != 0 || (!a->single && !b->single);
}

static bool lock_cycle_may_extend(const struct lock_search *s,
                                  const struct acquisition_order *order)
{
    for (unsigned i = 0; i < s->path.count; i++)
        if (s->path.orders[i]->held == order->held ||
            !lock_orders_may_overlap(s->path.orders[i], order))
            return false;
    return true;
}

static bool lock_cycle_is_of_one_run(const struct lock_cycle *cycle)
{
    for (unsigned i = 1; i < cycle->count; i++)
        if (cycle->orders[i]->run != cycle->orders[0]->run)
            return false;
    return true;
}

/* Adds the path as a cycle, unless there is one of the same locks. */
static void lock_search_add(struct lock_search *s)
{
    uint64_t sum = 0, product = 1;
    for (unsigned i = 0; i < s->path.count; i++) {
        sum += s->path.orders[i]->held;
        product *= 2 * (uint64_t)s->path.orders[i]->held + 1;
    }
    if (lock_cycle_is_of_one_run(&s->path) != s->of_one_run || map_get(&s->found, sum, product))
        return;
    map_put(&s->found, sum, product, s);
    if (!s->of_one_run)
        ARRAY_PUSH(s->cycles, s->cycle_count, s->path);
}

/* Extends the path from the lock that its last order requests; the first lock is the least. */
static void lock_search_extend(struct lock_search *s, uint32_t first)
{
    const struct acquisition_order *last = s->path.orders[s->path.count - 1];
    const struct lock_node *node = &s->of->locks[last->requested];
    if (last->requested == first) {
        lock_search_add(s);
        return;
    }
    if (s->path.count == LOCK_CYCLE_MOST || last->requested < first)
        return;
    for (uint32_t i = 0; i < node->order_count; i++) {
        const struct acquisition_order *order = &s->of->orders[node->orders[i]];
        if (!lock_cycle_may_extend(s, order))
            continue;
        s->path.orders[s->path.count++] = order;
        lock_search_extend(s, first);
        s->path.count--;
    }
}

static void lock_search_run(struct lock_search *s, bool of_one_run)
{
    s->of_one_run = of_one_run;
    for (size_t i = 0; i < s->of->order_count; i++) {
        s->path = (struct lock_cycle){.orders = {&s->of->orders[i]}, .count = 1};
        lock_search_extend(s, s->of->orders[i].held);
    }
}

struct lock_cycle *lock_orders_cycles(const struct lock_orders *o, uint32_t *count)
{
    struct lock_search s = {.of = o};
    lock_search_run(&s, true);
    lock_search_run(&s, false);
    map_free(&s.found);
    *count = s.cycle_count;
    return s.cycles;
}

/* ---- intended orders ---- */

/* Returns whether the intended orders say that `later` is acquired after `lock`. */
static bool lock_is_intended_before(const struct lock_orders *o, uint32_t lock, uint32_t later,
                                    bool *seen)
{
    if (seen[lock])
        return false;
    seen[lock] = true;
    for (uint32_t i = 0; i < o->locks[lock].after_count; i++)
        if (o->locks[lock].after[i] == later ||
            lock_is_intended_before(o, o->locks[lock].after[i], later, seen))
            return true;
    return false;
}

static bool lock_orders_intend(const struct lock_orders *o, uint32_t lock, uint32_t later)
{
    bool *seen = xcalloc(o->lock_count, sizeof *seen);
    bool is = lock_is_intended_before(o, lock, later, seen);
    free(seen);
    return is;
}

/* Reads a line; returns false if it contradicts an earlier one, or has one lock only. */
static bool lock_orders_read_line(struct lock_orders *o, char *line)
{
    uint32_t before = UINT32_MAX;
    unsigned count = 0;
    for (char *word; (word = strsep(&line, " \t\r")) != NULL;) {
        if (!*word)
            continue;
        uint32_t lock = lock_orders_lock(o, word);
        if (count++ && (lock == before || lock_orders_intend(o, lock, before)))
            return false;
        if (before != UINT32_MAX)
            ARRAY_PUSH(o->locks[before].after, o->locks[before].after_count, lock);
        before = lock;
    }
    return count != 1;
}

bool lock_orders_read(struct lock_orders *o, const char *text, unsigned *line)
{
    char *copy = xstrdup(text), *rest = copy;
    bool good = true;
    *line = 0;
    for (char *each; good && (each = strsep(&rest, "\n")) != NULL;) {
        ++*line;
        each[strcspn(each, "#")] = 0;
        good = lock_orders_read_line(o, each);
    }
    free(copy);
    return good;
}

const struct acquisition_order **lock_orders_violations(const struct lock_orders *o,
                                                        uint32_t *count)
{
    const struct acquisition_order **found = NULL;
    struct map pairs = {0};
    *count = 0;
    for (size_t i = 0; i < o->order_count; i++) {
        const struct acquisition_order *order = &o->orders[i];
        if (map_get(&pairs, order->held, order->requested) ||
            !lock_orders_intend(o, order->requested, order->held))
            continue;
        map_put(&pairs, order->held, order->requested, &pairs);
        ARRAY_PUSH(found, *count, order);
    }
    map_free(&pairs);
    return found;
}

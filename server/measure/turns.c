#include "server/measure/turns.h"

#include "memory/memory.h"

#include <stdlib.h>

void turns_free(struct turns *t) { free(t->items); }

void turns_add(struct turns *t, struct turn turn)
{
    t->items = grow(t->items, &t->room, t->count + 1, sizeof *t->items);
    t->items[t->count++] = turn;
}

/* How many of them come no later than a time; *near: the answer of last time. */
static size_t turns_before(const struct turns *t, int64_t at_ns, size_t *near)
{
    size_t low = *near, high = t->count, by = 1;
    if (low > high || (low && t->items[low - 1].at_ns > at_ns))
        low = 0;
    while (low + by < high && t->items[low + by].at_ns <= at_ns) /* it is mostly near */
        by *= 2;
    high = low + by < high ? low + by + 1 : high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->items[middle].at_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return *near = low;
}

/* Before its first switch it did whatever that one put an end to. */
static enum span_is is_after(const struct turns *t, size_t turns)
{
    static const uint8_t is[SWITCHED_KINDS] = {[SWITCHED_ON] = SPAN_RUNNING,
                                               [SWITCHED_OUT] = SPAN_READY,
                                               [SWITCHED_ASLEEP] = SPAN_SYSTEM,
                                               [SWITCHED_LOST] = SPAN_RUNNING};
    if (turns)
        return is[t->items[turns - 1].what];
    return t->items[0].what == SWITCHED_ON ? SPAN_READY : SPAN_RUNNING;
}

/* On which processor it ran: where it went to, or, before its first switch, where it went from. */
static uint32_t cpu_after(const struct turns *t, size_t turns)
{
    const struct turn *turn = &t->items[turns ? turns - 1 : 0];
    bool told = turn->cpu != TURN_NO_CPU && is_after(t, turns) == SPAN_RUNNING &&
                turn->what != SWITCHED_LOST;
    return told ? 1u + turn->cpu : 0;
}

struct visitor {
    void (*visit)(void *context, enum span_is is, int64_t from_ns, int64_t to_ns);
    void *context;
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void turns_visit(const struct turns *t, struct spans_walk *walk, int64_t from_ns, int64_t to_ns,
                 void (*visit)(void *context, enum span_is is, int64_t from_ns, int64_t to_ns),
                 void *context)
{
    for (size_t i = turns_before(t, from_ns, &walk->near); from_ns < to_ns; i++) {
        int64_t until = i < t->count ? least(t->items[i].at_ns, to_ns) : to_ns;
        walk->on = cpu_after(t, i);
        if (until > from_ns)
            visit(context, is_after(t, i), from_ns, until);
        from_ns = until > from_ns ? until : from_ns;
        walk->near = i;
    }
}

/* ---- stays ---- */

struct staying {
    struct spans_walk *walk;
    struct visitor v;
};

static void stayed(void *context, uint32_t on, int64_t from_ns, int64_t to_ns)
{
    struct staying *s = context;
    s->walk->on = on;
    s->v.visit(s->v.context, on ? SPAN_RUNNING : SPAN_READY, from_ns, to_ns);
}

void turns_visit_stays(
    const struct stays *all, uint32_t task, struct spans_walk *walk, int64_t from_ns, int64_t to_ns,
    void (*visit)(void *context, enum span_is is, int64_t from_ns, int64_t to_ns), void *context)
{
    size_t count;
    const struct stay *stays = stays_of(all, task, &count);
    struct staying staying = {walk, {visit, context}};
    stays_visit(stays, count, &walk->near, from_ns, to_ns, stayed, &staying);
}

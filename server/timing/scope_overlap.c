#include "server/timing/scope_overlap.h"

#include "base/alloc.h"

#include <stdlib.h>

struct scope_overlap_thread {
    const uint32_t *scope_of;
    size_t context_count;
    struct call_entries_walk walk;
    struct call_entry_seen next; /* the next record, if there is one */
    uint32_t *open; /* by scope: number of open calls */
    bool done;
};

void scope_overlap_add(struct scope_overlap *o, const struct call_entries_thread *thread,
                       const uint32_t *scope_of, size_t context_count)
{
    uint64_t from_ns = o->from_ns > 0 ? (uint64_t)o->from_ns : 0;
    o->threads = xreallocarray(o->threads, o->thread_count + 1, sizeof *o->threads);
    o->threads[o->thread_count++] =
        (struct scope_overlap_thread){.scope_of = scope_of,
                                      .context_count = context_count,
                                      .walk = call_entries_walk(thread, from_ns),
                                      .open = xcalloc(o->scopes + 1, sizeof(uint32_t))};
}

static uint32_t scope_of(const struct scope_overlap *o, const struct scope_overlap_thread *t,
                         uint32_t context)
{
    uint32_t scope = context < t->context_count ? t->scope_of[context] : 0;
    return scope < o->scopes ? scope : 0;
}

/* ---- scopes that are open together ---- */

static void scope_overlap_apply_entry(struct scope_overlap *o, uint32_t scope, int64_t now)
{
    struct scope_overlap_sums *s = &o->sums[scope];
    uint32_t others = o->with ? o->sums[o->with].threads : 0;
    bool alone = others == 1 && s->threads == 1 && s->both == 1,
         together = others && s->threads && !alone;
    if (scope == o->with)
        together = others > 1;
    if (together && !s->together)
        s->together_since_ns = now;
    else if (!together && s->together)
        s->together_ns += now - s->together_since_ns;
    s->together = together;
}

/* Notes that a thread begins or ends to have a scope open. */
static void scope_overlap_set_open(struct scope_overlap *o, const struct scope_overlap_thread *t,
                                   uint32_t scope, bool open, int64_t now)
{
    struct scope_overlap_sums *s = &o->sums[scope];
    s->thread_ns += open ? -now : now;
    if (open && !s->threads++)
        s->since_ns = now;
    else if (!open && !--s->threads)
        s->elapsed_ns += now - s->since_ns;
    uint32_t step = open ? 1 : UINT32_MAX;
    if (o->with && scope != o->with && t->open[o->with])
        s->both += step;
    if (scope == o->with)
        for (uint32_t i = 1; i < o->scopes; i++) {
            if (i != scope && t->open[i])
                o->sums[i].both += step;
            if (o->sums[i].threads || o->sums[i].together)
                scope_overlap_apply_entry(o, i, now);
        }
    scope_overlap_apply_entry(o, scope, now);
}

static void begin_call(struct scope_overlap *o, struct scope_overlap_thread *t, uint32_t context,
                       int64_t now)
{
    uint32_t scope = scope_of(o, t, context);
    if (!scope)
        return;
    o->sums[scope].calls++;
    if (!t->open[scope]++)
        scope_overlap_set_open(o, t, scope, true, now);
}

static void end_call(struct scope_overlap *o, struct scope_overlap_thread *t, uint32_t context,
                     int64_t now)
{
    uint32_t scope = scope_of(o, t, context);
    if (scope && t->open[scope] && !--t->open[scope])
        scope_overlap_set_open(o, t, scope, false, now);
}

/* ---- sweep over all threads ---- */

/* Reads the thread's next record; returns false if there is none, not even after the range. */
static bool scope_overlap_fetch_entry(struct scope_overlap *o, struct scope_overlap_thread *t)
{
    bool any = call_entries_next(&t->walk, &t->next);
    t->done = !any || (int64_t)t->next.entry.time_ns >= o->to_ns;
    return any;
}

/* Reads the records before the range, which only determine the scopes that are open at its
 * begin. */
static void begin_thread(struct scope_overlap *o, struct scope_overlap_thread *t)
{
    bool any;
    while ((any = scope_overlap_fetch_entry(o, t)) && (int64_t)t->next.entry.time_ns < o->from_ns)
        ;
    bool begins = any && t->next.entry.is == CALL_RECORD_BEGINS,
         ends = any && t->next.entry.is == CALL_RECORD_ENDED && t->next.entry.context;
    size_t count = t->walk.open_count - (begins && t->walk.open_count && !t->walk.above);
    for (size_t i = 0; i < count; i++)
        begin_call(o, t, t->walk.open[i].context, o->from_ns);
    if (ends)
        begin_call(o, t, t->next.entry.context, o->from_ns);
}

static void scope_overlap_begin(struct scope_overlap *o)
{
    for (uint32_t i = 0; i < o->thread_count; i++)
        begin_thread(o, &o->threads[i]);
    o->begun = true;
}

static struct scope_overlap_thread *scope_overlap_earliest_thread(struct scope_overlap *o)
{
    struct scope_overlap_thread *first = NULL;
    for (uint32_t i = 0; i < o->thread_count; i++) {
        struct scope_overlap_thread *t = &o->threads[i];
        if (!t->done && (!first || t->next.entry.time_ns < first->next.entry.time_ns))
            first = t;
    }
    return first;
}

static int64_t until_ns(const struct scope_overlap *o)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < o->thread_count; i++)
        last = o->threads[i].walk.last_ns > last ? o->threads[i].walk.last_ns : last;
    return (int64_t)last < o->to_ns ? (int64_t)last : o->to_ns;
}

/* Ends the scopes that are still open: when the range ends, or with the last record. */
static void scope_overlap_end_open(struct scope_overlap *o)
{
    int64_t now = until_ns(o);
    for (uint32_t i = 0; i < o->thread_count; i++)
        for (uint32_t s = 1; s < o->scopes; s++)
            if (o->threads[i].open[s]) {
                o->threads[i].open[s] = 0;
                scope_overlap_set_open(o, &o->threads[i], s, false, now);
            }
}

bool scope_overlap_step(struct scope_overlap *o, uint64_t *budget)
{
    struct scope_overlap_thread *t;
    if (!o->begun)
        scope_overlap_begin(o);
    while ((t = scope_overlap_earliest_thread(o)) != NULL) {
        if (!*budget)
            return false;
        --*budget;
        const struct call_record *e = &t->next.entry;
        if (e->is == CALL_RECORD_BEGINS)
            begin_call(o, t, e->context, (int64_t)e->time_ns);
        else if (e->is == CALL_RECORD_ENDED)
            end_call(o, t, e->context, (int64_t)e->time_ns);
        scope_overlap_fetch_entry(o, t);
    }
    scope_overlap_end_open(o);
    return true;
}

void scope_overlap_free(struct scope_overlap *o)
{
    for (uint32_t i = 0; i < o->thread_count; i++) {
        call_entries_walk_end(&o->threads[i].walk);
        free(o->threads[i].open);
    }
    free(o->threads);
    free(o->sums);
    *o = (struct scope_overlap){0};
}

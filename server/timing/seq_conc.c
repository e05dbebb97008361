#include "server/timing/seq_conc.h"

#include "base/alloc.h"

#include <stdlib.h>

#define KEYS 3 /* sums that a call is counted in: of its function, of its caller, of its arc */

struct seq_conc_frame {
    uint32_t scope;
    int64_t since_ns;
    bool concurrent;
    uint32_t sums[KEYS], count; /* indices of the sums that the call is counted in */
};

struct seq_conc_caller {
    uint32_t scope; /* 0: unknown */
    bool concurrent;
};

struct seq_conc_thread {
    const uint32_t *scope_of;
    size_t context_count;
    struct call_entries_walk walk;
    struct call_entry_seen next;
    struct seq_conc_frame *frames;
    size_t depth, room;
    struct seq_conc_open { /* by index of sums: number of open calls, and since when any is open */
        uint32_t calls;
        int64_t since_ns;
    } *open;
    size_t open_room;
    uint32_t maker;
    int64_t made_ns;
    struct seq_conc_caller maker_was; /* state of the creator at the creation */
    struct seq_conc_absence *absences;
    size_t absence_count, absence_at; /* absences before this index are over */
    int64_t *releases;
    size_t release_count, release_at; /* releases before this index are past */
    struct seq_conc_place *places;
    size_t place_count, place_at; /* places before this index are past */
    uint32_t *in; /* by scope: number of its open calls */
    size_t in_room;
    bool done, runs, was_made;
};

void seq_conc_add(struct seq_conc *c, const struct call_entries_thread *thread,
                  const uint32_t *scope_of, size_t context_count, uint32_t maker, int64_t made_ns)
{
    c->threads = xreallocarray(c->threads, c->thread_count + 1, sizeof *c->threads);
    c->threads[c->thread_count++] = (struct seq_conc_thread){.scope_of = scope_of,
                                                             .context_count = context_count,
                                                             .walk = call_entries_walk(thread, 0),
                                                             .maker = maker,
                                                             .made_ns = made_ns};
}

void seq_conc_add_absence(struct seq_conc *c, struct seq_conc_absence *absences, size_t count)
{
    c->threads[c->thread_count - 1].absences = absences;
    c->threads[c->thread_count - 1].absence_count = count;
}

void seq_conc_add_releases(struct seq_conc *c, int64_t *at_ns, size_t count)
{
    c->threads[c->thread_count - 1].releases = at_ns;
    c->threads[c->thread_count - 1].release_count = count;
}

void seq_conc_add_places(struct seq_conc *c, struct seq_conc_place *places, size_t count)
{
    c->threads[c->thread_count - 1].places = places;
    c->threads[c->thread_count - 1].place_count = count;
}

/* ---- sums ---- */

static uint32_t sums_of(struct seq_conc *c, uint32_t in, uint32_t from, uint32_t to, uint8_t is)
{
    uint64_t a = (uint64_t)from << 2 | is, b = (uint64_t)in << 32 | to;
    return (uint32_t)MAP_INDEX(&c->index, a, b, c->items, c->count, c->room,
                               (struct seq_conc_sums){.in = in, .from = from, .to = to, .is = is});
}

static void seq_conc_enter_call(struct seq_conc *c, struct seq_conc_thread *t, uint32_t sums,
                                bool same, int64_t now)
{
    struct seq_conc_frame *f = &t->frames[t->depth - 1];
    struct seq_conc_sums *s = &c->items[sums];
    f->sums[f->count++] = sums;
    s->calls++;
    s->same += same;
    t->open = array_reserve_zeroed(t->open, &t->open_room, sums + 1, sizeof *t->open);
    if (t->open[sums].calls++)
        return;
    t->open[sums].since_ns = now;
    if (!s->open++)
        s->since_ns = now;
}

/* Ends a call in its sums.  A thread counts in sums until the last of its open calls there ends,
 * so that recursion counts once. */
static void seq_conc_leave_call(struct seq_conc *c, struct seq_conc_thread *t,
                                const struct seq_conc_frame *f, int64_t now)
{
    for (uint32_t i = 0; i < f->count; i++) {
        struct seq_conc_sums *s = &c->items[f->sums[i]];
        struct seq_conc_open *open = &t->open[f->sums[i]];
        if (--open->calls)
            continue;
        s->thread_ns += now - open->since_ns;
        if (!--s->open)
            s->elapsed_ns += now - s->since_ns;
    }
}

/* ---- calls ---- */

static uint32_t scope_of(const struct seq_conc *c, const struct seq_conc_thread *t,
                         uint32_t context)
{
    uint32_t scope = context < t->context_count ? t->scope_of[context] : 0;
    return scope < c->scopes ? scope : 0;
}

static struct seq_conc_caller seq_conc_innermost_scope(const struct seq_conc *c,
                                                       const struct seq_conc_thread *t)
{
    for (size_t i = t->depth; i--;) {
        const struct seq_conc_frame *f = &t->frames[i];
        if (f->scope && !c->waits[f->scope])
            return (struct seq_conc_caller){f->scope, f->concurrent};
    }
    return (struct seq_conc_caller){0};
}

static void seq_conc_update_running(struct seq_conc *c, struct seq_conc_thread *t)
{
    t->runs = t->depth ? !c->waits[t->frames[t->depth - 1].scope] : !t->done;
}

/* Returns whether the thread is absent at a time.  Times must not decrease from call to call. */
static bool seq_conc_is_absent(struct seq_conc_thread *t, int64_t now)
{
    while (t->absence_at < t->absence_count && t->absences[t->absence_at].to_ns <= now)
        t->absence_at++;
    return t->absence_at < t->absence_count && t->absences[t->absence_at].from_ns <= now;
}

/* Returns whether the thread waits, and a barrier has released it since its wait began.  Times must
 * not decrease from call to call. */
static bool seq_conc_is_released(const struct seq_conc *c, struct seq_conc_thread *t, int64_t now)
{
    while (t->release_at < t->release_count && t->releases[t->release_at] <= now)
        t->release_at++;
    const struct seq_conc_frame *f = t->depth ? &t->frames[t->depth - 1] : NULL;
    return f && c->waits[f->scope] && t->release_at &&
           t->releases[t->release_at - 1] >= f->since_ns;
}

static bool seq_conc_runs(const struct seq_conc *c, struct seq_conc_thread *t, int64_t now)
{
    return t->runs ? !seq_conc_is_absent(t, now) : seq_conc_is_released(c, t, now);
}

/* Sets whether another thread runs; and whether one does in the same function. */
static bool another_runs(struct seq_conc *c, const struct seq_conc_thread *than, uint32_t scope,
                         int64_t now, bool *same)
{
    bool any = false;
    *same = false;
    for (uint32_t i = 0; i < c->thread_count && !*same; i++) {
        struct seq_conc_thread *t = &c->threads[i];
        bool inside = scope < t->in_room && t->in[scope];
        if (t == than || (any && !inside) || !seq_conc_runs(c, t, now))
            continue;
        any = true;
        *same = inside;
    }
    return any;
}

/* Returns where the thread is.  Times must not decrease from call to call. */
static uint32_t seq_conc_place_at(struct seq_conc_thread *t, int64_t now)
{
    while (t->place_at < t->place_count && t->places[t->place_at].to_ns <= now)
        t->place_at++;
    bool there = t->place_at < t->place_count && t->places[t->place_at].from_ns <= now;
    return there ? t->places[t->place_at].in : 0;
}

static uint8_t case_of(struct seq_conc_caller caller, bool concurrent, bool on_its_thread)
{
    bool called = caller.concurrent && on_its_thread ? false : concurrent;
    return (uint8_t)(caller.concurrent * 2 + called);
}

static void begin_call(struct seq_conc *c, struct seq_conc_thread *t, uint32_t context, int64_t now)
{
    uint32_t scope = scope_of(c, t, context);
    struct seq_conc_caller caller = seq_conc_innermost_scope(c, t);
    bool inside = caller.scope;
    t->frames = array_reserve(t->frames, &t->room, t->depth + 1, sizeof *t->frames);
    struct seq_conc_frame *f = &t->frames[t->depth++];
    *f = (struct seq_conc_frame){.scope = scope, .since_ns = now};
    seq_conc_update_running(c, t);
    if (!scope || c->waits[scope])
        return;
    bool same;
    uint32_t in = seq_conc_place_at(t, now);
    f->concurrent = another_runs(c, t, scope, now, &same);
    t->in = array_reserve_zeroed(t->in, &t->in_room, scope + 1u, sizeof *t->in);
    t->in[scope]++;
    seq_conc_enter_call(c, t, sums_of(c, in, 0, scope, f->concurrent), same, now);
    caller = inside ? caller : t->maker_was;
    if (!caller.scope)
        return;
    uint8_t is = case_of(caller, f->concurrent, inside);
    seq_conc_enter_call(c, t, sums_of(c, in, caller.scope, 0, is), same, now);
    seq_conc_enter_call(c, t, sums_of(c, in, caller.scope, scope, is), same, now);
}

static void end_call(struct seq_conc *c, struct seq_conc_thread *t, int64_t now)
{
    if (!t->depth)
        return;
    struct seq_conc_frame *f = &t->frames[--t->depth];
    seq_conc_leave_call(c, t, f, now);
    if (f->scope && !c->waits[f->scope])
        t->in[f->scope]--;
    seq_conc_update_running(c, t);
}

/* ---- sweep ---- */

static void seq_conc_fetch_entry(struct seq_conc_thread *t)
{
    t->done = !call_entries_next(&t->walk, &t->next);
}

static struct seq_conc_thread *seq_conc_earliest_thread(const struct seq_conc *c)
{
    struct seq_conc_thread *first = NULL;
    for (uint32_t i = 0; i < c->thread_count; i++) {
        struct seq_conc_thread *t = &c->threads[i];
        if (!t->done && (!first || t->next.entry.time_ns < first->next.entry.time_ns))
            first = t;
    }
    return first;
}

/* Notes the creator's state for the threads that it created before its next record. */
static void make_threads(struct seq_conc *c, const struct seq_conc_thread *maker, int64_t now)
{
    for (uint32_t i = 0; i < c->thread_count; i++) {
        struct seq_conc_thread *t = &c->threads[i];
        if (t->was_made || t->maker >= c->thread_count || &c->threads[t->maker] != maker ||
            t->made_ns >= now)
            continue;
        t->maker_was = seq_conc_innermost_scope(c, maker);
        t->was_made = true;
    }
}

/* Notes the creator's state for a thread that has a record before its creator's next one. */
static void was_made(struct seq_conc *c, struct seq_conc_thread *t)
{
    if (t->was_made || t->maker >= c->thread_count)
        return;
    t->maker_was = seq_conc_innermost_scope(c, &c->threads[t->maker]);
    t->was_made = true;
}

static void seq_conc_end_calls(struct seq_conc *c)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < c->thread_count; i++)
        last = c->threads[i].walk.last_ns > last ? c->threads[i].walk.last_ns : last;
    for (uint32_t i = 0; i < c->thread_count; i++)
        while (c->threads[i].depth)
            end_call(c, &c->threads[i], (int64_t)last);
}

bool seq_conc_step(struct seq_conc *c, uint64_t *budget)
{
    struct seq_conc_thread *t;
    for (uint32_t i = 0; !c->begun && i < c->thread_count; i++)
        seq_conc_fetch_entry(&c->threads[i]);
    c->begun = true;
    while ((t = seq_conc_earliest_thread(c)) != NULL) {
        struct call_record e = t->next.entry;
        if (!*budget)
            return false;
        --*budget;
        make_threads(c, t, (int64_t)e.time_ns);
        was_made(c, t);
        seq_conc_fetch_entry(t); /* reads ahead to know whether there is more */
        if (e.is == CALL_RECORD_BEGINS)
            begin_call(c, t, e.context, (int64_t)e.time_ns);
        else if (e.is == CALL_RECORD_ENDED && e.context)
            end_call(c, t, (int64_t)e.time_ns);
    }
    seq_conc_end_calls(c);
    return true;
}

void seq_conc_free(struct seq_conc *c)
{
    for (uint32_t i = 0; i < c->thread_count; i++) {
        call_entries_walk_end(&c->threads[i].walk);
        free(c->threads[i].frames);
        free(c->threads[i].open);
        free(c->threads[i].absences);
        free(c->threads[i].releases);
        free(c->threads[i].places);
        free(c->threads[i].in);
    }
    free(c->threads);
    free(c->items);
    map_free(&c->index);
    *c = (struct seq_conc){0};
}

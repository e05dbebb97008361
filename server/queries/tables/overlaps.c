/* Concurrent calls of each thread (server/queries/tables/overlaps.h). */
#include "server/queries/tables/overlaps.h"

#include "base/alloc.h"

#include <stdlib.h>

/* ---- available data ---- */

static bool overlaps_are_switched(const struct table_view *view)
{
    const struct intervals *all = view->measured;
    for (uint32_t i = 0; i < all->thread_count; i++)
        if (cpu_states_best(view->lives.spans, all->threads[i].thread, view->lives.source) !=
            CPU_SOURCE_SWITCHES)
            return false;
    return all->thread_count > 0 && !cpu_states_lost_count(view->lives.spans);
}

static const struct call_entries_thread *overlaps_entries(const struct run *run, uint32_t thread)
{
    const struct call_context_thread *t = &run->contexts.threads[thread];
    return call_entries_for_thread(&run->entries, t->session, t->code);
}

static bool overlaps_are_kept(const struct run *run)
{
    for (uint32_t i = 0; i < run->contexts.count; i++) {
        const struct call_entries_thread *entries = overlaps_entries(run, i);
        if (entries && entries->lost)
            return false;
    }
    return run->entries.count && !run->entries.left && !order_first(run->order);
}

/* ---- when threads were at work ---- */

struct overlaps_adding {
    struct concurrency_levels *levels;
    struct overlaps_course *course;
};

static void overlaps_add(void *context, const struct thread_state_interval *spell)
{
    struct overlaps_adding *a = context;
    struct overlaps_course *c = a->course;
    if (spell->state != THREAD_STATE_RUNNING && spell->state != THREAD_STATE_RUNNABLE)
        return;
    levels_add(a->levels, spell->from_ns, spell->to_ns);
    c->items = array_reserve(c->items, &c->room, c->count + 1, sizeof *c->items);
    c->items[c->count++] = (struct overlaps_work){spell->from_ns, spell->to_ns};
}

static void overlaps_add_courses(struct overlaps *o)
{
    const struct intervals *all = o->view->measured;
    o->course_count = all->thread_count;
    o->courses = xcalloc(all->thread_count + 1, sizeof *o->courses);
    for (uint32_t i = 0; i < all->thread_count; i++) {
        struct overlaps_adding adding = {&o->levels, &o->courses[i]};
        thread_states_visit(&o->view->lives, &all->threads[i], INT64_MIN, INT64_MAX, overlaps_add,
                            &adding);
    }
    levels_add_up(&o->levels);
}

void overlaps_begin(struct overlaps *o, const struct table_view *view)
{
    const struct run *run = view->run;
    *o = (struct overlaps){.view = view, .whole = true};
    o->known = !run->programs.connected && overlaps_are_kept(run) && overlaps_are_switched(view);
    if (!o->known)
        return;
    overlaps_add_courses(o);
    o->thread_count = run->contexts.count;
    o->threads = xcalloc(o->thread_count + 1, sizeof *o->threads);
}

/* ---- calls ---- */

/* Returns whether the thread itself is at work by its context switches.  (It is while it calls,
 * but the clocks differ.) */
static bool overlaps_own(struct overlaps *o, const struct overlaps_course *course, int64_t at_ns)
{
    while (o->own < course->count && course->items[o->own].to_ns <= at_ns)
        o->own++;
    return o->own < course->count && course->items[o->own].from_ns <= at_ns;
}

static void overlaps_count(struct overlaps *o, const struct overlaps_course *course,
                           const struct call_record *e)
{
    struct overlaps_thread *t = &o->threads[o->next];
    int64_t at_ns = (int64_t)(e->time_ns - o->view->run->clock.start_ns);
    if (e->is != CALL_RECORD_BEGINS || e->context >= o->view->run->contexts.threads[o->next].count)
        return;
    t->calls[e->context]++;
    t->concurrent[e->context] +=
        levels_running(&o->levels, at_ns, &o->near) > overlaps_own(o, course, at_ns);
}

static void overlaps_begin_thread(struct overlaps *o, const struct call_entries_thread *entries)
{
    size_t contexts = o->view->run->contexts.threads[o->next].count;
    o->threads[o->next] =
        (struct overlaps_thread){.calls = xcalloc(contexts + 1, sizeof(uint64_t)),
                                 .concurrent = xcalloc(contexts + 1, sizeof(uint64_t))};
    o->walk = call_entries_walk(entries, 0);
    o->walks = true;
    o->near = o->own = 0;
}

/* Ends a thread.  If not all calls of a context were kept, the thread's own count is used. */
static void overlaps_end_thread(struct overlaps *o)
{
    const struct call_context_thread *of = &o->view->run->contexts.threads[o->next];
    struct overlaps_thread *t = &o->threads[o->next];
    for (size_t i = 1; i < of->count; i++)
        if (of->items[i].sums.is.scope != SCOPE_EDGE && t->calls[i] != of->items[i].sums.calls) {
            t->concurrent[i] = of->items[i].sums.concurrent;
            o->whole = false;
        }
    call_entries_walk_end(&o->walk);
    o->walks = false;
}

/* Processes the calls of one thread; returns false if the budget is used up. */
static bool overlaps_step_thread(struct overlaps *o, const struct overlaps_course *course,
                                 uint64_t *budget)
{
    struct call_entry_seen seen;
    for (; *budget; --*budget) {
        if (!call_entries_next(&o->walk, &seen)) {
            overlaps_end_thread(o);
            return true;
        }
        overlaps_count(o, course, &seen.entry);
    }
    return false;
}

bool overlaps_step(struct overlaps *o, uint64_t *budget)
{
    const struct intervals *all = o->view ? o->view->measured : NULL;
    for (; o->known && o->next < o->thread_count; o->next++) {
        const struct call_entries_thread *entries = overlaps_entries(o->view->run, o->next);
        const struct thread_timeline *course =
            intervals_for_thread(all, o->view->run->contexts.threads[o->next].line);
        if (!entries || !course || course - all->threads >= o->course_count) {
            o->whole &= o->view->run->contexts.threads[o->next].count < 2;
            continue;
        }
        if (!o->walks)
            overlaps_begin_thread(o, entries);
        if (!overlaps_step_thread(o, &o->courses[course - all->threads], budget))
            return false;
    }
    return true;
}

const uint64_t *overlaps_of(const struct overlaps *o, uint32_t thread)
{
    return thread < o->thread_count ? o->threads[thread].concurrent : NULL;
}

void overlaps_free(struct overlaps *o)
{
    if (o->walks)
        call_entries_walk_end(&o->walk);
    for (uint32_t i = 0; i < o->course_count; i++)
        free(o->courses[i].items);
    for (uint32_t i = 0; i < o->thread_count; i++) {
        free(o->threads[i].calls);
        free(o->threads[i].concurrent);
    }
    free(o->courses);
    free(o->threads);
    concurrency_levels_free(&o->levels);
    *o = (struct overlaps){0};
}

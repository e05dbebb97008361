#include "server/queries/waker_search.h"

#include "base/alloc.h"
#include "server/run/cpu_placement.h"
#include "server/timing/cpu_states.h"

#include <stdlib.h>

#define SCAN 4000u            /* events scanned at once */
#define SCAN_COST 4u          /* events for one unit of the budget */
#define LOG_MOST 30000000u    /* maximum number of events of the backward search; */
#define LOG_MOST_LIVE 2000000u /* in a live run, and on a line of an object */
#define COMPARISON 1000u

void waker_search_begin(struct waker_search *v, const struct wait_graph *graph,
                        bool (*can_resume)(const void *context, uint32_t thread),
                        const void *context)
{
    const struct order *order = graph->run->order;
    *v = (struct waker_search){.graph = graph, .can_resume = can_resume, .context = context};
    v->wanted = xcalloc(graph->lines, 1);
    v->subject_of = xcalloc(graph->lines, sizeof *v->subject_of);
    v->comparison = comparison_new(order);
    v->from = order_count(order);
    uint64_t most = run_connected(graph->run) ? LOG_MOST_LIVE : LOG_MOST;
    v->least = v->from - order_first(order) > most ? v->from - most : order_first(order);
}

void waker_search_free(struct waker_search *v)
{
    comparison_free(v->comparison);
    free(v->wanted);
    free(v->subject_of);
    free(v->subjects);
}

/* ---- waiters ---- */

static const struct target_line_type *waker_search_line_type(const struct waker_search *v,
                                                             const struct waiter *w)
{
    const struct run *run = v->graph->run;
    uint32_t kind = w->about <= v->graph->lines ? order_line_kind(run->order, w->about) : 0;
    return run_line_type(run, kind);
}

/* Returns whether it waits at an object of the kernel, such as a pipe: any thread of a process that
 * has it may wake the thread, whether it did before or not. */
bool waker_search_is_communication(const struct waker_search *v, const struct waiter *w)
{
    const struct target_line_type *kind = w->about ? waker_search_line_type(v, w) : NULL;
    return kind && kind->everywhere;
}

bool waker_search_may_kernel_wake(const struct waker_search *v, const struct waker_subject *s)
{
    const struct target_line_type *kind =
        waker_search_line_type(v, &v->graph->waiters[s->reported_waiter]);
    return kind && kind->by_kernel;
}

bool waker_search_may_process_open(const struct waker_search *v, const struct waker_subject *s)
{
    const struct target_line_type *kind =
        waker_search_line_type(v, &v->graph->waiters[s->reported_waiter]);
    return kind && kind->by_name;
}

#define PROCESSES_LOOKED_AT 1000u /* events of a line in which several processes are looked for */

/* Returns whether threads of several processes used an object, as its last events say. */
static bool waker_search_is_of_several_processes(const struct run *run, uint32_t line)
{
    const struct order *order = run->order;
    uint64_t count = order_line_events(order, line), first = order_line_first(order, line);
    uint32_t process = UINT32_MAX;
    for (uint64_t i = 0; i < PROCESSES_LOOKED_AT && count > first; i++) {
        uint64_t position = order_line_at(order, line, --count);
        struct order_event e =
            position == NO_POSITION ? (struct order_event){0} : order_event(order, position);
        uint32_t of = e.thread ? run_line_at(run, e.thread)->process : process;
        if (process != UINT32_MAX && of != process)
            return true;
        process = of;
    }
    return false;
}

bool waker_search_may_conclude(const struct waker_search *v, const struct waker_subject *s)
{
    const struct waiter *w = &v->graph->waiters[s->reported_waiter];
    return !waker_search_may_process_open(v, s) || !waker_search_is_communication(v, w) ||
           w->look->category == CATEGORY_SEMAPHORE ||
           waker_search_is_of_several_processes(v->graph->run, s->line);
}

/* (which processes can use an object of the kernel is only known if it is inherited; of one with a
 * name, which traced ones did) */
bool waker_search_needs_waking(const struct waker_search *v, const struct waiter *w)
{
    if (!w->about || (!w->look->woken_by.count && !w->look->releases))
        return false;
    const struct target_line_type *kind = waker_search_line_type(v, w);
    return !kind || !kind->everywhere || kind->inherited || kind->by_name;
}

/* ---- subjects ---- */

static bool waker_search_same_types(const struct target_names *a, const struct target_names *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = target_has_line_type(b, a->items[i]);
    return same;
}

struct waker_subject *waker_search_subject(const struct waker_search *v, const struct waiter *w)
{
    uint32_t i = w->about && w->about <= v->graph->lines ? v->subject_of[w->about - 1] : 0;
    while (i && !waker_search_same_types(v->subjects[i - 1].wakers, &w->look->woken_by))
        i = v->subjects[i - 1].next;
    return i ? &v->subjects[i - 1] : NULL;
}

static uint32_t waker_search_rendezvous_type(const struct waker_search *v, const struct waiter *w)
{
    bool meets = target_has_line_type(&w->look->woken_by, w->look->name);
    return meets ? order_event(v->graph->run->order, w->position).type : 0;
}

void waker_search_add(struct waker_search *v, size_t waiter)
{
    const struct waiter *w = &v->graph->waiters[waiter];
    if (w->at_exit || !waker_search_needs_waking(v, w) || w->about > v->graph->lines)
        return;
    uint32_t *index = &v->subject_of[w->about - 1];
    if (!waker_search_subject(v, w)) {
        v->subjects = array_reserve(v->subjects, &v->room, v->count + 1, sizeof *v->subjects);
        uint64_t events = order_line_events(v->graph->run->order, w->about);
        v->subjects[v->count] = (struct waker_subject){.line = w->about,
                                                       .next = *index,
                                                       .wakers = &w->look->woken_by,
                                                       .expects = &w->look->expects,
                                                       .rests = w->look->rests,
                                                       .own = events > 0,
                                                       .ordinal = events,
                                                       .went_on_ns = INT64_MIN,
                                                       .reported_waiter = waiter};
        v->wanted[w->about - 1] = events == 0;
        *index = (uint32_t)++v->count;
    }
    struct waker_subject *s = waker_search_subject(v, w);
    s->meets = s->meets ? s->meets : waker_search_rendezvous_type(v, w);
    s->waiting++;
    if (s->waiter_count < WAKER_PAIRS_MOST)
        s->waiters[s->waiter_count++] = waiter;
}

/* ---- past wake-ups by object ---- */

static bool waker_search_waits_now(const struct waker_search *v, uint32_t thread, uint64_t position)
{
    uint32_t waiter = thread && thread <= v->graph->lines ? v->graph->waiter_of[thread - 1] : 0;
    return waiter && v->graph->waiters[waiter - 1].position == position;
}

static const struct waiter *waker_search_wait_of(const struct waker_search *v, uint32_t thread)
{
    uint32_t waiter = thread && thread <= v->graph->lines ? v->graph->waiter_of[thread - 1] : 0;
    return waiter ? &v->graph->waiters[waiter - 1] : NULL;
}

/* Returns whether the thread has arrived at the object, such as a barrier, and waits there. */
static bool waker_search_has_arrived(const struct waker_search *v, const struct waker_subject *s,
                                     uint32_t thread)
{
    const struct waiter *w = waker_search_wait_of(v, thread);
    return w && w->about == s->line && target_has_line_type(s->wakers, w->look->name);
}

/* Returns whether the thread waits for the same threads at a different call site: its last event
 * released none of the waiters here. */
static bool waker_search_waits_elsewhere(const struct waker_search *v,
                                         const struct waker_subject *s, uint32_t thread)
{
    const struct waiter *w = waker_search_wait_of(v, thread);
    return s->meets && w && w->about == s->line &&
           !target_has_line_type(s->wakers, w->look->name) &&
           target_has_line_type(&w->look->woken_by, run_type_name(v->graph->run, s->meets));
}

/* Notes a thread that waited for something else before this round was complete: it is not a member.
 */
static void waker_search_note_left(const struct waker_search *v, struct waker_subject *s,
                                   uint32_t thread, const struct target_event *look)
{
    if (s->begun && look && look->waits && s->left_count < WAKERS_MOST &&
        !target_has_line_type(&look->woken_by, run_type_name(v->graph->run, s->meets)))
        s->left[s->left_count++] = thread;
}

static void waker_search_note_waker(struct waker_subject *s, uint32_t thread, uint64_t position,
                                    int64_t time_ns, bool woke_none)
{
    for (unsigned i = 0; i < s->able_count; i++)
        if (s->able[i].thread == thread)
            return;
    for (unsigned i = 0; i < s->left_count; i++)
        if (s->left[i] == thread)
            return;
    if (s->able_count < WAKERS_MOST)
        s->able[s->able_count++] = (struct past_waker){thread, position, time_ns, woke_none};
    else
        s->cut = true;
}

/* Adds what an event says about the wakers.  The search runs backwards, so the first event of
 * each thread that it finds is the last one. */
static void waker_search_check_event(struct waker_search *v, struct waker_subject *s,
                                     uint64_t position)
{
    const struct run *run = v->graph->run;
    struct order_event e = order_event(run->order, position);
    if (!e.line || e.state != EVENT_ORDERED)
        return;
    bool wakes = target_has_line_type(s->wakers, run_type_name(run, e.type));
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    if (!wakes && !(look && look->waits) && !s->own) {
        s->went_on_ns = e.time_ns > s->went_on_ns ? e.time_ns : s->went_on_ns;
        if (!s->able_count && s->resumed_count++ == 0)
            s->resumed = e.thread;
    }
    bool expected = s->meets && target_has_line_type(s->expects, run_type_name(run, e.type));
    s->begun |= expected;
    if (s->meets && !wakes && !expected)
        waker_search_note_left(v, s, e.thread, look);
    wakes |= expected;
    if (!wakes || waker_search_waits_now(v, e.thread, position) ||
        waker_search_has_arrived(v, s, e.thread))
        return;
    waker_search_note_waker(s, e.thread, position, e.time_ns,
                            waker_search_waits_elsewhere(v, s, e.thread) ||
                                (s->meets && !(look && look->waits)));
    s->settled |= v->graph->run_count > 0 && v->can_resume(v->context, e.thread);
}

/* Returns whether each subject that is searched in the log has a thread that can still wake it. */
static bool waker_search_all_settled(const struct waker_search *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!v->subjects[i].own && !v->subjects[i].settled)
            return false;
    return true;
}

bool waker_search_scan_log(struct waker_search *v, uint64_t *budget)
{
    const struct order *order = v->graph->run->order;
    while (v->from > v->least && !waker_search_all_settled(v)) {
        if (*budget == 0)
            return false;
        *budget -= *budget < SCAN / SCAN_COST ? *budget : SCAN / SCAN_COST;
        uint64_t end = v->from - v->least > SCAN ? v->from - SCAN : v->least, at = v->from;
        while ((at = order_about_before(order, at, end, v->wanted, v->graph->lines)) != NO_POSITION)
            for (uint32_t i = v->subject_of[order_event(order, at).about - 1]; i;
                 i = v->subjects[i - 1].next)
                waker_search_check_event(v, &v->subjects[i - 1], at);
        v->from = end;
    }
    for (size_t i = 0; i < v->count; i++)
        v->subjects[i].cut |=
            !v->subjects[i].own && !v->subjects[i].settled && v->least > order_first(order);
    return true;
}

bool waker_search_scan_lines(struct waker_search *v, uint64_t *budget)
{
    const struct order *order = v->graph->run->order;
    for (; v->at < v->count; v->at++) {
        struct waker_subject *s = &v->subjects[v->at];
        uint64_t first = order_line_first(order, s->line), n = order_line_events(order, s->line);
        uint64_t least = n - first > LOG_MOST_LIVE ? n - LOG_MOST_LIVE : first;
        for (; s->own && s->ordinal > least && !s->settled; --*budget) {
            if (*budget == 0)
                return false;
            uint64_t position = order_line_at(order, s->line, --s->ordinal);
            if (position != NO_POSITION)
                waker_search_check_event(v, s, position);
        }
        s->cut |= s->own && !s->settled && least > first;
    }
    v->at = 0;
    return true;
}

/* ---- whether they happened before the waits ---- */

struct event_id waker_search_event_at(const struct waker_search *v, uint64_t position)
{
    struct order_event e = order_event(v->graph->run->order, position);
    return (struct event_id){e.line, e.number};
}

/* Returns whether a waiter was seen asleep after the last event of a thread: if it waits for bytes
 * or space, nothing that this one did has woken it. */
static bool waker_search_sleeps_on(const struct waker_search *v, size_t waiter, uint32_t thread)
{
    const struct run *run = v->graph->run;
    uint64_t last = order_thread_last(run->order, thread);
    int64_t end_ns = run->programs.connected ? 0 : run->clock.ended_ns;
    return waker_search_is_communication(v, &v->graph->waiters[waiter]) && last != NO_POSITION &&
           last >= order_first(run->order) &&
           cpu_states_seen_asleep_ns(cpu_placement_states(run), v->graph->waiters[waiter].thread,
                                     end_ns) > order_event(run->order, last).time_ns;
}

/* Selects the waker to report: the last one that is not before the wait, else the last one. */
static void waker_search_select(const struct waker_search *v, struct waker_subject *s,
                                const struct past_waker *able, size_t waiter,
                                enum causal_relation p)
{
    bool open = p != ORDER_BEFORE,
         was_open = s->waker_relation && s->waker_relation != RELATION_CODE(ORDER_BEFORE);
    s->doubts |= open && !waker_search_sleeps_on(v, waiter, able->thread) ? UNCERTAIN_WAKER : 0;
    if (s->waker_relation && (open != was_open ? was_open : able->time_ns <= s->waker->time_ns))
        return;
    s->waker = able;
    s->waker_relation = (uint8_t)RELATION_CODE(p);
    s->reported_waiter = waiter;
}

/* Returns whether the thread can have woken the waiter; no thread wakes itself. */
static bool waker_search_is_pair(const struct waker_search *v, const struct past_waker *able,
                                 size_t waiter)
{
    return !able->woke_none && able->thread != v->graph->waiters[waiter].thread;
}

static bool waker_search_compare_pair(struct waker_search *v, const struct past_waker *able,
                                      size_t waiter, uint64_t *budget)
{
    if (!v->comparing)
        comparison_begin(v->comparison, waker_search_event_at(v, able->position),
                         v->graph->waiters[waiter].at);
    v->comparing = true;
    bool done;
    do { /* at least once, even if the budget is used up */
        done = comparison_step(v->comparison, COMPARISON);
        *budget -= *budget < COMPARISON ? *budget : COMPARISON;
    } while (!done && *budget >= COMPARISON);
    v->comparing = !done;
    return done;
}

static bool waker_search_compare_subject(struct waker_search *v, struct waker_subject *s,
                                         uint64_t *budget)
{
    unsigned most = s->able_count < WAKER_PAIRS_MOST ? s->able_count : WAKER_PAIRS_MOST;
    for (; v->able < most; v->able++, v->waiter = 0)
        for (; v->waiter < s->waiter_count; v->waiter++) {
            const struct past_waker *able = &s->able[v->able];
            size_t waiter = s->waiters[v->waiter];
            if (!waker_search_is_pair(v, able, waiter))
                continue;
            if (!waker_search_compare_pair(v, able, waiter, budget))
                return false;
            waker_search_select(v, s, able, waiter, comparison_answer(v->comparison));
        }
    s->doubts |= s->able_count > WAKER_PAIRS_MOST ? UNCERTAIN_WAKER : 0;
    return true;
}

bool waker_search_compare(struct waker_search *v, uint64_t *budget)
{
    for (; v->at < v->count; v->at++, v->able = v->waiter = 0)
        if (!waker_search_compare_subject(v, &v->subjects[v->at], budget))
            return false;
    v->at = 0;
    return true;
}

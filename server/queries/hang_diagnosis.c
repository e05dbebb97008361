#include "server/queries/hang_diagnosis.h"

#include "base/alloc.h"
#include "server/queries/pool_search.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/untraced_processes.h"
#include "server/queries/wait_graph.h"
#include "server/queries/wait_holders.h"
#include "server/queries/waker_search.h"
#include "server/run/run_processes.h"
#include "server/run/untraced_reasons.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

#define OBJECTS_REPORTED 500u /* maximum number of objects reported */
#define RUNS_MOST 8u

/* Set if a waiter can resume, under these assumptions: */
enum {
    RESUMES_IF_WOKEN = 1, /* every waiter is woken */
    RESUMES = 2, /* any thread that can resume wakes it */
    RESUMES_AS_BEFORE = 4 /* only threads that woke before wake it */
};

struct hang_diagnosis {
    const struct wait_graph *graph;
    uint8_t *resumes; /* by index of a waiter: bits of the enum above */
    enum {
        STAGE_PROCESSES,
        STAGE_RESUMABLE,
        STAGE_SUBJECTS,
        STAGE_LINES,
        STAGE_RELATIONS,
        STAGE_OUTCOMES,
        STAGE_POOLS,
        STAGE_READY
    } stage;
    struct waker_search wakers;
    struct pool_search pools;
    struct untraced_processes processes; /* they may use what they inherited */
    uint32_t doubts; /* of the subjects of all waiters that cannot resume */
    bool any_resumes; /* a thread can resume, and wake others */
    uint64_t first; /* first position of the order when the diagnosis began */
    size_t sent, sent_pools;
    bool sent_asleep[2]; /* at futexes; for descriptors */
};

/* ---- threads that can resume ---- */

static bool hang_diagnosis_thread_resumes(const struct hang_diagnosis *v, uint32_t thread,
                                          unsigned how)
{
    const struct wait_graph *g = v->graph;
    if (!thread || thread > g->lines)
        return true;
    uint32_t waiter = g->waiter_of[thread - 1];
    if (g->is_thread[thread - 1] == WAITS_EXITED)
        return false;
    return waiter ? v->resumes[waiter - 1] & how : g->is_thread[thread - 1] != WAITS_ENDED;
}

/* Returns whether a thread of a program that exited normally keeps no waiter blocked.  A thread
 * that did not wait could have continued if the program had: nothing is concluded from its end. */
static bool hang_diagnosis_resumes_at_exit(const struct hang_diagnosis *v, uint32_t thread,
                                           unsigned how)
{
    const struct wait_graph *g = v->graph;
    uint32_t waiter = thread && thread <= g->lines ? g->waiter_of[thread - 1] : 0;
    return !waiter || v->resumes[waiter - 1] & how;
}

/* Returns whether the holders resume: all of them or, of a shared object, one, as its release
 * can be enough. */
static bool hang_diagnosis_holders_resume(const struct hang_diagnosis *v, const struct waiter *w,
                                          unsigned how)
{
    const struct wait_graph_object *object = &v->graph->objects[w->object];
    bool shared = w->about <= v->graph->lines && order_line_shared(v->graph->run->order, w->about);
    unsigned going = 0;
    for (uint32_t i = 0; i < object->count; i++) {
        uint32_t holder = v->graph->holders[object->first + i].thread;
        unsigned kind = v->graph->holders[object->first + i].how;
        if (kind == HOLD_DELETED)
            return true;
        if ((kind == HOLD_AT_FORK || kind == HOLD_LEFT) && !w->at_exit)
            continue;
        going += w->at_exit ? hang_diagnosis_resumes_at_exit(v, holder, how)
                            : hang_diagnosis_thread_resumes(v, holder, how);
    }
    return shared ? going > 0 || object->count == 0 : going == object->count;
}

static bool hang_diagnosis_is_woken(const struct hang_diagnosis *v, const struct waiter *w,
                                    unsigned how)
{
    const struct waker_subject *s = waker_search_subject(&v->wakers, w);
    if (how == RESUMES_IF_WOKEN || !s)
        return true;
    uint32_t participants = s->meets ? run_lines_participants(&v->graph->run->lines, s->line) : 0;
    if (participants && s->waiting >= participants) /* the round is complete */
        return true;
    if (how == RESUMES || s->able_count == 0 || waker_search_is_communication(&v->wakers, w))
        return v->any_resumes;
    for (unsigned i = 0; i < s->able_count; i++)
        if (hang_diagnosis_thread_resumes(v, s->able[i].thread, how))
            return true;
    return false;
}

/* ---- child processes ---- */

/* Returns whether a process was created by one that had the number of the waiter's process. */
static bool hang_diagnosis_is_child(const struct run *run, uint32_t process, const struct waiter *w)
{
    uint32_t parent = run_line_at(run, w->thread)->process;
    uint64_t from = process < run->processes.count && parent < run->processes.count
                        ? process_creation_message(run, process)
                        : NO_POSITION;
    uint32_t by = from == NO_POSITION ? 0 : order_event(run->order, from).thread;
    uint32_t creator = by ? run_line_at(run, by)->process : UINT32_MAX;
    return creator < run->processes.count &&
           run->processes.items[creator].pid == run->processes.items[parent].pid &&
           run->processes.items[process].pid != run->processes.items[parent].pid;
}

/* Returns whether the thread of a line acts in a child of the waiter's process, or in the program
 * that the child has executed. */
static bool hang_diagnosis_acts_in_child(const struct hang_diagnosis *v, uint32_t line,
                                         const struct waiter *w)
{
    const struct run *run = v->graph->run;
    uint32_t process = run_line_at(run, line)->process;
    if (v->graph->is_thread[line - 1] != WAITS_ACTS || process >= run->processes.count)
        return false;
    for (size_t i = 0; i < run->processes.count; i++)
        if (run->processes.items[i].pid == run->processes.items[process].pid &&
            hang_diagnosis_is_child(run, (uint32_t)i, w))
            return true;
    return false;
}

/* Returns whether the end of a child may come: there is one that is not in the trace, or with a
 * thread that resumes, which may end its process; or none acts any more. */
static bool hang_diagnosis_child_resumes(const struct hang_diagnosis *v, const struct waiter *w,
                                         unsigned how)
{
    bool acts = false;
    if (v->processes.some || w->at_exit || w->look->timed || untraced_reasons_some(v->graph->run))
        return true;
    for (uint32_t line = 1; line <= v->graph->lines; line++) {
        if (!hang_diagnosis_acts_in_child(v, line, w))
            continue;
        if (hang_diagnosis_thread_resumes(v, line, how))
            return true;
        acts = true;
    }
    return !acts;
}

/* Gets the i-th thread of the children that a thread awaits. */
static bool hang_diagnosis_child(const struct hang_diagnosis *v, const struct waiter *w, unsigned i,
                                 struct holder_info *holder)
{
    for (uint32_t line = 1; line <= v->graph->lines; line++)
        if (hang_diagnosis_acts_in_child(v, line, w) && i-- == 0) {
            *holder = (struct holder_info){.thread = line, .how = HOLD_CHILD};
            return true;
        }
    return false;
}

/* Returns whether processes that are not in the run may use an object that processes inherit, such
 * as a pipe or unnamed memory. */
static bool hang_diagnosis_may_outsider_inherit(const struct hang_diagnosis *v,
                                                const struct waiter *w)
{
    return v->processes.some &&
           (w->reach & LINE_INHERITED_MEMORY || waker_search_is_communication(&v->wakers, w));
}

/* Returns whether a process that is not in the run may wake a waiter, though nothing suggests that
 * the object is used in the run alone: in named memory it is if several processes of the run do. */
static bool hang_diagnosis_may_outsider_wake(const struct hang_diagnosis *v, const struct waiter *w)
{
    bool named = w->reach & LINE_NAMED_MEMORY && !(w->reach & REACH_BY_SEVERAL);
    return named || hang_diagnosis_may_outsider_inherit(v, w);
}

/* Returns whether it waits for members of a group that have not arrived. */
static bool hang_diagnosis_awaits_members(const struct hang_diagnosis *v, const struct waiter *w)
{
    const struct wait_graph_object *object = &v->graph->objects[w->object];
    unsigned how = object->count ? v->graph->holders[object->first].how : HOLD_LOCK;
    return how == HOLD_MEMBER || how == HOLD_LEFT;
}

/* Returns whether a wait at a futex ends: the thread that runs the task of its future resumes, or
 * else any thread does, which may wake it. */
static bool hang_diagnosis_futex_resumes(const struct hang_diagnosis *v, const struct waiter *w,
                                         unsigned how)
{
    if (w->about)
        return hang_diagnosis_holders_resume(v, w, how);
    if (hang_diagnosis_may_outsider_wake(v, w))
        return true;
    return w->at_exit || how == RESUMES_IF_WOKEN || v->any_resumes;
}

static bool hang_diagnosis_resumes(const struct hang_diagnosis *v, const struct waiter *w,
                                   unsigned how)
{
    const struct wait_graph *g = v->graph;
    if (w->futex || w->polls)
        return hang_diagnosis_futex_resumes(v, w, how);
    if (w->loader || w->ahead.how == HOLD_MUTEX) {
        if (!hang_diagnosis_thread_resumes(v, w->ahead.thread, how))
            return false;
        if (w->loader)
            return true;
    }
    if (w->look->awaits_child)
        return hang_diagnosis_child_resumes(v, w, how);
    if (w->look->timed || w->arriving || !w->about || w->about > g->lines)
        return true;
    if (hang_diagnosis_awaits_members(v, w))
        return hang_diagnosis_holders_resume(v, w, how);
    if (waker_search_needs_waking(&v->wakers, w))
        return w->at_exit || hang_diagnosis_may_outsider_wake(v, w) ||
               hang_diagnosis_is_woken(v, w, how);
    if (g->is_thread[w->about - 1] && w->at_exit) /* a wait for the thread's end */
        return hang_diagnosis_resumes_at_exit(v, w->about, how);
    if (g->is_thread[w->about - 1])
        return g->is_thread[w->about - 1] == WAITS_ENDED ||
               hang_diagnosis_thread_resumes(v, w->about, how);
    return hang_diagnosis_holders_resume(v, w, how);
}

/* Marks all waiters that can resume: repeats until no further one is unblocked. */
static void hang_diagnosis_propagate_resumable(struct hang_diagnosis *v, unsigned how)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < v->graph->count; i++)
            if (!(v->resumes[i] & how) && hang_diagnosis_resumes(v, &v->graph->waiters[i], how)) {
                v->resumes[i] |= (uint8_t)how;
                v->any_resumes |= how == RESUMES && !v->graph->waiters[i].at_exit;
                more = true;
            }
    }
}

/* Looks for processes that are not in the run, if a thread waits at what processes inherit. */
static bool hang_diagnosis_find_processes(struct hang_diagnosis *v, uint64_t *budget)
{
    bool needed = false;
    for (size_t i = 0; i < v->graph->count && !needed; i++)
        needed = v->graph->waiters[i].look->awaits_child ||
                 v->graph->waiters[i].reach & LINE_INHERITED_MEMORY ||
                 waker_search_is_communication(&v->wakers, &v->graph->waiters[i]);
    return !needed || untraced_processes_step(&v->processes, v->graph, budget);
}

/* ---- conclusions ---- */

/* Returns whether a signal handler may wake the waiters: one that posts a unit of a semaphore that
 * is not used as a lock, or that writes to a pipe that its own thread reads. */
static bool hang_diagnosis_may_handler_wake(const struct hang_diagnosis *v,
                                            const struct waker_subject *s)
{
    const struct waiter *w = &v->graph->waiters[s->reported_waiter];
    if (!waker_search_is_communication(&v->wakers, w))
        return s->own && order_line_shared(v->graph->run->order, s->line) &&
               !v->graph->objects[w->object].count;
    bool itself = s->able_count == 0;
    for (unsigned i = 0; i < s->able_count; i++)
        itself |= s->able[i].thread == w->thread;
    return itself;
}

/* Returns the index of the first waiter at a futex that no thread is known to end, or for
 * descriptors; the number of waiters if there is none. */
static size_t hang_diagnosis_first_asleep(const struct hang_diagnosis *v, bool polls)
{
    size_t i = 0;
    while (i < v->graph->count &&
           (v->graph->waiters[i].about ||
            !(polls ? v->graph->waiters[i].polls : v->graph->waiters[i].futex)))
        i++;
    return i;
}

static void hang_diagnosis_add_uncertainty(struct hang_diagnosis *v)
{
    const struct run *run = v->graph->run;
    bool handlers = run_connected(run) > 0;
    if (hang_diagnosis_first_asleep(v, false) < v->graph->count ||
        hang_diagnosis_first_asleep(v, true) < v->graph->count)
        v->doubts |= (untraced_reasons_some(run) ? UNCERTAIN_UNTRACED : 0u) |
                     (handlers ? UNCERTAIN_HANDLER : 0u);
    for (size_t i = 0; i < v->wakers.count; i++) {
        struct waker_subject *s = &v->wakers.subjects[i];
        s->doubts |= s->cut ? UNCERTAIN_PAST : 0;
        s->doubts |= untraced_reasons_some(run) ? UNCERTAIN_UNTRACED : 0;
        s->doubts |= s->wakers->count == 0 ? UNCERTAIN_TYPES : 0;
        s->doubts |=
            run_lines_reach(&run->lines, s->line) & LINE_NAMED_MEMORY ? UNCERTAIN_MEMORY : 0;
        s->doubts |= handlers && hang_diagnosis_may_handler_wake(v, s) ? UNCERTAIN_HANDLER : 0;
        s->doubts |= waker_search_may_kernel_wake(&v->wakers, s) ? UNCERTAIN_KERNEL : 0;
        s->doubts |= waker_search_may_process_open(&v->wakers, s) ? UNCERTAIN_NAME : 0;
        if (s->rests)
            continue;
        if (!(v->resumes[s->reported_waiter] & RESUMES))
            v->doubts |= s->doubts & ~(unsigned)UNCERTAIN_PAST;
        else
            s->doubts |= UNCERTAIN_RUNS;
    }
}

enum wait_outcome hang_diagnosis_outcome(const struct hang_diagnosis *v, size_t waiter)
{
    unsigned resumes = v->resumes[waiter];
    if (!(resumes & RESUMES_IF_WOKEN))
        return OUTCOME_NEVER;
    if (!(resumes & RESUMES))
        return v->doubts ? OUTCOME_POSSIBLE : OUTCOME_NEVER;
    return resumes & RESUMES_AS_BEFORE ? OUTCOME_OPEN : OUTCOME_POSSIBLE;
}

uint32_t hang_diagnosis_doubts(const struct hang_diagnosis *v) { return v->doubts; }

/* Returns the only thread besides one that has not ended; 0 if there are more, or none. */
static uint32_t hang_diagnosis_only_other(const struct hang_diagnosis *v, uint32_t thread)
{
    uint32_t other = 0;
    for (uint32_t line = 1; line <= v->graph->lines; line++) {
        if (v->graph->is_thread[line - 1] != WAITS_ACTS || line == thread)
            continue;
        if (other)
            return 0;
        other = line;
    }
    return other;
}

bool hang_diagnosis_candidate(const struct hang_diagnosis *v, size_t waiter, unsigned i,
                              struct holder_info *holder)
{
    const struct waiter *w = &v->graph->waiters[waiter];
    const struct waker_subject *s = waker_search_subject(&v->wakers, w);
    if (w->look->awaits_child)
        return hang_diagnosis_child(v, w, i, holder);
    if (!s || !waker_search_is_communication(&v->wakers, w) ||
        w->look->category == CATEGORY_SEMAPHORE)
        return false;
    *holder =
        (struct holder_info){.how = w->look->category == CATEGORY_SEND ? HOLD_READER : HOLD_WRITER};
    for (unsigned k = 0; k < s->able_count && !holder->thread; k++) {
        if (s->able[k].thread == w->thread || i-- > 0)
            continue;
        holder->thread = s->able[k].thread;
        holder->since = waker_search_event_at(&v->wakers, s->able[k].position);
    }
    if (!holder->thread && i == 0 && !s->able_count)
        holder->thread = hang_diagnosis_only_other(v, w->thread);
    return holder->thread != 0;
}

static bool hang_diagnosis_resumes_if_woken(const void *diagnosis, uint32_t thread)
{
    return hang_diagnosis_thread_resumes(diagnosis, thread, RESUMES_IF_WOKEN);
}

static bool hang_diagnosis_is_stuck(const void *diagnosis, uint32_t thread)
{
    return !hang_diagnosis_thread_resumes(diagnosis, thread, RESUMES);
}

struct hang_diagnosis *hang_diagnosis_new(const struct wait_graph *graph)
{
    struct hang_diagnosis *v = xcalloc(1, sizeof *v);
    v->graph = graph;
    v->resumes = xcalloc(graph->count, 1);
    waker_search_begin(&v->wakers, graph, hang_diagnosis_resumes_if_woken, v);
    v->any_resumes = graph->run_count > 0;
    v->first = order_first(graph->run->order);
    return v;
}

void hang_diagnosis_free(struct hang_diagnosis *v)
{
    if (!v)
        return;
    waker_search_free(&v->wakers);
    pool_search_free(&v->pools);
    free(v->resumes);
    free(v);
}

static bool hang_diagnosis_run_stage(struct hang_diagnosis *v, uint64_t *budget)
{
    switch (v->stage) {
    case STAGE_PROCESSES:
        return hang_diagnosis_find_processes(v, budget);
    case STAGE_RESUMABLE:
        for (size_t i = 0; i < v->graph->count; i++)
            waker_search_add(&v->wakers, i);
        hang_diagnosis_propagate_resumable(v, RESUMES_IF_WOKEN);
        hang_diagnosis_propagate_resumable(v, RESUMES);
        return true;
    case STAGE_SUBJECTS:
        return waker_search_scan_log(&v->wakers, budget);
    case STAGE_LINES:
        return waker_search_scan_lines(&v->wakers, budget);
    case STAGE_RELATIONS:
        return waker_search_compare(&v->wakers, budget);
    case STAGE_OUTCOMES:
        hang_diagnosis_propagate_resumable(v, RESUMES_AS_BEFORE);
        hang_diagnosis_add_uncertainty(v);
        pool_search_begin(&v->pools, v->graph, hang_diagnosis_is_stuck, v);
        return true;
    default:
        return pool_search_step(&v->pools, budget);
    }
}

bool hang_diagnosis_step(struct hang_diagnosis *v, uint64_t *budget)
{
    if (v->first != order_first(v->graph->run->order)) { /* discarded events allow no diagnosis */
        memset(v->resumes, 0xff, v->graph->count);
        v->wakers.count = v->pools.count = 0;
        v->stage = STAGE_READY;
    }
    while (v->stage != STAGE_READY && *budget) {
        if (!hang_diagnosis_run_stage(v, budget))
            return false;
        v->stage++;
    }
    return v->stage == STAGE_READY;
}

/* ---- the response ---- */

static uint8_t hang_diagnosis_waker_state(const struct hang_diagnosis *v, uint32_t thread)
{
    const struct wait_graph *g = v->graph;
    if (!thread || thread > g->lines)
        return WAKER_RUNS;
    bool ended =
        g->is_thread[thread - 1] == WAITS_ENDED || g->is_thread[thread - 1] == WAITS_EXITED;
    return ended ? WAKER_ENDED : g->waiter_of[thread - 1] ? WAKER_WAITS : WAKER_RUNS;
}

static void hang_diagnosis_add_runs(const struct hang_diagnosis *v, const struct waker_subject *s,
                                    struct diagnosis_info *shown)
{
    const struct wait_graph *g = v->graph;
    for (uint32_t i = 0; i < g->run_count && i < WAITS_RUNS && shown->run_count < RUNS_MOST; i++) {
        bool did = false;
        for (unsigned k = 0; k < s->able_count; k++)
            did |= s->able[k].thread == g->runs[i];
        if (did)
            continue;
        referenced_lines_note(g->runs[i]);
        shown->runs[shown->run_count++] = g->runs[i];
    }
}

/* Notes the only thread that resumed after the last waker, if it waits at the object again, or that
 * woke one thread only. */
static void hang_diagnosis_note_woken(const struct hang_diagnosis *v, const struct waker_subject *s,
                                      struct diagnosis_info *shown)
{
    const struct wait_graph *g = v->graph;
    uint32_t thread = s->resumed_count == 1 && s->waker == &s->able[0] ? s->resumed : 0;
    uint32_t waiter = thread && thread <= g->lines ? g->waiter_of[thread - 1] : 0;
    const struct order *order = g->run->order;
    struct order_event e = order_event(order, s->waker->position);
    const struct target_event *look =
        run_event_type(g->run, e.line, e.type, (enum relation)e.relation);
    bool all = !look || run_signal_wakes_all(g->run, shown->waker, look),
         again = waiter && g->waiters[waiter - 1].about == s->line;
    if (!thread || (!again && all))
        return;
    uint32_t site = again ? order_event(order, g->waiters[waiter - 1].position).site : 0;
    shown->woken = thread;
    shown->woken_left = !again;
    for (unsigned i = 0; i < s->waiter_count && again && !all; i++)
        shown->woken_elsewhere |=
            order_event(order, g->waiters[s->waiters[i]].position).site != site;
    referenced_lines_note(thread);
}

static void hang_diagnosis_put_subject(const struct hang_diagnosis *v,
                                       const struct waker_subject *s, struct response *reply)
{
    struct waker_info able[WAKERS_MOST];
    uint32_t runs[RUNS_MOST];
    struct diagnosis_info shown = {.about = s->line,
                                   .waker_type = s->meets,
                                   .fate = hang_diagnosis_outcome(v, s->reported_waiter),
                                   .doubts = s->doubts,
                                   .wait = v->graph->waiters[s->reported_waiter].at,
                                   .waker_relation = s->waker_relation,
                                   .able = able,
                                   .runs = runs};
    referenced_lines_note(s->line);
    referenced_lines_note(shown.wait.line);
    if (s->waker) {
        struct order_event e = order_event(v->graph->run->order, s->waker->position);
        shown.waker = (struct event_id){e.line, e.number};
        shown.waker_type = s->meets ? s->meets : e.type;
        wait_holder_copy_site(v->graph->run, e.site, &shown.process, &shown.site);
        shown.went_on = s->own                               ? WAKE_UNKNOWN
                        : s->went_on_ns >= s->waker->time_ns ? WAKE_SOME_THREAD
                                                             : WAKE_NO_THREAD;
        referenced_lines_note(e.line);
        hang_diagnosis_note_woken(v, s, &shown);
    }
    if (s->meets) {
        shown.arrived = s->waiting;
        shown.participants = run_lines_participants(&v->graph->run->lines, s->line);
    }
    for (unsigned i = 0; i < s->able_count; i++) {
        uint32_t thread = s->able[i].thread;
        referenced_lines_note(thread);
        able[shown.able_count++] =
            (struct waker_info){thread, hang_diagnosis_waker_state(v, thread),
                                waker_search_event_at(&v->wakers, s->able[i].position)};
    }
    hang_diagnosis_add_runs(v, s, &shown);
    response_chunk_begin(reply, RESPONSE_DIAGNOSIS);
    encode_diagnosis(reply->out, &shown);
    response_chunk_end(reply);
}

/* All futexes have one response part, and all event loops: any thread may wake the waiters of any
 * of them. */
static void hang_diagnosis_put_asleep(struct hang_diagnosis *v, bool polls, struct response *reply)
{
    size_t waiter = hang_diagnosis_first_asleep(v, polls);
    if (v->sent_asleep[polls] || waiter == v->graph->count)
        return;
    v->sent_asleep[polls] = true;
    struct diagnosis_info shown = {.polls = polls,
                                   .fate = hang_diagnosis_outcome(v, waiter),
                                   .doubts = v->doubts,
                                   .wait = v->graph->waiters[waiter].at};
    if (shown.fate == OUTCOME_OPEN)
        return;
    referenced_lines_note(shown.wait.line);
    response_chunk_begin(reply, RESPONSE_DIAGNOSIS);
    encode_diagnosis(reply->out, &shown);
    response_chunk_end(reply);
}

static void hang_diagnosis_put_pool(const struct hang_diagnosis *v, const struct pool *pool,
                                    struct response *reply)
{
    struct waker_info threads[POOL_THREADS];
    struct order_event signal = order_event(v->graph->run->order, pool->signal);
    struct diagnosis_info shown = {.pool = true,
                                   .about = pool->line,
                                   .wait =
                                       waker_search_event_at(&v->wakers, pool->threads[0].waited),
                                   .waker = {signal.line, signal.number},
                                   .waker_type = signal.type,
                                   .able = threads,
                                   .able_count = pool->count};
    referenced_lines_note(pool->line);
    referenced_lines_note(signal.line);
    for (unsigned i = 0; i < pool->count; i++) {
        threads[i] =
            (struct waker_info){pool->threads[i].thread, WAKER_WAITS,
                                waker_search_event_at(&v->wakers, pool->threads[i].waited)};
        referenced_lines_note(threads[i].thread);
        referenced_lines_note(threads[i].last.line);
    }
    response_chunk_begin(reply, RESPONSE_DIAGNOSIS);
    encode_diagnosis(reply->out, &shown);
    response_chunk_end(reply);
}

bool hang_diagnosis_put(struct hang_diagnosis *v, struct response *reply)
{
    hang_diagnosis_put_asleep(v, false, reply);
    hang_diagnosis_put_asleep(v, true, reply);
    for (; v->sent_pools < v->pools.count && v->sent_pools < OBJECTS_REPORTED; v->sent_pools++)
        if (!v->pools.pools[v->sent_pools].excluded)
            hang_diagnosis_put_pool(v, &v->pools.pools[v->sent_pools], reply);
    for (unsigned n = 0; v->sent < v->wakers.count && v->sent < OBJECTS_REPORTED && n < 32;
         n++, v->sent++)
        if (!v->wakers.subjects[v->sent].rests &&
            waker_search_may_conclude(&v->wakers, &v->wakers.subjects[v->sent]))
            hang_diagnosis_put_subject(v, &v->wakers.subjects[v->sent], reply);
    return v->sent == v->wakers.count || v->sent == OBJECTS_REPORTED;
}

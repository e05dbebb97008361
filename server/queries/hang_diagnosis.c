#include "server/queries/hang_diagnosis.h"

#include "base/alloc.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/untraced_processes.h"
#include "server/run/cpu_placement.h"
#include "server/timing/cpu_states.h"
#include "server/run/untraced_reasons.h"

#include <stdlib.h>
#include <string.h>

#define SCAN 4000u            /* events scanned at once */
#define SCAN_COST 4u          /* events for one unit of the budget */
#define LOG_MOST 30000000u    /* maximum number of events of the backward search; */
#define LOG_MOST_LIVE 2000000u /* in a live run, and on a line of an object */
#define ABLE_MOST 64u
#define PAIRS_MOST 16u /* maximum number of wakers, and of waiters, that are compared */
#define COMPARISON 1000u
#define OBJECTS_REPORTED 500u /* maximum number of objects reported */
#define RUNS_MOST 8u

/* Set if a waiter can resume, under these assumptions: */
enum {
    RESUMES_IF_WOKEN = 1, /* every waiter is woken */
    RESUMES = 2,           /* any thread that can resume wakes it */
    RESUMES_AS_BEFORE = 4  /* only threads that woke before wake it */
};

/* An object at which threads wait to be woken, all by the same types of events. */
struct diagnosis_subject {
    uint32_t line;
    uint32_t next; /* 1 + index of another subject of this object, with other types; 0: none */
    size_t waiters[PAIRS_MOST]; /* indices, the longest wait first */
    unsigned waiter_count;
    const struct target_names *wakers, *expects;
    bool rests; /* its threads wait for work, so there is no diagnosis */
    uint32_t meets; /* as at a barrier, all must arrive, with an event of this type; 0: not so */
    bool own;        /* the events of its line are searched, not the log */
    uint64_t ordinal;
    /* settled: a thread that can still wake the waiters was found; cut: the search was limited. */
    bool settled, cut;
    struct able_one {
        uint32_t thread;
        uint64_t position;
        int64_t time_ns;
        bool woke_none; /* it must arrive, too, but its event woke no thread */
    } able[ABLE_MOST];
    unsigned able_count;
    bool begun; /* an arrival was found in the backward search */
    uint32_t left[ABLE_MOST]; /* threads that arrived the previous time, and not since */
    unsigned left_count;
    const struct able_one *waker; /* the last possible waker; NULL: none */
    int64_t went_on_ns; /* the last time that a waiter resumed; INT64_MIN: never */
    uint32_t doubts;
    uint8_t waker_relation;
    size_t reported_waiter; /* index of the waiter that is reported */
};

struct hang_diagnosis {
    const struct wait_graph *graph;
    uint8_t *resumes; /* by index of a waiter: bits of the enum above */
    uint8_t *wanted; /* by line - 1: whether the log is searched for events about the object */
    uint32_t *subject_of; /* by line - 1: 1 + index of its last subject; 0: none */
    struct diagnosis_subject *subjects;
    size_t count, room;
    enum {
        STAGE_PROCESSES,
        STAGE_RESUMABLE,
        STAGE_SUBJECTS,
        STAGE_LINES,
        STAGE_RELATIONS,
        STAGE_OUTCOMES,
        STAGE_READY
    } stage;
    struct untraced_processes processes; /* they may use what they inherited */
    uint64_t from, least; /* the log is searched from `from` on; the search ends at `least` */
    size_t at; /* index of the current subject */
    unsigned able, waiter; /* indices of the pair being compared */
    bool comparing;
    struct comparison *comparison;
    uint32_t doubts; /* of the subjects of all waiters that cannot resume */
    bool any_resumes; /* a thread can resume, and wake others */
    uint64_t first; /* first position of the order when the diagnosis began */
    size_t sent;
};

/* ---- threads that can resume ---- */

static const struct target_line_type *hang_diagnosis_kind_of(const struct hang_diagnosis *v,
                                                             const struct waiter *w)
{
    const struct run *run = v->graph->run;
    uint32_t kind = w->about <= v->graph->lines ? order_line_kind(run->order, w->about) : 0;
    return target_list_line_type(&run->targets, run_kind_name(run, kind));
}

/* Returns whether it waits at an object of the kernel, such as a pipe: any thread of a process that
 * has it may wake the thread, whether it did before or not. */
static bool hang_diagnosis_is_communication(const struct hang_diagnosis *v, const struct waiter *w)
{
    const struct target_line_type *kind = w->about ? hang_diagnosis_kind_of(v, w) : NULL;
    return kind && kind->everywhere;
}

/* (who can use an object of the kernel is only known if it is inherited) */
static bool needs_waking(const struct hang_diagnosis *v, const struct waiter *w)
{
    if (!w->about || (!w->look->woken_by.count && !w->look->releases))
        return false;
    const struct target_line_type *kind = hang_diagnosis_kind_of(v, w);
    return !kind || !kind->everywhere || kind->inherited;
}

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
        if (v->graph->holders[object->first + i].how == HOLD_AT_FORK && !w->at_exit)
            continue;
        going += w->at_exit ? hang_diagnosis_resumes_at_exit(v, holder, how)
                            : hang_diagnosis_thread_resumes(v, holder, how);
    }
    return shared ? going > 0 || object->count == 0 : going == object->count;
}

static bool same_types(const struct target_names *a, const struct target_names *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = target_has_line_type(b, a->items[i]);
    return same;
}

static struct diagnosis_subject *find_subject(const struct hang_diagnosis *v,
                                              const struct waiter *w)
{
    uint32_t i = w->about <= v->graph->lines ? v->subject_of[w->about - 1] : 0;
    while (i && !same_types(v->subjects[i - 1].wakers, &w->look->woken_by))
        i = v->subjects[i - 1].next;
    return i ? &v->subjects[i - 1] : NULL;
}

static bool is_woken(const struct hang_diagnosis *v, const struct waiter *w, unsigned how)
{
    const struct diagnosis_subject *s = find_subject(v, w);
    if (how == RESUMES_IF_WOKEN || !s)
        return true;
    if (how == RESUMES || s->able_count == 0 || hang_diagnosis_is_communication(v, w))
        return v->any_resumes;
    for (unsigned i = 0; i < s->able_count; i++)
        if (hang_diagnosis_thread_resumes(v, s->able[i].thread, how))
            return true;
    return false;
}

static bool hang_diagnosis_resumes(const struct hang_diagnosis *v, const struct waiter *w,
                                   unsigned how)
{
    const struct wait_graph *g = v->graph;
    if (w->look->timed || !w->about || w->about > g->lines)
        return true;
    if (needs_waking(v, w))
        return w->at_exit || (v->processes.some && hang_diagnosis_is_communication(v, w)) ||
               is_woken(v, w, how);
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
        needed = hang_diagnosis_is_communication(v, &v->graph->waiters[i]);
    return !needed || untraced_processes_step(&v->processes, v->graph, budget);
}

/* ---- past wake-ups by object ---- */

static uint32_t hang_diagnosis_rendezvous_type(const struct hang_diagnosis *v,
                                               const struct waiter *w)
{
    bool meets = target_has_line_type(&w->look->woken_by, w->look->name);
    return meets ? order_event(v->graph->run->order, w->position).type : 0;
}

static void note_subject(struct hang_diagnosis *v, size_t waiter)
{
    const struct waiter *w = &v->graph->waiters[waiter];
    if (w->at_exit || !needs_waking(v, w) || w->about > v->graph->lines)
        return;
    uint32_t *index = &v->subject_of[w->about - 1];
    if (!find_subject(v, w)) {
        v->subjects = array_reserve(v->subjects, &v->room, v->count + 1, sizeof *v->subjects);
        uint64_t events = order_line_events(v->graph->run->order, w->about);
        v->subjects[v->count] = (struct diagnosis_subject){.line = w->about,
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
    struct diagnosis_subject *s = find_subject(v, w);
    s->meets = s->meets ? s->meets : hang_diagnosis_rendezvous_type(v, w);
    if (s->waiter_count < PAIRS_MOST)
        s->waiters[s->waiter_count++] = waiter;
}

static bool waits_now(const struct hang_diagnosis *v, uint32_t thread, uint64_t position)
{
    uint32_t waiter = thread && thread <= v->graph->lines ? v->graph->waiter_of[thread - 1] : 0;
    return waiter && v->graph->waiters[waiter - 1].position == position;
}

static const struct waiter *wait_of(const struct hang_diagnosis *v, uint32_t thread)
{
    uint32_t waiter = thread && thread <= v->graph->lines ? v->graph->waiter_of[thread - 1] : 0;
    return waiter ? &v->graph->waiters[waiter - 1] : NULL;
}

/* Returns whether the thread has arrived at the object, such as a barrier, and waits there. */
static bool hang_diagnosis_has_arrived(const struct hang_diagnosis *v,
                                       const struct diagnosis_subject *s, uint32_t thread)
{
    const struct waiter *w = wait_of(v, thread);
    return w && w->about == s->line && target_has_line_type(s->wakers, w->look->name);
}

/* Returns whether the thread waits for the same threads at a different call site: its last event
 * released none of the waiters here. */
static bool waits_elsewhere(const struct hang_diagnosis *v, const struct diagnosis_subject *s,
                            uint32_t thread)
{
    const struct waiter *w = wait_of(v, thread);
    return s->meets && w && w->about == s->line &&
           !target_has_line_type(s->wakers, w->look->name) &&
           target_has_line_type(&w->look->woken_by, run_type_name(v->graph->run, s->meets));
}

/* Notes a thread that waited for something else before this round was complete: it is no member. */
static void note_left(const struct hang_diagnosis *v, struct diagnosis_subject *s, uint32_t thread,
                      const struct target_event *look)
{
    if (s->begun && look && look->waits && s->left_count < ABLE_MOST &&
        !target_has_line_type(&look->woken_by, run_type_name(v->graph->run, s->meets)))
        s->left[s->left_count++] = thread;
}

static void hang_diagnosis_note_waker(struct diagnosis_subject *s, uint32_t thread,
                                      uint64_t position, int64_t time_ns, bool woke_none)
{
    for (unsigned i = 0; i < s->able_count; i++)
        if (s->able[i].thread == thread)
            return;
    for (unsigned i = 0; i < s->left_count; i++)
        if (s->left[i] == thread)
            return;
    if (s->able_count < ABLE_MOST)
        s->able[s->able_count++] = (struct able_one){thread, position, time_ns, woke_none};
    else
        s->cut = true;
}

/* Adds what an event says about the wakers.  The search runs backwards, so the first event of
 * each thread that it finds is the last one. */
static void hang_diagnosis_check_event(struct hang_diagnosis *v, struct diagnosis_subject *s,
                                       uint64_t position)
{
    const struct run *run = v->graph->run;
    struct order_event e = order_event(run->order, position);
    if (!e.line || e.state != EVENT_ORDERED)
        return;
    bool wakes = target_has_line_type(s->wakers, run_type_name(run, e.type));
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    if (!wakes && !(look && look->waits) && !s->own && e.time_ns > s->went_on_ns)
        s->went_on_ns = e.time_ns;
    bool expected = s->meets && target_has_line_type(s->expects, run_type_name(run, e.type));
    s->begun |= expected;
    if (s->meets && !wakes && !expected)
        note_left(v, s, e.thread, look);
    wakes |= expected;
    if (!wakes || waits_now(v, e.thread, position) || hang_diagnosis_has_arrived(v, s, e.thread))
        return;
    hang_diagnosis_note_waker(s, e.thread, position, e.time_ns,
                              waits_elsewhere(v, s, e.thread) ||
                                  (s->meets && !(look && look->waits)));
    s->settled |=
        v->graph->run_count > 0 && hang_diagnosis_thread_resumes(v, e.thread, RESUMES_IF_WOKEN);
}

/* Returns whether each subject that is searched in the log has a thread that can still wake it. */
static bool all_settled(const struct hang_diagnosis *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!v->subjects[i].own && !v->subjects[i].settled)
            return false;
    return true;
}

static bool hang_diagnosis_scan_back(struct hang_diagnosis *v, uint64_t *budget)
{
    const struct order *order = v->graph->run->order;
    while (v->from > v->least && !all_settled(v)) {
        if (*budget == 0)
            return false;
        *budget -= *budget < SCAN / SCAN_COST ? *budget : SCAN / SCAN_COST;
        uint64_t end = v->from - v->least > SCAN ? v->from - SCAN : v->least, at = v->from;
        while ((at = order_about_before(order, at, end, v->wanted, v->graph->lines)) != NO_POSITION)
            for (uint32_t i = v->subject_of[order_event(order, at).about - 1]; i;
                 i = v->subjects[i - 1].next)
                hang_diagnosis_check_event(v, &v->subjects[i - 1], at);
        v->from = end;
    }
    for (size_t i = 0; i < v->count; i++)
        v->subjects[i].cut |=
            !v->subjects[i].own && !v->subjects[i].settled && v->least > order_first(order);
    return true;
}

static bool hang_diagnosis_scan_lines(struct hang_diagnosis *v, uint64_t *budget)
{
    const struct order *order = v->graph->run->order;
    for (; v->at < v->count; v->at++) {
        struct diagnosis_subject *s = &v->subjects[v->at];
        uint64_t first = order_line_first(order, s->line), n = order_line_events(order, s->line);
        uint64_t least = n - first > LOG_MOST_LIVE ? n - LOG_MOST_LIVE : first;
        for (; s->own && s->ordinal > least && !s->settled; --*budget) {
            if (*budget == 0)
                return false;
            uint64_t position = order_line_at(order, s->line, --s->ordinal);
            if (position != NO_POSITION)
                hang_diagnosis_check_event(v, s, position);
        }
        s->cut |= s->own && !s->settled && least > first;
    }
    return true;
}

/* ---- possible wake-ups in the past ---- */

static struct event_id ref_at(const struct hang_diagnosis *v, uint64_t position)
{
    struct order_event e = order_event(v->graph->run->order, position);
    return (struct event_id){e.line, e.number};
}

/* Returns whether a waiter was seen asleep after the last event of a thread: if it waits for bytes
 * or space, nothing that this one did has woken it. */
static bool hang_diagnosis_sleeps_on(const struct hang_diagnosis *v, size_t waiter, uint32_t thread)
{
    const struct run *run = v->graph->run;
    uint64_t last = order_thread_last(run->order, thread);
    int64_t end_ns = run->programs.connected ? 0 : run->clock.ended_ns;
    return hang_diagnosis_is_communication(v, &v->graph->waiters[waiter]) &&
           last != NO_POSITION && last >= order_first(run->order) &&
           cpu_states_seen_asleep_ns(cpu_placement_states(run), v->graph->waiters[waiter].thread,
                                     end_ns) > order_event(run->order, last).time_ns;
}

/* Selects the waker to report: the last one that is not before the wait, else the last one. */
static void hang_diagnosis_select_waker(const struct hang_diagnosis *v, struct diagnosis_subject *s,
                                        const struct able_one *able, size_t waiter,
                                        enum causal_relation p)
{
    bool open = p != ORDER_BEFORE,
         was_open = s->waker_relation && s->waker_relation != RELATION_CODE(ORDER_BEFORE);
    s->doubts |= open && !hang_diagnosis_sleeps_on(v, waiter, able->thread) ? UNCERTAIN_WAKER : 0;
    if (s->waker_relation && (open != was_open ? was_open : able->time_ns <= s->waker->time_ns))
        return;
    s->waker = able;
    s->waker_relation = (uint8_t)RELATION_CODE(p);
    s->reported_waiter = waiter;
}

/* Returns whether the thread can have woken the waiter; no thread wakes itself. */
static bool is_pair(const struct hang_diagnosis *v, const struct able_one *able, size_t waiter)
{
    return !able->woke_none && able->thread != v->graph->waiters[waiter].thread;
}

static bool compare_pair(struct hang_diagnosis *v, const struct able_one *able, size_t waiter,
                         uint64_t *budget)
{
    if (!v->comparing)
        comparison_begin(v->comparison, ref_at(v, able->position), v->graph->waiters[waiter].at);
    v->comparing = true;
    bool done;
    do { /* at least once, even if the budget is used up */
        done = comparison_step(v->comparison, COMPARISON);
        *budget -= *budget < COMPARISON ? *budget : COMPARISON;
    } while (!done && *budget >= COMPARISON);
    v->comparing = !done;
    return done;
}

static bool compare_pairs(struct hang_diagnosis *v, struct diagnosis_subject *s, uint64_t *budget)
{
    unsigned most = s->able_count < PAIRS_MOST ? s->able_count : PAIRS_MOST;
    for (; v->able < most; v->able++, v->waiter = 0)
        for (; v->waiter < s->waiter_count; v->waiter++) {
            const struct able_one *able = &s->able[v->able];
            size_t waiter = s->waiters[v->waiter];
            if (!is_pair(v, able, waiter))
                continue;
            if (!compare_pair(v, able, waiter, budget))
                return false;
            hang_diagnosis_select_waker(v, s, able, waiter, comparison_answer(v->comparison));
        }
    s->doubts |= s->able_count > PAIRS_MOST ? UNCERTAIN_WAKER : 0;
    return true;
}

static bool compare_all(struct hang_diagnosis *v, uint64_t *budget)
{
    for (; v->at < v->count; v->at++, v->able = v->waiter = 0)
        if (!compare_pairs(v, &v->subjects[v->at], budget))
            return false;
    return true;
}

/* ---- conclusions ---- */

/* Returns whether a signal handler may wake the waiters: one that posts a unit of a semaphore that
 * is not used as a lock, or that writes to a pipe that its own thread reads. */
static bool hang_diagnosis_may_handler_wake(const struct hang_diagnosis *v,
                                            const struct diagnosis_subject *s)
{
    const struct waiter *w = &v->graph->waiters[s->reported_waiter];
    if (!hang_diagnosis_is_communication(v, w))
        return s->own && order_line_shared(v->graph->run->order, s->line) &&
               !v->graph->objects[w->object].count;
    bool itself = s->able_count == 0;
    for (unsigned i = 0; i < s->able_count; i++)
        itself |= s->able[i].thread == w->thread;
    return itself;
}

static void hang_diagnosis_add_uncertainty(struct hang_diagnosis *v)
{
    const struct run *run = v->graph->run;
    bool handlers = run_connected(run) > 0;
    for (size_t i = 0; i < v->count; i++) {
        struct diagnosis_subject *s = &v->subjects[i];
        s->doubts |= s->cut ? UNCERTAIN_PAST : 0;
        s->doubts |= untraced_reasons_some(run) ? UNCERTAIN_UNTRACED : 0;
        s->doubts |= s->wakers->count == 0 ? UNCERTAIN_TYPES : 0;
        s->doubts |= handlers && hang_diagnosis_may_handler_wake(v, s) ? UNCERTAIN_HANDLER : 0;
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
    const struct diagnosis_subject *s = find_subject(v, w);
    if (!s || !hang_diagnosis_is_communication(v, w))
        return false;
    *holder =
        (struct holder_info){.how = w->look->category == CATEGORY_SEND ? HOLD_READER : HOLD_WRITER};
    for (unsigned k = 0; k < s->able_count && !holder->thread; k++) {
        if (s->able[k].thread == w->thread || i-- > 0)
            continue;
        holder->thread = s->able[k].thread;
        holder->since = ref_at(v, s->able[k].position);
    }
    if (!holder->thread && i == 0 && !s->able_count)
        holder->thread = hang_diagnosis_only_other(v, w->thread);
    return holder->thread != 0;
}

struct hang_diagnosis *hang_diagnosis_new(const struct wait_graph *graph)
{
    struct hang_diagnosis *v = xcalloc(1, sizeof *v);
    const struct order *order = graph->run->order;
    v->graph = graph;
    v->resumes = xcalloc(graph->count, 1);
    v->wanted = xcalloc(graph->lines, 1);
    v->subject_of = xcalloc(graph->lines, sizeof *v->subject_of);
    v->comparison = comparison_new(order);
    v->any_resumes = graph->run_count > 0;
    v->first = order_first(order);
    v->from = order_count(order);
    uint64_t most = run_connected(graph->run) ? LOG_MOST_LIVE : LOG_MOST;
    v->least = v->from - order_first(order) > most ? v->from - most : order_first(order);
    return v;
}

void hang_diagnosis_free(struct hang_diagnosis *v)
{
    if (!v)
        return;
    comparison_free(v->comparison);
    free(v->resumes);
    free(v->wanted);
    free(v->subject_of);
    free(v->subjects);
    free(v);
}

static bool hang_diagnosis_run_stage(struct hang_diagnosis *v, uint64_t *budget)
{
    switch (v->stage) {
    case STAGE_PROCESSES:
        return hang_diagnosis_find_processes(v, budget);
    case STAGE_RESUMABLE:
        for (size_t i = 0; i < v->graph->count; i++)
            note_subject(v, i);
        hang_diagnosis_propagate_resumable(v, RESUMES_IF_WOKEN);
        hang_diagnosis_propagate_resumable(v, RESUMES);
        return true;
    case STAGE_SUBJECTS:
        return hang_diagnosis_scan_back(v, budget);
    case STAGE_LINES:
        return hang_diagnosis_scan_lines(v, budget);
    case STAGE_RELATIONS:
        return compare_all(v, budget);
    default:
        hang_diagnosis_propagate_resumable(v, RESUMES_AS_BEFORE);
        hang_diagnosis_add_uncertainty(v);
        return true;
    }
}

bool hang_diagnosis_step(struct hang_diagnosis *v, uint64_t *budget)
{
    if (v->first != order_first(v->graph->run->order)) { /* discarded events allow no diagnosis */
        memset(v->resumes, 0xff, v->graph->count);
        v->count = 0;
        v->stage = STAGE_READY;
    }
    while (v->stage != STAGE_READY && *budget) {
        if (!hang_diagnosis_run_stage(v, budget))
            return false;
        v->stage++;
        v->at = 0;
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

static void add_runs(const struct hang_diagnosis *v, const struct diagnosis_subject *s,
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

static void hang_diagnosis_put_subject(const struct hang_diagnosis *v,
                                       const struct diagnosis_subject *s, struct response *reply)
{
    struct waker_info able[ABLE_MOST];
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
        shown.went_on = s->own                               ? WAKE_UNKNOWN
                        : s->went_on_ns >= s->waker->time_ns ? WAKE_SOME_THREAD
                                                             : WAKE_NO_THREAD;
        referenced_lines_note(e.line);
    }
    for (unsigned i = 0; i < s->able_count; i++) {
        uint32_t thread = s->able[i].thread;
        referenced_lines_note(thread);
        able[shown.able_count++] = (struct waker_info){
            thread, hang_diagnosis_waker_state(v, thread), ref_at(v, s->able[i].position)};
    }
    add_runs(v, s, &shown);
    response_chunk_begin(reply, RESPONSE_DIAGNOSIS);
    encode_diagnosis(reply->out, &shown);
    response_chunk_end(reply);
}

bool hang_diagnosis_put(struct hang_diagnosis *v, struct response *reply)
{
    for (unsigned n = 0; v->sent < v->count && v->sent < OBJECTS_REPORTED && n < 32; n++, v->sent++)
        if (!v->subjects[v->sent].rests)
            hang_diagnosis_put_subject(v, &v->subjects[v->sent], reply);
    return v->sent == v->count || v->sent == OBJECTS_REPORTED;
}

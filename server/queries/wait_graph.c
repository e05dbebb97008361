/* Wait-for graph at the end of the recorded events: which thread waits for which object, its
 * holders, and deadlock cycles; from the last event of every thread, from the threads in each
 * line, and from the types' descriptions.  A thread waits if its last event, on any line, is of
 * a type that waits.  All holders of the object block it; if the object is a thread, that thread
 * does. */
#include "server/queries/wait_graph.h"

#include "server/queries/event_answer.h"
#include "server/queries/futex_waits.h"
#include "server/queries/group_members.h"
#include "server/queries/hang_diagnosis.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/request_queue.h"
#include "server/queries/wait_holders.h"
#include "server/queries/wait_start.h"
#include "server/run/cpu_placement.h"

#include "base/alloc.h"
#include "server/cuts/cut_info.h"
#include "server/run/awaits.h"
#include "server/run/run_processes.h"
#include "server/timing/cpu_states.h"
#include "wire/query_results.h"

#include <stdlib.h>
#include <string.h>

#define SLEEPERS_MOST 500u /* maximum number of sleeping threads reported */

struct wait_graph_job {
    struct wait_graph graph;
    enum { COLLECTING, HOLDING, JUDGING, WAKING, PRUNING, CHASING, DONE } stage;
    bool judged; /* hang diagnoses are requested, too */
    uint64_t last_gone_ns; /* as of run_processes_last_gone_ns() */
    uint32_t at; /* progress of the stage: a line or an index */
    size_t waiter_room, object_room;
    /* Depth-first search along "waits for": */
    struct wait_graph_frame {
        uint32_t waiter, next; /* index of the next blocker to follow */
    } *way;
    uint32_t length;
    /* By waiter. PRUNING: 1 on the path, 2 done. CHASING: 1 + start of the last path to it. */
    uint32_t *seen;
    uint8_t *reaches; /* by waiter: whether a cycle can be reached from it */
    uint32_t *cycles; /* for each cycle its length, then the indices of its waiters */
    size_t cycle_words, cycle_room;
    size_t sent; /* number of waiters sent */
    struct hang_diagnosis *verdicts;
};

static void *wait_graph_begin(struct request_queue *queue, struct decoder *in)
{
    bool judged = decoder_remaining(in) && decode_u8(in) & 1;
    if (!decoder_finish(in))
        return NULL;
    struct wait_graph_job *job = xcalloc(1, sizeof *job);
    job->judged = judged;
    job->graph.run = queue->run;
    job->last_gone_ns = run_processes_last_gone_ns(&queue->run->processes);
    job->graph.lines = order_line_count(queue->run->order);
    job->graph.is_thread = xcalloc(job->graph.lines, sizeof *job->graph.is_thread);
    job->graph.waiter_of = xcalloc(job->graph.lines, sizeof *job->graph.waiter_of);
    job->graph.object_of = xcalloc(job->graph.lines, sizeof *job->graph.object_of);
    return job;
}

/* ---- waiters ---- */

static const struct target_event *wait_graph_event_type_of(const struct wait_graph_job *job,
                                                           const struct order_event *e)
{
    return e->line ? run_event_type(job->graph.run, e->line, e->type, (enum relation)e->relation)
                   : NULL;
}

/* Returns the last event of a thread; its line is 0 if there is none, or it was discarded. */
static struct order_event last_of(const struct wait_graph_job *job, uint32_t thread,
                                  uint64_t *position)
{
    *position = order_thread_last(job->graph.run->order, thread);
    return *position == NO_POSITION ? (struct order_event){0}
                                    : order_event(job->graph.run->order, *position);
}

/* Returns whether the last event of a thread, on its own line, says that the thread has ended. */
static bool has_ended(const struct order_event *e, uint32_t thread, const struct target_event *look)
{
    return look && e->line == thread && look->has_presence && look->own &&
           look->presence == OCCUPANCY_BLOCKED && !look->waits;
}

/* Returns false for a thread of a process that ended while others ran on: it acts no more. */
static bool wait_graph_is_known(const struct wait_graph_job *job, uint32_t thread)
{
    const struct run *run = job->graph.run;
    uint32_t process = run_line_at(run, thread)->process;
    if (process >= run->processes.count)
        return true;
    const struct run_process *is = &run->processes.items[process];
    return run->programs.connected ? is->connected : !run_process_died(is, job->last_gone_ns);
}

static void add_running(struct wait_graph_job *job, uint32_t thread)
{
    struct wait_graph *g = &job->graph;
    if (g->run_count < WAITS_RUNS)
        g->runs[g->run_count] = thread;
    g->run_count++;
}

/* Returns the thread as one that sleeps according to the kernel, or NULL. */
static const struct wait_graph_sleeper *wait_graph_add_sleeper(struct wait_graph *g,
                                                               uint32_t thread)
{
    struct wait_graph_sleeper a = {.thread = thread};
    int64_t end_ns = g->run->programs.connected ? 0 : g->run->clock.ended_ns;
    if (g->asleep_count == SLEEPERS_MOST ||
        !cpu_states_asleep(cpu_placement_states(g->run), thread, end_ns, &a.since_ns, &a.call))
        return NULL;
    ARRAY_PUSH(g->asleep, g->asleep_count, a);
    return &g->asleep[g->asleep_count - 1];
}

/* Describes a wait for the end of another thread. */
static const struct target_event look_of_end = {.name = (char[]){""}, .waits = true};

/* Returns which thread's end a thread awaits after its last event; NULL if none, or if that
 * thread has ended. */
static const struct await *awaited(const struct wait_graph_job *job, const struct order_event *e)
{
    const struct run *run = job->graph.run;
    const struct await *await = awaits_after(run, e);
    uint64_t position;
    if (!await || await->about > job->graph.lines || order_line_closed(run->order, await->about))
        return NULL;
    struct order_event last = last_of(job, await->about, &position);
    return has_ended(&last, await->about, wait_graph_event_type_of(job, &last)) ? NULL : await;
}

static void add_waiter(struct wait_graph_job *job, struct waiter waiter)
{
    struct wait_graph *g = &job->graph;
    g->waiters = array_reserve(g->waiters, &job->waiter_room, g->count + 1, sizeof *g->waiters);
    g->waiters[g->count++] = waiter;
}

/* Returns whether other threads end such a wait by what they do on the line of its event. Otherwise
 * the event stands there only because its thread holds the line's lock. */
static bool wait_graph_is_ended_there(const struct target_event *look)
{
    return look->releases || look->woken_by.count || look->waits_as == WAITS_EXCLUSION;
}

/* Adds the thread of a line to the waiting or running ones.  Returns false if no thread acts on
 * the line, or its thread has ended: that one does not wait, whatever its last event. */
static bool wait_graph_check_line(struct wait_graph_job *job, uint32_t thread)
{
    struct wait_graph *g = &job->graph;
    uint64_t position = order_thread_last(g->run->order, thread);
    if (position == NO_POSITION)
        return false;
    if (order_line_closed(g->run->order, thread)) {
        g->is_thread[thread - 1] = WAITS_ENDED;
        return false;
    }
    struct order_event e = last_of(job, thread, &position);
    const struct target_event *look = wait_graph_event_type_of(job, &e);
    if (!e.line)
        return true;
    if (cut_info_continues(g->run, thread)) { /* it waited no longer than the cut shows */
        g->is_thread[thread - 1] = WAITS_ACTS;
        add_running(job, thread);
        return true;
    }
    bool exited = run_exited(g->run, thread);
    bool ended = exited || has_ended(&e, thread, look) || !wait_graph_is_known(job, thread);
    g->is_thread[thread - 1] = exited ? WAITS_EXITED : ended ? WAITS_ENDED : WAITS_ACTS;
    struct waiter waiter = {.thread = thread,
                            .at_exit = exited,
                            .position = position,
                            .at = {e.line, e.number},
                            .time_ns = e.time_ns,
                            .look = look};
    const struct await *await = look && look->waits ? NULL : awaited(job, &e);
    if (await) {
        waiter.about = await->about;
        waiter.time_ns = await->since_ns > e.time_ns ? await->since_ns : e.time_ns;
        waiter.look = &look_of_end;
        waiter.end = true;
        waiter.site = await->site;
        add_waiter(job, waiter);
    } else if (look && look->waits) {
        waiter.about = e.about ? e.about : wait_graph_is_ended_there(look) ? e.line : 0;
        waiter.own = waiter.about == thread && look->releases && look->woken_by.count;
        waiter.about = waiter.about == thread && !waiter.own ? 0 : waiter.about;
        waiter.reach = waiter.about ? run_lines_reach(&g->run->lines, waiter.about) : 0;
        add_waiter(job, waiter);
    } else if (!ended && wait_holders_find_loader(&job->graph, &waiter)) {
        add_waiter(job, waiter);
    } else if (!ended) {
        const struct wait_graph_sleeper *asleep = wait_graph_add_sleeper(g, thread);
        if (asleep && futex_wait_find(g->run, asleep, &waiter))
            add_waiter(job, waiter);
        else
            add_running(job, thread);
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct waiter *)a)->time_ns, y = ((const struct waiter *)b)->time_ns;
    return x < y ? -1 : x > y;
}

/* Threads that a cut does not have run, as far as it shows. */
static void wait_graph_add_left_out(struct wait_graph_job *job)
{
    const struct cut_info *cut = cut_info_of(job->graph.run);
    job->graph.run_count += cut ? cut->threads_left_out : 0;
}

static void wait_graph_sort_waiters(struct wait_graph_job *job)
{
    if (job->graph.count)
        qsort(job->graph.waiters, job->graph.count, sizeof *job->graph.waiters, by_time);
    for (size_t i = 0; i < job->graph.count; i++)
        job->graph.waiter_of[job->graph.waiters[i].thread - 1] = (uint32_t)i + 1;
    job->way = xcalloc(job->graph.count, sizeof *job->way);
    job->seen = xcalloc(job->graph.count, sizeof *job->seen);
    job->reaches = xcalloc(job->graph.count, sizeof *job->reaches);
}

/* ---- holders ---- */

static void note_object(struct wait_graph_job *job, struct waiter *w)
{
    struct wait_graph *g = &job->graph;
    uint32_t line = w->about && w->about <= g->lines ? w->about : 0;
    w->arriving = group_members_are_sending(g, w);
    if (line && g->object_of[line - 1]) {
        w->object = g->object_of[line - 1] - 1;
        return;
    }
    struct wait_graph_object object = {.first = (uint32_t)g->holder_count};
    if (group_members_are_of(g, line))
        group_members_add(g, &object, w);
    else if (line)
        wait_holders_find(g, &object, w);
    g->objects =
        array_reserve(g->objects, &job->object_room, g->object_count + 1, sizeof *g->objects);
    g->objects[g->object_count++] = object;
    if (line && !group_members_are_of(g, line))
        g->object_of[line - 1] = (uint32_t)g->object_count;
    w->object = (uint32_t)g->object_count - 1;
}

/* Returns whether a waiter will never resume, unless a process that is not traced opens an object
 * by its name. */
static bool wait_graph_is_blocked(const struct wait_graph_job *job, const struct waiter *w)
{
    return w->fate == OUTCOME_NEVER ||
           (w->fate == OUTCOME_POSSIBLE && hang_diagnosis_doubts(job->verdicts) == UNCERTAIN_NAME);
}

/* Adds the threads that alone could have woken a waiter, if it will never resume: then it waits for
 * these, as for holders. */
static void wait_graph_note_wakers(struct wait_graph_job *job, size_t waiter)
{
    struct wait_graph *g = &job->graph;
    struct wait_graph_object *object = &g->objects[g->waiters[waiter].object];
    struct holder_info holder;
    g->waiters[waiter].fate = hang_diagnosis_outcome(job->verdicts, waiter);
    if (object->count || !wait_graph_is_blocked(job, &g->waiters[waiter]))
        return;
    object->first = (uint32_t)g->holder_count;
    for (unsigned i = 0; hang_diagnosis_candidate(job->verdicts, waiter, i, &holder); i++)
        wait_graph_add_holder(g, object, holder);
}

/* ---- cycles ---- */

/* Returns the i-th thread that blocks a waiter; 0 if there are no more.  A wake-up that any thread
 * may do blocks it only if it will never resume.  (A wait with a timeout is in no cycle.) */
static uint32_t wait_graph_blocker(const struct wait_graph *g, const struct waiter *w, uint32_t i)
{
    const struct wait_graph_object *object = &g->objects[w->object];
    if (w->ahead.how == HOLD_MUTEX && i-- == 0)
        return w->ahead.thread;
    if (w->look->timed || w->arriving)
        return 0;
    if (w->about && w->about <= g->lines && g->is_thread[w->about - 1] && !w->own)
        return i == 0 ? w->about : 0;
    if (w->ahead.thread && w->ahead.how != HOLD_MUTEX && i-- == 0)
        return w->ahead.thread;
    const struct holder_info *holder = i < object->count ? &g->holders[object->first + i] : NULL;
    bool blocks = holder && holder->how != HOLD_AT_FORK && holder->how != HOLD_TEAM &&
                  (hold_is_of_lock(holder->how) || w->fate != OUTCOME_OPEN);
    return blocks ? holder->thread : 0;
}

/* Returns the index of the waiter of a line, or the number of waiters if its thread does not
 * wait. */
static uint32_t waiter_at(const struct wait_graph_job *job, uint32_t line)
{
    uint32_t waiter = line <= job->graph.lines ? job->graph.waiter_of[line - 1] : 0;
    return waiter ? waiter - 1 : (uint32_t)job->graph.count;
}

static void wait_graph_enter_waiter(struct wait_graph_job *job, uint32_t waiter, uint32_t mark)
{
    job->seen[waiter] = mark;
    job->way[job->length++] = (struct wait_graph_frame){waiter, 0};
}

/* Marks the waiters from which a cycle can be reached.  Usually there is none, and nothing is
 * left to search for cycles. */
static bool wait_graph_find_cyclic(struct wait_graph_job *job, uint64_t *budget)
{
    while (job->length || job->at < job->graph.count) {
        if ((*budget)-- <= 1)
            return false;
        if (!job->length) {
            if (!job->seen[job->at])
                wait_graph_enter_waiter(job, job->at, 1);
            job->at++;
            continue;
        }
        struct wait_graph_frame *top = &job->way[job->length - 1];
        uint32_t by =
            wait_graph_blocker(&job->graph, &job->graph.waiters[top->waiter], top->next++);
        uint32_t next = by ? waiter_at(job, by) : 0;
        if (!by) {
            job->seen[top->waiter] = 2;
            job->length--;
            if (job->length)
                job->reaches[job->way[job->length - 1].waiter] |= job->reaches[top->waiter];
        } else if (next < job->graph.count && job->seen[next]) {
            job->reaches[top->waiter] |= job->seen[next] == 1 || job->reaches[next];
        } else if (next < job->graph.count) {
            wait_graph_enter_waiter(job, next, 1);
        }
    }
    return true;
}

/* Adds the path as a cycle if its first thread has the lowest line in it, so that each cycle is
 * reported once. */
static void add_cycle(struct wait_graph_job *job)
{
    uint32_t least = job->graph.waiters[job->way[0].waiter].thread;
    for (uint32_t i = 1; i < job->length; i++)
        if (job->graph.waiters[job->way[i].waiter].thread < least)
            return;
    job->cycles = array_reserve(job->cycles, &job->cycle_room, job->cycle_words + job->length + 1,
                                sizeof *job->cycles);
    job->cycles[job->cycle_words++] = job->length;
    for (uint32_t i = 0; i < job->length; i++)
        job->cycles[job->cycle_words++] = job->way[i].waiter;
}

/* Finds the first path from each marked waiter back to itself. */
static bool wait_graph_find_cycles(struct wait_graph_job *job, uint64_t *budget)
{
    while (job->length || job->at < job->graph.count) {
        if ((*budget)-- <= 1)
            return false;
        if (!job->length) {
            if (job->reaches[job->at])
                wait_graph_enter_waiter(job, job->at, job->at + 1);
            job->at++;
            continue;
        }
        struct wait_graph_frame *top = &job->way[job->length - 1];
        uint32_t goal = job->way[0].waiter;
        uint32_t by =
            wait_graph_blocker(&job->graph, &job->graph.waiters[top->waiter], top->next++);
        uint32_t next = by ? waiter_at(job, by) : (uint32_t)job->graph.count;
        if (!by) {
            job->length--;
        } else if (next == goal) {
            add_cycle(job);
            job->length = 0;
        } else if (next < job->graph.count && job->reaches[next] && job->seen[next] != goal + 1) {
            wait_graph_enter_waiter(job, next, goal + 1);
        }
    }
    return true;
}

/* ---- the job ---- */

#define LOOKS 50u /* lines without a thread that cost as much as one event */

static bool step_stage(struct wait_graph_job *job, uint64_t *budget)
{
    switch (job->stage) {
    case COLLECTING:
        while (job->at < job->graph.lines && *budget)
            *budget -= wait_graph_check_line(job, ++job->at) || job->at % LOOKS == 0;
        if (job->at < job->graph.lines)
            return false;
        wait_graph_add_left_out(job);
        wait_graph_sort_waiters(job);
        return true;
    case HOLDING:
        for (; job->at < job->graph.count && *budget; --*budget) {
            note_object(job, &job->graph.waiters[job->at]);
            wait_holders_find_ahead(&job->graph, job->at++);
        }
        return job->at == job->graph.count;
    case PRUNING:
        if (!wait_graph_find_cyclic(job, budget))
            return false;
        memset(job->seen, 0, job->graph.count * sizeof *job->seen);
        return true;
    case CHASING:
        return wait_graph_find_cycles(job, budget);
    case JUDGING:
        if (job->judged && !job->verdicts)
            job->verdicts = hang_diagnosis_new(&job->graph);
        return !job->judged || hang_diagnosis_step(job->verdicts, budget);
    default:
        for (; job->judged && job->at < job->graph.count && *budget; --*budget)
            wait_graph_note_wakers(job, job->at++);
        return !job->judged || job->at == job->graph.count;
    }
}

static bool wait_graph_step(void *p, uint64_t budget)
{
    struct wait_graph_job *job = p;
    while (job->stage != DONE && budget && step_stage(job, &budget)) {
        job->stage++;
        job->at = 0;
    }
    return job->stage == DONE;
}

/* Copies the holders of what a thread waits for; that of an earlier request is the first. (The
 * holder of the mutex of a condition variable is one if it keeps the waiter from resuming.) */
static void wait_graph_copy_holders(const struct wait_graph_job *job, const struct waiter *w,
                                    struct wait_info *wait)
{
    const struct wait_graph_object *object = &job->graph.objects[w->object];
    wait->holders = xcalloc(object->count + 1u, sizeof *wait->holders);
    if (w->ahead.thread && (w->ahead.how != HOLD_MUTEX || w->fate == OUTCOME_NEVER))
        wait->holders[wait->holder_count++] = w->ahead;
    for (uint32_t i = 0; i < object->count; i++)
        wait->holders[wait->holder_count++] = job->graph.holders[object->first + i];
    for (uint32_t i = 0; i < wait->holder_count; i++)
        wait_holder_set_site(job->graph.run, &wait->holders[i]);
}

/* (one at a futex, or for descriptors, is sent as a sleeper) */
static void wait_graph_send_wait(const struct wait_graph_job *job, const struct waiter *w,
                                 struct response *reply)
{
    if (w->futex || w->polls)
        return;
    const struct run *run = job->graph.run;
    struct wait_info wait = {.thread = w->thread,
                             .about = w->about,
                             .event = {.at = w->at, .position = NO_POSITION, .time_ns = w->time_ns},
                             .fate = w->fate,
                             .at_exit = w->at_exit,
                             .end = w->end,
                             .loader = w->loader,
                             .since_ns = w->time_ns};
    referenced_lines_note(w->thread);
    referenced_lines_note(w->about);
    referenced_lines_note(w->at.line);
    wait_graph_copy_holders(job, w, &wait);
    futex_wait_set_outsider(run, w, &wait);
    if (w->position >= order_first(run->order)) { /* else it was discarded meanwhile */
        wait.event = event_answer_info(run, w->position);
        wait.signal = wait_handler_signal(run, w->position, &wait.sender);
        referenced_lines_note(wait.sender);
        referenced_lines_note(wait.signal.line);
    }
    if (w->end) {
        wait_holder_copy_site(run, w->site, &wait.event.process, &wait.event.site);
        wait.event.context = wait.event.call_count = 0;
    }
    if (w->loader)
        wait.event.site = wait.event.context = wait.event.call_count = 0;
    response_chunk_begin(reply, RESPONSE_WAIT);
    encode_wait(reply->out, &wait);
    response_chunk_end(reply);
    event_answer_free(&wait.event);
    free(wait.holders);
}

/* Sets how thread `next` keeps a waiter waiting, and the event by which it began to; number 0 if
 * that is not known. */
static void wait_graph_set_holder(const struct wait_graph_job *job, const struct waiter *w,
                                  uint32_t next, struct cycle_step_info *step)
{
    const struct wait_graph_object *object = &job->graph.objects[w->object];
    if (w->ahead.thread == next) {
        step->since = w->ahead.since;
        step->how = w->ahead.how;
    }
    for (uint32_t i = 0; i < object->count && !step->since.line; i++) {
        const struct holder_info *holder = &job->graph.holders[object->first + i];
        if (holder->thread != next)
            continue;
        step->since = holder->since;
        step->how = w->futex && !w->lock ? HOLD_TASK : holder->how;
        step->only = object->count == 1;
    }
}

static void wait_graph_send_cycle(const struct wait_graph_job *job, const uint32_t *waiters,
                                  uint32_t count, struct response *reply)
{
    struct cycle_info cycle = {.steps = xcalloc(count, sizeof *cycle.steps), .count = count};
    for (uint32_t i = 0; i < count; i++) {
        const struct waiter *w = &job->graph.waiters[waiters[i]];
        uint32_t next = job->graph.waiters[waiters[(i + 1) % count]].thread;
        referenced_lines_note(w->thread);
        referenced_lines_note(w->about);
        referenced_lines_note(w->at.line);
        cycle.doubts |=
            w->fate == OUTCOME_POSSIBLE ? hang_diagnosis_doubts(job->verdicts) : cycle.doubts;
        cycle.steps[i] = (struct cycle_step_info){
            .thread = w->thread, .about = w->about, .at = w->at, .time_ns = w->time_ns};
        wait_graph_set_holder(job, w, next, &cycle.steps[i]);
    }
    response_chunk_begin(reply, RESPONSE_CYCLE);
    encode_cycle(reply->out, &cycle);
    response_chunk_end(reply);
    free(cycle.steps);
}

static void wait_graph_send_time(const struct run *run, struct response *reply)
{
    bool live = run->programs.connected > 0;
    int64_t end =
        run->clock.ended_ns >= run->clock.last_ns && run->clock.ended_ns ? run->clock.ended_ns : -1;
    struct trace_time_info now = {
        run->clock.last_ns, live && run->clock.wall_ns ? run_clock_now_ns(&run->clock) : end, live};
    response_chunk_begin(reply, RESPONSE_NOW);
    encode_now(reply->out, &now);
    response_chunk_end(reply);
}

#define ENOUGH (128u << 10) /* bytes appended by one call of put */

static bool wait_graph_put(void *p, struct response *reply)
{
    struct wait_graph_job *job = p;
    size_t enough = reply->out->size + ENOUGH;
    if (job->verdicts && !hang_diagnosis_put(job->verdicts, reply))
        return false;
    while (job->sent < job->graph.count && reply->out->size < enough)
        wait_graph_send_wait(job, &job->graph.waiters[job->sent++], reply);
    if (job->sent < job->graph.count)
        return false;
    for (size_t at = 0; at < job->cycle_words; at += 1 + job->cycles[at])
        wait_graph_send_cycle(job, job->cycles + at + 1, job->cycles[at], reply);
    for (uint32_t i = 0; i < job->graph.asleep_count; i++)
        futex_wait_put_sleeper(&job->graph, &job->graph.asleep[i], reply);
    wait_graph_send_time(job->graph.run, reply);
    return true;
}

static void free_job(void *p)
{
    struct wait_graph_job *job = p;
    hang_diagnosis_free(job->verdicts);
    free(job->graph.asleep);
    free(job->graph.is_thread);
    free(job->graph.waiter_of);
    free(job->graph.object_of);
    free(job->graph.waiters);
    free(job->graph.objects);
    free(job->graph.holders);
    free(job->way);
    free(job->seen);
    free(job->reaches);
    free(job->cycles);
    free(job);
}

const struct query query_waits = {.begin = wait_graph_begin,
                                  .step = wait_graph_step,
                                  .put = wait_graph_put,
                                  .free = free_job,
                                  .most = LIMIT_QUERIES};

#include "server/answer/table/summed.h"

#include "memory/memory.h"
#include "server/answer/table/scopes.h"
#include "server/run/did.h"
#include "server/run/heap.h"

#include <stdlib.h>

static void keep(void *context, enum account account, int64_t is, int64_t should)
{
    struct summed *s = context;
    s->broken++;
    if (s->count == SUMMED_MOST)
        return;
    s->breaches = grow(s->breaches, &s->room, s->count + 1, sizeof *s->breaches);
    s->breaches[s->count++] = (struct summed_breach){(uint8_t)account, s->thread, is, should};
}

/* ---- calls ---- */

/* A task of a runtime is in calls from when it is on a processor first, until it is deleted. */
static int64_t time_for_calls(const struct summed *s, const struct course_of *course,
                              const struct context_thread *thread)
{
    size_t count;
    const struct stay *stays = stays_of(spans_tasks(s->view->lives.spans), thread->line, &count);
    int64_t from_ns = course->start_ns, to_ns = course->end_ns,
            as_of_ns = (int64_t)(thread->head.time_ns - s->view->run->start_ns);
    if (count && stays->from_ns < from_ns)
        from_ns = stays->from_ns;
    if (count && as_of_ns > to_ns)
        to_ns = as_of_ns;
    return to_ns - from_ns;
}

/* Of one that is known from its begin to its end. */
static void look_at_life(struct summed *s, const struct calls *calls,
                         const struct context_thread *thread)
{
    const struct course_of *course = intervals_of(s->view->measured, thread->line);
    if (course && course->start_ns != INTERVALS_NEVER && course->end_ns != INTERVALS_NEVER &&
        !table_unknown_before(s->view, course))
        accounts_life(calls, time_for_calls(s, course, thread), keep, s);
}

static void look_at_calls(struct summed *s, const struct context_thread *thread)
{
    struct scopes scopes = {0};
    struct calls calls = {0};
    uint32_t *of = scopes_of(&scopes, s->view->run, thread);
    calls_add(&calls, thread, of);
    accounts_contexts(&s->view->run->contexts, thread, keep, s);
    accounts_calls(&calls, keep, s);
    look_at_life(s, &calls, thread);
    calls_free(&calls);
    free(of);
    scopes_free(&scopes);
}

static void look_at_steps(struct summed *s, uint32_t line)
{
    const struct run *run = s->view->run;
    const struct did_span *span, *before = NULL;
    for (uint64_t i = did_first(run, line); (span = did_span(run, line, i)); i++) {
        const struct measured_step *steps = did_steps(run, line, span);
        int64_t sum_ns = 0;
        for (uint16_t k = 0; k < span->count; k++)
            sum_ns += (int64_t)steps[k].ticks; /* believable: no overflow */
        if (before)
            accounts_steps(sum_ns, span->time_ns - before->time_ns, keep, s);
        before = span;
    }
}

/* ---- the heap ---- */

/* Sums and blocks are looked at last when the process has gone; of a run whose end is not known that may be before. */
static bool is_whole(const struct summed *s, const struct heap_process *process)
{
    const struct run *run = s->view->run;
    return process->has_blocks && process->blocks_ns >= process->at_ns && run->ended_ns &&
           !run->unfinished && !run->processes[process->process].connected;
}

/* A thread that was killed, or still there at exit(), may have been about to note one. */
static void look_at_heap(struct summed *s, const struct heap_process *process)
{
    const struct run *run = s->view->run;
    uint64_t taken = 0, freed = 0, left = process->blocks_left, threads = 0;
    struct map seen = {0};
    for (size_t i = 0; i < heap_count(run); i++) {
        const struct heap_taken *t = heap_at(run, i);
        if (t->process != process->process)
            continue;
        taken += t->blocks;
        freed += t->freed + t->elsewhere; /* by who took it; by others */
        threads += !map_get(&seen, t->thread, 0);
        map_put(&seen, t->thread, 0, s);
    }
    map_free(&seen);
    for (size_t i = 0; i < heap_block_count(run); i++)
        left += heap_block_at(run, i)->process == process->process;
    uint64_t is = taken - freed, apart = is > left ? is - left : left - is;
    s->thread = 0;
    accounts_live(taken, freed, apart <= threads && taken >= freed ? is : left, keep, s);
}

bool summed_step(struct summed *s, uint64_t *budget)
{
    const struct run *run = s->view->run;
    const struct contexts *all = &run->contexts;
    for (; s->next < all->count; s->next++) {
        const struct context_thread *thread = &all->threads[s->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        s->thread = thread->line;
        if (thread->count < 2 || !table_wants(s->view, thread->line) ||
            (thread->process < run->process_count && run->processes[thread->process].connected))
            continue; /* of one that goes on, sums are read as they change */
        look_at_calls(s, thread);
        look_at_steps(s, thread->line);
    }
    for (; s->next < all->count + heap_process_count(run); s->next++) {
        const struct heap_process *process = heap_process_at(run, s->next - all->count);
        if (is_whole(s, process))
            look_at_heap(s, process);
    }
    return true;
}

void summed_free(struct summed *s)
{
    free(s->breaches);
    *s = (struct summed){0};
}

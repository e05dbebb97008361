#include "server/queries/tables/consistency_rows.h"

#include "base/alloc.h"
#include "server/queries/tables/scope_numbers.h"
#include "server/run/activity_store.h"
#include "server/run/heap_totals.h"

#include <stdlib.h>

static void consistency_rows_add_violation(void *context, enum account account, int64_t is,
                                           int64_t should)
{
    struct consistency_rows *s = context;
    s->broken++;
    if (s->count == CONSISTENCY_ROWS_MAX)
        return;
    s->breaches = array_reserve(s->breaches, &s->room, s->count + 1, sizeof *s->breaches);
    s->breaches[s->count++] = (struct summed_violation){(uint8_t)account, s->thread, is, should};
}

/* ---- calls ---- */

/* Returns how long a thread can have been in calls.  A task of a runtime is in calls from its
 * first time on a worker thread until it is deleted. */
static int64_t time_for_calls(const struct consistency_rows *s,
                              const struct thread_timeline *course,
                              const struct call_context_thread *thread)
{
    size_t count;
    const struct placement_interval *items =
        placements_for_task(cpu_states_tasks(s->view->lives.spans), thread->line, &count);
    int64_t from_ns = course->start_ns, to_ns = course->end_ns,
            as_of_ns = (int64_t)(thread->head.time_ns - s->view->run->clock.start_ns);
    if (count && items->from_ns < from_ns)
        from_ns = items->from_ns;
    if (count && as_of_ns > to_ns)
        to_ns = as_of_ns;
    return to_ns - from_ns;
}

/* Checks the lifetime of a thread that is known from its begin to its end. */
static void consistency_rows_check_lifetime(struct consistency_rows *s,
                                            const struct call_profile *calls,
                                            const struct call_context_thread *thread)
{
    const struct thread_timeline *course = intervals_for_thread(s->view->measured, thread->line);
    if (course && course->start_ns != INTERVALS_NEVER && course->end_ns != INTERVALS_NEVER &&
        !table_note_unknown_before(s->view, course))
        profile_consistency_life(calls, time_for_calls(s, course, thread),
                                 consistency_rows_add_violation, s);
}

static void consistency_rows_check_calls(struct consistency_rows *s,
                                         const struct call_context_thread *thread)
{
    struct scope_numbers scopes = {0};
    struct call_profile calls = {0};
    uint32_t *of = scope_numbers_of(&scopes, s->view->run, thread);
    call_profile_add(&calls, thread, of);
    profile_consistency_contexts(&s->view->run->contexts, thread, consistency_rows_add_violation,
                                 s);
    profile_consistency_calls(&calls, consistency_rows_add_violation, s);
    consistency_rows_check_lifetime(s, &calls, thread);
    call_profile_free(&calls);
    free(of);
    scope_numbers_free(&scopes);
}

static void consistency_rows_check_segments(struct consistency_rows *s, uint32_t line)
{
    const struct run *run = s->view->run;
    const struct activity_span *span, *before = NULL;
    for (uint64_t i = activity_first(run, line); (span = activity_span(run, line, i)); i++) {
        const struct code_segment *steps = activity_steps(run, line, span);
        int64_t sum_ns = 0;
        for (uint16_t k = 0; k < span->count; k++)
            sum_ns += (int64_t)steps[k].ticks; /* validated: no overflow */
        if (before)
            profile_consistency_steps(sum_ns, span->time_ns - before->time_ns,
                                      consistency_rows_add_violation, s);
        before = span;
    }
}

/* ---- the heap ---- */

/* Returns whether the sums and blocks of a process are final: they are read for the last time
 * when it has exited; in a run whose end is not known that can be earlier. */
static bool is_whole(const struct consistency_rows *s, const struct heap_process *process)
{
    const struct run *run = s->view->run;
    return process->has_blocks && process->blocks_ns >= process->at_ns && run->clock.ended_ns &&
           !run->file.unfinished && !run->processes.items[process->process].connected;
}

/* Checks that the blocks that were not freed are those of the sums.  A thread that was killed,
 * or still existed at exit(), may have been about to record a block, so a difference of one per
 * thread is allowed. */
static void consistency_rows_check_heap(struct consistency_rows *s,
                                        const struct heap_process *process)
{
    const struct run *run = s->view->run;
    uint64_t taken = 0, freed = 0, left = process->blocks_left, threads = 0;
    struct map seen = {0};
    for (size_t i = 0; i < heap_totals_count(run); i++) {
        const struct heap_allocated *t = heap_totals_at(run, i);
        if (t->process != process->process)
            continue;
        taken += t->blocks;
        freed += t->freed + t->elsewhere; /* by the allocating thread; by others */
        threads += !map_get(&seen, t->thread, 0);
        map_put(&seen, t->thread, 0, s);
    }
    map_free(&seen);
    for (size_t i = 0; i < heap_totals_block_count(run); i++)
        left += heap_totals_block_at(run, i)->process == process->process;
    uint64_t is = taken - freed, apart = is > left ? is - left : left - is;
    s->thread = 0;
    profile_consistency_live(taken, freed, apart <= threads && taken >= freed ? is : left,
                             consistency_rows_add_violation, s);
}

bool consistency_rows_step(struct consistency_rows *s, uint64_t *budget)
{
    const struct run *run = s->view->run;
    const struct call_contexts *all = &run->contexts;
    for (; s->next < all->count; s->next++) {
        const struct call_context_thread *thread = &all->threads[s->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        s->thread = thread->line;
        if (thread->count < 2 || !table_wants(s->view, thread->line) ||
            (thread->process < run->processes.count &&
             run->processes.items[thread->process].connected))
            continue; /* in a live run the sums change while they are read */
        consistency_rows_check_calls(s, thread);
        consistency_rows_check_segments(s, thread->line);
    }
    for (; s->next < all->count + heap_totals_process_count(run); s->next++) {
        const struct heap_process *process = heap_totals_process_at(run, s->next - all->count);
        if (is_whole(s, process))
            consistency_rows_check_heap(s, process);
    }
    return true;
}

void consistency_rows_free(struct consistency_rows *s)
{
    free(s->breaches);
    *s = (struct consistency_rows){0};
}

#include "server/queries/tables/cpu_source.h"

#include "server/run/cpu_placement.h"
#include "server/run/os_metrics.h"

#include <string.h>

/* ---- choice of the source ---- */

static enum cpu_state_source asked_for(const char *word)
{
    return !word || strcmp(word, "switches") == 0 ? CPU_SOURCE_SWITCHES
           : strcmp(word, "clock") == 0           ? CPU_SOURCE_CLOCK
                                                  : CPU_SOURCE_SAMPLES;
}

void cpu_source_choose(const struct table_view *view, struct lifetimes *lives)
{
    const char *asked = table_option(view->request, "source");
    lives->spans = asked && strcmp(asked, "order") == 0 ? NULL : cpu_placement_states(view->run);
    lives->source = asked_for(asked);
    for (uint32_t i = 0; lives->spans && i < view->measured->thread_count; i++) {
        uint32_t line = view->measured->threads[i].thread;
        enum cpu_state_source best = cpu_states_best(lives->spans, line, lives->source);
        if (best != CPU_SOURCE_ORDER && table_wants(view, line))
            lives->source = best; /* (never a better one) */
    }
}

static enum cpu_state_source source_of(const struct table_view *view,
                                       const struct thread_timeline *course)
{
    return cpu_states_best(view->lives.spans, course->thread, view->lives.source);
}

bool cpu_source_known(const struct table_view *view, const struct thread_timeline *course)
{
    return source_of(view, course) != CPU_SOURCE_ORDER;
}

/* ---- values reported at a thread's exit ---- */

/* Sets a value that a thread reported at its exit; returns false if it is not known. */
static bool at_end(const struct run *run, uint32_t thread, enum usage_meter meter, int64_t *ns)
{
    const struct os_metric_series *s = os_metrics_find(run, 0, thread, meter);
    if (!s || !s->exact)
        return false;
    *ns = s->points[s->count - 1].value;
    return true;
}

static int64_t cpu_source_min(int64_t a, int64_t b) { return a < b ? a : b; }

bool cpu_source_split(const struct table_view *view, const struct thread_timeline *course,
                      struct thread_states *sums)
{
    int64_t ran, delayed, more;
    bool whole = view->from_ns == INT64_MIN && view->to_ns == INT64_MAX && !view->past &&
                 course->end_ns != INTERVALS_NEVER && source_of(view, course) == CPU_SOURCE_SAMPLES;
    if (!whole || !at_end(view->run, course->thread, USAGE_CPU, &ran) ||
        !at_end(view->run, course->thread, USAGE_READY, &delayed))
        return false;
    int64_t running = sums->active_ns, ready = sums->let_go_ns;
    ran = cpu_source_min(ran, running);
    more = delayed > ready ? cpu_source_min(delayed - ready, running - ran) : 0;
    sums->of[THREAD_STATE_RUNNING].total_ns = ran;
    sums->of[THREAD_STATE_RUNNABLE].total_ns = ready + more;
    sums->of[THREAD_STATE_OFF_CPU].total_ns = running - ran - more;
    return true;
}

/* ---- notes ---- */

void cpu_source_row(struct cpu_source_counts *counts, const struct table_view *view,
                    const struct thread_timeline *course)
{
    enum cpu_state_source source = source_of(view, course);
    int64_t apart = source == CPU_SOURCE_SAMPLES
                        ? cpu_states_sample_gap_ns(view->lives.spans, course->thread, view->from_ns,
                                                   view->to_ns)
                        : 0;
    if (source == CPU_SOURCE_CLOCK) {
        apart = cpu_states_uncertainty_ns(view->lives.spans, course, view->from_ns, view->to_ns);
        counts->undelayed += !cpu_states_delays(view->lives.spans, course->thread);
    }
    counts->tasks += source == CPU_SOURCE_SWITCHES &&
                     cpu_states_is_placed_task(view->lives.spans, course->thread);
    counts->rows++;
    counts->known += source != CPU_SOURCE_ORDER;
    counts->apart_ns = apart > counts->apart_ns ? apart : counts->apart_ns;
}

static bool by_switches(const struct table_view *view)
{
    return view->lives.source == CPU_SOURCE_SWITCHES;
}

static bool by_clock(const struct table_view *view)
{
    return view->lives.source == CPU_SOURCE_CLOCK;
}

const char *cpu_source_text(const struct table_view *view, const struct cpu_source_counts *counts,
                            bool ended)
{
    if (!counts->known)
        return "order: time outside traced waits";
    if (counts->tasks == counts->known)
        return "task switches reported by the runtime";
    return ended               ? "thread CPU time at exit"
           : by_switches(view) ? "context-switch records"
           : by_clock(view)    ? "thread CPU clock at events"
                               : "samples of CPU time";
}

static const char *cpu_source_partial_note(const struct cpu_source_counts *counts)
{
    return counts->known < counts->rows ? " (rows without off-CPU time: running = time outside "
                                          "traced waits, an upper bound)"
                                        : "";
}

static void note_clock(struct result_table *t, const struct cpu_source_counts *counts)
{
    table_add_note(
        t,
        "running = CPU time read at events some us apart: sums over whole lifetimes are exact to "
        "that; sums are off by at most %.3f ms at each end of a range; %s%s",
        (double)counts->apart_ns / 1e6,
        counts->undelayed ? "runnable time is unknown for some threads and counts as "
                            "off-CPU"
                          : "runnable time is distributed as sampled",
        cpu_source_partial_note(counts));
}

static void note_lost(struct result_table *t, const struct table_view *view)
{
    uint64_t lost = cpu_states_lost_count(view->lives.spans);
    if (lost && by_switches(view))
        table_add_note(t,
                       "%llu context-switch records lost; affected threads count as running until "
                       "the next record, so running is an upper bound",
                       (unsigned long long)lost);
    if (cpu_states_max_switches(view->lives.spans) && by_switches(view))
        table_add_note(t,
                       "a server keeps the first %llu switches of a run; later ones were discarded",
                       (unsigned long long)cpu_states_max_switches(view->lives.spans));
}

void cpu_source_note(struct result_table *t, const struct table_view *view,
                     const struct cpu_source_counts *counts, bool ended)
{
    const char *rest = cpu_source_partial_note(counts);
    if (!counts->known)
        table_add_note(t,
                       "running = time outside traced waits: an upper bound, since preemption is "
                       "not recorded");
    else if (ended)
        table_add_note(t,
                       "running = CPU time at exit; off-CPU = time in neither running nor a traced "
                       "wait (asleep, or in a call that is not traced); runnable is a lower "
                       "bound%s",
                       rest);
    else if (counts->tasks == counts->known)
        table_add_note(
            t,
            "running: exact time of the task on a worker thread of its runtime, whether or not the "
            "worker had a CPU; runnable: ready to run, on no worker%s",
            rest);
    else if (by_switches(view))
        table_add_note(
            t,
            "running, runnable, off-CPU: %s, from kernel context-switch records (a thread woken "
            "from sleep counts as off-CPU until it gets a CPU)%s",
            cpu_states_lost_count(view->lives.spans) ? "as far as recorded" : "exact", rest);
    else if (by_clock(view))
        note_clock(t, counts);
    else
        table_add_note(t,
                       "running = CPU time from samples at most %.1f ms apart; sums are off by at "
                       "most that at each end of the range, and where a state starts within it is "
                       "unknown%s",
                       (double)counts->apart_ns / 1e6, rest);
    note_lost(t, view);
    if (counts->known && !by_switches(view) && cpu_states_missing_reason(view->lives.spans))
        table_add_note(t,
                       "%s because context-switch tracing (perf_event_open) is not available: %s",
                       by_clock(view) ? "thread CPU clocks were used"
                       : ended        ? "CPU times at thread exit were used"
                                      : "CPU time was sampled",
                       cpu_states_missing_reason(view->lives.spans));
}

#include "server/queries/tables/cpu_source.h"

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
    if (asked && strcmp(asked, "order") == 0)
        lives->spans = NULL;
    lives->source = asked_for(asked);
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

/* ---- texts ---- */

static const char *const cpu_source_words[CPU_SOURCE_SOURCES] = {
    [CPU_SOURCE_ORDER] = "order: time outside traced waits",
    [CPU_SOURCE_SAMPLES] = "samples of CPU time",
    [CPU_SOURCE_CLOCK] = "thread CPU clock at events",
    [CPU_SOURCE_SWITCHES] = "context-switch records"};

static const char *const cpu_source_tasks = "task switches reported by the runtime";

const char *cpu_source_name(const struct table_view *view, const struct thread_timeline *course)
{
    enum cpu_state_source source = source_of(view, course);
    return source == CPU_SOURCE_SWITCHES &&
                   cpu_states_is_placed_task(view->lives.spans, course->thread)
               ? cpu_source_tasks
               : cpu_source_words[source];
}

void cpu_source_row(struct cpu_source_counts *counts, const struct table_view *view,
                    const struct thread_timeline *course)
{
    const struct cpu_states *spans = view->lives.spans;
    enum cpu_state_source source = source_of(view, course);
    int64_t apart =
        source == CPU_SOURCE_SAMPLES
            ? cpu_states_sample_gap_ns(spans, course->thread, view->from_ns, view->to_ns)
        : source == CPU_SOURCE_CLOCK
            ? cpu_states_uncertainty_ns(spans, course, view->from_ns, view->to_ns)
            : 0;
    counts->undelayed += source == CPU_SOURCE_CLOCK && !cpu_states_delays(spans, course->thread);
    counts->cut +=
        source == CPU_SOURCE_SAMPLES && cpu_states_known_ns(spans, course->thread) != INT64_MAX;
    counts->tasks +=
        source == CPU_SOURCE_SWITCHES && cpu_states_is_placed_task(spans, course->thread);
    counts->rows[source]++;
    if (apart > counts->apart_ns[source])
        counts->apart_ns[source] = apart;
}

/* Returns the best source of any row. */
static enum cpu_state_source best_of(const struct cpu_source_counts *counts)
{
    enum cpu_state_source source = CPU_SOURCE_SWITCHES;
    while (source > CPU_SOURCE_ORDER && !counts->rows[source])
        source--;
    return source;
}

bool cpu_source_any(const struct cpu_source_counts *counts)
{
    return best_of(counts) != CPU_SOURCE_ORDER;
}

const char *cpu_source_text(const struct cpu_source_counts *counts)
{
    enum cpu_state_source best = best_of(counts);
    for (unsigned source = CPU_SOURCE_SAMPLES; source < best; source++)
        if (counts->rows[source])
            return "best of each thread (column source)";
    return best == CPU_SOURCE_SWITCHES && counts->tasks == counts->rows[best]
               ? cpu_source_tasks
               : cpu_source_words[best];
}

static void note_samples(struct result_table *t, const struct cpu_source_counts *counts)
{
    table_add_note(t,
                   "running = CPU time (that in waits included) from samples at most %.1f ms "
                   "apart%s; the sums of a range are off by at most that at each end, and where a "
                   "state starts between samples is unknown; runnable is a lower bound",
                   (double)counts->apart_ns[CPU_SOURCE_SAMPLES] / 1e6,
                   counts->cut ? "" : " and from each thread's exit");
}

static void note_clock(struct result_table *t, const struct cpu_source_counts *counts)
{
    table_add_note(
        t,
        "running = CPU time read at events some us apart: sums over whole lifetimes are exact to "
        "that; sums are off by at most %.3f ms at each end of a range; %s",
        (double)counts->apart_ns[CPU_SOURCE_CLOCK] / 1e6,
        counts->undelayed ? "runnable time is unknown for some threads and counts as off-CPU"
                          : "runnable time is distributed as sampled");
}

static void note_switches(struct result_table *t, const struct table_view *view,
                          const struct cpu_source_counts *counts)
{
    uint64_t lost = cpu_states_lost_count(view->lives.spans),
             most = cpu_states_max_switches(view->lives.spans);
    if (counts->tasks)
        table_add_note(
            t, "running: exact time of the task on a worker thread of its runtime, whether or not "
               "the worker had a CPU; runnable: ready to run, on no worker");
    if (counts->tasks == counts->rows[CPU_SOURCE_SWITCHES])
        return;
    table_add_note(
        t,
        "running, runnable, off-CPU: %s, from kernel context-switch records (a thread woken "
        "from sleep counts as off-CPU until it gets a CPU)",
        lost ? "as far as recorded" : "exact");
    if (lost)
        table_add_note(t,
                       "%llu context-switch records lost; affected threads count as running until "
                       "the next record, so running is an upper bound",
                       (unsigned long long)lost);
    if (most)
        table_add_note(t,
                       "a server keeps the first %llu switches of a run; later ones were discarded",
                       (unsigned long long)most);
}

void cpu_source_note(struct result_table *t, const struct table_view *view,
                     const struct cpu_source_counts *counts)
{
    const char *missing = cpu_states_missing_reason(view->lives.spans);
    if (counts->rows[CPU_SOURCE_SWITCHES])
        note_switches(t, view, counts);
    if (counts->rows[CPU_SOURCE_CLOCK])
        note_clock(t, counts);
    if (counts->rows[CPU_SOURCE_SAMPLES])
        note_samples(t, counts);
    if (!cpu_source_any(counts))
        table_add_note(t,
                       "running = time outside traced waits: an upper bound, since preemption is "
                       "not recorded");
    else if (counts->rows[CPU_SOURCE_ORDER])
        table_add_note(t,
                       "rows without off-CPU time: running = time outside traced waits, an upper "
                       "bound");
    if (missing && (counts->rows[CPU_SOURCE_CLOCK] || counts->rows[CPU_SOURCE_SAMPLES]))
        table_add_note(
            t, "%s because context-switch tracing (perf_event_open) is not available: %s",
            counts->rows[CPU_SOURCE_CLOCK] ? "thread CPU clocks were used" : "CPU time was sampled",
            missing);
}

#include "server/queries/tables/placement_names.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE 0u /* unknown place */

static const struct placement_carrier *carrier_at(const struct placement_names *p, uint32_t on)
{
    return placements_carrier_at(cpu_states_tasks(p->spans), on);
}

static char *placement_names_none(void)
{
    return xstrdup(
        "no task placement data: the runtime must call poet_task_switch() of poet.h; use --by cpu "
        "for CPUs");
}

static char *no_cpus(const struct placement_names *p)
{
    const char *why = cpu_states_missing_reason(p->spans);
    return xasprintf("the CPU on which a thread ran was not recorded: %s%s",
                     why ? "context-switch tracing (perf_event_open) is not available: "
                         : "this run has no context-switch records with CPUs",
                     why ? why : "");
}

static void find_clusters(struct placement_names *p)
{
    uint32_t count = placements_carriers(cpu_states_tasks(p->spans));
    p->clusters = xcalloc(count + 1, sizeof *p->clusters);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0;
        while (first < i &&
               strcmp(carrier_at(p, first + 1)->cluster, carrier_at(p, i + 1)->cluster) != 0)
            first++;
        p->clusters[i] = first + 1;
    }
}

char *placement_names_begin(struct placement_names *p, const struct table_view *view)
{
    const char *by = view->request->by;
    *p = (struct placement_names){.spans = view->lives.spans,
                                  .run = view->run,
                                  .by = strcmp(by, "cluster") == 0 ? PLACEMENT_BY_CLUSTER
                                        : strcmp(by, "cpu") == 0   ? PLACEMENT_BY_CPU
                                                                   : PLACEMENT_BY_WORKER};
    if (p->by == PLACEMENT_BY_CPU)
        return cpu_states_cpus(p->spans) ? NULL : no_cpus(p);
    if (!placements_carriers(cpu_states_tasks(p->spans)))
        return placement_names_none();
    find_clusters(p);
    return NULL;
}

void placement_names_free(struct placement_names *p) { free(p->clusters); }

uint32_t placement_names_place(const struct placement_names *p, uint32_t thread, uint32_t on)
{
    if (cpu_states_is_placed_task(p->spans, thread) == (p->by == PLACEMENT_BY_CPU))
        return NOWHERE;
    return on && p->by == PLACEMENT_BY_CLUSTER ? p->clusters[on - 1] : on;
}

bool placement_names_is_known(const struct placement_names *p, uint32_t place)
{
    (void)p;
    return place != NOWHERE;
}

/* Returns the runtime's name of a worker thread, else its number in the run. */
static char *carrier_name(const struct placement_carrier *carrier, uint32_t on)
{
    return *carrier->name ? xstrdup(carrier->name) : xasprintf("worker %u", on);
}

char *placement_names_name(const struct placement_names *p, uint32_t place)
{
    if (place == NOWHERE)
        return xstrdup("unknown");
    if (p->by == PLACEMENT_BY_CPU)
        return xasprintf("cpu %u", place - 1);
    const struct placement_carrier *carrier = carrier_at(p, place);
    if (p->by == PLACEMENT_BY_CLUSTER)
        return xstrdup(*carrier->cluster ? carrier->cluster : "no cluster");
    return carrier_name(carrier, place);
}

const char *placement_names_cluster(const struct placement_names *p, uint32_t place)
{
    const struct placement_carrier *carrier =
        p->by == PLACEMENT_BY_CPU || place == NOWHERE ? NULL : carrier_at(p, place);
    return carrier ? carrier->cluster : "";
}

const char *placement_names_kind(const struct placement_names *p)
{
    return p->by == PLACEMENT_BY_CPU       ? "cpu"
           : p->by == PLACEMENT_BY_CLUSTER ? "cluster"
                                           : "processor";
}

bool placement_names_has_clusters(const struct placement_names *p)
{
    uint32_t count =
        p->by == PLACEMENT_BY_WORKER ? placements_carriers(cpu_states_tasks(p->spans)) : 0;
    for (uint32_t i = 1; i <= count; i++)
        if (*carrier_at(p, i)->cluster)
            return true;
    return false;
}

void placement_names_note(const struct placement_names *p, struct result_table *t)
{
    uint64_t lost = p->by == PLACEMENT_BY_CPU ? cpu_states_lost_count(p->spans)
                                              : placements_lost(cpu_states_tasks(p->spans));
    uint64_t kept = p->by == PLACEMENT_BY_CPU ? cpu_states_max_switches(p->spans)
                                              : placements_limit(cpu_states_tasks(p->spans));
    if (p->by == PLACEMENT_BY_CPU)
        table_add_note(
            t, "\"cpu\" = CPU of the machine (from context-switch records); CPUs of runtime "
               "tasks are unknown");
    else
        table_add_note(
            t,
            "worker = system thread that runs tasks (carrier); a task counts as running while it "
            "is on one, whether or not the worker had a CPU");
    if (lost)
        table_add_note(t, "%llu switches lost; the placement of threads in those gaps is unknown",
                       (unsigned long long)lost);
    if (kept)
        table_add_note(t,
                       "a server keeps the first %llu switches of a run; later ones were discarded",
                       (unsigned long long)kept);
}

char *placement_names_text(const struct cpu_states *spans, uint32_t thread, uint32_t on)
{
    const struct placement_carrier *carrier = placements_carrier_at(cpu_states_tasks(spans), on);
    if (!on || (cpu_states_is_placed_task(spans, thread) && !carrier))
        return NULL;
    if (!cpu_states_is_placed_task(spans, thread))
        return xasprintf("cpu %u", on - 1);
    char *name = carrier_name(carrier, on);
    if (!*carrier->cluster)
        return name;
    char *text = xasprintf("%s of cluster %s", name, carrier->cluster);
    free(name);
    return text;
}

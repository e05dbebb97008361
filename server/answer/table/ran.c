#include "server/answer/table/ran.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE 0u /* it is not known where */

static const struct carrier *carrier_at(const struct ran_places *p, uint32_t on)
{
    return stays_carrier_at(spans_tasks(p->spans), on);
}

static char *no_stays(void)
{
    return memory_copied(
        "no task of a runtime was told to be on a thread of the system that runs it "
        "(poet_become of poet.h); --by cpu has threads by the machine's processors");
}

static char *no_cpus(const struct ran_places *p)
{
    const char *why = spans_why(p->spans);
    return memory_printed(
        "on which processor of the machine a thread ran when is not among what is "
        "recorded: %s%s",
        why ? "the kernel does not tell when it switches threads: "
            : "there are no switch records with processors of this run",
        why ? why : "");
}

static void find_clusters(struct ran_places *p)
{
    uint32_t count = stays_carriers(spans_tasks(p->spans));
    p->clusters = memory_zeroed(count + 1, sizeof *p->clusters);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0;
        while (first < i &&
               strcmp(carrier_at(p, first + 1)->cluster, carrier_at(p, i + 1)->cluster) != 0)
            first++;
        p->clusters[i] = first + 1;
    }
}

char *ran_begin(struct ran_places *p, const struct table_view *view)
{
    const char *by = view->request->by;
    *p = (struct ran_places){.spans = view->lives.spans,
                             .run = view->run,
                             .by = strcmp(by, "cluster") == 0 ? RAN_CLUSTER
                                   : strcmp(by, "cpu") == 0   ? RAN_CPU
                                                              : RAN_PROCESSOR};
    if (p->by == RAN_CPU)
        return spans_cpus(p->spans) ? NULL : no_cpus(p);
    if (!stays_carriers(spans_tasks(p->spans)))
        return no_stays();
    find_clusters(p);
    return NULL;
}

void ran_free(struct ran_places *p) { free(p->clusters); }

uint32_t ran_place(const struct ran_places *p, uint32_t thread, uint32_t on)
{
    if (spans_on(p->spans, thread) == (p->by == RAN_CPU))
        return NOWHERE;
    return on && p->by == RAN_CLUSTER ? p->clusters[on - 1] : on;
}

bool ran_is_known(const struct ran_places *p, uint32_t place)
{
    (void)p;
    return place != NOWHERE;
}

/* What a runtime calls a carrier, else its number among those of the run. */
static char *carrier_name(const struct carrier *carrier, uint32_t on)
{
    return *carrier->name ? memory_copied(carrier->name) : memory_printed("processor %u", on);
}

char *ran_name(const struct ran_places *p, uint32_t place)
{
    if (place == NOWHERE)
        return memory_copied("not known");
    if (p->by == RAN_CPU)
        return memory_printed("cpu %u", place - 1);
    const struct carrier *carrier = carrier_at(p, place);
    if (p->by == RAN_CLUSTER)
        return memory_copied(*carrier->cluster ? carrier->cluster : "in no cluster");
    return carrier_name(carrier, place);
}

const char *ran_cluster(const struct ran_places *p, uint32_t place)
{
    const struct carrier *carrier =
        p->by == RAN_CPU || place == NOWHERE ? NULL : carrier_at(p, place);
    return carrier ? carrier->cluster : "";
}

const char *ran_word(const struct ran_places *p)
{
    return p->by == RAN_CPU ? "cpu" : p->by == RAN_CLUSTER ? "cluster" : "processor";
}

bool ran_has_clusters(const struct ran_places *p)
{
    uint32_t count = p->by == RAN_PROCESSOR ? stays_carriers(spans_tasks(p->spans)) : 0;
    for (uint32_t i = 1; i <= count; i++)
        if (*carrier_at(p, i)->cluster)
            return true;
    return false;
}

void ran_note(const struct ran_places *p, struct shown_table *t)
{
    uint64_t lost =
        p->by == RAN_CPU ? spans_lost_count(p->spans) : stays_lost(spans_tasks(p->spans));
    uint64_t kept = p->by == RAN_CPU ? spans_most(p->spans) : stays_most(spans_tasks(p->spans));
    if (p->by == RAN_CPU)
        table_add_note(t,
                       "a processor is one of the machine, as the kernel switched threads; which "
                       "of them a task of a runtime had is not known");
    else
        table_add_note(
            t, "a processor is a thread of the system that runs tasks: a task runs while it "
               "is on one, whether that had a processor of the machine or not");
    if (lost)
        table_add_note(t, "%llu switches were lost: where a thread was then is not known",
                       (unsigned long long)lost);
    if (kept)
        table_add_note(t, "a server keeps the first %llu switches, of all: later ones are lost",
                       (unsigned long long)kept);
}

char *ran_said(const struct spans *spans, uint32_t thread, uint32_t on)
{
    const struct carrier *carrier = stays_carrier_at(spans_tasks(spans), on);
    if (!on || (spans_on(spans, thread) && !carrier))
        return NULL;
    if (!spans_on(spans, thread))
        return memory_printed("cpu %u", on - 1);
    char *name = carrier_name(carrier, on);
    if (!*carrier->cluster)
        return name;
    char *said = memory_printed("%s of cluster %s", name, carrier->cluster);
    free(name);
    return said;
}

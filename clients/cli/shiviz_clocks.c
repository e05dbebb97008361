/* Vector clocks of a log in the format of ShiViz (shiviz_log.h): their rules, and the causes of
 * each event that follow from them.
 *
 * Rules for clocks (Fidge 1988, Mattern 1989): each host counts its own events 1, 2, 3, ...; a
 * clock counts its own host; no entry exceeds the number of events of that host; it never
 * decreases along a host; and it includes the clock of every event that it names.
 *
 * A host that counts from 1 again has restarted: it is another line from there on. The clock
 * starts with what others know of the earlier one, and theirs keep the larger count, so they may
 * be after it without any trace of that: such events are uncertain. */
#define _GNU_SOURCE
#include "clients/cli/shiviz_log.h"

#include "base/alloc.h"
#include "base/lower_bound.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct shiviz_clocks {
    struct shiviz_log *log;
    char *error;
    size_t error_size;
};

/* Formats the error of an event, with its file and line. Returns false. */
static bool shiviz_clocks_fail(struct shiviz_clocks *c, const struct shiviz_event *e,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool shiviz_clocks_fail(struct shiviz_clocks *c, const struct shiviz_event *e,
                               const char *format, ...)
{
    va_list ap;
    int n = snprintf(c->error, c->error_size, "%s:%llu: ", e->file, (unsigned long long)e->line);
    if (n < 0 || (size_t)n >= c->error_size)
        return false;
    va_start(ap, format);
    vsnprintf(c->error + n, c->error_size - (size_t)n, format, ap);
    va_end(ap);
    return false;
}

uint64_t shiviz_clock_of(const struct shiviz_event *e, uint32_t host)
{
    size_t low = LOWER_BOUND(i, 0, e->entries, e->clock[i].host < host);
    return low < e->entries && e->clock[low].host == host ? e->clock[low].number : 0;
}

/* ---- restarts and numbers ---- */

/* Adds a line for a restarted host; its event numbers differ from the clock values. */
static uint32_t shiviz_clocks_add_host(struct shiviz_clocks *c, uint32_t of, uint32_t last,
                                       unsigned times)
{
    struct shiviz_log *log = c->log;
    uint32_t host = log->host_count;
    ARRAY_PUSH(log->hosts, log->host_count, xasprintf("%s (%u)", log->hosts[of], times));
    log->again = xreallocarray(log->again, log->host_count, sizeof *log->again);
    log->again[host] = (struct shiviz_again){.of = of};
    log->again[last].next = host;
    return host;
}

struct shiviz_numbering { /* progress in numbering the events of a host */
    uint32_t host; /* its line since its last restart */
    unsigned times; /* number of starts */
    uint64_t count, value; /* events since its last start; clock value of the last one */
};

static bool shiviz_clocks_number_event(struct shiviz_clocks *c, size_t index,
                                       struct shiviz_numbering *n)
{
    struct shiviz_log *log = c->log;
    struct shiviz_event *e = &log->events[index];
    if (e->value == 1 && n->count) {
        n->host = shiviz_clocks_add_host(c, e->host, n->host, ++n->times);
        n->count = 0;
        e->doubtful = true;
        log->restarted = index < log->restarted ? index : log->restarted;
    } else if (n->count && e->value <= n->value) {
        return shiviz_clocks_fail(
            c, e,
            "invalid vector clock: event numbers of a host must be consecutive; restarted "
            "host \"%s\" is already at %llu",
            log->hosts[e->host], (unsigned long long)n->value);
    }
    n->value = e->value;
    e->host = n->host;
    e->number = ++n->count;
    return true;
}

/* Finds the hosts that have the clock value 1 more than once, and splits them. */
static bool shiviz_clocks_find_restarts(struct shiviz_clocks *c)
{
    struct shiviz_log *log = c->log;
    unsigned *ones = xcalloc(log->host_count, sizeof *ones);
    struct shiviz_numbering *counting = xcalloc(log->host_count, sizeof *counting);
    bool good = true;
    log->clock_count = log->host_count;
    log->restarted = log->event_count;
    log->again = xcalloc(log->host_count, sizeof *log->again);
    for (size_t i = 0; i < log->event_count; i++)
        ones[log->events[i].host] += log->events[i].value == 1;
    for (uint32_t h = 0; h < log->clock_count; h++) {
        log->again[h] = (struct shiviz_again){.of = h, .has = ones[h] > 1};
        counting[h] = (struct shiviz_numbering){.host = h, .times = 1};
    }
    for (size_t i = 0; i < log->event_count && good; i++)
        if (log->again[log->events[i].host].has)
            good = shiviz_clocks_number_event(c, i, &counting[log->events[i].host]);
    free(ones);
    free(counting);
    return good;
}

static bool shiviz_clocks_number_events(struct shiviz_clocks *c)
{
    struct shiviz_log *log = c->log;
    log->numbers = xcalloc(log->host_count, sizeof *log->numbers);
    log->by_host = xcalloc(log->host_count, sizeof *log->by_host);
    for (size_t i = 0; i < log->event_count; i++)
        log->numbers[log->events[i].host]++;
    for (uint32_t h = 0; h < log->host_count; h++)
        log->by_host[h] = xcalloc(log->numbers[h], sizeof **log->by_host);
    for (size_t i = 0; i < log->event_count; i++) {
        const struct shiviz_event *e = &log->events[i];
        if (e->number > log->numbers[e->host])
            return shiviz_clocks_fail(
                c, e,
                "invalid vector clock: event numbers of a host must be consecutive; \"%s\" has "
                "%llu events, and this is number %llu",
                log->hosts[e->host], (unsigned long long)log->numbers[e->host],
                (unsigned long long)e->number);
        size_t *place = &log->by_host[e->host][e->number - 1];
        if (*place)
            return shiviz_clocks_fail(
                c, e,
                "invalid vector clock: event numbers of a host must be consecutive; number %llu of "
                "\"%s\" is already in line %llu",
                (unsigned long long)e->number, log->hosts[e->host],
                (unsigned long long)log->events[*place - 1].line);
        *place = i + 1;
    }
    for (uint32_t h = 0; h < log->host_count; h++)
        for (uint64_t k = 0; k < log->numbers[h]; k++)
            log->by_host[h][k]--;
    return true;
}

/* ---- causes ---- */

/* Returns whether the clock of e is at least that of `other` for each host. */
static bool shiviz_clocks_include(struct shiviz_clocks *c, const struct shiviz_event *e,
                                  const struct shiviz_event *other, const char *what)
{
    const struct shiviz_log *log = c->log;
    uint32_t own = log->again[e->host].of;
    for (uint32_t i = 0; i < other->entries; i++)
        if (shiviz_clock_of(e, other->clock[i].host) < other->clock[i].number &&
            !(log->again[own].has && other->clock[i].host == own))
            return shiviz_clocks_fail(
                c, e,
                "invalid vector clock: must include %s; line %llu has \"%s\" at %llu, this one "
                "at %llu",
                what, (unsigned long long)other->line, log->hosts[other->clock[i].host],
                (unsigned long long)other->clock[i].number,
                (unsigned long long)shiviz_clock_of(e, other->clock[i].host));
    return true;
}

static struct shiviz_event *shiviz_clocks_event_at(const struct shiviz_log *log,
                                                   struct shiviz_entry at)
{
    return &log->events[log->by_host[at.host][at.number - 1]];
}

/* Returns the event at a clock value of a host, before or after any restart; NULL: none, or
 * several. */
static struct shiviz_event *shiviz_clocks_named_event(const struct shiviz_log *log,
                                                      struct shiviz_entry at, bool *any)
{
    struct shiviz_event *found = NULL;
    uint32_t host = at.host, count = 0;
    do {
        uint64_t low = LOWER_BOUND(i, 0, log->numbers[host],
                                   log->events[log->by_host[host][i]].value < at.number);
        struct shiviz_event *e =
            low < log->numbers[host] ? &log->events[log->by_host[host][low]] : NULL;
        if (e && e->value == at.number) {
            found = e;
            count++;
        }
        host = log->again[host].next;
    } while (host);
    *any = count > 0;
    return count == 1 ? found : NULL;
}

/* Checks an event `other` on another host that the clock of e names. */
static bool shiviz_clocks_check_cause(struct shiviz_clocks *c, struct shiviz_event *e,
                                      struct shiviz_event *other)
{
    const struct shiviz_log *log = c->log;
    uint32_t own = log->again[e->host].of;
    if (!log->again[own].has && shiviz_clock_of(other, own) >= e->value)
        return shiviz_clocks_fail(c, e, "invalid vector clock: causality cycle with line %llu",
                                  (unsigned long long)other->line);
    return shiviz_clocks_include(c, e, other, "the clock of every event it names");
}

/* Keeps the causes that no other cause implies. */
static void shiviz_clocks_keep_causes(struct shiviz_log *log, struct shiviz_event *e,
                                      struct shiviz_event **found, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t of = log->again[found[i]->host].of;
        bool implied = false;
        for (uint32_t k = 0; k < count && !implied && !log->again[of].has; k++)
            implied = k != i && shiviz_clock_of(found[k], of) >= found[i]->value;
        if (implied)
            continue;
        e->causes = xreallocarray(e->causes, e->cause_count + 1, sizeof *e->causes);
        e->causes[e->cause_count++] = (struct shiviz_entry){found[i]->host, found[i]->number};
        found[i]->is_cause = true;
    }
}

/* Finds the events on other hosts that precede e, but not its predecessor on its own host. */
static bool shiviz_clocks_find_causes(struct shiviz_clocks *c, struct shiviz_event *e)
{
    struct shiviz_log *log = c->log;
    const struct shiviz_event *before =
        e->number > 1 ? shiviz_clocks_event_at(log, (struct shiviz_entry){e->host, e->number - 1})
                      : NULL;
    if (before && !shiviz_clocks_include(c, e, before, "the one before it on its host"))
        return false;
    struct shiviz_event **found = xcalloc(e->entries, sizeof *found);
    uint32_t count = 0;
    bool good = true, any;
    for (uint32_t i = 0; i < e->entries && good; i++) {
        struct shiviz_entry at = e->clock[i];
        if (at.host == log->again[e->host].of)
            continue;
        e->doubtful |= log->again[at.host].has;
        if (before && shiviz_clock_of(before, at.host) >= at.number)
            continue;
        struct shiviz_event *other = shiviz_clocks_named_event(log, at, &any);
        if (!any)
            good = shiviz_clocks_fail(
                c, e,
                "invalid vector clock: refers to a missing event; it has \"%s\" at %llu, and the "
                "log has %llu of its events",
                log->hosts[at.host], (unsigned long long)at.number,
                (unsigned long long)log->numbers[at.host]);
        else if (other && (good = shiviz_clocks_check_cause(c, e, other)))
            found[count++] = other;
    }
    if (good)
        shiviz_clocks_keep_causes(log, e, found, count);
    free(found);
    return good;
}

bool shiviz_clocks_check(struct shiviz_log *log, char *error, size_t error_size)
{
    struct shiviz_clocks c = {log, error, error_size};
    if (!log->event_count)
        return true;
    if (!shiviz_clocks_find_restarts(&c) || !shiviz_clocks_number_events(&c))
        return false;
    for (size_t i = 0; i < log->event_count; i++)
        if (!shiviz_clocks_find_causes(&c, &log->events[i]))
            return false;
    return true;
}

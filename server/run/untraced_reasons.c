#include "server/run/untraced_reasons.h"

#include "base/alloc.h"
#include "server/run/run.h"
#include "wire/trace_view.h"

#include <stdlib.h>
#include <string.h>

void untraced_reasons_add(struct run *run, uint32_t session, unsigned reason, const char *about)
{
    if (run->untraced.count >= UNTRACED_REASONS_MAX)
        about = "";
    for (size_t i = 0; i < run->untraced.count; i++) {
        struct untraced_report *u = &run->untraced.items[i];
        if (u->reason != reason || strcmp(u->about, about) != 0)
            continue;
        u->count += u->session != session; /* a checkpoint may repeat it */
        u->session = session;
        return;
    }
    if (run->untraced.count >= UNTRACED_REASONS_MAX + UNTRACED_COUNT)
        return;
    run->untraced.items = array_reserve(run->untraced.items, &run->untraced.room,
                                        run->untraced.count + 1, sizeof *run->untraced.items);
    char *copy = xstrdup(about);
    run->untraced.items[run->untraced.count++] =
        (struct untraced_report){(uint8_t)reason, session, copy, 1};
    run->generation++;
}

void untraced_reasons_free(struct untraced_reports *reports)
{
    for (size_t i = 0; i < reports->count; i++)
        free(reports->items[i].about);
    free(reports->items);
}

uint64_t untraced_reasons_lost(const struct run *run)
{
    uint64_t numbered = order_figures(run->order).lost, lost = run_lost(run);
    return lost > numbered ? lost - numbered : 0;
}

static uint64_t untraced_process_count(const struct run *run)
{
    uint64_t count = 0;
    for (size_t i = 0; i < run->processes.count; i++)
        count += run->processes.items[i].unfollowed;
    return count;
}

static uint32_t untraced_reported_bits(const struct run *run)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < run->untraced.count; i++)
        bits |= UNTRACED_BIT(run->untraced.items[i].reason);
    return bits;
}

/* Returns the reasons that hold for the whole run.  UNTRACED_LINE does not: events that may follow
 * calls on such a line are uncertain themselves.  UNTRACED_CALLS concerns no order. */
static uint32_t of_all(const struct run *run)
{
    return untraced_reported_bits(run) &
           ~(UNTRACED_BIT(UNTRACED_LINE) | UNTRACED_BIT(UNTRACED_CALLS));
}

static uint32_t hiding_ones(uint32_t bits)
{
    uint32_t hiding = 0;
    for (unsigned reason = 1; reason < UNTRACED_COUNT; reason++)
        hiding |= untraced_may_hide_order(reason) ? bits & UNTRACED_BIT(reason) : 0;
    return hiding;
}

/* Returns the number of futex calls.  Programs count the calls of several reasons together: they
 * are futex calls if none of the others was reported. */
static uint64_t futexes_of(const struct run *run)
{
    uint32_t bits = untraced_reported_bits(run);
    bool others = bits & (UNTRACED_BIT(UNTRACED_HANDLER) | UNTRACED_BIT(UNTRACED_LOST) |
                          UNTRACED_BIT(UNTRACED_LINE));
    return others ? 0 : untraced_process_count(run);
}

/* Returns whether losses are unnumbered for good, since no peer is left that could report their
 * numbers. */
static bool untraced_has_unnumbered_losses(const struct run *run)
{
    uint64_t dropped = 0, numbered = order_figures(run->order).lost;
    for (size_t i = 0; i < run->processes.count; i++)
        dropped += run->processes.items[i].dropped;
    return !run->programs.connected && dropped > numbered;
}

uint32_t untraced_reasons_hiding_order(const struct run *run)
{
    return hiding_ones(of_all(run) |
                       (untraced_has_unnumbered_losses(run) ? UNTRACED_BIT(UNTRACED_LOST) : 0));
}

bool untraced_reasons_some(const struct run *run)
{
    return untraced_reasons_hiding_order(run) ||
           (untraced_reported_bits(run) & UNTRACED_BIT(UNTRACED_LINE));
}

bool untraced_reasons_calls(const struct run *run)
{
    return untraced_reported_bits(run) & UNTRACED_BIT(UNTRACED_CALLS);
}

uint32_t untraced_reasons_mechanisms(const struct run *run)
{
    uint32_t bits = of_all(run) | (futexes_of(run) ? UNTRACED_BIT(UNTRACED_FUTEX) : 0);
    bits &= ~hiding_ones(bits);
    return bits | (untraced_reasons_lost(run) ? UNTRACED_BIT(UNTRACED_LOST) : 0);
}

struct untraced_info *untraced_reasons_list(const struct run *run, uint32_t *count)
{
    struct untraced_info *list = xcalloc(run->untraced.count + 2, sizeof *list);
    uint64_t futexes = futexes_of(run), lost = untraced_reasons_lost(run);
    *count = 0;
    for (size_t i = 0; i < run->untraced.count; i++)
        /* else added below, with their number */
        if (run->untraced.items[i].reason != UNTRACED_FUTEX || !futexes)
            list[(*count)++] =
                (struct untraced_info){run->untraced.items[i].reason, run->untraced.items[i].about,
                                       run->untraced.items[i].count};
    if (futexes)
        list[(*count)++] = (struct untraced_info){UNTRACED_FUTEX, NULL, futexes};
    if (lost)
        list[(*count)++] = (struct untraced_info){UNTRACED_LOST, NULL, lost};
    return list;
}

/* A program reports the numbers of events that it dropped, unless it ends before.  Events that
 * it left behind were reported by number while there was room; for the rest, the order may find
 * missing numbers by itself. */
uint64_t run_lost(const struct run *run)
{
    struct order_figures order = order_figures(run->order);
    uint64_t dropped = 0, left = 0, known = 0, numbered = order.lost;
    for (size_t i = 0; i < run->processes.count; i++) {
        dropped += run->processes.items[i].dropped;
        left += run->processes.items[i].left;
        known += run->processes.items[i].left_known;
    }
    uint64_t unknown = left - known,
             again = known + (order.found < unknown ? order.found : unknown);
    numbered -= again < numbered ? again : numbered;
    return (numbered > dropped ? numbered : dropped) + left;
}

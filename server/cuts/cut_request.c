#define _GNU_SOURCE
#include "server/cuts/cut_request.h"

#include "base/alloc.h"
#include "server/run/event_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the position of an event on a visible line; NO_POSITION with *error. */
static uint64_t cut_request_find(const struct run *run, struct event_id at, struct error *error)
{
    bool there = at.line && !(at.line & HIDDEN_LINE) && at.line <= order_line_count(run->order);
    uint64_t position = there ? order_position(run->order, at) : NO_POSITION;
    if (position == NO_POSITION || position < order_first(run->order))
        error_set(error, "no event %" PRIu32 ":%" PRIu64 " in the order of this run", at.line,
                  at.number);
    else if (order_event(run->order, position).state == EVENT_ORDERED)
        return position;
    else
        error_set(error, "event %" PRIu32 ":%" PRIu64 " is inconsistent", at.line, at.number);
    return NO_POSITION;
}

struct consistent_cut *cut_request_past(const struct run *run, struct event_id of, bool with,
                                        struct error *error)
{
    uint64_t position = cut_request_find(run, of, error);
    return position == NO_POSITION ? NULL : consistent_cut_past(run->order, &position, 1, with);
}

/* The begin of what is not in a cut: a time or an event. */
struct cut_end {
    const struct run *run;
    int64_t end_ns;
    uint64_t event; /* or the event that is not wanted; NO_POSITION: a time */
};

static bool cut_request_is_earlier(const void *context, uint64_t position)
{
    const struct cut_end *end = context;
    return event_times_fitted(end->run, position) < end->end_ns;
}

static void cut_request_free_end(const void *context) { free((void *)(uintptr_t)context); }

/* Times grow along exclusive lines only.  An event on a shared line is between two events of its
 * thread on the thread's own line: widens the mixed part from *low to *high by these. */
static void cut_request_widen(const struct run *run, uint64_t *low, uint64_t *high)
{
    const struct order *order = run->order;
    uint64_t first = *low, after = *high;
    for (uint32_t line = 1; line <= order_line_count(order); line++) {
        uint64_t last = order_thread_last(order, line);
        if (last == NO_POSITION || order_line_shared(order, line))
            continue;
        uint64_t before = order_line_from(order, line, *low),
                 next = order_line_from(order, line, *high);
        uint64_t p = before > order_line_first(order, line) ? order_line_at(order, line, before - 1)
                                                            : order_first(order);
        first = p < first ? p : first;
        p = next < order_line_events(order, line) ? order_line_at(order, line, next) : last;
        after = p != NO_POSITION && p >= after ? p + 1 : after;
    }
    *low = first;
    *high = after;
}

static bool cut_request_has_shared(const struct order *order)
{
    for (uint32_t line = 1; line <= order_line_count(order); line++)
        if (order_line_shared(order, line) && order_line_events(order, line))
            return true;
    return false;
}

struct consistent_cut *cut_request_time(const struct run *run, int64_t end_ns)
{
    struct cut_end *end = xmalloc(sizeof *end);
    *end = (struct cut_end){run, end_ns, NO_POSITION};
    uint64_t low = event_times_position(run, end_ns),
             high = event_times_position_after(run, end_ns);
    high = high > low ? high : low;
    if (cut_request_has_shared(run->order))
        cut_request_widen(run, &low, &high);
    return consistent_cut_largest(
        run->order, low, high,
        (struct consistent_cut_choice){cut_request_is_earlier, end, cut_request_free_end});
}

static bool cut_request_is_other(const void *context, uint64_t position)
{
    const struct cut_end *end = context;
    return position != end->event;
}

/* Begins the largest cut without an event, and so without what happened after it. */
static struct consistent_cut *cut_request_before(const struct run *run, uint64_t position)
{
    struct cut_end *end = xmalloc(sizeof *end);
    *end = (struct cut_end){run, 0, position};
    return consistent_cut_largest(
        run->order, position, order_count(run->order),
        (struct consistent_cut_choice){cut_request_is_other, end, cut_request_free_end});
}

/* ---- selections ---- */

static bool cut_request_begin_past(const struct run *run, const struct cut_request *r,
                                   struct cut_selection *s, struct error *error)
{
    uint64_t *positions = xcalloc(r->event_count, sizeof *positions);
    bool found = true;
    for (uint32_t i = 0; i < r->event_count && found; i++) {
        positions[i] = cut_request_find(run, r->events[i], error);
        found = positions[i] != NO_POSITION;
    }
    if (found)
        s->until = consistent_cut_past(run->order, positions, r->event_count, true);
    free(positions);
    s->text =
        r->event_count == 1
            ? xasprintf("the causal past of event %" PRIu32 ":%" PRIu64, r->events[0].line,
                        r->events[0].number)
            : xasprintf("the causal past of %" PRIu32 " events, the first one %" PRIu32 ":%" PRIu64,
                        r->event_count, r->events[0].line, r->events[0].number);
    return found;
}

static bool cut_request_begin_future(const struct run *run, const struct cut_request *r,
                                     struct cut_selection *s, struct error *error)
{
    uint64_t position = cut_request_find(run, r->events[0], error);
    if (position == NO_POSITION)
        return false;
    struct cut_end *end = xmalloc(sizeof *end);
    *end = (struct cut_end){run, INT64_MAX, NO_POSITION};
    uint64_t count = order_count(run->order);
    s->until = consistent_cut_largest(
        run->order, count, count,
        (struct consistent_cut_choice){cut_request_is_earlier, end, cut_request_free_end});
    s->since = cut_request_before(run, position);
    s->text = xasprintf("event %" PRIu32 ":%" PRIu64 " and what happened after it",
                        r->events[0].line, r->events[0].number);
    return true;
}

static bool cut_request_begin_between(const struct run *run, const struct cut_request *r,
                                      struct cut_selection *s, struct error *error)
{
    uint64_t a = cut_request_find(run, r->events[0], error),
             b = a == NO_POSITION ? a : cut_request_find(run, r->events[1], error);
    if (b == NO_POSITION)
        return false;
    if (order_compare(run->order, r->events[0], r->events[1]) != ORDER_BEFORE) {
        error_set(error, "event %" PRIu32 ":%" PRIu64 " did not happen before %" PRIu32 ":%" PRIu64,
                  r->events[0].line, r->events[0].number, r->events[1].line, r->events[1].number);
        return false;
    }
    s->until = consistent_cut_past(run->order, &b, 1, true);
    s->since = cut_request_before(run, a);
    s->text = xasprintf(
        "what is between events %" PRIu32 ":%" PRIu64 " and %" PRIu32 ":%" PRIu64 ", with both",
        r->events[0].line, r->events[0].number, r->events[1].line, r->events[1].number);
    return true;
}

static bool cut_request_begin_range(const struct run *run, const struct cut_request *r,
                                    struct cut_selection *s, struct error *error)
{
    char from[40] = "the begin", to[40] = "the end";
    if (r->from_ns > r->to_ns) {
        error_set(error, "the range ends before it begins");
        return false;
    }
    s->until = cut_request_time(run, r->to_ns == INT64_MAX ? r->to_ns : r->to_ns + 1);
    if (r->from_ns != INT64_MIN) {
        s->since = cut_request_time(run, r->from_ns);
        snprintf(from, sizeof from, "%.6f ms", (double)r->from_ns / 1e6);
    }
    if (r->to_ns != INT64_MAX)
        snprintf(to, sizeof to, "%.6f ms", (double)r->to_ns / 1e6);
    s->text = xasprintf("from %s to %s", from, to);
    return true;
}

static bool cut_request_begin_near(const struct run *run, const struct cut_request *r,
                                   struct cut_selection *s, struct error *error)
{
    uint64_t *positions = xcalloc(r->event_count, sizeof *positions);
    bool found = true;
    for (uint32_t i = 0; i < r->event_count && found; i++) {
        positions[i] = cut_request_find(run, r->events[i], error);
        found = positions[i] != NO_POSITION;
    }
    if (found) {
        s->near = cut_near_new(run->order, positions, r->event_count, r->near);
        s->until = cut_request_time(run, INT64_MAX);
    }
    free(positions);
    s->text = xasprintf("%" PRIu32 " events, the first one %" PRIu32 ":%" PRIu64
                        ", and up to %" PRIu32 " events of their threads before and after each",
                        r->event_count, r->events[0].line, r->events[0].number, r->near);
    return found;
}

static void cut_request_set_lines(const struct run *run, const struct cut_request *r,
                                  struct cut_selection *s)
{
    s->line_count = order_line_count(run->order);
    s->lines = xcalloc(s->line_count + 1u, 1);
    for (uint32_t i = 0; i < r->line_count; i++)
        if (r->lines[i] && r->lines[i] <= s->line_count)
            s->lines[r->lines[i] - 1] = 1;
    char *text = xasprintf("%s, on %" PRIu32 " lines and of their threads", s->text, r->line_count);
    free(s->text);
    s->text = text;
}

bool cut_request_begin(const struct run *run, const struct cut_request *r, struct cut_selection *s,
                       struct error *error)
{
    static bool (*const begin[CUT_KINDS])(const struct run *, const struct cut_request *,
                                          struct cut_selection *, struct error *) = {
        [CUT_OF_PAST] = cut_request_begin_past,       [CUT_OF_FUTURE] = cut_request_begin_future,
        [CUT_OF_BETWEEN] = cut_request_begin_between, [CUT_OF_RANGE] = cut_request_begin_range,
        [CUT_OF_NEAR] = cut_request_begin_near,
    };
    *s = (struct cut_selection){0};
    if (!begin[r->kind](run, r, s, error)) {
        cut_selection_free(s);
        return false;
    }
    if (r->line_count)
        cut_request_set_lines(run, r, s);
    s->keeps = xstrdup(r->keeps);
    return true;
}

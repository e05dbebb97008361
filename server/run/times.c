#include "server/run/times.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/run/clocks.h"

#include <stdlib.h>

struct times {
    const struct run *run;
    int64_t from_ns;
    uint64_t column_ns;
    struct map knots; /* position -> how far its event is moved, + 1 */
};

static uint32_t process_of(const struct run *run, const struct event *e)
{
    uint32_t line = e->thread && e->thread <= order_lines(run->order) ? e->thread : e->line;
    return line && line <= order_lines(run->order) ? run_line_at(run, line)->process : 0;
}

int64_t times_fitted(const struct run *run, uint64_t position)
{
    struct event e = order_event(run->order, position);
    return run->process_count < 2 ? e.time_ns : clocks_correct(run, process_of(run, &e), e.time_ns);
}

int64_t times_begin(const struct run *run)
{
    int64_t least = run->last_ns;
    for (uint32_t line = 1; line <= order_lines(run->order); line++) {
        uint64_t first = order_line_first(run->order, line);
        if (first >= order_line_events(run->order, line))
            continue;
        uint64_t position = order_line_at(run->order, line, first);
        if (position != NO_POSITION && times_fitted(run, position) < least)
            least = times_fitted(run, position);
    }
    return least;
}

/* Position of a line's first event at or after a time. */
static uint64_t line_from(const struct run *run, uint32_t line, int64_t time_ns)
{
    uint64_t low = order_line_first(run->order, line), high = order_line_events(run->order, line);
    uint64_t end = high;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t position = order_line_at(run->order, line, middle);
        if (position != NO_POSITION && times_fitted(run, position) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end ? order_line_at(run->order, line, low) : NO_POSITION;
}

uint64_t times_position(const struct run *run, int64_t time_ns)
{
    uint64_t least = order_count(run->order);
    for (uint32_t line = 1; line <= order_lines(run->order); line++) {
        uint64_t position = line_from(run, line, time_ns);
        least = position < least ? position : least;
    }
    return least;
}

struct times *times_new(const struct run *run, int64_t from_ns, uint64_t column_ns)
{
    struct times *times = memory_zeroed(1, sizeof *times);
    *times = (struct times){.run = run, .from_ns = from_ns, .column_ns = column_ns};
    return times;
}

void times_free(struct times *times)
{
    if (times)
        map_free(&times->knots);
    free(times);
}

uint64_t times_cut(void *context, uint32_t line)
{
    const struct times *times = context;
    if (line & HIDDEN_LINE)
        return NO_POSITION; /* where its sources are */
    uint64_t position = line_from(times->run, line, times->from_ns);
    return position == NO_POSITION ? order_count(times->run->order) : position;
}

int64_t times_at(const struct times *times, uint64_t position)
{
    uint64_t moved =
        times->knots.count ? (uint64_t)(uintptr_t)map_get(&times->knots, position, 0) : 0;
    return times_fitted(times->run, position) + (moved ? (int64_t)(moved - 1) : 0);
}

/* Latest of what an event follows; an event of its own line counts as it is. */
static int64_t latest_before(const struct times *times, uint64_t position)
{
    const struct order *order = times->run->order;
    struct event e = order_event(order, position);
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < e.edge_count; i++) {
        int64_t t = times_at(times, order_edge(order, position, i));
        latest = t > latest ? t : latest;
    }
    uint64_t previous = order_previous(order, position);
    if (previous != NO_POSITION && !(e.line & HIDDEN_LINE)) {
        int64_t t = times_at(times, previous);
        latest = t > latest ? t : latest;
    }
    return latest;
}

int32_t times_column(void *context, uint64_t begin, uint64_t end)
{
    struct times *times = context;
    int64_t latest = INT64_MIN;
    for (uint64_t p = begin; p <= end; p++) {
        int64_t before = latest_before(times, p), own = times_fitted(times->run, p);
        before = before == INT64_MIN ? before : before + 1; /* strictly after its causes */
        latest = before > latest ? before : latest;
        latest = own > latest ? own : latest;
    }
    for (uint64_t p = begin; p <= end; p++) {
        int64_t own = times_fitted(times->run, p);
        if (latest > own)
            map_put(&times->knots, p, 0, (void *)(uintptr_t)(latest - own + 1));
    }
    if (latest <= times->from_ns)
        return 0;
    uint64_t column = (uint64_t)(latest - times->from_ns) / times->column_ns;
    return column < (1u << 30) ? (int32_t)column : 1 << 30;
}

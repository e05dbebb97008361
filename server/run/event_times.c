#include "server/run/event_times.h"

#include "server/run/clock_sync.h"

static uint32_t process_of(const struct run *run, const struct order_event *e)
{
    uint32_t line = e->thread && e->thread <= order_line_count(run->order) ? e->thread : e->line;
    return line && line <= order_line_count(run->order) ? run_line_at(run, line)->process : 0;
}

int64_t event_times_for_process(const struct run *run, const struct order_event *e)
{
    return run->processes.count < 2 ? e->time_ns
                                    : clock_sync_correct(run, process_of(run, e), e->time_ns);
}

int64_t event_times_fitted(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    return event_times_for_process(run, &e);
}

int64_t event_times_begin(const struct run *run)
{
    int64_t least = run->clock.last_ns;
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        uint64_t first = order_line_first(run->order, line);
        if (first >= order_line_events(run->order, line))
            continue;
        uint64_t position = order_line_at(run->order, line, first);
        if (position != NO_POSITION && event_times_fitted(run, position) < least)
            least = event_times_fitted(run, position);
    }
    return least;
}

/* Returns whether a program ended otherwise than by itself: its threads may have waited since their
 * last events. */
static bool event_times_any_killed(const struct run *run)
{
    const struct run_processes *all = &run->processes;
    bool killed = false;
    for (uint32_t i = 0; i < all->count && !killed; i++)
        killed = !run_process_exited(run, i);
    return killed;
}

int64_t event_times_end(const struct run *run)
{
    const struct run_clock *clock = &run->clock;
    bool longer = !run->programs.connected && clock->ended_ns > clock->last_ns;
    return (longer && event_times_any_killed(run) ? clock->ended_ns : clock->last_ns) + 1;
}

int64_t event_times_point(const struct run *run, uint64_t position)
{
    uint64_t end = order_point_end(run->order, position);
    int64_t latest = event_times_fitted(run, position);
    for (uint64_t p = order_event(run->order, position).point; p < end + 1 && p <= end; p++) {
        int64_t time = p == position ? latest : event_times_fitted(run, p);
        latest = time > latest ? time : latest;
    }
    return latest;
}

/* Returns the ordinal of a line's first event at or after a time, or the number of its events. */
static uint64_t ordinal_from(const struct run *run, uint32_t line, int64_t time_ns)
{
    uint64_t low = order_line_first(run->order, line), high = order_line_events(run->order, line);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t position = order_line_at(run->order, line, middle);
        if (position != NO_POSITION && event_times_point(run, position) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void event_times_range(const struct run *run, uint32_t line, int64_t from_ns, int64_t to_ns,
                       uint64_t *from, uint64_t *to)
{
    *from = ordinal_from(run, line, from_ns);
    *to = to_ns > from_ns ? ordinal_from(run, line, to_ns) : *from;
}

/* Returns the position of a line's first event at or after a time, or NO_POSITION. */
static uint64_t line_from(const struct run *run, uint32_t line, int64_t time_ns)
{
    uint64_t at = ordinal_from(run, line, time_ns);
    return at < order_line_events(run->order, line) ? order_line_at(run->order, line, at)
                                                    : NO_POSITION;
}

/* Number of events within which times along a line may decrease, where clocks of several hosts
 * meet. */
#define NEAR 16u

void event_times_bounds(const struct run *run, uint32_t line, int64_t time_ns, uint64_t *first,
                        uint64_t *after)
{
    uint64_t ordinal = ordinal_from(run, line, time_ns);
    uint64_t begin = order_line_first(run->order, line), end = order_line_events(run->order, line);
    uint64_t back = ordinal, on = ordinal, last = ordinal; /* examined: back .. on - 1 */
    uint64_t least = ordinal;
    for (; back > begin && least - back < NEAR; back--) {
        uint64_t position = order_line_at(run->order, line, back - 1);
        bool is_after = position != NO_POSITION && event_times_point(run, position) >= time_ns;
        least = is_after ? back - 1 : least;
    }
    for (; on < end && on - last < NEAR; on++) {
        uint64_t position = order_line_at(run->order, line, on);
        bool is_before = position != NO_POSITION && event_times_point(run, position) < time_ns;
        last = is_before ? on + 1 : last;
    }
    uint64_t at = least < end ? order_line_at(run->order, line, least) : NO_POSITION;
    *first = at < *first ? at : *first;
    at = last > begin ? order_line_at(run->order, line, last - 1) : NO_POSITION;
    *after = at != NO_POSITION && at >= *after ? at + 1 : *after;
}

uint64_t event_times_position(const struct run *run, int64_t time_ns)
{
    uint64_t least = order_count(run->order);
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        uint64_t position = line_from(run, line, time_ns);
        least = position < least ? position : least;
    }
    return least;
}

uint64_t event_times_position_after(const struct run *run, int64_t time_ns)
{
    uint64_t after = order_first(run->order);
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        uint64_t ordinal = time_ns == INT64_MAX ? order_line_events(run->order, line)
                                                : ordinal_from(run, line, time_ns + 1);
        if (ordinal <= order_line_first(run->order, line))
            continue;
        uint64_t position = order_line_at(run->order, line, ordinal - 1);
        if (position != NO_POSITION && position >= after)
            after = position + 1;
    }
    return after;
}

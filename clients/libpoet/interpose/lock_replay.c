#include "clients/libpoet/interpose/lock_replay.h"

#include "clients/libpoet/core/record.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "clients/libpoet/replay/held_points.h"

struct lock_replay lock_replay_requested(struct traced_thread *t, const struct trace_line *line,
                                         uintptr_t site)
{
    enum trace_type asks = thread_schedule_next_type(t, 0), got = thread_schedule_next_type(t, 1);
    uint32_t rest = got == TYPE_NONE ? thread_schedule_line(t, line) : 0;
    struct lock_replay is = {.got = got,
                             .last = got == TYPE_NONE &&
                                     (asks == TYPE_ACQUIRE || asks == TYPE_TIMED_ACQUIRE)};
    is.requested = asks == TYPE_TIMED_ACQUIRE || is.last;
    if (hold_points_active && got == TYPE_NONE)
        hold_point_before_lock(t, line, site);
    if (is.requested)
        record_event(t, asks, thread_place(t), atomic_load(&line->index), site);
    if (got == TYPE_NONE)
        thread_schedule_wait_rest(t, rest);
    return is;
}

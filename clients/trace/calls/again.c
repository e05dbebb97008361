#include "clients/trace/calls/again.h"

#include "clients/trace/core/record.h"
#include "clients/trace/replay/part.h"
#include "clients/trace/replay/steer.h"

struct again again_asked(struct thread *t, const struct line *line, uintptr_t site)
{
    enum trace_type asks = part_type(t, 0), got = part_type(t, 1);
    uint32_t rest = got == TYPE_NONE ? part_line(t, line) : 0;
    struct again is = {.got = got,
                       .last = got == TYPE_NONE &&
                               (asks == TYPE_PETITION || asks == TYPE_TIMED_PETITION)};
    is.petitioned = asks == TYPE_TIMED_PETITION || is.last;
    if (steers && got == TYPE_NONE)
        steer_lock(t, line, site);
    if (is.petitioned)
        record_event(t, asks, thread_place(t), atomic_load(&line->index), site);
    if (got == TYPE_NONE)
        part_await_rest(t, rest);
    return is;
}

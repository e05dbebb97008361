#include "server/answer/table/processor.h"

#include "server/run/figures.h"

/* At its end; false: it is not known. */
static bool at_end(const struct run *run, uint32_t thread, enum usage_meter meter, int64_t *ns)
{
    const struct figures *s = figures_find(run, 0, thread, meter);
    if (!s || !s->exact)
        return false;
    *ns = s->points[s->count - 1].value;
    return true;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

bool processor_split(const struct table_view *view, const struct course_of *course,
                     struct states *sums)
{
    int64_t ran, delayed, more;
    bool whole = view->from_ns == INT64_MIN && view->to_ns == INT64_MAX && !view->past &&
                 course->end_ns != INTERVALS_NEVER;
    if (!whole || !at_end(view->run, course->thread, USAGE_CPU, &ran) ||
        !at_end(view->run, course->thread, USAGE_READY, &delayed))
        return false;
    int64_t running = sums->of[STATE_RUNNING].total_ns, ready = sums->of[STATE_READY].total_ns;
    ran = least(ran, running);
    more = delayed > ready ? least(delayed - ready, running - ran) : 0;
    sums->of[STATE_RUNNING].total_ns = ran;
    sums->of[STATE_READY].total_ns = ready + more;
    sums->of[STATE_SYSTEM].total_ns = running - ran - more;
    return true;
}

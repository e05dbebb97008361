#include "server/answer/jobs.h"

#include <string.h>

static void *take(struct jobs *jobs, unsigned i)
{
    void *it = jobs->items[i].it;
    jobs->count--;
    memmove(jobs->items + i, jobs->items + i + 1, (jobs->count - i) * sizeof *jobs->items);
    return it;
}

bool jobs_full(const struct jobs *jobs) { return jobs->count == jobs->sort->most; }

void jobs_add(struct jobs *jobs, uint32_t id, void *job)
{
    jobs_cancel(jobs, id);
    if (jobs_full(jobs))
        jobs->sort->free(take(jobs, 0));
    jobs->items[jobs->count++] = (struct job){id, job};
}

void jobs_cancel(struct jobs *jobs, uint32_t id)
{
    for (unsigned i = jobs->count; id && i-- > 0;)
        if (jobs->items[i].id == id)
            jobs->sort->free(take(jobs, i));
}

void *jobs_take(struct jobs *jobs, uint32_t id)
{
    for (unsigned i = jobs->count; i-- > 0;)
        if (jobs->items[i].id == id)
            return take(jobs, i);
    return NULL;
}

void jobs_drop_all(struct jobs *jobs)
{
    while (jobs->count)
        jobs->sort->free(take(jobs, 0));
}

bool jobs_step(struct jobs *jobs, uint64_t budget)
{
    return jobs->count && jobs->sort->step(jobs->items[0].it, budget);
}

void *jobs_put(struct jobs *jobs, struct out *out)
{
    return jobs->sort->put(jobs->items[0].it, out) ? take(jobs, 0) : NULL;
}

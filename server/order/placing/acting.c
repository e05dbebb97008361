#include "server/order/placing/acting.h"

#include "memory/memory.h"
#include "server/order/log/lines.h"
#include "server/order/placing/sweep.h"

#include <stdlib.h>
#include <string.h>

void acting_begin(struct place_job *job)
{
    for (uint32_t line = 1; line <= job->lines; line++) {
        if (order_look_at(job->order, line - 1)->acted <= job->order->first)
            continue;
        job->acting =
            grow(job->acting, &job->acting_room, job->acting_count + 1, sizeof *job->acting);
        job->acting[job->acting_count++] = line;
    }
}

size_t acting_watch(struct place_job *job, struct sweep *sweep,
                    bool (*may)(const struct place_job *job, const struct sweep *sweep,
                                uint32_t thread))
{
    size_t open = 0, room = 0;
    if (!sweep->watched) {
        sweep->watched = grow(NULL, &room, job->lines + 1, 1);
        memset(sweep->watched, 0, job->lines + 1);
    }
    for (size_t i = 0; i < job->acting_count; i++) {
        uint32_t thread = job->acting[i];
        sweep->watched[thread] = may(job, sweep, thread);
        open += sweep->watched[thread];
    }
    return open + (job->acting_count == 0 || sweep->strangers); /* of them nothing is known */
}

void acting_see(struct place_job *job, struct sweep *sweep, uint32_t thread, int32_t column,
                bool last)
{
    if (!thread || thread > job->lines) {
        sweep->open += !thread && !sweep->strangers && job->acting_count;
        sweep->strangers |= !thread;
        return;
    }
    if (column > sweep->acted[thread - 1])
        sweep->acted[thread - 1] = column;
    if (!last || !sweep->watched[thread])
        return;
    sweep->watched[thread] = false;
    sweep->open--;
}

void acting_end(struct place_job *job) { free(job->acting); }

#include "server/order/layout/active_threads.h"

#include "base/alloc.h"
#include "server/order/log/line_table.h"
#include "server/order/layout/layout_pass.h"

#include <stdlib.h>
#include <string.h>

void active_threads_begin(struct layout_job *job)
{
    for (uint32_t line = 1; line <= job->lines; line++) {
        if (order_line_peek(job->order, line - 1)->acted <= job->order->log.first)
            continue;
        job->acting = array_reserve(job->acting, &job->acting_room, job->acting_count + 1,
                                    sizeof *job->acting);
        job->acting[job->acting_count++] = line;
    }
}

size_t active_threads_watch(struct layout_job *job, struct layout_pass *pass,
                            bool (*may)(const struct layout_job *job,
                                        const struct layout_pass *pass, uint32_t thread))
{
    size_t open = 0, room = 0;
    if (!pass->watched) {
        pass->watched = array_reserve(NULL, &room, job->lines + 1, 1);
        memset(pass->watched, 0, job->lines + 1);
    }
    for (size_t i = 0; i < job->acting_count; i++) {
        uint32_t thread = job->acting[i];
        pass->watched[thread] = may(job, pass, thread);
        open += pass->watched[thread];
    }
    /* events without a known thread keep the pass open */
    return open + (job->acting_count == 0 || pass->strangers);
}

void active_threads_see(struct layout_job *job, struct layout_pass *pass, uint32_t thread,
                        int32_t column, bool last)
{
    if (!thread || thread > job->lines) {
        pass->open += !thread && !pass->strangers && job->acting_count;
        pass->strangers |= !thread;
        return;
    }
    if (column > pass->acted[thread - 1])
        pass->acted[thread - 1] = column;
    if (!last || !pass->watched[thread])
        return;
    pass->watched[thread] = false;
    pass->open--;
}

void active_threads_end(struct layout_job *job) { free(job->acting); }

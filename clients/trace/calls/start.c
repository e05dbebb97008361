/* What a new thread is to run, until it has begun. */
#include "clients/trace/calls/start.h"

#include "clients/trace/core/arena.h"
#include "clients/trace/core/lock.h"

static latch start_lock;
static struct start *start_pool;

struct start *start_take(void)
{
    latch_take(&start_lock);
    struct start *start = start_pool;
    if (start)
        start_pool = start->next;
    latch_give(&start_lock);
    return start ? start : arena_take(sizeof *start);
}

void start_put(struct start *start)
{
    latch_take(&start_lock);
    start->next = start_pool;
    start_pool = start;
    latch_give(&start_lock);
}

void starts_forked(void)
{
    start_pool = NULL;
    latch_reset(&start_lock);
}

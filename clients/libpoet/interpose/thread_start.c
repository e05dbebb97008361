/* Start function and argument of a new thread, until it has begun. */
#include "clients/libpoet/interpose/thread_start.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"

static latch start_lock;
static struct thread_start *start_pool;

struct thread_start *thread_start_pop(void)
{
    latch_lock(&start_lock);
    struct thread_start *start = start_pool;
    if (start)
        start_pool = start->next;
    latch_unlock(&start_lock);
    return start ? start : tracer_arena_alloc(sizeof *start);
}

void thread_start_push(struct thread_start *start)
{
    latch_lock(&start_lock);
    start->next = start_pool;
    start_pool = start;
    latch_unlock(&start_lock);
}

void thread_start_forked(void)
{
    start_pool = NULL;
    latch_reset(&start_lock);
}

#include "server/queries/pool_search.h"

#include "base/alloc.h"

#include <stdlib.h>

#define SLICE 4000u       /* events searched at once */
#define SLICE_COST 1000u  /* of the budget */
#define LOG_MOST 2000000u /* maximum number of events searched */

/* Returns whether it is a condition variable at which no thread waits now. */
static bool pool_search_wants(const struct wait_graph *g, uint32_t line)
{
    const struct target_line_type *kind =
        run_line_type(g->run, order_line_kind(g->run->order, line));
    return kind && kind->category == CATEGORY_CONDITION && !g->object_of[line - 1];
}

void pool_search_begin(struct pool_search *s, const struct wait_graph *graph,
                       bool (*is_stuck)(const void *context, uint32_t thread), const void *context)
{
    const struct order *order = graph->run->order;
    *s = (struct pool_search){.graph = graph, .is_stuck = is_stuck, .context = context};
    s->wanted = xcalloc(graph->lines, 1);
    s->pool_of = xcalloc(graph->lines, sizeof *s->pool_of);
    s->from = order_count(order);
    s->least = order_first(order);
    bool stuck = false;
    for (size_t i = 0; i < graph->count && !stuck; i++)
        stuck = is_stuck(context, graph->waiters[i].thread);
    /* (a part of the log does not tell all threads of a pool) */
    if (!stuck || s->from - s->least > LOG_MOST)
        return;
    for (uint32_t line = 1; line <= graph->lines; line++) {
        s->wanted[line - 1] = pool_search_wants(graph, line);
        s->wanted_count += s->wanted[line - 1];
    }
}

void pool_search_free(struct pool_search *s)
{
    free(s->wanted);
    free(s->pool_of);
    free(s->pools);
}

static void pool_search_exclude(struct pool_search *s, struct pool *pool)
{
    pool->excluded = true;
    s->wanted[pool->line - 1] = 0;
    s->wanted_count--;
}

static struct pool *pool_search_pool(struct pool_search *s, uint32_t line, uint64_t last)
{
    uint32_t *index = &s->pool_of[line - 1];
    if (!*index) {
        s->pools = array_reserve(s->pools, &s->room, s->count + 1, sizeof *s->pools);
        s->pools[s->count] = (struct pool){.line = line, .signal = last};
        *index = (uint32_t)++s->count;
    }
    return &s->pools[*index - 1];
}

/* Adds a thread that waited; returns false if it may come back, or there are too many. */
static bool pool_search_add_thread(const struct pool_search *s, struct pool *pool, uint32_t thread,
                                   uint64_t position)
{
    const struct wait_graph *g = s->graph;
    if (!thread || thread > g->lines)
        return false;
    if (g->is_thread[thread - 1] == WAITS_ENDED || g->is_thread[thread - 1] == WAITS_EXITED)
        return true;
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->threads[i].thread == thread)
            return true;
    if (pool->count == POOL_THREADS || !s->is_stuck(s->context, thread))
        return false;
    pool->threads[pool->count++] = (struct pool_thread){thread, position};
    return true;
}

/* Takes an event about a condition variable into account, from the last one on: that is a signal,
 * as the types of the waits before it say. */
static void pool_search_add_event(struct pool_search *s, uint64_t position)
{
    const struct run *run = s->graph->run;
    struct order_event e = order_event(run->order, position);
    struct pool *pool = pool_search_pool(s, e.about, position);
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    if (!look || !look->waits)
        return;
    bool first = !pool->wait;
    pool->wait = look;
    const char *last = run_type_name(run, order_event(run->order, pool->signal).type);
    if ((first && !target_has_line_type(&look->woken_by, last)) ||
        !pool_search_add_thread(s, pool, e.thread, position))
        pool_search_exclude(s, pool);
}

bool pool_search_step(struct pool_search *s, uint64_t *budget)
{
    const struct order *order = s->graph->run->order;
    while (s->wanted_count && s->from > s->least) {
        if (*budget == 0)
            return false;
        *budget -= *budget < SLICE_COST ? *budget : SLICE_COST;
        uint64_t end = s->from - s->least > SLICE ? s->from - SLICE : s->least, at = s->from;
        while ((at = order_about_before(order, at, end, s->wanted, s->graph->lines)) != NO_POSITION)
            pool_search_add_event(s, at);
        s->from = end;
    }
    for (size_t i = 0; i < s->count; i++)
        s->pools[i].excluded |= !s->pools[i].count;
    return true;
}

/* Tree of call contexts: finds the context that a call begins. */
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/throttle.h"

/* Contexts reserved for calls that find no room: one of SCOPE_OTHER, and one for each function
 * below it. */
#define OTHERS 4096u
#define LOOKED_THROUGH 64u /* when there is no more room, so that no long list is searched */

static struct profile_region_context *context_tree_get(const struct thread_profile *m,
                                                       uint32_t context)
{
    return &contexts_of(m)[context];
}

static uint32_t context_tree_search(const struct thread_profile *m, uint32_t parent,
                                    uint64_t function, uint64_t site, uint32_t scope, uint32_t most)
{
    uint32_t c = __atomic_load_n(&context_tree_get(m, parent)->child, __ATOMIC_RELAXED);
    for (; c && most--; c = context_tree_get(m, c)->sibling)
        if (context_tree_get(m, c)->function == function && context_tree_get(m, c)->site == site &&
            context_tree_get(m, c)->scope == scope)
            return c;
    return 0;
}

/* Returns the outermost context of the same function on the path, or itself. */
static uint32_t context_tree_outermost(const struct thread_profile *m, uint32_t context)
{
    const struct profile_region_context *c = context_tree_get(m, context);
    for (uint32_t up = c->parent; up; up = context_tree_get(m, up)->parent)
        if (context_tree_get(m, up)->function == c->function &&
            context_tree_get(m, up)->scope == c->scope)
            return up;
    return context;
}

/* Returns the first context of its function, or itself if there are too many functions. */
static uint32_t context_tree_first(struct thread_profile *m, uint32_t context)
{
    const struct profile_region_context *c = context_tree_get(m, context);
    uint32_t hash = (uint32_t)(c->function * 0x9e3779b97f4a7c15u >> 40);
    for (uint32_t i = 0; i < FIRST_CONTEXTS / 2; i++) {
        uint32_t there = 0;
        if (atomic_compare_exchange_strong(&m->firsts[(hash + i) % FIRST_CONTEXTS], &there,
                                           context))
            return context;
        if (context_tree_get(m, there)->function == c->function &&
            context_tree_get(m, there)->scope == c->scope)
            return there;
    }
    return context;
}

/* Returns 0 if there is no more room. A handler may add others meanwhile. */
static uint32_t context_tree_add(struct thread_profile *m, uint32_t parent, uint64_t function,
                                 uint64_t site, uint32_t scope, uint32_t room)
{
    if (atomic_load(&m->next) >= room)
        return 0;
    uint32_t c = atomic_fetch_add(&m->next, 1);
    if (c >= room)
        return 0;
    struct profile_region_context *new = context_tree_get(m, c);
    new->parent = parent;
    new->function = function;
    new->site = site;
    new->scope = scope;
    bool apart = scope == SCOPE_OTHER || scope == SCOPE_EDGE;
    new->lands = apart ? c : context_tree_outermost(m, c);
    new->first = new->lands == c &&scope != SCOPE_EDGE ? context_tree_first(m, c) : c;
    if (scope == SCOPE_COUNTED)
        sum_set(&new->real, throttle_since(function));
    sum_set(&new->real_least, UINT64_MAX);
    sum_set(&new->own_least, UINT64_MAX);
    uint32_t count = atomic_load(&m->head->contexts);
    while (count <= c && !atomic_compare_exchange_weak(&m->head->contexts, &count, c + 1))
        ;
    if (scope == SCOPE_EDGE)
        return c; /* found by block_counts.c */
    uint32_t *first = &context_tree_get(m, parent)->child;
    new->sibling = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(first, &new->sibling, c, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    void (*meet)(uintptr_t) =
        atomic_load_explicit(&tracer.profile.on_new_function, memory_order_relaxed);
    /* (samples are taken where nothing may be announced) */
    if (meet && !m->sampling && (scope == SCOPE_FUNCTION || scope == SCOPE_COUNTED))
        meet((uintptr_t)(function & ~FUNCTION_OF_LIBRARY));
    return c;
}

/* Returns the context of SCOPE_OTHER; it is created before any of those below it, so there is room
 * for it. */
static uint32_t context_tree_others_root(struct thread_profile *m)
{
    uint32_t c = atomic_load(&m->other);
    if (c)
        return c;
    c = context_tree_add(m, 0, 0, 0, SCOPE_OTHER, REGION_CONTEXTS);
    atomic_store(&m->other, c);
    return c;
}

/* Calls on paths that find no room are counted below one context, by function, and never under
 * another function. What finds no room there either is attributed to that context itself. A handler
 * in between may create a second one of a function. */
static uint32_t context_tree_find_other(struct thread_profile *m, uint64_t function, uint32_t scope)
{
    uint32_t parent = context_tree_others_root(m),
             hash = (uint32_t)(function * 0x9e3779b97f4a7c15u >> 40);
    sum_add(&m->head->folded, 1);
    for (uint32_t i = 0; i < OTHER_CONTEXTS; i++) {
        _Atomic uint32_t *known = &m->others[(hash + i) % OTHER_CONTEXTS];
        uint32_t c = atomic_load(known), none = 0;
        if (c && context_tree_get(m, c)->function == function &&
            context_tree_get(m, c)->scope == scope)
            return c;
        if (c)
            continue;
        c = context_tree_add(m, parent, function, 0, scope, REGION_CONTEXTS);
        if (c)
            atomic_compare_exchange_strong(known, &none, c);
        return c ? c : parent;
    }
    return parent;
}

uint32_t context_tree_find(struct thread_profile *m, uint32_t parent, uint64_t function,
                           uint64_t site, uint32_t scope)
{
    bool full = atomic_load(&m->next) >= REGION_CONTEXTS - OTHERS;
    uint32_t c = context_tree_search(m, parent, function, site, scope,
                                     full ? LOOKED_THROUGH : REGION_CONTEXTS);
    c = c ? c : context_tree_add(m, parent, function, site, scope, REGION_CONTEXTS - OTHERS);
    if (!c)
        return context_tree_find_other(m, function, scope);
    atomic_store_explicit(scope == SCOPE_COUNTED
                              ? context_tree_cached_counted(m, parent, function, site)
                              : context_tree_cached(m, parent, function, site),
                          c, memory_order_relaxed);
    return c;
}

uint32_t context_tree_add_edge(struct thread_profile *m, uint64_t from, uint64_t to)
{
    uint32_t c = context_tree_add(m, 0, to, from, SCOPE_EDGE, REGION_CONTEXTS - OTHERS);
    void (*meet)(uintptr_t) =
        atomic_load_explicit(&tracer.profile.on_new_function, memory_order_relaxed);
    if (meet && to > BLOCK_NONE)
        meet((uintptr_t)to);
    return c;
}

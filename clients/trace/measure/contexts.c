/* The tree of calling contexts: which one a call begins. */
#include "clients/trace/measure/frames.h"
#include "clients/trace/measure/throttle.h"

/* Contexts for calls leave so many for what finds no room: one of SCOPE_OTHER, and one for each
 * function below it. */
#define OTHERS 4096u
#define LOOKED_THROUGH 64u /* where there is no more room, so that nobody waits for a long list */

static struct region_context *at(const struct measured *m, uint32_t context)
{
    return &contexts_of(m)[context];
}

void (*_Atomic frames_meet)(uintptr_t function);

static uint32_t search(const struct measured *m, uint32_t parent, uint64_t function, uint64_t site,
                       uint32_t scope, uint32_t most)
{
    uint32_t c = __atomic_load_n(&at(m, parent)->child, __ATOMIC_RELAXED);
    for (; c && most--; c = at(m, c)->sibling)
        if (at(m, c)->function == function && at(m, c)->site == site && at(m, c)->scope == scope)
            return c;
    return 0;
}

/* The outer one of the same function, or itself. */
static uint32_t landing(const struct measured *m, uint32_t context)
{
    const struct region_context *c = at(m, context);
    for (uint32_t up = c->parent; up; up = at(m, up)->parent)
        if (at(m, up)->function == c->function && at(m, up)->scope == c->scope)
            return up;
    return context;
}

/* The first of its function, or itself: also where there are too many functions. */
static uint32_t first_of(struct measured *m, uint32_t context)
{
    const struct region_context *c = at(m, context);
    uint32_t hash = (uint32_t)(c->function * 0x9e3779b97f4a7c15u >> 40);
    for (uint32_t i = 0; i < FIRST_CONTEXTS / 2; i++) {
        uint32_t there = 0;
        if (atomic_compare_exchange_strong(&m->firsts[(hash + i) % FIRST_CONTEXTS], &there,
                                           context))
            return context;
        if (at(m, there)->function == c->function && at(m, there)->scope == c->scope)
            return there;
    }
    return context;
}

/* 0: there is no more room.  A handler may make others meanwhile. */
static uint32_t make(struct measured *m, uint32_t parent, uint64_t function, uint64_t site,
                     uint32_t scope, uint32_t room)
{
    if (atomic_load(&m->next) >= room)
        return 0;
    uint32_t c = atomic_fetch_add(&m->next, 1);
    if (c >= room)
        return 0;
    struct region_context *new = at(m, c);
    new->parent = parent;
    new->function = function;
    new->site = site;
    new->scope = scope;
    new->lands = scope == SCOPE_OTHER ? c : landing(m, c);
    new->first = new->lands == c ? first_of(m, c) : c;
    if (scope == SCOPE_COUNTED)
        sum_set(&new->real, throttle_since(function));
    sum_set(&new->real_least, UINT64_MAX);
    sum_set(&new->own_least, UINT64_MAX);
    uint32_t count = atomic_load(&m->head->contexts);
    while (count <= c && !atomic_compare_exchange_weak(&m->head->contexts, &count, c + 1))
        ;
    uint32_t *first = &at(m, parent)->child;
    new->sibling = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(first, &new->sibling, c, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    void (*meet)(uintptr_t) = atomic_load_explicit(&frames_meet, memory_order_relaxed);
    if (meet && (scope == SCOPE_FUNCTION || scope == SCOPE_COUNTED))
        meet((uintptr_t)function);
    return c;
}

/* The context of SCOPE_OTHER: it is made before any of those below it, so there is room for it. */
static uint32_t others(struct measured *m)
{
    uint32_t c = atomic_load(&m->other);
    if (c)
        return c;
    c = make(m, 0, 0, 0, SCOPE_OTHER, REGION_CONTEXTS);
    atomic_store(&m->other, c);
    return c;
}

/* Calls on paths that find no room are counted below one context, by function: none is counted for
 * another function.  What finds no room there either is that context's own.  A handler in between
 * may make a second one of a function. */
static uint32_t other(struct measured *m, uint64_t function, uint32_t scope)
{
    uint32_t parent = others(m), hash = (uint32_t)(function * 0x9e3779b97f4a7c15u >> 40);
    sum_add(&m->head->folded, 1);
    for (uint32_t i = 0; i < OTHER_CONTEXTS; i++) {
        _Atomic uint32_t *known = &m->others[(hash + i) % OTHER_CONTEXTS];
        uint32_t c = atomic_load(known), none = 0;
        if (c && at(m, c)->function == function && at(m, c)->scope == scope)
            return c;
        if (c)
            continue;
        c = make(m, parent, function, 0, scope, REGION_CONTEXTS);
        if (c)
            atomic_compare_exchange_strong(known, &none, c);
        return c ? c : parent;
    }
    return parent;
}

uint32_t context_find(struct measured *m, uint32_t parent, uint64_t function, uint64_t site,
                      uint32_t scope)
{
    bool full = atomic_load(&m->next) >= REGION_CONTEXTS - OTHERS;
    uint32_t c = search(m, parent, function, site, scope, full ? LOOKED_THROUGH : REGION_CONTEXTS);
    c = c ? c : make(m, parent, function, site, scope, REGION_CONTEXTS - OTHERS);
    if (!c)
        return other(m, function, scope);
    atomic_store_explicit(scope == SCOPE_COUNTED ? context_known_counted(m, parent, function, site)
                                                 : context_known(m, parent, function, site),
                          c, memory_order_relaxed);
    return c;
}

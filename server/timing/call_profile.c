#include "server/timing/call_profile.h"

#include "base/alloc.h"

#include <stdlib.h>

static uint32_t function_of(struct call_profile *calls, uint32_t scope)
{
    return (uint32_t)MAP_INDEX(&calls->function_of, scope, 0, calls->functions,
                               calls->function_count, calls->function_room,
                               (struct call_function){.scope = scope});
}

static struct call_sums *arc_of(struct call_profile *calls, uint32_t from, uint32_t to)
{
    return &MAP_ITEM(&calls->arc_of, from, to, calls->arcs, calls->arc_count, calls->arc_room,
                     (struct call_arc){.from = from, .to = to})
                ->sums;
}

static uint32_t add_node(struct call_profile *calls, struct call_node node)
{
    calls->nodes =
        array_reserve(calls->nodes, &calls->node_room, calls->node_count + 1, sizeof *calls->nodes);
    calls->nodes[calls->node_count++] = node;
    return (uint32_t)calls->node_count - 1;
}

/* Returns a number for a function at a call site or instruction, other than those of functions. */
static uint64_t site_of(struct call_profile *calls, uint32_t function, uint64_t address)
{
    uintptr_t known = (uintptr_t)map_get(&calls->site_of, function, address);
    if (!known)
        map_put(&calls->site_of, function, address, (void *)(known = calls->site_of.count + 1));
    return (UINT64_C(1) << 32) + known;
}

/* is: its parent and function, and where it is. */
static uint32_t node_of(struct call_profile *calls, struct call_node is)
{
    uint64_t key =
        is.address ? site_of(calls, is.function, is.address << 1 | is.point) : is.function;
    uintptr_t known = (uintptr_t)map_get(&calls->node_of, is.parent, key);
    if (known)
        return (uint32_t)known - 1;
    is.sibling = calls->nodes[is.parent].child;
    uint32_t made = add_node(calls, is);
    calls->nodes[is.parent].child = made;
    map_put(&calls->node_of, is.parent, key, (void *)(uintptr_t)(made + 1));
    return made;
}

/* ---- sums ---- */

static void call_profile_merge_min(int64_t *to, int64_t ns, bool known)
{
    *to = !known || ns < *to ? ns : *to;
}
static void call_profile_merge_max(int64_t *to, int64_t ns) { *to = ns > *to ? ns : *to; }

/* Adds; an overflowing sum becomes INT64_MAX. */
static void add_ns(int64_t *to, int64_t ns)
{
    if (__builtin_add_overflow(*to, ns, to))
        *to = INT64_MAX;
}

void call_profile_sum(struct call_sums *to, const struct call_sums *s)
{
    to->calls += s->calls;
    to->concurrent += s->concurrent;
    to->made += s->made;
    to->open += s->open;
    to->left = (int64_t)((uint64_t)to->left + (uint64_t)s->left); /* unsigned, as it may overflow */
    to->samples += s->samples;
    to->reached += s->reached;
    to->sampled |= s->sampled;
    to->counted += s->counted;
    if (s->since_ns && (!to->since_ns || s->since_ns < to->since_ns))
        to->since_ns = s->since_ns;
    add_ns(&to->self_ns, s->self_ns);
    add_ns(&to->total_ns, s->total_ns);
    to->outer += s->outer;
    to->reentered |= s->reentered;
    add_ns(&to->outer_ns, s->outer_ns);
    add_ns(&to->nested_ns, s->nested_ns);
    add_ns(&to->cpu_ns, s->cpu_ns);
    add_ns(&to->running_ns, s->running_ns);
    if (s->ended) {
        call_profile_merge_min(&to->least_ns, s->least_ns, to->ended);
        call_profile_merge_min(&to->cpu_least_ns, s->cpu_least_ns, to->ended);
        call_profile_merge_max(&to->most_ns, s->most_ns);
        call_profile_merge_max(&to->cpu_most_ns, s->cpu_most_ns);
    }
    to->cost_ps += s->cost_ps;
    to->timed |= s->timed;
    to->ended |= s->ended;
    to->total |= s->total;
    to->cpu |= s->cpu;
    to->blind |= s->blind;
}

uint64_t call_profile_counted_only(const struct call_context_thread *thread)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < thread->count; i++)
        if (thread->items[i].sums.is.scope == SCOPE_COUNTED)
            calls += thread->items[i].sums.calls;
    return calls;
}

/* Returns the sums of one context.  The longest call is always one from outside, as the recursive
 * calls within it are shorter. */
struct call_sums call_profile_for_context(const struct call_context_thread *thread,
                                          const struct call_context *c)
{
    const struct snapshot_context *s = &c->sums;
    if (s->is.scope == SCOPE_EDGE) /* its time is that of functions */
        return (struct call_sums){0};
    bool counted = s->is.scope == SCOPE_COUNTED, lands = s->is.lands == s->index && !counted,
         ended = s->least_ns != UINT64_MAX;
    struct call_sums sums = {
        .calls = s->calls,
        .concurrent = s->concurrent,
        .open = s->open,
        .counted = counted ? s->calls : 0,
        .since_ns = s->is.since_ns,
        .left = counted || thread->head.deep ? 0 : (int64_t)(s->calls - s->ended),
        .self_ns = (int64_t)(s->own_ns + s->off_ns + s->open_own_ns + s->open_last_ns),
        .cpu_ns = (int64_t)(s->own_ns + s->open_own_ns),
        .running_ns = (int64_t)s->open_last_ns,
        .outer = lands && s->calls > s->open ? s->calls - s->open : 0,
        .outer_ns = lands ? (int64_t)s->real_ns : 0,
        .total_ns = lands ? (int64_t)(s->real_ns + s->open_real_ns) : 0,
        .ended = ended,
        .total = lands,
        .cpu = !counted && thread->head.flags & SNAPSHOT_CPU};
    if (ended) {
        sums.least_ns = (int64_t)s->least_ns;
        sums.most_ns = (int64_t)s->most_ns;
        sums.cpu_least_ns = (int64_t)s->own_least_ns;
        sums.cpu_most_ns = (int64_t)s->own_most_ns;
    }
    sums.timed = ended || s->real_ns || s->off_ns || s->open_real_ns || s->own_ns ||
                 s->open_own_ns || s->open_last_ns;
    if (thread->head.flags & SNAPSHOT_SAMPLED && s->is.scope != SCOPE_WAITED) {
        sums.sampled = true;
        sums.samples = s->concurrent;
        sums.reached = s->is.scope == SCOPE_POINT ? 0 : s->calls;
        sums.calls = sums.concurrent = sums.outer = 0;
        sums.left = 0;
    }
    sums.blind = sums.timed && thread->head.flags & SNAPSHOT_BLIND;
    sums.cost_ps = sums.timed ? (double)sums.calls * thread->head.enter_ps : 0;
    return sums;
}

int64_t call_profile_self(const struct call_context_thread *thread)
{
    int64_t all_ns = 0;
    for (uint32_t i = 1; i < thread->count; i++)
        add_ns(&all_ns, call_profile_for_context(thread, &thread->items[i]).self_ns);
    return all_ns;
}

bool call_profile_cpu_known(const struct call_sums *sums)
{
    return sums->cpu && !sums->blind && sums->running_ns <= sums->self_ns / 100;
}

int64_t call_profile_net(const struct call_sums *sums)
{
    double net = (double)sums->self_ns - sums->cost_ps / 1000;
    return net > 0 ? (int64_t)((net < 9e18 ? net : 9e18) + .5) : 0;
}

/* Returns a mean time, or -1 if it is not known. */
static int64_t mean_of(int64_t ns, uint64_t calls)
{
    return calls > 0 && calls <= INT64_MAX ? ns / (int64_t)calls : -1;
}

int64_t calls_mean_total(const struct call_sums *sums)
{
    if (sums->reentered)
        return -1;
    if (sums->outer)
        return mean_of(sums->outer_ns, sums->outer);
    return mean_of(sums->total_ns, sums->calls - sums->counted);
}

int64_t calls_mean_cpu(const struct call_sums *sums)
{
    return mean_of(sums->cpu_ns, sums->calls - sums->counted);
}

struct call_sums call_profile_all(const struct call_profile *calls)
{
    struct call_sums all = {0};
    for (size_t i = 1; i < calls->function_count; i++)
        call_profile_sum(&all, &calls->functions[i].sums);
    return all;
}

/* ---- adding ---- */

/* Adds the part of the measurement overhead of a call that falls into its caller's time. */
static void made_by(struct call_sums *caller, const struct call_sums *callee, uint32_t exit_ps)
{
    caller->made += callee->calls;
    caller->cost_ps += callee->timed ? (double)callee->calls * exit_ps : 0;
}

/* Returns which contexts are called recursively by other functions.  A recursive call counts in
 * the context further up where it lands; the contexts in between then include inner and outer
 * calls. */
static bool *find_reentered(const struct call_context_thread *thread)
{
    bool *reentered = xcalloc(thread->count + 1, sizeof *reentered);
    for (uint32_t i = 1; i < thread->count; i++) {
        uint32_t lands = thread->items[i].sums.is.lands, at = i, up;
        while (lands != i && (up = thread->items[at].sums.is.parent) < at && up > lands)
            reentered[at = up] = true;
    }
    return reentered;
}

static void call_profile_add_context(struct call_profile *calls,
                                     const struct call_context_thread *thread, uint32_t index,
                                     const uint32_t *scopes, uint32_t *nodes, bool reentered)
{
    const struct call_context *c = &thread->items[index];
    if (c->sums.is.scope == SCOPE_EDGE)
        return;
    uint32_t exit_ps = thread->head.exit_ps, parent = c->sums.is.parent;
    struct call_sums sums = call_profile_for_context(thread, c);
    uint32_t function = function_of(calls, scopes[index]);
    bool nested = calls->within && map_get(calls->within, scopes[index], 0);
    sums.nested_ns = nested ? sums.total_ns : 0;
    sums.reentered = reentered;
    sums.concurrent = calls->concurrent ? calls->concurrent[index] : sums.concurrent;
    bool point = c->sums.is.scope == SCOPE_POINT; /* part of the function above it */
    bool sited = calls->by_site && thread->head.flags & SNAPSHOT_SAMPLED;
    struct call_node is = {.parent = index ? nodes[parent] : 0,
                           .function = function,
                           .address = !sited  ? 0
                                      : point ? c->sums.is.function
                                              : c->sums.is.site,
                           .process = thread->process,
                           .point = sited && point};
    nodes[index] = !index || (point && !sited) ? is.parent : node_of(calls, is);
    call_profile_sum(&calls->functions[function].sums, &sums);
    call_profile_sum(&calls->nodes[nodes[index]].sums, &sums);
    if (!index)
        return;
    uint32_t outer = point ? thread->items[parent].sums.is.parent : parent,
             caller = function_of(calls, scopes[outer]);
    call_profile_sum(arc_of(calls, caller, function), &sums);
    if (point)
        return;
    made_by(&calls->functions[caller].sums, &sums, exit_ps);
    made_by(&calls->nodes[nodes[parent]].sums, &sums, exit_ps);
}

void call_profile_add(struct call_profile *calls, const struct call_context_thread *thread,
                      const uint32_t *scopes)
{
    uint32_t *nodes = xcalloc(thread->count + 1, sizeof *nodes);
    bool *reentered = find_reentered(thread);
    function_of(calls, 0);
    if (!calls->node_count)
        add_node(calls, (struct call_node){0});
    for (size_t i = 0; i < thread->count; i++)
        call_profile_add_context(calls, thread, (uint32_t)i, scopes, nodes, reentered[i]);
    free(nodes);
    free(reentered);
}

void call_profile_free(struct call_profile *calls)
{
    free(calls->functions);
    free(calls->arcs);
    free(calls->nodes);
    map_free(&calls->function_of);
    map_free(&calls->arc_of);
    map_free(&calls->node_of);
    map_free(&calls->site_of);
    *calls = (struct call_profile){0};
}

/* ---- cycles ---- */

/* State of Tarjan's algorithm, as an iterative depth-first search. */
struct call_cycle_search {
    struct call_profile *calls;
    const uint32_t *first, *to; /* arcs by caller: to[first[f]] .. to[first[f + 1] - 1] */
    uint32_t *index, *low, *next; /* by function; index 0: not visited yet */
    bool *held; /* on the stack */
    uint32_t *stack, *path;
    size_t stacked, depth;
    uint32_t met;
};

static void call_profile_visit_function(struct call_cycle_search *s, uint32_t f)
{
    s->index[f] = s->low[f] = ++s->met;
    s->next[f] = s->first[f];
    s->held[f] = true;
    s->stack[s->stacked++] = f;
    s->path[s->depth++] = f;
}

static bool calls_itself(const struct call_cycle_search *s, uint32_t f)
{
    for (uint32_t i = s->first[f]; i < s->first[f + 1]; i++)
        if (s->to[i] == f)
            return true;
    return false;
}

/* Pops a component: f and everything above it on the stack. */
static void call_profile_pop_component(struct call_cycle_search *s, uint32_t f)
{
    bool cycle = s->stack[s->stacked - 1] != f || calls_itself(s, f);
    uint32_t number = cycle ? ++s->calls->cycles : 0, member;
    do {
        member = s->stack[--s->stacked];
        s->held[member] = false;
        s->calls->functions[member].cycle = number;
    } while (member != f);
}

static void call_profile_lower_link(struct call_cycle_search *s, uint32_t f, uint32_t low)
{
    s->low[f] = low < s->low[f] ? low : s->low[f];
}

static void one_step(struct call_cycle_search *s)
{
    uint32_t f = s->path[s->depth - 1];
    if (s->next[f] < s->first[f + 1]) {
        uint32_t to = s->to[s->next[f]++];
        if (!s->index[to])
            call_profile_visit_function(s, to);
        else if (s->held[to])
            call_profile_lower_link(s, f, s->index[to]);
        return;
    }
    s->depth--;
    if (s->depth)
        call_profile_lower_link(s, s->path[s->depth - 1], s->low[f]);
    if (s->low[f] == s->index[f])
        call_profile_pop_component(s, f);
}

/* Sorts the called functions of all arcs by caller (counting sort). */
static void sort_arcs(const struct call_profile *calls, uint32_t *first, uint32_t *to)
{
    for (size_t i = 0; i < calls->arc_count; i++)
        first[calls->arcs[i].from + 2]++;
    for (size_t f = 2; f < calls->function_count + 2; f++)
        first[f] += first[f - 1];
    for (size_t i = 0; i < calls->arc_count; i++)
        to[first[calls->arcs[i].from + 1]++] = calls->arcs[i].to;
}

void call_profile_find_cycles(struct call_profile *calls)
{
    size_t n = calls->function_count;
    uint32_t *first = xcalloc(n + 2, sizeof *first),
             *to = xcalloc(calls->arc_count + 1, sizeof *to),
             *numbers = xcalloc(5 * n + 1, sizeof *numbers);
    struct call_cycle_search s = {.calls = calls,
                                  .first = first,
                                  .to = to,
                                  .index = numbers,
                                  .low = numbers + n,
                                  .next = numbers + 2 * n,
                                  .stack = numbers + 3 * n,
                                  .path = numbers + 4 * n,
                                  .held = xcalloc(n + 1, sizeof *s.held)};
    sort_arcs(calls, first, to);
    calls->cycles = 0;
    for (uint32_t f = 0; f < n; f++) {
        if (!s.index[f])
            call_profile_visit_function(&s, f);
        while (s.depth)
            one_step(&s);
    }
    free(first);
    free(to);
    free(numbers);
    free(s.held);
}

#include "server/run/activity_store.h"

#include "base/alloc.h"
#include "server/run/call_sites.h"
#include "wire/limits.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 4096u /* spans examined in one step of discarding */
#define AHEAD 64u /* kept spans after which a discarded one is still searched */

struct activity_store {
    struct activity_thread {
        struct activity_span *spans; /* of which the first `gone` are discarded */
        size_t count, room, gone;
        struct code_segment *steps; /* of which the first `steps_gone` are discarded */
        size_t step_count, step_room, steps_gone;
        uint64_t base; /* spans that were discarded and removed before */
        bool shut; /* its last record did not fit */
        uint32_t *paths; /* by context: 1 + its path; 0 not known */
        size_t path_room;
    } *threads;
    size_t thread_count, thread_room;
    struct map lines; /* line -> 1 + index */
    struct activity_path *paths; /* by number - 1 */
    uint32_t *functions; /* by number - 1: number of the path's function */
    size_t path_count, path_room, function_room;
    struct map heads, numbers, function_of; /* numbers of call sites, of paths, of functions */
    uint32_t head_count, function_count;
    size_t bytes; /* of spans and steps that are not discarded */
    uint64_t beyond; /* records that did not fit */
};

static size_t did_most = LIMIT_DID_BYTES;

void activity_limit(size_t bytes) { did_most = bytes; }

static void activity_free(void *state)
{
    struct activity_store *did = state;
    for (size_t i = 0; i < did->thread_count; i++) {
        free(did->threads[i].spans);
        free(did->threads[i].steps);
        free(did->threads[i].paths);
    }
    free(did->threads);
    free(did->paths);
    free(did->functions);
    map_free(&did->lines);
    map_free(&did->heads);
    map_free(&did->numbers);
    map_free(&did->function_of);
    free(did);
}

static struct activity_store *activity_store_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_ACTIVITY);
}

static struct activity_store *activity_store_for(const struct run *run)
{
    struct run *changed = (struct run *)(uintptr_t)run; /* adds only remembered path numbers */
    return run_addon_make(&changed->addons, RUN_ADDON_ACTIVITY, sizeof(struct activity_store),
                          activity_free);
}

static struct activity_thread *thread_of(struct activity_store *did, uint32_t line)
{
    return MAP_ITEM(&did->lines, line, 0, did->threads, did->thread_count, did->thread_room,
                    (struct activity_thread){0});
}

static size_t bytes_of(size_t spans, size_t steps)
{
    return spans * sizeof(struct activity_span) + steps * sizeof(struct code_segment);
}

static void activity_append_span(struct activity_store *did, struct activity_thread *t,
                                 struct activity_span span, const struct code_segment *steps)
{
    t->spans = array_reserve(t->spans, &t->room, t->count + 1, sizeof *t->spans);
    t->steps =
        array_reserve(t->steps, &t->step_room, t->step_count + span.count + 1, sizeof *t->steps);
    span.first = (uint32_t)t->step_count;
    t->spans[t->count++] = span;
    for (uint16_t i = 0; i < span.count; i++)
        t->steps[t->step_count++] = steps[i];
    did->bytes += bytes_of(1, span.count);
}

bool activity_add(struct run *run, uint32_t thread, struct event_id at, int64_t time_ns,
                  struct activity_record *head, const struct code_segment *steps)
{
    struct activity_store *did = activity_store_for(run);
    struct activity_thread *t = thread_of(did, thread);
    bool was_shut = t->shut;
    t->shut = did->bytes + bytes_of(1, head->count) > did_most ||
              t->step_count + head->count > UINT32_MAX;
    did->beyond += t->shut || head->what & ACTIVITY_BEYOND;
    if (t->shut && was_shut)
        return false;
    if (t->shut)
        *head = (struct activity_record){.what = ACTIVITY_STEPS | ACTIVITY_BEYOND};
    activity_append_span(did, t,
                         (struct activity_span){.at = at,
                                                .count = head->count,
                                                .what = head->what,
                                                .time_ns = time_ns,
                                                .cpu_ns = head->cpu_ns},
                         steps);
    return true;
}

static const struct activity_thread *activity_find_thread(const struct run *run, uint32_t thread)
{
    const struct activity_store *all = activity_store_of(run);
    uintptr_t is = all ? (uintptr_t)map_get(&all->lines, thread, 0) : 0;
    return is ? &all->threads[is - 1] : NULL;
}

uint64_t activity_first(const struct run *run, uint32_t thread)
{
    const struct activity_thread *t = activity_find_thread(run, thread);
    return t ? t->base + t->gone : 0;
}

const struct activity_span *activity_span(const struct run *run, uint32_t thread, uint64_t number)
{
    const struct activity_thread *t = activity_find_thread(run, thread);
    return t && number >= t->base + t->gone && number - t->base < t->count
               ? &t->spans[number - t->base]
               : NULL;
}

const struct code_segment *activity_steps(const struct run *run, uint32_t thread,
                                          const struct activity_span *span)
{
    return activity_find_thread(run, thread)->steps + span->first;
}

uint64_t activity_is_beyond(const struct run *run)
{
    const struct activity_store *all = activity_store_of(run);
    return all ? all->beyond : 0;
}

size_t activity_bytes(const struct run *run)
{
    const struct activity_store *all = activity_store_of(run);
    return all ? all->bytes : 0;
}

/* ---- discarding ---- */

/* Frees discarded spans once they outnumber the others. */
static void clear_up(struct activity_thread *t)
{
    if (t->gone <= t->count / 2)
        return;
    t->count -= t->gone;
    t->step_count -= t->steps_gone;
    struct activity_span *spans = xmalloc((t->count + 1) * sizeof *spans);
    struct code_segment *steps = xmalloc((t->step_count + 1) * sizeof *steps);
    memcpy(spans, t->spans + t->gone, t->count * sizeof *spans);
    memcpy(steps, t->steps + t->steps_gone, t->step_count * sizeof *steps);
    for (size_t i = 0; i < t->count; i++)
        spans[i].first -= (uint32_t)t->steps_gone;
    free(t->spans);
    free(t->steps);
    t->spans = spans;
    t->steps = steps;
    t->room = t->count + 1;
    t->step_room = t->step_count + 1;
    t->base += t->gone;
    t->gone = t->steps_gone = 0;
}

/* Searches for discarded events behind undiscarded ones: an event that was not delivered yet, or
 * never will be, counts as not discarded, however old it is.  The search steps double, so that
 * it takes little time; returns `end` if none was found. */
static size_t activity_scan_ahead(const struct run *run, const struct activity_thread *t,
                                  size_t end)
{
    for (size_t step = AHEAD; step < t->count - end; step *= 2)
        if (order_is_discarded(run->order, t->spans[end + step].at))
            return end + step + 1;
    return end;
}

/* Discards spans up to the last with a discarded event; returns how many were examined, or 0 if
 * none was discarded. */
static size_t activity_discard_spans(const struct run *run, struct activity_store *did,
                                     struct activity_thread *t)
{
    size_t end = t->gone, i = t->gone;
    for (; i < t->count && i < end + AHEAD && i < t->gone + LOOKS; i++)
        if (order_is_discarded(run->order, t->spans[i].at))
            end = i + 1;
    if (end == t->gone)
        end = activity_scan_ahead(run, t, end);
    size_t steps_gone = end < t->count ? t->spans[end].first : t->step_count;
    did->bytes -= bytes_of(end - t->gone, steps_gone - t->steps_gone);
    size_t looked = i - t->gone, went = end - t->gone;
    t->gone = end;
    t->steps_gone = steps_gone;
    return went ? looked : 0;
}

bool activity_forget_step(struct run *run, size_t *thread)
{
    struct activity_store *did = activity_store_of(run);
    for (size_t looked = 0; did && *thread < did->thread_count && looked < LOOKS;) {
        struct activity_thread *t = &did->threads[*thread];
        size_t now = activity_discard_spans(run, did, t);
        looked += now + 1;
        if (now)
            continue; /* there may be more */
        clear_up(t);
        ++*thread;
    }
    return !did || *thread >= did->thread_count;
}

/* ---- paths ---- */

static struct call_site_key key_of(const struct run *run, const struct activity_path *path)
{
    if (path->scope == SCOPE_WAITED)
        return (struct call_site_key){0, path->type};
    return path->scope == SCOPE_OTHER ? (struct call_site_key){0}
                                      : call_sites_key(run, path->process, path->function);
}

/* Returns the number of a pair, assigned on first use, from 1. */
static uint32_t activity_number_pair(struct map *map, uint32_t *count, uint64_t a, uint64_t b)
{
    uintptr_t is = (uintptr_t)map_get(map, a, b);
    if (!is)
        map_put(map, a, b, (void *)(is = ++*count));
    return (uint32_t)is;
}

static uint32_t activity_find_path(const struct run *run, struct activity_store *did,
                                   const struct activity_path *path)
{
    struct call_site_key is = key_of(run, path),
                         site = path->site ? call_sites_key(run, path->process, path->site)
                                           : (struct call_site_key){0};
    uint32_t function = activity_number_pair(&did->function_of, &did->function_count,
                                             is.space << 2 | path->scope, is.offset);
    uint32_t from = activity_number_pair(&did->heads, &did->head_count, site.space, site.offset);
    uint64_t parent = (uint64_t)path->parent << 32 | function;
    uintptr_t found = (uintptr_t)map_get(&did->numbers, parent, from);
    if (found)
        return (uint32_t)found;
    did->paths =
        array_reserve(did->paths, &did->path_room, did->path_count + 1, sizeof *did->paths);
    did->functions = array_reserve(did->functions, &did->function_room, did->path_count + 1,
                                   sizeof *did->functions);
    did->functions[did->path_count] = function;
    did->paths[did->path_count++] = *path;
    map_put(&did->numbers, parent, from, (void *)(uintptr_t)did->path_count);
    return (uint32_t)did->path_count;
}

/* Returns the path of a context, or ACTIVITY_NO_PATH.  Also numbers the paths of the contexts
 * before it, since a parent comes before its children. */
static uint32_t path_of(const struct run *run, const struct call_context_thread *thread,
                        uint32_t context)
{
    struct activity_store *did = activity_store_for(run);
    struct activity_thread *t = thread_of(did, thread->line);
    t->paths = array_reserve_zeroed(t->paths, &t->path_room, thread->count, sizeof *t->paths);
    for (uint32_t c = 1; c <= context; c++) {
        const struct call_context *is = &thread->items[c];
        if (t->paths[c] || !is->known || is->sums.is.scope == SCOPE_EDGE ||
            (is->sums.is.scope == SCOPE_WAITED && !is->type))
            continue;
        uint32_t parent = is->sums.is.parent, above = parent ? t->paths[parent] - 1 : 0;
        if (parent && !t->paths[parent])
            continue;
        t->paths[c] =
            1 + activity_find_path(run, did,
                                   &(struct activity_path){.parent = above,
                                                           .process = thread->process,
                                                           .type = is->type,
                                                           .scope = (uint8_t)is->sums.is.scope,
                                                           .function = is->sums.is.function,
                                                           .site = is->sums.is.site});
    }
    return t->paths[context] ? t->paths[context] - 1 : ACTIVITY_NO_PATH;
}

uint32_t activity_path_of(const struct run *run, uint32_t line, uint32_t context)
{
    if (!context)
        return 0;
    const struct activity_thread *t = activity_find_thread(run, line);
    if (t && context < t->path_room && t->paths[context])
        return t->paths[context] - 1;
    const struct call_context_thread *thread = call_contexts_of_line(&run->contexts, line);
    return thread && context < thread->count ? path_of(run, thread, context) : ACTIVITY_NO_PATH;
}

const struct activity_path *activity_path(const struct run *run, uint32_t path)
{
    return &activity_store_of(run)->paths[path - 1];
}

uint32_t activity_function(const struct run *run, uint32_t path)
{
    return path ? activity_store_of(run)->functions[path - 1] : 0;
}

#include "server/run/did.h"

#include "memory/memory.h"
#include "server/run/places.h"
#include "wire/limits.h"
#include "wire/region.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 4096u /* spans that are looked at in one step of forgetting */
#define AHEAD 64u /* that are not forgotten, behind which there may be some that are */

struct did {
    struct did_of { /* a thread */
        struct did_span *spans; /* the first `gone` of them are forgotten, */
        size_t count, room, gone;
        struct measured_step *steps; /* and so are so many of these */
        size_t step_count, step_room, steps_gone;
        uint64_t base; /* spans that were forgotten before, and are not there any more */
        bool shut; /* there was no room for its last */
        uint32_t *paths; /* by context: 1 + its path; 0 not known */
        size_t path_room;
    } *threads;
    size_t thread_count, thread_room;
    struct map lines; /* line -> 1 + index */
    struct did_path *paths; /* by number - 1 */
    uint32_t *functions; /* likewise */
    size_t path_count, path_room, function_room;
    struct map heads, numbers, function_of; /* of paths */
    uint32_t head_count, function_count;
    size_t bytes; /* of spans and steps that are not forgotten */
    uint64_t beyond; /* records that found no room */
};

static size_t did_most = LIMIT_DID_BYTES;

void did_limit(size_t bytes) { did_most = bytes; }

static struct did *of(const struct run *run)
{
    struct run *changed = (struct run *)(uintptr_t)run; /* only what is remembered */
    if (!run->did)
        changed->did = memory_zeroed(1, sizeof *run->did);
    return run->did;
}

static struct did_of *thread_of(struct did *did, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&did->lines, line, 0);
    if (known)
        return &did->threads[known - 1];
    did->threads =
        grow(did->threads, &did->thread_room, did->thread_count + 1, sizeof *did->threads);
    did->threads[did->thread_count++] = (struct did_of){0};
    map_put(&did->lines, line, 0, (void *)(uintptr_t)did->thread_count);
    return &did->threads[did->thread_count - 1];
}

static size_t bytes_of(size_t spans, size_t steps)
{
    return spans * sizeof(struct did_span) + steps * sizeof(struct measured_step);
}

static void add(struct did *did, struct did_of *t, struct did_span span,
                const struct measured_step *steps)
{
    t->spans = grow(t->spans, &t->room, t->count + 1, sizeof *t->spans);
    t->steps = grow(t->steps, &t->step_room, t->step_count + span.count + 1, sizeof *t->steps);
    span.first = (uint32_t)t->step_count;
    t->spans[t->count++] = span;
    for (uint16_t i = 0; i < span.count; i++)
        t->steps[t->step_count++] = steps[i];
    did->bytes += bytes_of(1, span.count);
}

bool did_add(struct run *run, uint32_t thread, struct ref at, int64_t time_ns,
             struct measured_head *head, const struct measured_step *steps)
{
    struct did *did = of(run);
    struct did_of *t = thread_of(did, thread);
    bool was_shut = t->shut;
    t->shut = did->bytes + bytes_of(1, head->count) > did_most ||
              t->step_count + head->count > UINT32_MAX;
    did->beyond += t->shut || head->what & DID_BEYOND;
    if (t->shut && was_shut)
        return false;
    if (t->shut)
        *head = (struct measured_head){.what = MEASURED_STEPS | DID_BEYOND};
    add(did, t,
        (struct did_span){.at = at,
                          .count = head->count,
                          .what = head->what,
                          .time_ns = time_ns,
                          .cpu_ns = head->cpu_ns},
        steps);
    return true;
}

static const struct did_of *known(const struct run *run, uint32_t thread)
{
    uintptr_t is = run->did ? (uintptr_t)map_get(&run->did->lines, thread, 0) : 0;
    return is ? &run->did->threads[is - 1] : NULL;
}

uint64_t did_first(const struct run *run, uint32_t thread)
{
    const struct did_of *t = known(run, thread);
    return t ? t->base + t->gone : 0;
}

const struct did_span *did_span(const struct run *run, uint32_t thread, uint64_t number)
{
    const struct did_of *t = known(run, thread);
    return t && number >= t->base + t->gone && number - t->base < t->count
               ? &t->spans[number - t->base]
               : NULL;
}

const struct measured_step *did_steps(const struct run *run, uint32_t thread,
                                      const struct did_span *span)
{
    return known(run, thread)->steps + span->first;
}

uint64_t did_beyond(const struct run *run) { return run->did ? run->did->beyond : 0; }
size_t did_bytes(const struct run *run) { return run->did ? run->did->bytes : 0; }

/* ---- forgetting ---- */

/* What is gone is cleared up once it is more than what is there. */
static void clear_up(struct did_of *t)
{
    if (t->gone <= t->count / 2)
        return;
    t->count -= t->gone;
    t->step_count -= t->steps_gone;
    struct did_span *spans = memory_bytes((t->count + 1) * sizeof *spans);
    struct measured_step *steps = memory_bytes((t->step_count + 1) * sizeof *steps);
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

/* Behind those that are not: an event that is not there yet, or never will be, is not forgotten, however long ago it was
 * told.  Ever farther ahead, so that it takes no time; `end`: none was found. */
static size_t look_ahead(const struct run *run, const struct did_of *t, size_t end)
{
    for (size_t step = AHEAD; step < t->count - end; step *= 2)
        if (order_is_forgotten(run->order, t->spans[end + step].at))
            return end + step + 1;
    return end;
}

/* Up to the last that is forgotten; returns how many were looked at. */
static size_t forget(const struct run *run, struct did *did, struct did_of *t)
{
    size_t end = t->gone, i = t->gone;
    for (; i < t->count && i < end + AHEAD && i < t->gone + LOOKS; i++)
        if (order_is_forgotten(run->order, t->spans[i].at))
            end = i + 1;
    if (end == t->gone)
        end = look_ahead(run, t, end);
    size_t steps_gone = end < t->count ? t->spans[end].first : t->step_count;
    did->bytes -= bytes_of(end - t->gone, steps_gone - t->steps_gone);
    size_t looked = i - t->gone, went = end - t->gone;
    t->gone = end;
    t->steps_gone = steps_gone;
    return went ? looked : 0;
}

bool did_forget_step(struct run *run, size_t *thread)
{
    struct did *did = run->did;
    for (size_t looked = 0; did && *thread < did->thread_count && looked < LOOKS;) {
        struct did_of *t = &did->threads[*thread];
        size_t now = forget(run, did, t);
        looked += now + 1;
        if (now)
            continue; /* there may be more */
        clear_up(t);
        ++*thread;
    }
    return !did || *thread >= did->thread_count;
}

void did_free(struct did *did)
{
    if (!did)
        return;
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

/* ---- paths ---- */

static struct place_key key_of(const struct run *run, const struct did_path *path)
{
    if (path->scope == SCOPE_WAITED)
        return (struct place_key){0, path->type};
    return path->scope == SCOPE_OTHER ? (struct place_key){0}
                                      : places_key(run, path->process, path->function);
}

/* A small number for two. */
static uint32_t number(struct map *map, uint32_t *count, uint64_t a, uint64_t b)
{
    uintptr_t is = (uintptr_t)map_get(map, a, b);
    if (!is)
        map_put(map, a, b, (void *)(is = ++*count));
    return (uint32_t)is;
}

static uint32_t find(const struct run *run, struct did *did, const struct did_path *path)
{
    struct place_key is = key_of(run, path), site = path->site
                                                        ? places_key(run, path->process, path->site)
                                                        : (struct place_key){0};
    uint32_t function =
        number(&did->function_of, &did->function_count, is.space << 2 | path->scope, is.offset);
    uint32_t from = number(&did->heads, &did->head_count, site.space, site.offset);
    uint64_t parent = (uint64_t)path->parent << 32 | function;
    uintptr_t found = (uintptr_t)map_get(&did->numbers, parent, from);
    if (found)
        return (uint32_t)found;
    did->paths = grow(did->paths, &did->path_room, did->path_count + 1, sizeof *did->paths);
    did->functions =
        grow(did->functions, &did->function_room, did->path_count + 1, sizeof *did->functions);
    did->functions[did->path_count] = function;
    did->paths[did->path_count++] = *path;
    map_put(&did->numbers, parent, from, (void *)(uintptr_t)did->path_count);
    return (uint32_t)did->path_count;
}

/* Its parents come before a context. */
static uint32_t path_of(const struct run *run, const struct context_thread *thread,
                        uint32_t context)
{
    struct did *did = of(run);
    struct did_of *t = thread_of(did, thread->line);
    t->paths = grow_zeroed(t->paths, &t->path_room, thread->count, sizeof *t->paths);
    for (uint32_t c = 1; c <= context; c++) {
        const struct context *is = &thread->items[c];
        if (t->paths[c] || !is->known || (is->sums.is.scope == SCOPE_WAITED && !is->type))
            continue;
        uint32_t parent = is->sums.is.parent, above = parent ? t->paths[parent] - 1 : 0;
        if (parent && !t->paths[parent])
            continue;
        t->paths[c] = 1 + find(run, did,
                               &(struct did_path){.parent = above,
                                                  .process = thread->process,
                                                  .type = is->type,
                                                  .scope = (uint8_t)is->sums.is.scope,
                                                  .function = is->sums.is.function,
                                                  .site = is->sums.is.site});
    }
    return t->paths[context] ? t->paths[context] - 1 : DID_NO_PATH;
}

uint32_t did_path_of(const struct run *run, uint32_t line, uint32_t context)
{
    if (!context)
        return 0;
    const struct did_of *t = known(run, line);
    if (t && context < t->path_room && t->paths[context])
        return t->paths[context] - 1;
    const struct context_thread *thread = contexts_of_line(&run->contexts, line);
    return thread && context < thread->count ? path_of(run, thread, context) : DID_NO_PATH;
}

const struct did_path *did_path(const struct run *run, uint32_t path)
{
    return &run->did->paths[path - 1];
}

uint32_t did_function(const struct run *run, uint32_t path)
{
    return path ? run->did->functions[path - 1] : 0;
}

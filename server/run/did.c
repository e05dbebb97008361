#include "server/run/did.h"

#include "memory/memory.h"
#include "server/run/places.h"
#include "wire/region.h"

#include <stdlib.h>

struct did {
    struct did_of { /* a thread */
        struct did_span *spans;
        size_t count, room;
        struct measured_step *steps;
        size_t step_count, step_room;
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
};

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

void did_add(struct run *run, uint32_t thread, struct ref at, int64_t time_ns,
             const struct measured_head *head, const struct measured_step *steps)
{
    struct did_of *t = thread_of(of(run), thread);
    if (t->step_count + head->count > UINT32_MAX)
        return;
    t->spans = grow(t->spans, &t->room, t->count + 1, sizeof *t->spans);
    t->steps = grow(t->steps, &t->step_room, t->step_count + head->count + 1, sizeof *t->steps);
    t->spans[t->count++] = (struct did_span){.at = at,
                                             .first = (uint32_t)t->step_count,
                                             .count = head->count,
                                             .what = head->what,
                                             .time_ns = time_ns,
                                             .cpu_ns = head->cpu_ns};
    for (uint16_t i = 0; i < head->count; i++)
        t->steps[t->step_count++] = steps[i];
}

static const struct did_of *known(const struct run *run, uint32_t thread)
{
    uintptr_t is = run->did ? (uintptr_t)map_get(&run->did->lines, thread, 0) : 0;
    return is ? &run->did->threads[is - 1] : NULL;
}

const struct did_span *did_spans(const struct run *run, uint32_t thread, size_t *count)
{
    const struct did_of *t = known(run, thread);
    *count = t ? t->count : 0;
    return t ? t->spans : NULL;
}

const struct measured_step *did_steps(const struct run *run, uint32_t thread)
{
    const struct did_of *t = known(run, thread);
    return t ? t->steps : NULL;
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

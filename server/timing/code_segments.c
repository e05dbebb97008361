#include "server/timing/code_segments.h"

#include "base/alloc.h"

#include <stdlib.h>

static uint32_t *of_late(struct code_segments *steps, struct code_segment_key step)
{
    uint32_t h = (step.from * 0x9e3779b1u ^ step.to) * 0x85ebca6bu + step.is * 97u + step.category;
    return &steps->of_late[(h >> 16 ^ h) % STEPS_OF_LATE];
}

static bool code_segments_equal(struct code_segment_key a, struct code_segment_key b)
{
    return a.from == b.from && a.to == b.to && a.is == b.is && a.category == b.category;
}

/* Sets the scope of the code segment that was added last. */
static void note_scope(struct code_segments *steps, uint32_t scope)
{
    uintptr_t first = scope ? (uintptr_t)map_get(&steps->scopes, scope, 0) : steps->count;
    steps->alike =
        array_reserve(steps->alike, &steps->alike_room, steps->count, sizeof *steps->alike);
    if (!first) {
        first = steps->count;
        map_put(&steps->scopes, scope, 0, (void *)first);
    }
    steps->alike[steps->count - 1] = (uint32_t)first;
}

static uint32_t code_segments_get_code(struct code_segments *steps, struct code_segment_key step)
{
    uint64_t ends = (uint64_t)step.from << 32 | step.to,
             rest = (uint64_t)step.is << 8 | step.category;
    uintptr_t code = (uintptr_t)map_get(&steps->codes, ends, rest);
    if (code)
        return (uint32_t)code;
    steps->items =
        array_reserve(steps->items, &steps->room, steps->count + 1, sizeof *steps->items);
    steps->items[steps->count++] = step;
    note_scope(steps, step.scope);
    map_put(&steps->codes, ends, rest, (void *)(uintptr_t)steps->count);
    return steps->count;
}

uint32_t code_segments_code(struct code_segments *steps, struct code_segment_key step)
{
    uint32_t *code = of_late(steps, step);
    if (!*code || !code_segments_equal(steps->items[*code - 1], step))
        *code = code_segments_get_code(steps, step);
    return *code;
}

struct code_segment_key code_segments_at(const struct code_segments *steps, uint32_t code)
{
    return steps->items[code - 1];
}

void code_segments_free(struct code_segments *steps)
{
    free(steps->items);
    free(steps->alike);
    map_free(&steps->codes);
    map_free(&steps->scopes);
    *steps = (struct code_segments){0};
}

#include "server/measure/steps.h"

#include "memory/memory.h"

#include <stdlib.h>

uint32_t steps_code(struct steps *steps, struct step step)
{
    uint64_t ends = (uint64_t)step.from << 32 | step.to,
             rest = (uint64_t)step.is << 8 | step.category;
    uintptr_t code = (uintptr_t)map_get(&steps->codes, ends, rest);
    if (code)
        return (uint32_t)code;
    steps->items = grow(steps->items, &steps->room, steps->count + 1, sizeof *steps->items);
    steps->items[steps->count++] = step;
    map_put(&steps->codes, ends, rest, (void *)(uintptr_t)steps->count);
    return steps->count;
}

struct step steps_at(const struct steps *steps, uint32_t code) { return steps->items[code - 1]; }

void steps_free(struct steps *steps)
{
    free(steps->items);
    map_free(&steps->codes);
    *steps = (struct steps){0};
}

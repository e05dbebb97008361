#include "server/intake/counted.h"

#include "memory/memory.h"
#include "server/store/chunk.h"
#include "wire/meter.h"

#include <stdlib.h>
#include <string.h>

/* Each number once, whoever writes there meanwhile. */
#define LOOK(member) (*(const volatile __typeof__(member) *)&(member))

static const struct region_cell *cell_at(const struct region *region, uint32_t code)
{
    return (const struct region_cell *)(const void *)((const char *)region->head +
                                                      REGION_CELLS_AT) +
           code;
}

/* False: no meter begins there, or none that fits. */
static bool look(const struct region *region, uint32_t code, struct meter_sums *sums)
{
    uint8_t kind = LOOK(region->head->kinds[code]);
    const struct region_cell *cell = cell_at(region, code);
    memset(sums, 0, sizeof *sums); /* they are compared as bytes */
    sums->code = code;
    sums->kind = kind;
    if (kind < METER_COUNT || kind > METER_DISTRIBUTION ||
        (kind == METER_DISTRIBUTION && code + METER_CELLS > REGION_CELLS))
        return false;
    sums->count = LOOK(cell->count);
    sums->sum = LOOK(cell->sum);
    if (kind != METER_COUNT && sums->count) {
        sums->least = LOOK(cell->least);
        sums->most = LOOK(cell->most);
        sums->last = LOOK(cell->last);
    }
    const uint64_t *buckets =
        (const void *)((const char *)cell + offsetof(struct region_cell, rest));
    for (unsigned i = 0; kind == METER_DISTRIBUTION && i < METER_BUCKETS; i++)
        sums->buckets[i] = LOOK(buckets[i]);
    return true;
}

bool counted_tell(struct region *region, uint64_t ns, struct out *body)
{
    uint32_t cells = LOOK(region->head->cells), told = 0;
    size_t begin = body->size;
    cells = cells < REGION_CELLS ? cells : REGION_CELLS;
    if (cells < 2)
        return false;
    if (!region->cells)
        region->cells = memory_zeroed(REGION_CELLS, sizeof *region->cells);
    put_u64(body, ns);
    put_u32(body, 0);
    for (uint32_t code = 1; code < cells; code++) {
        struct meter_sums now;
        if (!look(region, code, &now) || memcmp(&now, &region->cells[code], sizeof now) == 0)
            continue;
        put_meter_sums(body, &now);
        region->cells[code] = now;
        told++;
    }
    if (told && !body->failed)
        set_u32(body->data + begin + 8, told);
    else
        body->size = begin;
    return told && !body->failed;
}

void counted_untold(struct region *region)
{
    free(region->cells);
    region->cells = NULL;
}

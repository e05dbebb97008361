#include "server/decode/metric_records.h"

#include "base/alloc.h"
#include "server/tracefile/chunks.h"
#include "wire/metric_messages.h"

#include <stdlib.h>
#include <string.h>

/* Reads each number once, since the program may write it concurrently. */
#define LOOK(member) (*(const volatile __typeof__(member) *)&(member))

static const struct profile_region_cell *cell_at(const struct region_reader *region, uint32_t code)
{
    return (const struct profile_region_cell *)(const void *)((const char *)region->head +
                                                              REGION_CELLS_AT) +
           code;
}

/* False: no meter begins there, or none that fits. */
static bool metric_read_cell(const struct region_reader *region, uint32_t code,
                             struct metric_sums *sums)
{
    uint8_t kind = LOOK(region->head->kinds[code]);
    const struct profile_region_cell *cell = cell_at(region, code);
    memset(sums, 0, sizeof *sums); /* they are compared as bytes */
    sums->code = code;
    sums->kind = kind;
    if (kind < METRIC_COUNT || kind > METRIC_DISTRIBUTION ||
        (kind == METRIC_DISTRIBUTION && code + METRIC_CELLS > REGION_CELLS))
        return false;
    sums->count = LOOK(cell->count);
    sums->sum = LOOK(cell->sum);
    if (kind != METRIC_COUNT && sums->count) {
        sums->least = LOOK(cell->least);
        sums->most = LOOK(cell->most);
        sums->last = LOOK(cell->last);
    }
    const uint64_t *buckets =
        (const void *)((const char *)cell + offsetof(struct profile_region_cell, rest));
    for (unsigned i = 0; kind == METRIC_DISTRIBUTION && i < METRIC_BUCKETS; i++)
        sums->buckets[i] = LOOK(buckets[i]);
    return true;
}

bool metric_records_encode(struct region_reader *region, uint64_t ns, struct encoder *body)
{
    uint32_t cells = LOOK(region->head->cells), told = 0;
    size_t begin = body->size;
    cells = cells < REGION_CELLS ? cells : REGION_CELLS;
    if (cells < 2)
        return false;
    if (!region->cells)
        region->cells = xcalloc(REGION_CELLS, sizeof *region->cells);
    encode_u64(body, ns);
    encode_u32(body, 0);
    for (uint32_t code = 1; code < cells; code++) {
        struct metric_sums now;
        if (!metric_read_cell(region, code, &now) ||
            memcmp(&now, &region->cells[code], sizeof now) == 0)
            continue;
        encode_metric_sums(body, &now);
        region->cells[code] = now;
        told++;
    }
    if (told && !body->failed)
        chunk_set_u32(body->data + begin + 8, told);
    else
        body->size = begin;
    return told && !body->failed;
}

void metric_records_pending(struct region_reader *region)
{
    free(region->cells);
    region->cells = NULL;
}

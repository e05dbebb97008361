/* The cells in which a thread counts what a program measures, of any content, which change while they are read; what is
 * told of them is taken.  And bodies of METER and CELLS, as a program or `poet watch` tells them. */
#include "memory/memory.h"
#include "server/intake/counted.h"
#include "server/intake/metering.h"
#include "server/intake/session.h"
#include "tests/fuzz/changing.h"
#include "tests/fuzz/asks.h"
#include "tests/fuzz/told.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void patch(char *memory, uint16_t place, uint64_t value)
{
    size_t at = (size_t)(place >> 2) * 8, kinds = offsetof(struct region_head, kinds);
    switch (place & 3) {
    case 0:
        changing_set(memory, offsetof(struct region_head, cells), value);
        break;
    case 1:
        changing_set(memory, kinds + at % REGION_CELLS, value);
        break;
    case 2:
        changing_set(memory, REGION_CELLS_AT + at % 1024, value);
        break;
    default: /* the last ones */
        changing_set(memory,
                     REGION_CELLS_AT + REGION_CELLS * sizeof(struct region_cell) - 8 - at % 1024,
                     value);
    }
}

static struct changing shared = {.bytes = REGION_MAP_BYTES, .sealed = true, .patch = patch};

static struct region *begin(const uint8_t *data, size_t size)
{
    struct region *region = NULL;
    changing_begin(&shared, data, size);
    struct region_head *head = (struct region_head *)(void *)shared.memory;
    head->magic = REGION_MAGIC;
    head->version = REGION_VERSION;
    head->cells = 16;
    for (unsigned i = 1; i < 16; i++)
        head->kinds[i] = (uint8_t)(METER_COUNT + i % 3);
    if (region_add(&region, shared.fd, 1))
        abort();
    return region;
}

static void take(struct region *region, struct session *session, uint64_t ns)
{
    struct out out = {0};
    const char *why;
    if (counted_tell(region, ns, &out) && !session_meters(session, 1, out.data, out.size, &why))
        abort(); /* what we tell ourselves we believe */
    out_free(&out);
}

/* METER and CELLS, one behind the other: u8 which, u8 how long. */
static void tell(struct run *run, uint32_t session, const uint8_t *data, size_t size)
{
    while (size >= 2) {
        size_t length = data[1] < size - 2 ? data[1] : size - 2;
        struct in in = in_from(data + 2, length);
        if (data[0] & 1)
            metering_name(run, session, session == METERED_NOBODY ? FIGURES_NOBODY : 0, &in);
        else
            metering_samples(run, session, session == METERED_NOBODY ? FIGURES_NOBODY : 0, &in);
        data += 2 + length;
        size -= 2 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told told = told_begin();
    struct region *region = begin(data, size);
    changing_once(&shared);
    take(region, told.session, 2000);
    changing_go_on(&shared);
    for (uint64_t ns = 2001; ns < 2004; ns++)
        take(region, told.session, ns);
    changing_end(&shared);
    region_free(region);
    tell(told.run, 0, data, size);
    tell(told.run, METERED_NOBODY, data, size);
    told_end(&told);
    asks_table(told.run, "meters");
    asks_curves(told.run);
    run_free(told.run);
    return 0;
}

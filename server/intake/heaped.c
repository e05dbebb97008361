#include "server/intake/heaped.h"

#include "server/run/heap.h"

static uint32_t line_of(const struct used_by *by, uint32_t code)
{
    return code ? by->line(by->session, code) : 0;
}

static bool read_taken(const struct used_by *by, struct in *in)
{
    uint32_t number = get_u32(in);
    struct heap_taken taken = {.process = by->process, .thread = line_of(by, get_u32(in))};
    taken.site = get_u64(in);
    uint64_t *figures[HEAP_FIGURES] = {
        &taken.blocks,      &taken.bytes,        &taken.usable,    &taken.freed,
        &taken.freed_bytes, &taken.freed_usable, &taken.elsewhere, &taken.elsewhere_bytes,
        &taken.nulls,       &taken.most_bytes};
    for (uint32_t i = 0; i < HEAP_FIGURES; i++)
        *figures[i] = get_u64(in);
    return in->error || heap_add(by->run, number, &taken);
}

static bool read_wrong(const struct used_by *by, struct in *in)
{
    uint32_t number = get_u32(in);
    struct heap_wrong wrong = {.process = by->process, .fault = get_u8(in)};
    wrong.thread = line_of(by, get_u32(in));
    wrong.event = get_u64(in);
    wrong.address = get_u64(in);
    wrong.site = get_u64(in);
    wrong.before = get_u64(in);
    return in->error || (wrong.fault < HEAP_FAULTS && heap_add_wrong(by->run, number, &wrong));
}

bool heaped_read(const struct used_by *by, struct in *in)
{
    struct heap_process told = {.process = by->process};
    told.at_ns = (int64_t)(get_u64(in) - by->run->start_ns);
    told.unseen = get_u64(in);
    told.unknown = get_u64(in);
    bool good = true;
    uint32_t count = get_count(in, HEAP_TOLD_BYTES);
    if (!in->error)
        heap_told(by->run, &told);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_taken(by, in);
    count = get_count(in, HEAP_BAD_BYTES);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_wrong(by, in);
    if (!good)
        in_fail(in, "has a number that is too large");
    return in_done(in);
}

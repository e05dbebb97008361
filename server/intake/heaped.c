#include "server/intake/heaped.h"

#include "server/run/figures.h"
#include "server/run/heap.h"

static uint32_t line_of(const struct used_by *by, uint32_t code)
{
    return code ? by->line(by->session, code) : 0;
}

static int64_t time_of(const struct used_by *by, uint64_t ns)
{
    return (int64_t)(ns - by->run->start_ns);
}

static bool read_wrong(const struct used_by *by, struct in *in, bool first)
{
    uint32_t number = get_u32(in);
    struct heap_wrong wrong = {.process = by->process, .fault = get_u8(in)};
    wrong.thread = line_of(by, get_u32(in));
    wrong.event = get_u64(in);
    wrong.address = get_u64(in);
    wrong.site = get_u64(in);
    wrong.before = get_u64(in);
    wrong.node = first ? HEAP_NODE_NONE : get_u32(in);
    return in->error || (wrong.fault < HEAP_FAULTS && heap_add_wrong(by->run, number, &wrong));
}

static bool read_wrongs(const struct used_by *by, struct in *in, bool first)
{
    bool good = true;
    uint32_t count = get_count(in, first ? HEAP_BAD_BYTES_1 : HEAP_BAD_BYTES);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_wrong(by, in, first);
    return good;
}

/* ---- version 1: a sum is of one place ---- */

static bool read_place(const struct used_by *by, struct in *in)
{
    uint32_t number = get_u32(in);
    struct heap_taken taken = {.process = by->process, .thread = line_of(by, get_u32(in))};
    uint64_t site = get_u64(in);
    uint64_t *figures[HEAP_FIGURES_1] = {
        &taken.blocks,      &taken.bytes,        &taken.usable,    &taken.freed,
        &taken.freed_bytes, &taken.freed_usable, &taken.elsewhere, &taken.elsewhere_bytes,
        &taken.nulls,       &taken.most_bytes};
    for (uint32_t i = 0; i < HEAP_FIGURES_1; i++)
        *figures[i] = get_u64(in);
    if (in->error)
        return true;
    taken.freed -= taken.elsewhere; /* those of others were among all */
    taken.freed_bytes -= taken.elsewhere_bytes;
    taken.node = HEAP_NODE_FIRST + number;
    return number < HEAP_SUMS && heap_add(by->run, number, &taken) &&
           heap_add_node(by->run, by->process, taken.node, site, HEAP_NODE_UNKNOWN);
}

static bool read_first(const struct used_by *by, struct in *in, uint64_t ns)
{
    struct heap_process told = {
        .process = by->process, .at_ns = time_of(by, ns), .began_ns = INT64_MIN};
    told.unseen = get_u64(in);
    told.unknown = get_u64(in);
    bool good = true;
    uint32_t count = get_count(in, HEAP_TOLD_BYTES_1);
    if (!in->error)
        heap_told(by->run, &told);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_place(by, in);
    return good && read_wrongs(by, in, true);
}

/* ---- version 2 ---- */

static bool read_taken(const struct used_by *by, struct in *in)
{
    uint32_t number = get_u32(in);
    struct heap_taken taken = {.process = by->process, .thread = line_of(by, get_u32(in))};
    taken.node = get_u32(in);
    uint64_t *figures[HEAP_FIGURES] = {&taken.blocks,          &taken.bytes,
                                       &taken.usable,          &taken.freed,
                                       &taken.freed_bytes,     &taken.freed_usable,
                                       &taken.temporaries,     &taken.elsewhere,
                                       &taken.elsewhere_bytes, &taken.elsewhere_usable,
                                       &taken.nulls,           &taken.most_bytes};
    for (uint32_t i = 0; i < HEAP_FIGURES; i++)
        *figures[i] = get_u64(in);
    return in->error || heap_add(by->run, number, &taken);
}

static bool read_nodes(const struct used_by *by, struct in *in)
{
    bool good = true;
    uint32_t number = get_u32(in), count = get_count(in, HEAP_NODE_BYTES);
    for (uint32_t i = 0; i < count && good && !in->error; i++) {
        uint64_t site = get_u64(in);
        uint32_t parent = get_u32(in);
        good = in->error || (number < HEAP_NODES &&
                             heap_add_node(by->run, by->process, number + i, site, parent));
    }
    return good;
}

static bool read_sums(const struct used_by *by, struct in *in)
{
    struct heap_process told = {.process = by->process, .at_ns = time_of(by, get_u64(in))};
    told.began_ns = time_of(by, get_u64(in));
    told.unseen = get_u64(in);
    told.unknown = get_u64(in);
    told.folded = get_u64(in);
    told.most_bytes = get_u64(in);
    told.most_ns = time_of(by, get_u64(in));
    if (!in->error)
        heap_told(by->run, &told);
    bool good = read_nodes(by, in);
    uint32_t count = good ? get_count(in, HEAP_TOLD_BYTES) : 0;
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_taken(by, in);
    return good && read_wrongs(by, in, false);
}

static bool read_block(const struct used_by *by, struct in *in, int64_t began_ns)
{
    struct heap_left block = {.process = by->process};
    block.address = get_u64(in);
    block.bytes = get_u64(in);
    block.sum = get_u32(in);
    block.usable = block.bytes + get_u32(in);
    block.event = get_u32(in);
    block.at_ns = began_ns + (int64_t)get_u32(in) * 1000000;
    block.kind = get_u8(in);
    if (!in->error && block.kind < HEAP_KINDS)
        heap_add_block(by->run, &block);
    return in->error || block.kind < HEAP_KINDS;
}

static bool read_blocks(const struct used_by *by, struct in *in)
{
    int64_t at_ns = time_of(by, get_u64(in));
    bool begins = get_u8(in) != 0, good = true;
    uint64_t left = get_u64(in);
    uint32_t count = get_count(in, HEAP_BLOCK_BYTES);
    const struct heap_process *of = heap_process_of(by->run, by->process);
    if (begins && !in->error)
        heap_begin_blocks(by->run, by->process, at_ns, left);
    for (uint32_t i = 0; i < count && good && !in->error; i++)
        good = read_block(by, in, of ? of->began_ns : 0);
    return good;
}

static bool read_sample(const struct used_by *by, struct in *in)
{
    int64_t at_ns = time_of(by, get_u64(in));
    uint64_t bytes = get_u64(in), blocks = get_u64(in);
    struct figures live = {.process = by->process, .meter = FIGURES_HEAP_LIVE},
                   count = {.process = by->process, .meter = FIGURES_HEAP_BLOCKS};
    if (!in->error && bytes <= INT64_MAX && blocks <= INT64_MAX) {
        figures_add(by->run, &live, (struct figures_point){at_ns, (int64_t)bytes});
        figures_add(by->run, &count, (struct figures_point){at_ns, (int64_t)blocks});
    }
    return true;
}

static bool read_told(const struct used_by *by, struct in *in)
{
    switch (get_u8(in)) {
    case HEAP_TOLD_SUMS:
        return read_sums(by, in);
    case HEAP_TOLD_SAMPLE:
        return read_sample(by, in);
    case HEAP_TOLD_BLOCKS:
        return read_blocks(by, in);
    default:
        return in->error != NULL;
    }
}

bool heaped_read(const struct used_by *by, struct in *in)
{
    uint64_t ns = get_u64(in);
    if (!(ns ? read_first(by, in, ns) : read_told(by, in)))
        in_fail(in, "has a number that is too large");
    return in_done(in);
}

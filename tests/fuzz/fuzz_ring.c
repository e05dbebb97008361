/* The ring in which a thread records the begins and ends of calls, of any content, which changes
 * while it is read; what is read is decoded and walked from several times on. */
#include "base/alloc.h"
#include "server/decode/ring_reader.h"
#include "server/timing/call_entries.h"
#include "server/timing/scope_overlap.h"
#include "tests/fuzz/changing_memory.h"
#include "wire/slot.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Chunks of RING_READER_CHUNK words that are read at a time. */
#define TAKES 8u

/* Maps a place to an address: mostly the number of words, then the words at the begin and at the
 * end of the ring. */
static void patch(char *memory, uint16_t place, uint64_t value)
{
    size_t at = (size_t)(place >> 2) * 8;
    switch (place & 3) {
    case 0:
        changing_set(memory, offsetof(struct call_records_head, reserved),
                     value >> 60 ? value % 1000 : value % (2 * CALL_RECORDS_WORDS));
        break;
    case 1:
        changing_set(memory, at % CALL_RECORDS_HEAD_BYTES, value);
        break;
    case 2:
        changing_set(memory, CALL_RECORDS_HEAD_BYTES + at % 4096, value);
        break;
    default:
        changing_set(memory, CALL_RECORDS_MAP_BYTES - 8 - at % 4096, value);
    }
}

static struct changing shared = {.bytes = CALL_RECORDS_MAP_BYTES, .sealed = true, .patch = patch};

static struct ring_reader *begin(const uint8_t *data, size_t size)
{
    struct ring_reader *ring = NULL;
    changing_begin(&shared, data, size);
    struct call_records_head *head = (struct call_records_head *)(void *)shared.memory;
    head->magic = CALL_RECORDS_MAGIC;
    head->version = CALL_RECORDS_VERSION;
    head->clock = size & 1 ? QUEUE_CLOCK_TICKS : QUEUE_CLOCK_NS;
    if (ring_reader_add(&ring, shared.fd, 7))
        abort();
    return ring;
}

static void take(struct ring_reader *ring, struct tsc_clock *ticks, struct call_entries *all,
                 bool last)
{
    const char *why;
    for (unsigned i = 0; i < TAKES; i++) {
        struct encoder out = {0};
        bool any = ring_reader_decode(ring, ticks, last, &out);
        if (any != (out.size > 0) ||
            (any && !call_entries_append(all, 1, 7, out.data, out.size, &why)))
            abort(); /* what the server itself encodes must be valid */
        encoder_free(&out);
        if (!any)
            break;
    }
}

/* Checks that times do not decrease, and that each call that ended had begun. */
static void walk(const struct call_entries_thread *thread, uint64_t from_ns)
{
    struct call_entries_walk walk = call_entries_walk(thread, from_ns);
    struct call_entry_seen seen;
    uint64_t before = 0;
    while (call_entries_next(&walk, &seen)) {
        if (seen.entry.time_ns < before || seen.began_ns > seen.entry.time_ns ||
            walk.open_count > CALL_ENTRIES_DEPTH_MAX)
            abort();
        before = seen.entry.time_ns;
    }
    call_entries_walk_end(&walk);
}

static void sweep(const struct call_entries_thread *thread)
{
    uint32_t scopes[64];
    for (uint32_t i = 0; i < 64; i++)
        scopes[i] = i % 9;
    struct scope_overlap overlap = {
        .with = 3, .to_ns = INT64_MAX, .sums = xcalloc(9, sizeof *overlap.sums), .scopes = 9};
    scope_overlap_add(&overlap, thread, scopes, 64);
    for (uint64_t budget = 1000; !scope_overlap_step(&overlap, &budget); budget = 1000)
        ;
    scope_overlap_free(&overlap);
}

static void look(const struct call_entries *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct call_entries_thread *thread = all->threads[i];
        walk(thread, 0);
        for (size_t block = 0; block < thread->count && block < 20; block++)
            walk(thread, thread->blocks[block].last_ns);
        sweep(thread);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tsc_clock ticks; /* kept, since reading the clock again takes long */
    struct call_entries all = {0};
    const char *why;
    struct ring_reader *ring = begin(data, size);
    changing_once(&shared);
    take(ring, &ticks, &all, false);
    changing_go_on(&shared);
    take(ring, &ticks, &all, false);
    changing_end(&shared);
    take(ring, &ticks, &all, true);
    look(&all);
    call_entries_free(&all);
    ring_reader_free(ring);
    /* then the input as bodies of ENTRIES, half by half */
    for (size_t half = 0; half < 2; half++)
        call_entries_append(&all, 2, 1, data + half * (size / 2), half ? size - size / 2 : size / 2,
                            &why);
    look(&all);
    call_entries_free(&all);
    return 0;
}

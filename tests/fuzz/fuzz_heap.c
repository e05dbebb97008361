/* The heap region of a process, of any content, which changes while it is read; what is read is
 * decoded and queried. */
#include "base/alloc.h"
#include "server/decode/heap_records.h"
#include "server/decode/heap_reader.h"
#include "server/run/heap_totals.h"
#include "tests/fuzz/changing_memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Maps a place to an address: mostly a relevant one, sometimes any other. */
static size_t place_of(uint16_t place)
{
    size_t at = (size_t)(place >> 3) * 8;
    switch (place & 7) {
    case 0:
        return at % sizeof(struct heap_head);
    case 1:
        return HEAP_BAD_AT + at % 4096;
    case 2:
        return HEAP_THREADS_AT + at % 4096;
    case 3:
        return HEAP_SUMS_AT + at;
    case 4:
        return HEAP_NODES_AT + at;
    case 5:
    case 6:
        return HEAP_BLOCKS_AT + at;
    default:
        return at * 1733 % (HEAP_MAP_BYTES - 8);
    }
}

static void patch(char *memory, uint16_t place, uint64_t value)
{
    size_t at = place_of(place) & ~(size_t)7;
    if (at < 64 && value >> 60)
        value &= 0x000001ff000001ff; /* large counts take long, so they are rare */
    if (at >= 8)
        changing_set(memory, at, value);
}

static struct changing shared = {.bytes = HEAP_MAP_BYTES, .patch = patch};

static void begin(const uint8_t *data, size_t size)
{
    changing_begin(&shared, data, size);
    struct heap_head *head = (struct heap_head *)(void *)shared.memory;
    head->magic = HEAP_MAGIC;
    head->version = HEAP_VERSION;
    head->sums = 16;
    head->nodes = HEAP_NODE_FIRST + 16;
    head->threads = 4;
}

static uint32_t line(const struct program_session *session, uint32_t code)
{
    (void)session;
    return code % 7;
}

static bool take(void *context, const struct encoder *body)
{
    const struct usage_target *by = context;
    struct decoder in = decoder_init(body->data, body->size);
    if (!heap_records_decode(by, &in))
        abort(); /* what the server itself encodes must be valid */
    return true;
}

/* Checks that the stack ends. */
static void follow(const struct run *run, uint32_t process, uint32_t node)
{
    uint32_t left = HEAP_NODES, parent;
    while (heap_totals_site(run, process, node, &parent)) {
        if (parent >= node || !left--)
            abort();
        node = parent;
    }
}

static void ask(const struct run *run)
{
    for (size_t i = 0; i < heap_totals_count(run); i++)
        follow(run, heap_totals_at(run, i)->process, heap_totals_at(run, i)->node);
    for (size_t i = 0; i < heap_totals_wrong_count(run); i++)
        follow(run, heap_totals_wrong_at(run, i)->process, heap_totals_wrong_at(run, i)->node);
    for (size_t i = 0; i < heap_totals_block_count(run); i++)
        heap_totals_find_numbered(run, heap_totals_block_at(run, i)->process,
                                  heap_totals_block_at(run, i)->sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run *run = run_new("heap@1", 1, NULL);
    struct usage_target by = {.run = run, .line = line};
    struct heap_reader map;
    begin(data, size);
    heap_reader_begin(&map, shared.fd, take, &by);
    changing_once(&shared);
    heap_reader_sums(&map, 1000);
    changing_go_on(&shared);
    for (uint64_t ns = 1001; ns < 1003; ns++) {
        heap_reader_sample(&map, ns);
        heap_reader_sums(&map, ns);
        heap_reader_send_blocks(&map, ns);
    }
    changing_end(&shared);
    ask(run);
    /* then the input as the body of a HEAP */
    struct decoder in = decoder_init(data, size);
    by.process = 1;
    heap_records_decode(&by, &in);
    ask(run);
    heap_reader_end(&map);
    run_free(run);
    return 0;
}

/* The heap of a process, of any content, which changes while it is read; what is told of it is taken, and asked for. */
#define _GNU_SOURCE
#include "memory/memory.h"
#include "server/intake/heaped.h"
#include "server/intake/heapmap.h"
#include "server/run/heap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATCH 10u /* bytes: a place, 16 bits, and a value of 64 */

static char *memory;
static int fd = -1;

struct input {
    const uint8_t *data;
    size_t size;
    atomic_bool stop;
};

/* The places that matter, and now and then any other. */
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

static void patch(const struct input *input, size_t i)
{
    uint16_t place;
    uint64_t value;
    memcpy(&place, input->data + i, sizeof place);
    memcpy(&value, input->data + i + 2, sizeof value);
    size_t at = place_of(place) & ~(size_t)7;
    if (at < 64 && value >> 60)
        value &= 0x000001ff000001ff; /* to look at all of them takes long: only now and then */
    if (at >= 8)
        __atomic_store_n((uint64_t *)(memory + at), value, __ATOMIC_RELAXED);
}

static void *change(void *context)
{
    struct input *input = context;
    while (!atomic_load(&input->stop))
        for (size_t i = 0; i + PATCH <= input->size; i += PATCH)
            patch(input, i);
    return NULL;
}

static void begin(void)
{
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        if (ftruncate(fd, HEAP_MAP_BYTES) < 0)
            abort();
        memory = mmap(NULL, HEAP_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, HEAP_MAP_BYTES);
    struct heap_head *head = (struct heap_head *)memory;
    head->magic = HEAP_MAGIC;
    head->version = HEAP_VERSION;
    head->sums = 16;
    head->nodes = HEAP_NODE_FIRST + 16;
    head->threads = 4;
}

static uint32_t line(const struct session *session, uint32_t code)
{
    (void)session;
    return code % 7;
}

static bool take(void *context, const struct out *body)
{
    const struct used_by *by = context;
    struct in in = in_from(body->data, body->size);
    if (!heaped_read(by, &in))
        abort(); /* what we tell ourselves we believe */
    return true;
}

/* Every stack ends. */
static void follow(const struct run *run, uint32_t process, uint32_t node)
{
    uint32_t left = HEAP_NODES, parent;
    while (heap_site(run, process, node, &parent)) {
        if (parent >= node || !left--)
            abort();
        node = parent;
    }
}

static void ask(const struct run *run)
{
    for (size_t i = 0; i < heap_count(run); i++)
        follow(run, heap_at(run, i)->process, heap_at(run, i)->node);
    for (size_t i = 0; i < heap_wrong_count(run); i++)
        follow(run, heap_wrong_at(run, i)->process, heap_wrong_at(run, i)->node);
    for (size_t i = 0; i < heap_block_count(run); i++)
        heap_numbered(run, heap_block_at(run, i)->process, heap_block_at(run, i)->sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .size = size};
    struct run *run = run_new("heap@1", 1, NULL);
    struct used_by by = {.run = run, .line = line};
    struct heapmap map;
    pthread_t other;
    begin();
    heapmap_begin(&map, fd, take, &by);
    for (size_t i = 0; i + PATCH <= size; i += PATCH)
        patch(&input, i);
    heapmap_sums(&map, 1000);
    if (pthread_create(&other, NULL, change, &input) != 0)
        abort();
    for (uint64_t ns = 1001; ns < 1003; ns++) {
        heapmap_sample(&map, ns);
        heapmap_sums(&map, ns);
        heapmap_blocks(&map, ns);
    }
    atomic_store(&input.stop, true);
    pthread_join(other, NULL);
    ask(run);
    /* the body of a HEAP by itself */
    struct in in = in_from(data, size);
    by.process = 1;
    heaped_read(&by, &in);
    ask(run);
    heapmap_end(&map);
    run_free(run);
    return 0;
}

/* The region of a thread, of any content, which changes while it is read; what is told of it is taken, and added up. */
#define _GNU_SOURCE
#include "memory/memory.h"
#include "server/intake/region.h"
#include "server/measure/calls.h"
#include "wire/slot.h"

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

/* The places that matter: the head, the first frames and contexts, and now and then any other. */
static size_t place_of(uint16_t place)
{
    size_t at = (size_t)(place >> 2) * 8;
    switch (place & 3) {
    case 0:
        return at % REGION_HEAD_BYTES % 128;
    case 1:
        return REGION_FRAMES_AT + at % 4096;
    case 2:
        return REGION_CONTEXTS_AT + at % 16384;
    default:
        return at * 173 % (REGION_MAP_BYTES - 8);
    }
}

static void patch(const struct input *input, size_t i)
{
    uint16_t place;
    uint64_t value;
    memcpy(&place, input->data + i, sizeof place);
    memcpy(&value, input->data + i + 2, sizeof value);
    size_t at = place_of(place) & ~(size_t)7;
    if (at == offsetof(struct region_head, contexts) && value >> 60)
        value &= 0xffffffff000001ff; /* to look at all of them takes long: only now and then */
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
        fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (ftruncate(fd, REGION_MAP_BYTES) < 0 ||
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
            abort();
        memory = mmap(NULL, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, REGION_MAP_BYTES);
    *(struct region_head *)memory =
        (struct region_head){.magic = REGION_MAGIC, .version = REGION_VERSION};
}

static void read_some(struct region *region, struct context_thread *thread, uint64_t ns)
{
    struct region_moment moment = {.ns = ns, .counter = ns, .rate = 0.4, .all = ns & 1};
    struct out out = {0};
    const char *why;
    bool any = region_look(region, &moment);
    while (any && region_tell(region, &moment, &out)) {
        if (!contexts_take(thread, out.data, out.size, &why))
            abort(); /* what we tell ourselves we believe */
        out.size = 0;
    }
    out_free(&out);
}

static void add_up(const struct context_thread *thread)
{
    struct calls calls = {0};
    uint32_t *scopes = memory_zeroed(thread->count + 1, sizeof *scopes);
    for (size_t i = 1; i < thread->count; i++)
        scopes[i] = 1 + (uint32_t)(thread->items[i].sums.is.function % 97);
    calls_add(&calls, thread, scopes);
    calls_find_cycles(&calls);
    for (size_t i = 0; i < calls.function_count; i++)
        if (calls_net(&calls.functions[i].sums) < 0)
            abort();
    calls_free(&calls);
    free(scopes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .size = size};
    struct context_thread thread = {0};
    struct region *region = NULL;
    pthread_t other;
    begin();
    if (region_add(&region, fd, 1))
        abort();
    for (size_t i = 0; i + PATCH <= size; i += PATCH)
        patch(&input, i);
    read_some(region, &thread, 1000);
    if (pthread_create(&other, NULL, change, &input) != 0)
        abort();
    for (uint64_t ns = 1001; ns < 1004; ns++)
        read_some(region, &thread, ns);
    atomic_store(&input.stop, true);
    pthread_join(other, NULL);
    add_up(&thread);
    region_free(region);
    free(thread.items);
    /* the body of a SUMS by itself */
    struct context_thread told = {0};
    const char *why;
    contexts_take(&told, data, size, &why);
    add_up(&told);
    free(told.items);
    return 0;
}

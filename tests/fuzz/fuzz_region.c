/* The profile region of a thread, of any content, which changes while it is read; what is read is
 * decoded and summed. */
#include "base/alloc.h"
#include "server/decode/profile_region_reader.h"
#include "server/timing/call_profile.h"
#include "tests/fuzz/changing_memory.h"
#include "wire/slot.h"

#include <stddef.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Maps a place to an address: mostly the head, the first frames and contexts, sometimes any
 * other. */
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

static void patch(char *memory, uint16_t place, uint64_t value)
{
    size_t at = place_of(place) & ~(size_t)7;
    if (at == offsetof(struct profile_region_head, contexts) && value >> 60)
        value &= 0xffffffff000001ff; /* large counts take long, so they are rare */
    changing_set(memory, at, value);
}

static struct changing shared = {.bytes = REGION_MAP_BYTES, .sealed = true, .patch = patch};

static void begin(const uint8_t *data, size_t size)
{
    changing_begin(&shared, data, size);
    *(struct profile_region_head *)(void *)shared.memory =
        (struct profile_region_head){.magic = REGION_MAGIC, .version = REGION_VERSION};
}

static void read_some(struct region_reader *region, struct call_context_thread *thread, uint64_t ns)
{
    struct region_moment moment = {.ns = ns, .counter = ns, .rate = 0.4, .all = ns & 1};
    struct encoder out = {0};
    const char *why;
    bool any = region_reader_poll(region, &moment);
    while (any && region_reader_encode(region, &moment, &out)) {
        if (!call_contexts_update(thread, out.data, out.size, &why))
            abort(); /* what the server itself encodes must be valid */
        out.size = 0;
    }
    encoder_free(&out);
}

static void add_up(const struct call_context_thread *thread)
{
    struct call_profile calls = {0};
    uint32_t *scopes = xcalloc(thread->count + 1, sizeof *scopes);
    for (size_t i = 1; i < thread->count; i++)
        scopes[i] = 1 + (uint32_t)(thread->items[i].sums.is.function % 97);
    call_profile_add(&calls, thread, scopes);
    call_profile_find_cycles(&calls);
    for (size_t i = 0; i < calls.function_count; i++)
        if (call_profile_net(&calls.functions[i].sums) < 0)
            abort();
    call_profile_free(&calls);
    free(scopes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call_context_thread thread = {0};
    struct region_reader *region = NULL;
    begin(data, size);
    if (region_reader_add(&region, shared.fd, 1))
        abort();
    changing_once(&shared);
    read_some(region, &thread, 1000);
    changing_go_on(&shared);
    for (uint64_t ns = 1001; ns < 1004; ns++)
        read_some(region, &thread, ns);
    changing_end(&shared);
    add_up(&thread);
    region_reader_free(region);
    free(thread.items);
    /* then the input as the body of a SUMS */
    struct call_context_thread sample = {0};
    const char *why;
    call_contexts_update(&sample, data, size, &why);
    add_up(&sample);
    free(sample.items);
    return 0;
}

/* What an agent sends: any message, any batch, any chunk in it, early, late and twice; nothing of it may do harm, and what is
 * taken has the numbers that it says. */
#define _GNU_SOURCE
#include "memory/memory.h"
#include "server/far/squeeze.h"
#include "server/store/tracefile.h"
#include "server/taking/origin.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RAW_MOST (1u << 20) /* here; more is the same, and slow */

/* The first two bytes say what the rest is. */
static void take_words(uint8_t what, const uint8_t *data, size_t size)
{
    struct in in = in_from(data, size);
    struct forwarded_agent agent;
    struct forwarded_stream stream;
    if (what & 1) {
        get_forwarded_agent(&in, &agent);
        free(agent.host);
    } else {
        get_forwarded_stream(&in, &stream);
        free(stream.run);
    }
}

static void take_packed(const uint8_t *data, size_t size)
{
    struct forwarded_batch batch;
    struct in in = in_from(data, size);
    if (!get_forwarded_batch(&in, &batch) || batch.raw > RAW_MOST)
        return;
    uint8_t *raw = memory_bytes((size_t)batch.raw + 1);
    if (unsqueeze(raw, batch.raw, batch.packed, batch.packed_bytes))
        forwarded_is_sound(raw, batch.raw, batch.count);
    free(raw);
}

static uint32_t count_chunks(const uint8_t *data, size_t size)
{
    struct in in = in_from(data, size);
    struct forwarded_chunk chunk;
    uint32_t count = 0;
    while (get_forwarded_chunk(&in, &chunk))
        count++;
    return count;
}

/* The rest as a batch, taken as a whole, again, too early, and with a begin that is known. */
static void take_chunks(uint8_t early, const uint8_t *data, size_t size)
{
    static const uint8_t id[FORWARD_ID_BYTES] = {1};
    char path[] = "/tmp/poet-fuzz-XXXXXX", *used = NULL;
    const char *why;
    close(mkstemp(path));
    unlink(path);
    struct tracefile *trace = tracefile_create(path, "fuzz", &used);
    if (!trace)
        abort();
    struct taking *taking = taking_new(trace, used, 0);
    struct origin *origin = origin_new(id);
    uint32_t count = count_chunks(data, size);
    for (unsigned i = 0; i < 3 && count; i++) {
        uint64_t before = origin->next, first = i ? before - before % (1u + early) : 0;
        enum origin_took took = origin_take(origin, taking, first, count, data, size, &why);
        if (took == ORIGIN_TOOK && origin->next < before)
            abort();
        if (took != ORIGIN_TOOK && origin->next != before)
            abort();
        if (origin_take(origin, taking, origin->next + 1 + early, count, data, size, &why) ==
            ORIGIN_TOOK)
            abort(); /* something between them is missing */
    }
    for (uint32_t i = 0; i < taking->sessions && i < 4; i++)
        origin_refuse(origin, taking, i);
    if (origin->open > origin->count)
        abort();
    origin_free(origin);
    taking_free(taking);
    tracefile_close(trace);
    unlink(used);
    free(used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] < 64)
        take_words(data[0], data + 2, size - 2);
    else if (data[0] < 128)
        take_packed(data + 2, size - 2);
    else
        take_chunks(data[1] & 3, data + 2, size - 2);
    return 0;
}

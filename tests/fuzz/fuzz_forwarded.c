/* Messages of an agent: any message, batch and chunk, early, late and repeated; nothing may do
 * harm, and what is accepted has consecutive numbers. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/transport/compression.h"
#include "server/tracefile/tracefile.h"
#include "server/journal/forwarded_source.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RAW_MOST (1u << 20) /* larger ones are only slower */

/* Decodes the first messages of an agent; the first byte of the input selects which. */
static void take_words(uint8_t what, const uint8_t *data, size_t size)
{
    struct decoder in = decoder_init(data, size);
    struct forwarded_agent agent;
    struct forwarded_stream stream;
    if (what & 1) {
        decode_forwarded_agent(&in, &agent);
        free(agent.host);
    } else {
        decode_forwarded_stream(&in, &stream);
        free(stream.run);
    }
}

static void take_packed(const uint8_t *data, size_t size)
{
    struct forwarded_batch batch;
    struct decoder in = decoder_init(data, size);
    if (!decode_forwarded_batch(&in, &batch) || batch.raw > RAW_MOST)
        return;
    uint8_t *raw = xmalloc((size_t)batch.raw + 1);
    if (compression_decompress(raw, batch.raw, batch.packed, batch.packed_bytes))
        forwarded_chunk_is_valid(raw, batch.raw, batch.count);
    free(raw);
}

static uint32_t count_chunks(const uint8_t *data, size_t size)
{
    struct decoder in = decoder_init(data, size);
    struct forwarded_chunk chunk;
    uint32_t count = 0;
    while (decode_forwarded_chunk(&in, &chunk))
        count++;
    return count;
}

/* Receives the input as a batch: as a whole, repeated, partly known, and too early. */
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
    struct capture *taking = capture_new(trace, used, 0);
    struct forwarded_source *origin = forwarded_source_new(id);
    uint32_t count = count_chunks(data, size);
    for (unsigned i = 0; i < 3 && count; i++) {
        uint64_t before = origin->next, first = i ? before - before % (1u + early) : 0;
        enum receive_result took =
            forwarded_source_receive(origin, taking, first, count, data, size, &why);
        if (took == RECEIVE_DONE && origin->next < before)
            abort();
        if (took != RECEIVE_DONE && origin->next != before)
            abort();
        if (forwarded_source_receive(origin, taking, origin->next + 1 + early, count, data, size,
                                     &why) == RECEIVE_DONE)
            abort(); /* chunks before it are missing */
    }
    for (uint32_t i = 0; i < taking->sessions && i < 4; i++)
        forwarded_source_reject(origin, taking, i);
    if (origin->open > origin->count)
        abort();
    forwarded_source_free(origin);
    capture_free(taking);
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

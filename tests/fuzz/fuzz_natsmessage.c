/* Messages of a NATS stream, of any content and in any sequence, and addresses of NATS: encoding
 * what was decoded yields the same, a batch is assembled only from all of its parts, and no error
 * message contains a password. */
#include "base/alloc.h"
#include "server/forwarding/nats_message.h"
#include "server/transport/compression.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger batches are decompressed in the same way, only slower. */
#define RAW_MOST (1u << 20)

static void same(const struct encoder *out, const uint8_t *data, size_t size)
{
    if (out->size != size || memcmp(out->data, data, size) != 0)
        abort();
}

static void read_question(const uint8_t *data, size_t size)
{
    struct decoder in = decoder_init(data, size);
    struct encoder out = {0};
    uint64_t asked;
    if (!decode_nats_request(&in, &asked))
        return;
    encode_nats_request(&out, asked);
    same(&out, data, size);
    encoder_free(&out);
}

static void read_answer(const uint8_t *data, size_t size)
{
    struct decoder in = decoder_init(data, size);
    struct nats_answer answer;
    if (decode_nats_response(&in, &answer) && strlen(answer.host) > 3 * (size_t)NATS_HOST_BYTES)
        abort();
    free(answer.host);
}

static void read_where(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    struct nats_address where;
    struct error error;
    if (nats_address_parse(&where, text, &error)) {
        if (!*where.host || strchr(where.shown, '@') || strncmp(where.url, text, 6) != 0)
            abort();
        nats_address_free(&where);
    } else if (where.url || where.shown || where.host || where.port || where.run) {
        abort();
    }
    char *shown = nats_display_text(text), *name = nats_name(text);
    if (strchr(shown, '@') || strpbrk(name, ".*> "))
        abort();
    free(shown);
    free(name);
    free(text);
}

static void unpack(const struct forwarded_batch *batch)
{
    if (batch->packed_bytes > FORWARD_LIMIT_BYTES)
        abort();
    if (batch->raw > RAW_MOST)
        return;
    uint8_t *raw = xmalloc((size_t)batch->raw + 1);
    if (compression_decompress(raw, batch->raw, batch->packed, batch->packed_bytes))
        forwarded_chunk_is_valid(raw, batch->raw, batch->count);
    free(raw);
}

/* Splits the batch into parts of 100 bytes and assembles it again. */
static void send_again(const struct nats_message *message)
{
    struct nats_assembly assembly = {0};
    struct nats_message part = *message, got;
    size_t most = NATS_HEAD_BYTES + 100, bytes = message->batch.packed_bytes;
    part.parts = nats_parts(bytes, most);
    for (part.part = 0; part.part < part.parts; part.part++) {
        struct encoder out = {0};
        encode_nats_message(&out, &part, most);
        struct decoder in = decoder_init(out.data, out.size);
        if (!decode_nats_message(&in, &got))
            abort();
        bool whole = nats_assemble(&assembly, &got);
        if (whole != (part.part + 1 == part.parts))
            abort();
        if (whole && (got.batch.packed_bytes != bytes ||
                      memcmp(got.batch.packed, message->batch.packed, bytes) != 0))
            abort();
        encoder_free(&out);
    }
    encoder_free(&assembly.packed);
}

static void read_message(struct nats_assembly *assembly, const uint8_t *data, size_t size)
{
    struct decoder in = decoder_init(data, size);
    struct nats_message message;
    if (!decode_nats_message(&in, &message))
        return;
    if (nats_next(&message) < message.batch.first || message.part >= message.parts)
        abort();
    if (!nats_assemble(assembly, &message))
        return;
    unpack(&message.batch);
    send_again(&message);
}

/* Reads messages, each after two bytes with its length. */
static void read_messages(const uint8_t *data, size_t size)
{
    struct nats_assembly assembly = {0};
    while (size > 2) {
        size_t length = (size_t)data[0] << 8 | data[1];
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        read_message(&assembly, data, length);
        data += length;
        size -= length;
    }
    encoder_free(&assembly.packed);
}

/* The first byte selects the reader of the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *, size_t) = {read_messages, read_question,
                                                               read_answer, read_where};
    if (size)
        readers[data[0] & 3](data + 1, size - 1);
    return 0;
}

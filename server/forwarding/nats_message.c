#include "server/forwarding/nats_message.h"

#include "base/alloc.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

char *nats_name(const char *run)
{
    static const char digits[] = "0123456789ABCDEF";
    char *name = xmalloc(3 * strlen(run) + 2), *to = name;
    for (const char *c = run; *c; c++) {
        if (is_plain(*c)) {
            *to++ = *c;
            continue;
        }
        *to++ = '_';
        *to++ = digits[(unsigned char)*c >> 4];
        *to++ = digits[(unsigned char)*c & 15];
    }
    if (to == name)
        *to++ = '_';
    *to = 0;
    return name;
}

char *nats_stream(const char *run)
{
    char *name = nats_name(run), *stream = xasprintf("poet-%s", name);
    free(name);
    return stream;
}

char *nats_clock_subject(const char *run)
{
    char *name = nats_name(run), *subject = xasprintf("poet.%s.clock.ask", name);
    free(name);
    return subject;
}

char *nats_subject(const char *run, const uint8_t *id)
{
    char hex[2 * FORWARD_ID_BYTES + 1] = "*";
    for (size_t i = 0; id && i < FORWARD_ID_BYTES; i++) {
        hex[2 * i] = "0123456789abcdef"[id[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
    }
    if (id)
        hex[sizeof hex - 1] = 0;
    char *name = nats_name(run), *subject = xasprintf("poet.%s.%s", name, hex);
    free(name);
    return subject;
}

/* ---- addresses ---- */

bool nats_is_address(const char *where)
{
    return strncmp(where, "nats://", 7) == 0 || strncmp(where, "tls://", 6) == 0;
}

char *nats_display_text(const char *where)
{
    struct nats_address read;
    struct error ignored;
    if (!nats_address_parse(&read, where, &ignored))
        return xstrdup("nats://");
    char *shown = xstrdup(read.shown);
    nats_address_free(&read);
    return shown;
}

static char *nats_message_copy_part(const char *from, const char *to)
{
    return xstrndup(from, (size_t)(to - from));
}

static bool is_port(const char *s)
{
    char *end;
    unsigned long port = strtoul(s, &end, 10);
    return *s >= '0' && *s <= '9' && !*end && port > 0 && port < 65536;
}

bool nats_address_parse(struct nats_address *read, const char *where, struct error *error)
{
    *read = (struct nats_address){.tls = where[0] == 't'};
    const char *begin = strstr(where, "://"), *hash = strchr(where, '#');
    const char *end = hash ? hash : where + strlen(where);
    begin = begin && begin < end ? begin + 3 : where;
    const char *host = begin;
    for (const char *c = begin; c < end; c++)
        host = *c == '@' ? c + 1 : host;
    const char *close = *host == '[' ? memchr(host, ']', (size_t)(end - host)) : NULL;
    const char *from = close ? close : host, *colon = memchr(from, ':', (size_t)(end - from));
    read->host = close ? nats_message_copy_part(host + 1, close)
                       : nats_message_copy_part(host, colon ? colon : end);
    read->port = colon ? nats_message_copy_part(colon + 1, end) : xstrdup("4222");
    read->shown = xasprintf("%s%.*s", read->tls ? "tls://" : "nats://", (int)(end - host), host);
    read->url = xasprintf("%.*s%s", (int)(end - where), where, colon ? "" : ":4222");
    read->run = hash ? xstrdup(hash + 1) : NULL;
    if (nats_is_address(where) && *read->host && is_port(read->port))
        return true;
    error_set(error, "%s: invalid endpoint; use nats://HOST:PORT or tls://HOST:PORT", read->shown);
    nats_address_free(read);
    return false;
}

void nats_address_free(struct nats_address *where)
{
    if (where->url)
        explicit_bzero(where->url, strlen(where->url));
    free(where->url);
    free(where->shown);
    free(where->host);
    free(where->port);
    free(where->run);
    *where = (struct nats_address){0};
}

/* ---- messages ---- */

uint32_t nats_parts(size_t packed_bytes, size_t most)
{
    if (most <= NATS_HEAD_BYTES || !packed_bytes)
        return 0;
    size_t room = most - NATS_HEAD_BYTES, parts = (packed_bytes + room - 1) / room;
    return parts <= NATS_PARTS_MAX ? (uint32_t)parts : 0;
}

static void put_head(struct encoder *out)
{
    encode_u32(out, HELLO_MAGIC);
    encode_u32(out, NATS_MESSAGE_VERSION);
}

static void get_head(struct decoder *in)
{
    uint32_t magic = decode_u32(in), version = decode_u32(in);
    if (!in->error && magic != HELLO_MAGIC)
        decoder_fail(in, "is not a Poet message");
    if (!in->error && version != NATS_MESSAGE_VERSION)
        decoder_fail(in, "is of a different version of Poet");
}

void encode_nats_message(struct encoder *out, const struct nats_message *message, size_t most)
{
    const struct forwarded_batch *batch = &message->batch;
    size_t room = most - NATS_HEAD_BYTES, from = message->part * room;
    size_t left = batch->packed_bytes - from;
    put_head(out);
    encode_bytes(out, message->id, FORWARD_ID_BYTES);
    encode_u8(out, message->ends);
    encode_u32(out, message->part);
    encode_u32(out, message->parts);
    encode_forwarded_batch(out, batch);
    encode_bytes(out, batch->packed + from, left < room ? left : room);
}

bool decode_nats_message(struct decoder *in, struct nats_message *message)
{
    *message = (struct nats_message){0};
    get_head(in);
    const uint8_t *id = decode_bytes(in, FORWARD_ID_BYTES);
    if (id)
        memcpy(message->id, id, FORWARD_ID_BYTES);
    message->ends = decode_u8(in) & 1;
    message->part = decode_u32(in);
    message->parts = decode_u32(in);
    if (!in->error &&
        (!message->parts || message->parts > NATS_PARTS_MAX || message->part >= message->parts))
        decoder_fail(in, "is an invalid part");
    return !in->error && decode_forwarded_batch(in, &message->batch);
}

uint64_t nats_next(const struct nats_message *message)
{
    bool whole = message->part + 1 == message->parts;
    return message->batch.first + (whole ? message->batch.count : 0);
}

/* ---- clocks ---- */

void encode_nats_request(struct encoder *out, uint64_t asked)
{
    put_head(out);
    encode_u64(out, asked);
}

bool decode_nats_request(struct decoder *in, uint64_t *asked)
{
    get_head(in);
    *asked = decode_u64(in);
    return decoder_finish(in);
}

void encode_nats_response(struct encoder *out, const struct nats_answer *answer)
{
    put_head(out);
    encode_u64(out, answer->asked);
    encode_u64(out, answer->received);
    encode_u64(out, answer->replied);
    encode_string(out, answer->host);
}

bool decode_nats_response(struct decoder *in, struct nats_answer *answer)
{
    get_head(in);
    answer->asked = decode_u64(in);
    answer->received = decode_u64(in);
    answer->replied = decode_u64(in);
    answer->host = decode_name(in, NATS_HOST_BYTES);
    bool good = decoder_finish(in) && answer->host;
    if (!good) {
        free(answer->host);
        answer->host = NULL;
    }
    return good;
}

/* ---- parts ---- */

bool nats_assemble(struct nats_assembly *a, struct nats_message *message)
{
    struct forwarded_batch *batch = &message->batch;
    if (message->parts == 1) {
        a->parts = 0;
        return true;
    }
    if (message->part == 0) {
        a->first = batch->first;
        a->count = batch->count;
        a->raw = batch->raw;
        a->part = 0;
        a->parts = message->parts;
        a->packed.size = 0;
    }
    if (message->part != a->part || message->parts != a->parts || batch->first != a->first ||
        batch->count != a->count || batch->raw != a->raw ||
        batch->packed_bytes > FORWARD_LIMIT_BYTES - a->packed.size) {
        a->parts = 0;
        return false;
    }
    encode_bytes(&a->packed, batch->packed, batch->packed_bytes);
    a->part++;
    if (a->part < a->parts)
        return false;
    a->parts = 0;
    batch->packed = a->packed.data;
    batch->packed_bytes = a->packed.size;
    return true;
}

#include "server/run/delta_codec.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define KINDS 128u
/* flag beside the kind: session, thread and size are those of the last fact of the kind */
#define LIKE_LAST 128u
#define DATA_MOST 1024u /* bytes; larger facts are written whole */

struct delta_codec {
    struct delta_last_fact {
        struct chunk head;
        bool known;
        uint8_t data[DATA_MOST];
    } last[KINDS];
};

struct delta_codec *delta_codec_new(void)
{
    struct delta_codec *brief = xcalloc(1, sizeof *brief);
    return brief;
}

void delta_codec_free(struct delta_codec *brief) { free(brief); }

void delta_codec_reset(struct delta_codec *brief)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        brief->last[kind].known = false;
}

static void delta_codec_note_fact(struct delta_last_fact *last, struct chunk fact)
{
    last->known = fact.size <= DATA_MOST;
    last->head = fact;
    if (last->known && fact.size)
        memcpy(last->data, fact.data, fact.size);
}

/* ---- differences: a mask of 8-byte words per 64 bytes, a mask of bytes per word ---- */

static unsigned delta_codec_differing_bytes(const uint8_t *a, const uint8_t *b, uint32_t size)
{
    unsigned mask = 0;
    for (uint32_t i = 0; i < size && i < 8; i++)
        mask |= (unsigned)(a[i] != b[i]) << i;
    return mask;
}

static void put_difference(struct encoder *out, const uint8_t *before, const uint8_t *now,
                           uint32_t size)
{
    for (uint32_t begin = 0; begin < size; begin += 64) {
        unsigned masks[8] = {0}, eights = 0;
        for (uint32_t i = 0; i < 8 && begin + 8 * i < size; i++) {
            uint32_t at = begin + 8 * i;
            masks[i] = delta_codec_differing_bytes(before + at, now + at, size - at);
            eights |= (unsigned)(masks[i] != 0) << i;
        }
        encode_u8(out, (uint8_t)eights);
        for (uint32_t i = 0; i < 8; i++) {
            if (masks[i])
                encode_u8(out, (uint8_t)masks[i]);
            for (uint32_t k = 0; k < 8; k++)
                if (masks[i] >> k & 1)
                    encode_u8(out, now[begin + 8 * i + k]);
        }
    }
}

static void get_difference(struct decoder *in, uint8_t *data, uint32_t size)
{
    for (uint32_t begin = 0; begin < size; begin += 64) {
        unsigned eights = decode_u8(in);
        for (uint32_t i = 0; i < 8; i++) {
            unsigned mask = eights >> i & 1 ? decode_u8(in) : 0;
            for (uint32_t k = 0; k < 8; k++) {
                if (!(mask >> k & 1))
                    continue;
                uint8_t byte = decode_u8(in);
                if (begin + 8 * i + k < size)
                    data[begin + 8 * i + k] = byte;
            }
        }
    }
}

/* ---- facts ---- */

void delta_codec_encode(struct delta_codec *brief, struct encoder *out, struct chunk fact)
{
    struct delta_last_fact *last = &brief->last[fact.kind % KINDS];
    if (last->known && last->head.session == fact.session && last->head.thread == fact.thread &&
        last->head.size == fact.size) {
        encode_u8(out, (uint8_t)(fact.kind | LIKE_LAST));
        put_difference(out, last->data, fact.data, fact.size);
    } else {
        encode_u8(out, (uint8_t)fact.kind);
        encode_u32(out, fact.session);
        encode_u32(out, fact.thread);
        encode_u32(out, fact.size);
        encode_bytes(out, fact.data, fact.size);
    }
    delta_codec_note_fact(last, fact);
}

bool delta_codec_decode(struct delta_codec *brief, struct decoder *in, struct chunk *fact)
{
    uint8_t kind = decode_u8(in);
    struct delta_last_fact *last = &brief->last[kind % KINDS];
    if (in->error)
        return false;
    if (kind & LIKE_LAST) {
        if (!last->known)
            decoder_fail(in, "a fact is like one that is not there");
        else
            get_difference(in, last->data, last->head.size);
        *fact = last->head;
        fact->data = last->data;
        return !in->error;
    }
    *fact = (struct chunk){.kind = kind};
    fact->session = decode_u32(in);
    fact->thread = decode_u32(in);
    fact->size = decode_u32(in);
    fact->data = decode_bytes(in, fact->size);
    if (in->error)
        return false;
    delta_codec_note_fact(last, *fact);
    return true;
}

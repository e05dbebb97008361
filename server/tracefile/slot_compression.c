#include "server/tracefile/slot_compression.h"

#include "base/alloc.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

#define LIKES 64u /* previous slots that a slot can be encoded as a difference to, by index_of() */
#define WORDS 8u /* 8-byte words of a slot */
#define COUNT_BYTES 4u
/* flag of the tag beside the index: all words are encoded, with their lengths */
#define WHOLE 0x40u

/* Words that differ between similar records, and the most bytes of their differences in the short
 * form. */
enum { TIME = 1, NUMBER_A = 4, NUMBER_B = 5 };
#define TIME_MOST 7u
#define NUMBER_A_MOST 7u
#define NUMBER_B_MOST 3u

struct slot_previous_words {
    uint64_t words[LIKES][WORDS];
    uint64_t known; /* bits: which of them are set; the others are zeros */
    uint64_t time; /* of the previous record */
};

static uint64_t *slot_codec_previous_words(struct slot_previous_words *likes, unsigned i)
{
    if (!(likes->known >> i & 1))
        memset(likes->words[i], 0, sizeof likes->words[i]);
    likes->known |= (uint64_t)1 << i;
    return likes->words[i];
}

/* Zigzag encoding: maps small differences of either sign to small numbers. */
static inline uint64_t slot_codec_zigzag_encode(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t slot_codec_zigzag_decode(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/* ---- packing ---- */

static inline unsigned length_of(uint64_t v)
{
    return v ? (71 - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

/* Stores a number and advances by its length.  Writes eight bytes always; later ones overwrite the
 * rest. */
static inline uint8_t *slot_codec_put_bytes(uint8_t *to, uint64_t v, unsigned length)
{
    memcpy(to, &v, 8);
    return to + length;
}

/* Returns a hash of the words that similar records share.  Any hash will do, as the index is
 * stored for the decoder. */
static inline unsigned index_of(const uint64_t words[WORDS])
{
    uint64_t mixed = words[2] ^ words[0] << 40 ^ words[3] * 0x9e3779b97f4a7c15u;
    return (unsigned)(mixed * 0xd6e8feb86659fd93u >> 58);
}

static uint8_t *put_whole(uint8_t *to, unsigned i, const uint64_t news[WORDS])
{
    uint8_t *lengths = to + 1;
    uint32_t all = 0;
    *to = (uint8_t)(WHOLE | i);
    to += 5;
    for (unsigned w = 0; w < WORDS; w++) {
        unsigned length = length_of(news[w]);
        all |= (uint32_t)length << (4 * w);
        to = slot_codec_put_bytes(to, news[w], length);
    }
    chunk_set_u32(lengths, all);
    return to;
}

static inline uint8_t *put_slot(struct slot_previous_words *likes, uint8_t *to,
                                const struct ring_slot *slot)
{
    uint64_t now[WORDS], news[WORDS], other = 0;
    memcpy(now, slot, sizeof now);
    unsigned i = index_of(now);
    uint64_t *before = slot_codec_previous_words(likes, i);
    for (unsigned w = 0; w < WORDS; w++)
        news[w] = now[w] ^ before[w];
    news[TIME] = slot_codec_zigzag_encode(now[TIME] - likes->time);
    news[NUMBER_A] = slot_codec_zigzag_encode(now[NUMBER_A] - before[NUMBER_A]);
    news[NUMBER_B] = slot_codec_zigzag_encode(now[NUMBER_B] - before[NUMBER_B]);
    other = news[0] | news[2] | news[3] | news[6] | news[7];
    likes->time = now[TIME];
    memcpy(before, now, sizeof now);
    unsigned time = length_of(news[TIME]), a = length_of(news[NUMBER_A]),
             b = length_of(news[NUMBER_B]);
    if (other || time > TIME_MOST || a > NUMBER_A_MOST || b > NUMBER_B_MOST)
        return put_whole(to, i, news);
    *to++ = (uint8_t)i;
    *to++ = (uint8_t)(time | a << 3 | b << 6);
    to = slot_codec_put_bytes(to, news[TIME], time);
    to = slot_codec_put_bytes(to, news[NUMBER_A], a);
    return slot_codec_put_bytes(to, news[NUMBER_B], b);
}

size_t slot_codec_encode(uint8_t *to, const struct ring_slot *slots, size_t count)
{
    struct slot_previous_words likes;
    const uint8_t *end = to + count * SLOT_BYTES;
    uint8_t *at = to + COUNT_BYTES;
    likes.known = likes.time = 0;
    chunk_set_u32(to, (uint32_t)count);
    for (size_t i = 0, size; i < count; i += size) {
        const struct ring_slot *slot = &slots[i];
        size = slot_next_record(slot, count - i);
        at = put_slot(&likes, at, slot);
        if (!size || at >= end || slot->payload_bytes >= (size_t)(end - at))
            return 0;
        if (slot->payload_bytes)
            memcpy(at, slot + 1, slot->payload_bytes);
        at += slot->payload_bytes;
    }
    return (size_t)(at - to);
}

/* ---- unpacking ---- */

struct slot_codec {
    const uint8_t *at, *end;
    bool broken;
};

static inline uint64_t slot_codec_get_bytes(struct slot_codec *p, unsigned length)
{
    uint64_t v = 0;
    size_t left = (size_t)(p->end - p->at);
    if (length > 8 || length > left) {
        p->broken = true;
        return 0;
    }
    memcpy(&v, p->at, left < 8 ? left : 8);
    p->at += length;
    return length == 8 ? v : v & (((uint64_t)1 << 8 * length) - 1);
}

static void get_whole(struct slot_codec *p, uint64_t news[WORDS])
{
    uint32_t lengths = (uint32_t)slot_codec_get_bytes(p, 4);
    for (unsigned w = 0; w < WORDS; w++)
        news[w] = slot_codec_get_bytes(p, lengths >> (4 * w) & 15);
}

static inline void get_like(struct slot_codec *p, uint64_t news[WORDS])
{
    unsigned lengths = (unsigned)slot_codec_get_bytes(p, 1);
    news[TIME] = slot_codec_get_bytes(p, lengths & 7);
    news[NUMBER_A] = slot_codec_get_bytes(p, lengths >> 3 & 7);
    news[NUMBER_B] = slot_codec_get_bytes(p, lengths >> 6);
}

/* Stores each word that changes once, and last: wider loads of what was just stored in parts would
 * wait for it. */
static inline void get_slot(struct slot_previous_words *likes, struct slot_codec *p,
                            struct ring_slot *slot)
{
    uint64_t news[WORDS];
    unsigned tag = (unsigned)slot_codec_get_bytes(p, 1);
    uint64_t *words = slot_codec_previous_words(likes, tag & (LIKES - 1));
    p->broken |= tag >= 2 * WHOLE;
    if (tag & WHOLE) {
        get_whole(p, news);
        words[0] ^= news[0];
        words[2] ^= news[2];
        words[3] ^= news[3];
        words[6] ^= news[6];
        words[7] ^= news[7];
    } else {
        get_like(p, news);
    }
    uint64_t a = words[NUMBER_A] + slot_codec_zigzag_decode(news[NUMBER_A]),
             b = words[NUMBER_B] + slot_codec_zigzag_decode(news[NUMBER_B]);
    memcpy(slot, words, sizeof *slot);
    likes->time += slot_codec_zigzag_decode(news[TIME]);
    slot->time_ns = likes->time;
    slot->number_a = words[NUMBER_A] = a;
    slot->number_b = words[NUMBER_B] = b;
}

static bool get_slots(struct slot_codec p, struct ring_slot *slots, size_t count)
{
    struct slot_previous_words likes;
    likes.known = likes.time = 0;
    for (size_t i = 0, size; i < count; i += size) {
        get_slot(&likes, &p, &slots[i]);
        uint32_t bytes = slots[i].payload_bytes;
        size = slot_next_record(&slots[i], count - i);
        if (p.broken || !size || bytes > (size_t)(p.end - p.at))
            return false;
        uint8_t *to = (uint8_t *)&slots[i + 1];
        if (bytes)
            memcpy(to, p.at, bytes);
        memset(to + bytes, 0, (size - 1) * SLOT_BYTES - bytes);
        p.at += bytes;
    }
    return p.at == p.end;
}

size_t slot_codec_count(const struct chunk *chunk)
{
    if (chunk->kind != CHUNK_SLOTS)
        return chunk->size / SLOT_BYTES;
    size_t count = chunk->size < COUNT_BYTES ? 0 : chunk_get_u32(chunk->data);
    return count <= chunk->size && count <= CHUNK_BYTES_MAX / SLOT_BYTES ? count : 0;
}

struct ring_slot *slot_codec_decode(const struct chunk *chunk, size_t *count)
{
    *count = slot_codec_count(chunk);
    struct ring_slot *slots = xmalloc((*count + 1) * SLOT_BYTES);
    if (chunk->kind != CHUNK_SLOTS) {
        memcpy(slots, chunk->data, *count * SLOT_BYTES); /* copied for alignment */
        return slots;
    }
    struct slot_codec p = {.at = chunk->data + COUNT_BYTES, .end = chunk->data + chunk->size};
    if (*count && get_slots(p, slots, *count))
        return slots;
    free(slots);
    return NULL;
}

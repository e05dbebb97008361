#include "server/run/brief.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define KINDS 128u
#define LIKE_LAST 128u /* with the kind: same session, thread and size as the last one */
#define DATA_MOST 1024u /* larger ones are always whole */

struct brief {
    struct last {
        struct chunk head;
        bool known;
        uint8_t data[DATA_MOST];
    } last[KINDS];
};

struct brief *brief_new(void)
{
    struct brief *brief = memory_zeroed(1, sizeof *brief);
    return brief;
}

void brief_free(struct brief *brief) { free(brief); }

void brief_again(struct brief *brief)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        brief->last[kind].known = false;
}

static void note(struct last *last, struct chunk fact)
{
    last->known = fact.size <= DATA_MOST;
    last->head = fact;
    if (last->known && fact.size)
        memcpy(last->data, fact.data, fact.size);
}

/* ---- what differs: of each 64 bytes a mask of the eights, of each of those a mask of the bytes ---- */

static unsigned differing(const uint8_t *a, const uint8_t *b, uint32_t size)
{
    unsigned mask = 0;
    for (uint32_t i = 0; i < size && i < 8; i++)
        mask |= (unsigned)(a[i] != b[i]) << i;
    return mask;
}

static void put_difference(struct out *out, const uint8_t *before, const uint8_t *now,
                           uint32_t size)
{
    for (uint32_t begin = 0; begin < size; begin += 64) {
        unsigned masks[8] = {0}, eights = 0;
        for (uint32_t i = 0; i < 8 && begin + 8 * i < size; i++) {
            uint32_t at = begin + 8 * i;
            masks[i] = differing(before + at, now + at, size - at);
            eights |= (unsigned)(masks[i] != 0) << i;
        }
        put_u8(out, (uint8_t)eights);
        for (uint32_t i = 0; i < 8; i++) {
            if (masks[i])
                put_u8(out, (uint8_t)masks[i]);
            for (uint32_t k = 0; k < 8; k++)
                if (masks[i] >> k & 1)
                    put_u8(out, now[begin + 8 * i + k]);
        }
    }
}

static void get_difference(struct in *in, uint8_t *data, uint32_t size)
{
    for (uint32_t begin = 0; begin < size; begin += 64) {
        unsigned eights = get_u8(in);
        for (uint32_t i = 0; i < 8; i++) {
            unsigned mask = eights >> i & 1 ? get_u8(in) : 0;
            for (uint32_t k = 0; k < 8; k++) {
                if (!(mask >> k & 1))
                    continue;
                uint8_t byte = get_u8(in);
                if (begin + 8 * i + k < size)
                    data[begin + 8 * i + k] = byte;
            }
        }
    }
}

/* ---- facts ---- */

void brief_put(struct brief *brief, struct out *out, struct chunk fact)
{
    struct last *last = &brief->last[fact.kind % KINDS];
    if (last->known && last->head.session == fact.session && last->head.thread == fact.thread &&
        last->head.size == fact.size) {
        put_u8(out, (uint8_t)(fact.kind | LIKE_LAST));
        put_difference(out, last->data, fact.data, fact.size);
    } else {
        put_u8(out, (uint8_t)fact.kind);
        put_u32(out, fact.session);
        put_u32(out, fact.thread);
        put_u32(out, fact.size);
        put_bytes(out, fact.data, fact.size);
    }
    note(last, fact);
}

bool brief_get(struct brief *brief, struct in *in, struct chunk *fact)
{
    uint8_t kind = get_u8(in);
    struct last *last = &brief->last[kind % KINDS];
    if (in->error)
        return false;
    if (kind & LIKE_LAST) {
        if (!last->known)
            in_fail(in, "a fact is like one that is not there");
        else
            get_difference(in, last->data, last->head.size);
        *fact = last->head;
        fact->data = last->data;
        return !in->error;
    }
    *fact = (struct chunk){.kind = kind};
    fact->session = get_u32(in);
    fact->thread = get_u32(in);
    fact->size = get_u32(in);
    fact->data = get_bytes(in, fact->size);
    if (in->error)
        return false;
    note(last, *fact);
    return true;
}

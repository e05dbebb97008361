#include "server/checkpoint/expiring_records.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/run/delta_codec.h"
#include "server/run/run.h"

#include <stdlib.h>

#ifndef PASSING_BYTES
#define PASSING_BYTES (1u << 20) /* minimum size of a part */
#endif
#define PASSED_BYTES 16u

struct expiring_records {
    struct encoder facts; /* since the last part */
    struct delta_codec *brief; /* their codec */
    struct map entered; /* session and code of each thread with call records in `facts` */
    uint8_t passed[PASSED_BYTES];
};

struct expiring_records *expiring_records_new(void)
{
    struct expiring_records *passing = xcalloc(1, sizeof *passing);
    passing->brief = delta_codec_new();
    return passing;
}

void expiring_records_free(struct expiring_records *passing)
{
    encoder_free(&passing->facts);
    map_free(&passing->entered);
    delta_codec_free(passing->brief);
    free(passing);
}

bool expiring_records_accept(const struct chunk *fact)
{
    return fact->kind == CHUNK_STEPS || fact->kind == CHUNK_ENTRIES;
}

/* Before the first call records of a thread in a part: adds its open calls, as the part before may
 * be freed. */
static void expiring_records_append_open(struct expiring_records *p, const struct run *run,
                                         struct chunk fact)
{
    struct encoder open = {0};
    if (fact.size < 8 || map_get(&p->entered, fact.session, fact.thread))
        return;
    map_put(&p->entered, fact.session, fact.thread, p);
    if (call_entries_encode_open(&run->entries, fact.session, fact.thread, chunk_get_u64(fact.data),
                                 &open)) {
        fact.data = open.data;
        fact.size = (uint32_t)open.size;
        delta_codec_encode(p->brief, &p->facts, fact);
    }
    encoder_free(&open);
}

void expiring_records_append(struct expiring_records *passing, const struct run *run,
                             struct chunk fact)
{
    if (fact.kind == CHUNK_ENTRIES)
        expiring_records_append_open(passing, run, fact);
    delta_codec_encode(passing->brief, &passing->facts, fact);
}

bool expiring_records_flush(struct expiring_records *p, const struct run *run, bool all,
                            struct chunk *passed)
{
    if (p->facts.size < (all ? 1 : PASSING_BYTES))
        return false;
    chunk_set_u64(p->passed, tracefile_put(run->trace, CHUNK_PART, p->facts.data, p->facts.size));
    chunk_set_u64(p->passed + 8, order_count(run->order));
    p->facts.size = 0;
    delta_codec_reset(p->brief);
    map_free(&p->entered);
    *passed = (struct chunk){.kind = CHUNK_PASSED, .data = p->passed, .size = PASSED_BYTES};
    return true;
}

/* ---- reading ---- */

bool expiring_parts_note(struct expiring_parts *passed, struct chunk fact)
{
    if (fact.size != PASSED_BYTES)
        return false;
    passed->items =
        array_reserve(passed->items, &passed->room, passed->count + 1, sizeof *passed->items);
    passed->items[passed->count++] = (struct expiring_part){.place = chunk_get_u64(fact.data),
                                                            .events = chunk_get_u64(fact.data + 8)};
    return true;
}

static bool expiring_records_apply_part(struct run *run, uint64_t place,
                                        void (*play)(void *, struct chunk), void *context)
{
    size_t size;
    uint8_t *data = tracefile_get(run->trace, CHUNK_PART, place, &size);
    if (!data)
        return false;
    struct decoder in = decoder_init(data, size);
    struct delta_codec *brief = delta_codec_new();
    struct chunk chunk;
    while (decoder_remaining(&in) && delta_codec_decode(brief, &in, &chunk))
        if (expiring_records_accept(&chunk))
            play(context, chunk);
    bool good = decoder_finish(&in);
    delta_codec_free(brief);
    free(data);
    return good;
}

/* Parts that end before the first kept event are skipped: their space is freed, or will be. */
bool expiring_parts_apply(struct expiring_parts *passed, struct run *run,
                          void (*play)(void *, struct chunk), void *context)
{
    uint64_t first = order_first(run->order);
    bool good = true;
    for (size_t i = 0; i < passed->count; i++) {
        bool there = !first || passed->items[i].events > first;
        if (there)
            good &= expiring_records_apply_part(run, passed->items[i].place, play, context);
    }
    free(passed->items);
    *passed = (struct expiring_parts){0};
    return good;
}

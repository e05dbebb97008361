#include "server/file/passing.h"

#include "memory/memory.h"
#include "memory/map.h"
#include "server/run/brief.h"
#include "server/run/run.h"

#include <stdlib.h>

#ifndef PASSING_BYTES
#define PASSING_BYTES (1u << 20) /* of a part */
#endif
#define PASSED_BYTES 16u

struct passing {
    struct out facts; /* since the last part */
    struct brief *brief; /* of them */
    struct map entered; /* session and code of threads whose calls are among them */
    uint8_t passed[PASSED_BYTES];
};

struct passing *passing_new(void)
{
    struct passing *passing = memory_zeroed(1, sizeof *passing);
    passing->brief = brief_new();
    return passing;
}

void passing_free(struct passing *passing)
{
    out_free(&passing->facts);
    map_free(&passing->entered);
    brief_free(passing->brief);
    free(passing);
}

bool passing_takes(const struct chunk *fact)
{
    return fact->kind == CHUNK_STEPS || fact->kind == CHUNK_ENTRIES;
}

/* The first of a thread in a part: the calls that were open come before it, as the part before may be gone. */
static void put_open(struct passing *p, const struct run *run, struct chunk fact)
{
    struct out open = {0};
    if (fact.size < 8 || map_get(&p->entered, fact.session, fact.thread))
        return;
    map_put(&p->entered, fact.session, fact.thread, p);
    if (entries_put_open(&run->entries, fact.session, fact.thread, at_u64(fact.data), &open)) {
        fact.data = open.data;
        fact.size = (uint32_t)open.size;
        brief_put(p->brief, &p->facts, fact);
    }
    out_free(&open);
}

void passing_put(struct passing *passing, const struct run *run, struct chunk fact)
{
    if (fact.kind == CHUNK_ENTRIES)
        put_open(passing, run, fact);
    brief_put(passing->brief, &passing->facts, fact);
}

bool passing_flush(struct passing *p, const struct run *run, bool all, struct chunk *passed)
{
    if (p->facts.size < (all ? 1 : PASSING_BYTES))
        return false;
    set_u64(p->passed, tracefile_put(run->trace, CHUNK_PART, p->facts.data, p->facts.size));
    set_u64(p->passed + 8, order_count(run->order));
    p->facts.size = 0;
    brief_again(p->brief);
    map_free(&p->entered);
    *passed = (struct chunk){.kind = CHUNK_PASSED, .data = p->passed, .size = PASSED_BYTES};
    return true;
}

/* ---- reading ---- */

bool passed_note(struct passed *passed, struct chunk fact)
{
    if (fact.size != PASSED_BYTES)
        return false;
    passed->items = grow(passed->items, &passed->room, passed->count + 1, sizeof *passed->items);
    passed->items[passed->count++] =
        (struct passed_part){.place = at_u64(fact.data), .events = at_u64(fact.data + 8)};
    return true;
}

static bool play_part(struct run *run, uint64_t place, void (*play)(void *, struct chunk),
                      void *context)
{
    size_t size;
    uint8_t *data = tracefile_get(run->trace, CHUNK_PART, place, &size);
    if (!data)
        return false;
    struct in in = in_from(data, size);
    struct brief *brief = brief_new();
    struct chunk chunk;
    while (in_left(&in) && brief_get(brief, &in, &chunk))
        if (passing_takes(&chunk))
            play(context, chunk);
    bool good = in_done(&in);
    brief_free(brief);
    free(data);
    return good;
}

/* Those that were put before the first event that is kept are given back, or will be. */
bool passed_play(struct passed *passed, struct run *run, void (*play)(void *, struct chunk),
                 void *context)
{
    uint64_t first = order_first(run->order);
    bool good = true;
    for (size_t i = 0; i < passed->count; i++) {
        bool there = !first || passed->items[i].events > first;
        if (there)
            good &= play_part(run, passed->items[i].place, play, context);
    }
    free(passed->items);
    *passed = (struct passed){0};
    return good;
}

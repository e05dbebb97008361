#include "server/taking/entering.h"

#include "memory/map.h"
#include "server/intake/ring.h"
#include "server/loop/log.h"

#define PARTS_IN_A_TURN (ENTRIES_WORDS / RING_PART) /* of one ring */

/* What there is no room for is lost; the file says nothing of it then, the log does. */
static bool put(struct program *program, const struct ring *ring, const struct out *body, bool last)
{
    return journal_put(program->taking,
                       &(struct chunk){.kind = CHUNK_ENTRIES,
                                       .session = program->session,
                                       .thread = ring->thread,
                                       .data = body->data,
                                       .size = (uint32_t)body->size},
                       1, last);
}

static void empty(struct program *program, struct ring *ring, struct ticks *ticks, bool last)
{
    struct out body = {0};
    for (unsigned n = 0; n < PARTS_IN_A_TURN && ring_take(ring, ticks, last, &body); n++) {
        if (!put(program, ring, &body, last) && !program->entries_left++)
            log_line("%s: when calls began and ended finds no room and is not kept",
                     program->taking->file);
        body.size = 0;
    }
    out_free(&body);
}

static void drop_ended(struct program *program, struct ticks *ticks)
{
    struct map live = {0};
    for (struct queue *q = program->queues; q; q = q->next)
        map_put(&live, q->head->thread, 0, q);
    for (struct ring **at = &program->rings, *r; (r = *at) != NULL;) {
        if (map_get(&live, r->thread, 0)) {
            at = &r->next;
            continue;
        }
        empty(program, r, ticks, true);
        *at = r->next;
        ring_free(r);
    }
    map_free(&live);
}

void entering_round(struct program *program, struct ticks *ticks)
{
    bool ended = false;
    for (struct ring *r = program->rings; r; r = r->next) {
        unsigned full = ring_full(r);
        program->full = full > program->full ? full : program->full;
        ended |= ring_is_empty(r);
        empty(program, r, ticks, false);
    }
    if (ended)
        drop_ended(program, ticks);
}

void entering_last(struct program *program, struct ticks *ticks)
{
    for (struct ring *r = program->rings; r; r = r->next)
        while (!ring_is_empty(r))
            empty(program, r, ticks, true);
}

#include "server/taking/carrying.h"

#include "server/intake/carried.h"
#include "server/loop/log.h"

/* What there is no room for is lost; the file says nothing of it then, the log does. */
static void empty(struct program *program, struct carried *ring, struct ticks *ticks)
{
    struct out body = {0};
    while (carried_take(ring, ticks, &body)) {
        bool put = journal_put(program->taking,
                               &(struct chunk){.kind = CHUNK_SPANS,
                                               .session = program->session,
                                               .thread = ring->carrier,
                                               .data = body.data,
                                               .size = (uint32_t)body.size},
                               1, false);
        if (!put && !program->spans_left++)
            log_line("%s: which task is on which thread finds no room and is not kept",
                     program->taking->file);
        body.size = 0;
    }
    out_free(&body);
}

void carrying_round(struct program *program, struct ticks *ticks)
{
    for (struct carried **at = &program->carried, *r; (r = *at) != NULL;) {
        unsigned full = carried_full(r);
        bool over = carried_is_over(r);
        program->full = full > program->full ? full : program->full;
        empty(program, r, ticks);
        if (!over) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        carried_free(r);
    }
}

#include "server/journal/placement_reader.h"

#include "server/decode/placement_records.h"
#include "server/eventloop/server_log.h"

/* Records for which there is no room are lost; only the server's log reports that, not the file. */
static void placement_reader_drain(struct captured_program *program, struct placement_ring *ring,
                                   struct tsc_clock *ticks)
{
    struct encoder body = {0};
    while (placement_ring_decode(ring, ticks, &body)) {
        bool put = journal_append(program->taking,
                                  &(struct chunk){.kind = CHUNK_SPANS,
                                                  .session = program->session,
                                                  .thread = ring->carrier,
                                                  .data = body.data,
                                                  .size = (uint32_t)body.size},
                                  1, false);
        if (!put && !program->spans_left++)
            server_log("%s: no space for task placement records; they are dropped",
                       program->taking->file);
        body.size = 0;
    }
    encoder_free(&body);
}

void placement_reader_poll(struct captured_program *program, struct tsc_clock *ticks)
{
    for (struct placement_ring **at = &program->carried, *r; (r = *at) != NULL;) {
        unsigned full = placement_ring_is_full(r);
        bool over = placement_ring_is_over(r);
        program->full = full > program->full ? full : program->full;
        placement_reader_drain(program, r, ticks);
        if (!over) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        placement_ring_free(r);
    }
}

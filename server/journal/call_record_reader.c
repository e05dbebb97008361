#include "server/journal/call_record_reader.h"

#include "base/map.h"
#include "server/decode/ring_reader.h"
#include "server/eventloop/server_log.h"

#define PARTS_IN_A_TURN (CALL_RECORDS_WORDS / RING_READER_CHUNK) /* of one ring */

/* Records for which there is no room are lost; only the server's log reports that, not the file. */
static bool call_record_write(struct captured_program *program, const struct ring_reader *ring,
                              const struct encoder *body, bool last)
{
    return journal_append(program->taking,
                          &(struct chunk){.kind = CHUNK_ENTRIES,
                                          .session = program->session,
                                          .thread = ring->thread,
                                          .data = body->data,
                                          .size = (uint32_t)body->size},
                          1, last);
}

static void call_record_drain(struct captured_program *program, struct ring_reader *ring,
                              struct tsc_clock *ticks, bool last)
{
    struct encoder body = {0};
    for (unsigned n = 0; n < PARTS_IN_A_TURN && ring_reader_decode(ring, ticks, last, &body); n++) {
        if (!call_record_write(program, ring, &body, last) && !program->entries_left++)
            server_log("%s: no space for call records; they are dropped", program->taking->file);
        body.size = 0;
    }
    encoder_free(&body);
}

static void drop_ended(struct captured_program *program, struct tsc_clock *ticks)
{
    struct map live = {0};
    for (struct shared_queue *q = program->queues; q; q = q->next)
        map_put(&live, q->head->thread, 0, q);
    for (struct ring_reader **at = &program->rings, *r; (r = *at) != NULL;) {
        if (map_get(&live, r->thread, 0)) {
            at = &r->next;
            continue;
        }
        call_record_drain(program, r, ticks, true);
        *at = r->next;
        ring_reader_free(r);
    }
    map_free(&live);
}

void call_record_reader_poll(struct captured_program *program, struct tsc_clock *ticks)
{
    bool ended = false;
    for (struct ring_reader *r = program->rings; r; r = r->next) {
        unsigned full = ring_reader_is_full(r);
        program->full = full > program->full ? full : program->full;
        ended |= ring_reader_is_empty(r);
        call_record_drain(program, r, ticks, false);
    }
    if (ended)
        drop_ended(program, ticks);
}

void call_record_reader_finish(struct captured_program *program, struct tsc_clock *ticks)
{
    for (struct ring_reader *r = program->rings; r; r = r->next)
        while (!ring_reader_is_empty(r))
            call_record_drain(program, r, ticks, true);
}

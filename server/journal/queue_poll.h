/* Polling rounds over the queues of a program. */
#ifndef SERVER_JOURNAL_QUEUE_POLL_H
#define SERVER_JOURNAL_QUEUE_POLL_H

#include "server/journal/capture.h"

/* Buffers of polling rounds, which are made one at a time. */
struct poll_buffers {
    struct tsc_clock ticks;
    /* of handoff_queue.h: bytes for the journal; a round may continue in another one */
    uint8_t *buffer;
    struct ring_slot *slots; /* POLL_SLOTS, out of the queues */
};
#define POLL_SLOTS (HANDOFF_BUFFER_BYTES / SLOT_BYTES)

void poll_buffers_begin(struct poll_buffers *buffers);
void poll_buffers_end(struct poll_buffers *buffers);
enum poll_result queue_poll(struct captured_program *program, struct poll_buffers *buffers);

#endif

/* Polling rounds over a program: capture the contents of its queues, of the rings in which its
 * threads and carriers record calls and tasks, and of the regions in which its threads measure
 * themselves, in the journal.  The capture lock must be held. */
#ifndef SERVER_JOURNAL_PROGRAM_POLL_H
#define SERVER_JOURNAL_PROGRAM_POLL_H

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
/* Does one round: captures what fits into it of the queues, empties the rings, and reads the
 * regions that are due. */
enum poll_result program_poll(struct captured_program *program, struct poll_buffers *buffers);
/* Reads all regions, whether they are due or not.  last: nothing more will come, and the rings are
 * emptied, too. */
void program_poll_profiles(struct captured_program *program, struct poll_buffers *buffers,
                           bool last);

#endif

/* The places of a trace file's states: two slots in its head, which are written alternately. */
#ifndef SERVER_TRACEFILE_CHECKPOINTS_H
#define SERVER_TRACEFILE_CHECKPOINTS_H

#include "server/tracefile/tracefile_state.h"

#define SLOT_AT 48u /* in the head */
#define SLOT_BYTES_HEAD 24u
#define TRACEFILE_HOLDS_OFFSET                                                                     \
    96u /* likewise: enum tracefile_holds and its complement, or two zeros */
#define CHECKPOINT_HEAD_BYTES 80u

/* The bytes of a state before those of the order. */
struct checkpoint_head {
    const uint8_t *parts, *threads; /* places; bytes of CHUNK_THREADS */
    uint32_t part_count;
    uint64_t thread_bytes;
    size_t size;
};

/* The newest state of a file, from which it is resumed. */
struct newest_checkpoint {
    uint64_t place, serial; /* 0: there is none, and the journal is read from its begin */
    uint32_t number, from_number; /* its own; of the mark that the journal is read from */
    struct tracefile_region from;
    struct delivered_until delivered; /* what it knows of the journal */
    uint8_t *data; /* the caller's */
    struct checkpoint_head head; /* in it */
};
/* Finds the newest state.  Returns false if a part of it is damaged. */
bool checkpoint_find_newest(struct tracefile *file, struct newest_checkpoint *state);

bool checkpoint_slot_read(const uint8_t *head, unsigned i, uint64_t *place, uint64_t *serial);
uint64_t checkpoint_slot_checksum(const uint8_t *slot, unsigned i);

#endif

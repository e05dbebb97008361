/* Checkpoints of a trace file: the state of the order at one moment, with the place in the journal
 * from which a reader continues.  Two slots in the head of the file, which are written alternately,
 * have the places of the newest ones. */
#ifndef SERVER_TRACEFILE_CHECKPOINTS_H
#define SERVER_TRACEFILE_CHECKPOINTS_H

#include "server/tracefile/tracefile_state.h"

#define SLOT_AT 48u /* in the head */
#define SLOT_BYTES_HEAD 24u
#define TRACEFILE_HOLDS_OFFSET                                                                     \
    96u /* likewise: enum tracefile_holds and its complement, or two zeros */
#define CHECKPOINT_HEAD_BYTES 80u

/* Head of a checkpoint, before the data of the order. */
struct checkpoint_head {
    const uint8_t *parts, *threads; /* places; bytes of CHUNK_THREADS */
    uint32_t part_count;
    uint64_t thread_bytes;
    size_t size;
};

/* The newest checkpoint of a file, from which it is resumed. */
struct newest_checkpoint {
    uint64_t place, serial; /* place 0: there is none, and the journal is read from its begin */
    /* its number; that of the restart point from which the journal is read */
    uint32_t number, from_number;
    struct tracefile_region from;
    struct delivered_until delivered; /* the part of the journal that it covers */
    uint8_t *data; /* owned by the caller */
    struct checkpoint_head head; /* points into `data` */
};
/* Finds the newest checkpoint.  Returns false if a part of it is damaged. */
bool checkpoint_find_newest(struct tracefile *file, struct newest_checkpoint *state);

#endif

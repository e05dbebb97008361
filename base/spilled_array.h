/* Much that is written once and then only read, of which little is the process's own memory.
 *
 * What is put stays where it is, and never changes.  The first SPILLED_MEMORY_BYTES bytes are
 * memory like any other; what comes after them lies in a file without a name, in $TMPDIR or
 * /var/tmp, and is mapped: the system may put it on disk and take the memory back.  Where no such
 * file can be had, or its disk is full, memory is used, a sixteenth of the machine's at most; past
 * that there is no room. */
#ifndef BASE_SPILLED_ARRAY_H
#define BASE_SPILLED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SPILLED_CHUNK_BYTES /* tests make it small */
#define SPILLED_CHUNK_BYTES ((size_t)4 << 20)
#endif
#ifndef SPILLED_MEMORY_BYTES
#define SPILLED_MEMORY_BYTES ((size_t)64 << 20)
#endif

/* Zeroed: nothing is in it. */
struct spilled_array {
    struct spilled_array_chunk {
        uint8_t *bytes; /* NULL: given back */
        bool own;
    } *pieces;
    size_t count, room, first; /* pieces before `first` are given back */
    size_t used;               /* of the last piece */
    size_t own_bytes;
    int file; /* 1 + its descriptor, 0 none yet, -1 none is to be had */
};

void spilled_array_free(struct spilled_array *spill); /* zeroed again */
/* Room for so many bytes, at most a piece, at an address that 8 divides, all 0; *place, never 0,
 * says where.  To be written before the next call.  NULL: there is no room. */
void *spilled_array_append(struct spilled_array *spill, size_t size, uint64_t *place);
/* What lies there; NULL: it was given back. */
static inline const void *spilled_array_get(const struct spilled_array *spill, uint64_t place)
{
    size_t piece = (size_t)(place / SPILLED_CHUNK_BYTES);
    return piece < spill->first ? NULL : spill->pieces[piece].bytes + place % SPILLED_CHUNK_BYTES;
}
/* Gives the pieces before this one back (all but the last at most). */
void spilled_array_drop_chunk(struct spilled_array *spill, size_t piece);
/* The number of the piece that is being filled. */
static inline size_t spilled_array_chunk(const struct spilled_array *spill)
{
    return spill->count ? spill->count - 1 : 0;
}

#endif

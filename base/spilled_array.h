/* Append-only storage that spills to disk: large data that is written once and then only read.
 *
 * Items never move or change. The first SPILLED_MEMORY_BYTES bytes are ordinary memory; what
 * follows lies in an unnamed file in $TMPDIR or /var/tmp, which is mapped, so that the kernel can
 * write it to disk and reclaim the memory. If the file cannot be created or its disk is full,
 * ordinary memory is used, up to a sixteenth of the machine's; beyond that, appending fails. */
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

/* A zeroed one is empty. */
struct spilled_array {
    struct spilled_array_chunk {
        uint8_t *bytes; /* NULL: freed */
        bool own;
    } *pieces;
    size_t count, room, first; /* pieces before `first` are freed */
    size_t used;               /* bytes used of the last piece */
    size_t own_bytes;
    int file; /* 1 + its descriptor; 0: not created yet; -1: cannot be created */
};

void spilled_array_free(struct spilled_array *spill); /* leaves it zeroed */
/* Returns `size` zeroed bytes, at most a piece, aligned to 8; *place receives their position, never
 * 0. The caller must write them before the next call. Returns NULL if there is no memory. */
void *spilled_array_append(struct spilled_array *spill, size_t size, uint64_t *place);
/* Returns what was appended at that place, or NULL if it was freed. */
static inline const void *spilled_array_get(const struct spilled_array *spill, uint64_t place)
{
    size_t piece = (size_t)(place / SPILLED_CHUNK_BYTES);
    return piece < spill->first ? NULL : spill->pieces[piece].bytes + place % SPILLED_CHUNK_BYTES;
}
/* Frees the pieces before this one (never the last). */
void spilled_array_drop_chunk(struct spilled_array *spill, size_t piece);
/* Returns the number of the piece that is being filled. */
static inline size_t spilled_array_chunk(const struct spilled_array *spill)
{
    return spill->count ? spill->count - 1 : 0;
}

#endif

/* The space of a trace file: what is preallocated, what must be kept, and what can be freed. */
#ifndef SERVER_TRACEFILE_FILE_SPACE_H
#define SERVER_TRACEFILE_FILE_SPACE_H

#include "server/tracefile/tracefile_state.h"

/* Adds an area that is never freed. */
void file_space_keep(struct kept_space *kept, uint64_t place, uint64_t room);
void file_space_add_region(struct region_list *list, struct tracefile_region region);
/* Reuses or frees the regions of the journal before this one. */
void tracefile_free_regions(struct tracefile *file, uint32_t before);

int file_space_by_place(const void *a, const void *b); /* for qsort of places (uint64_t) */
/* Frees, after a delay, parts of the checkpoint in the slot that was just overwritten by `state`.
 */
void file_space_reclaim(struct tracefile *file, unsigned slot, const struct checkpoint *state);

/* ---- preallocation ---- */

/* Reserves space for `bytes` bytes of the journal from `begin` on, and for the last chunks after
 * them, but not beyond `end`.  Returns false with errno if the disk is full. */
bool preallocation_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end);
/* Does the same where the journal continues. */
bool preallocation_reserve(struct tracefile *file, uint64_t bytes);
uint64_t preallocation_bytes(const struct tracefile *file); /* space for the last chunks of a run */
void preallocation_give_back(struct tracefile *file);

#endif

/* Keeps the parts of a trace file that are still needed and frees the space of the others. */
#ifndef SERVER_TRACEFILE_FILE_RETENTION_H
#define SERVER_TRACEFILE_FILE_RETENTION_H

#include "server/tracefile/tracefile_state.h"

/* Adds an area that is never freed. */
void file_retention_add(struct kept_space *kept, uint64_t place, uint64_t room);
void file_retention_add_region(struct region_list *list, struct tracefile_region region);
/* Reuses or frees the regions of the journal before this one. */
void tracefile_free_regions(struct tracefile *file, uint32_t before);

#endif

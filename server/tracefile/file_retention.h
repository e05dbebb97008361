/* What of a trace file is still needed, and what goes back to the file system. */
#ifndef SERVER_TRACEFILE_FILE_RETENTION_H
#define SERVER_TRACEFILE_FILE_RETENTION_H

#include "server/tracefile/tracefile_state.h"

void file_retention_add(struct tracefile *file, uint64_t place,
                        uint64_t room); /* not to be given back */
/* Regions of the journal before this one are written again, or given back. */
void tracefile_free_regions(struct tracefile *file, uint32_t before);

#endif

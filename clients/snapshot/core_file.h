/* Snapshot of a core file, as the kernel and gcore write it. libelf reads the file; every length in
 * its notes is checked. A truncated file gives what it has. */
#ifndef CLIENTS_SNAPSHOT_CORE_FILE_H
#define CLIENTS_SNAPSHOT_CORE_FILE_H

#include "clients/snapshot/snapshot.h"
#include "wire/endpoint.h"

/* Returns false with the reason in *error if the file is not a core file or has no thread. */
bool core_file_read(struct snapshot *snapshot, const char *path, struct error *error);
/* Add what a note describes: threads, the name of the program, mappings of files. */
void core_file_add_thread(struct snapshot *snapshot, const void *bytes, size_t size);
void core_file_add_program(struct snapshot *snapshot, const void *bytes, size_t size);
void core_file_add_mappings(struct snapshot *snapshot, const void *bytes, size_t size);

#endif

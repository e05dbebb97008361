/* The ELF files that a process has mapped, where each is loaded, and whether the file is the one
 * that was mapped, by its build-id. */
#ifndef CLIENTS_SNAPSHOT_LOADED_MODULES_H
#define CLIENTS_SNAPSHOT_LOADED_MODULES_H

#include "clients/snapshot/snapshot.h"
#include "wire/trace_view.h"

/* Fills the modules of a process, which process_info_free() frees. Modules whose file is missing or
 * of another build have a path without a directory, so that it is not opened. The files of
 * a process with another root directory are found below that. */
void loaded_modules_list(const struct snapshot *snapshot, struct process_info *process);

#endif

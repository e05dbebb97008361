/* Paths of the files of this installation, or of this build, found relative to the running
 * program. */
#ifndef CLIENTS_CONNECTION_INSTALL_PATHS_H
#define CLIENTS_CONNECTION_INSTALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Gets the absolute path of a file by its name below the prefix ("bin/poet",
 * "libexec/poet/poet-server"). Returns false if there is none that `mode` (of access(2)) permits,
 * or the path is longer than size. */
bool install_path_find(const char *name, int mode, char *path, size_t size);
/* Returns the path of the command poet; "poet", to be found by PATH, if it is not there. */
const char *install_path_poet(char *path, size_t size);
/* Gets the path of libpoet, in the library directory below the prefix. */
bool install_path_library(char *path, size_t size);
/* Gets the path of an internal program, in libexec. */
bool install_path_program(const char *name, char *path, size_t size);

#endif

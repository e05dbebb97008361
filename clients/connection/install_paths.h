/* Where the files of this installation, or of this build, are: found from where the running program
 * is. */
#ifndef CLIENTS_CONNECTION_INSTALL_PATHS_H
#define CLIENTS_CONNECTION_INSTALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* The absolute path of a file by its name below the prefix ("bin/poet",
 * "libexec/poet/poet-server"); false: there is none that may be used as `mode` says (of access(2)),
 * or the path is longer than size. */
bool install_path_find(const char *name, int mode, char *path, size_t size);
/* libpoet, in the folder of libraries below the prefix. */
bool install_path_library(char *path, size_t size);
/* A program that only ours start, in libexec. */
bool install_path_program(const char *name, char *path, size_t size);

#endif

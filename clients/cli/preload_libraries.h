/* Libraries that are preloaded in addition to libpoet, each to trace one runtime or library. They
 * are in the directory poet/ next to libpoet or, if users added them, next to libpoet itself. Each
 * has a file libpoet-NAME.preload next to it, with lines of words; patterns are those of fnmatch:
 *
 *     needs PATTERN...     loaded if a program on the command line is linked with such a library
 *     starts PATTERN...    the first program, if its name matches, only starts others
 *     starter PATTERN...   and belongs to this library if its real path matches
 *     also LIBRARY         preloaded as well then, since the programs load it later by themselves
 *     otherwise            loaded if no other one is
 *     always               loaded in addition to any others
 *     compiler PATTERN, defines HEADER MACRO
 *                          poetcc links it, and the `also` libraries, if the name of the compiler
 *                          matches, and that header defines the macro */
#ifndef CLIENTS_CLI_PRELOAD_LIBRARIES_H
#define CLIENTS_CLI_PRELOAD_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

/* Appends " PATH" for each library that a command line needs, except the one named `without` (NULL:
 * none). directory: where libpoet is. */
void preload_add(char *list, size_t size, const char *directory, char *const *arguments,
                 const char *without);
/* Prints the names of all such libraries, one per line. */
void preload_print(const char *directory);
/* Returns whether there is a library of that name. */
bool preload_is_installed(const char *directory, const char *name);

#endif

/* Libraries that are preloaded into a recorded program, each to trace a runtime, and whether the
 * program can be recorded unmodified. */
#ifndef CLIENTS_CLI_PRELOAD_H
#define CLIENTS_CLI_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* ---- whether a program can be recorded unmodified ----
 * It must be dynamically linked against the C library that libpoet uses, and started without new
 * privileges. */

struct preload_check {
    char path[4096]; /* the file that is executed */
    char sanitizers[512]; /* libraries that must be loaded before all others, separated by spaces */
    char needed[4096]; /* all libraries that it is linked with, separated by spaces */
    bool traced; /* compiled with poetcc -trace: it needs no preloading, whatever prevents that */
};

/* Finds a program as execvp does and examines it, and the interpreter of a script. Writes a
 * sentence to `why` if it cannot be recorded; found: false if there is no such program. */
bool preload_check_program(const char *program, struct preload_check *loadable, bool *found,
                           char *why, size_t size);

/* ---- libraries that are preloaded in addition to libpoet ----
 * Each traces one runtime or library. They
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

/* Appends " PATH" for each library that a command line needs, except the one named `without` (NULL:
 * none). directory: where libpoet is. */
void preload_add(char *list, size_t size, const char *directory, char *const *arguments,
                 const char *without);
/* Prints the names of all such libraries, one per line. */
void preload_print(const char *directory);
/* Returns whether there is a library of that name. */
bool preload_is_installed(const char *directory, const char *name);

#endif

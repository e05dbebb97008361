/* Libraries that are loaded beside libpoet, each to follow one kind of thing.  They are in the
 * folder poet/ beside libpoet, or, those that somebody adds, beside libpoet itself.  Each has a
 * file libpoet-NAME.preload beside it, of lines of words; patterns are those of fnmatch:
 *
 *     needs PATTERN...     loaded if a program that the command line names is linked with such a library
 *     starts PATTERN...    the first program, if it is called so, only starts others
 *     starter PATTERN...   and is for this library if its real path is such
 *     also LIBRARY         loaded with it then, since the programs load it later by themselves
 *     otherwise            loaded if no other one is
 *     always               loaded whatever others are
 *     compiler PATTERN, defines HEADER MACRO
 *                          poetcc links it, and what `also` names, if the compiler is called so,
 *                          and that
 *                          header defines the macro
 */
#ifndef CLIENTS_CLI_PRELOAD_LIBRARIES_H
#define CLIENTS_CLI_PRELOAD_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

/* Appends " PATH" for each library that a command line asks for, but not for the one called
 * `without` (NULL: none). directory: where libpoet is. */
void preload_add(char *list, size_t size, const char *directory, char *const *arguments,
                 const char *without);
/* Prints the names of all there are, one a line. */
void preload_print(const char *directory);
/* Is there a library of that name? */
bool preload_is_installed(const char *directory, const char *name);

#endif

/* Names of functions and libraries that decide whether and how calls are measured. */
#ifndef CLIENTS_LIBPOET_PROFILE_LIBRARY_NAMES_H
#define CLIENTS_LIBPOET_PROFILE_LIBRARY_NAMES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Returns whether calls of the function are never measured: it does not return, or twice, looks at
 * its return address, or serves compilers. */
bool library_name_is_excluded(const char *name);
/* Returns whether a library of Poet that defines the function only looks at its calls. */
bool library_name_is_looked_at(const char *path, const char *name);
/* Returns whether no function of the library takes or returns wide vectors. */
bool library_name_is_narrow(const char *path);
bool library_name_is_poet(const char *path); /* Returns whether it is a library of Poet. */

#pragma GCC visibility pop
#endif

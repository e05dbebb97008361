/* Imports of measured objects (WANTED_LIBRARIES): the entries through which their code calls
 * functions of other objects lead to stubs (library_stubs.h), which measure these calls. */
#ifndef CLIENTS_LIBPOET_PROFILE_LIBRARY_IMPORTS_H
#define CLIENTS_LIBPOET_PROFILE_LIBRARY_IMPORTS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Does this for all objects that are loaded, if it is wanted; called once, at the start. wanted:
 * WANTED_ bits of the process. Says what is not measured. Objects that are
 * loaded later follow when the first of their measured functions is called. */
void library_imports_begin(uint32_t wanted);
#pragma GCC visibility pop
#endif

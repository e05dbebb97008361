/* Languages and libraries that synchronise by means that are not followed. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_RUNTIMES_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_RUNTIMES_H

#include <link.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* A module was loaded; records: its calls are recorded though it was not compiled for it.  Under
 * the lock of the modules: what is found is told later. */
void untraced_runtime_check(const struct dl_phdr_info *info, const char *path, bool is_program,
                            bool records);
/* Once the program is traced: whether it is of such a language itself.  warn: the user hears it,
 * too. */
void untraced_runtime_check_program(bool warn);
/* Whether what the library in a file of that name does is told by a library of ours. */
bool untraced_runtime_is_traced(const char *file);
void untraced_runtimes_report(void); /* the server, what was found since */

#pragma GCC visibility pop
#endif

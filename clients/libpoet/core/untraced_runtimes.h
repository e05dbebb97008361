/* Languages and libraries that synchronize in ways that are not traced. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_RUNTIMES_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_RUNTIMES_H

#include <link.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Checks a module that was loaded; records: its calls are recorded though it was not compiled with
 * -trace. Must hold the lock of the modules: findings are reported later. */
void untraced_runtime_check(const struct dl_phdr_info *info, const char *path, bool is_program,
                            bool records);
/* Checks, once the program is traced, whether it is itself written in such a language. warn: print
 * a warning, too. */
void untraced_runtime_check_program(bool warn);
/* Returns whether a library of Poet's traces what the library in a file of that name does. */
bool untraced_runtime_is_traced(const char *file);
void untraced_runtimes_report(void); /* Reports to the server what was found since. */

#pragma GCC visibility pop
#endif

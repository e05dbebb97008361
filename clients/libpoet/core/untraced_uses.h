/* Untraced synchronization that the program uses: calls that it imports, languages and libraries
 * that it is written in, and what was met while it ran. Each is reported to the server once, as a
 * reason for uncertain answers. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_USES_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_USES_H

#include "wire/event_types.h"
#include "wire/message.h"

#include <stdbool.h>

struct dl_phdr_info; /* <link.h> */

#pragma GCC visibility push(hidden)

/* Reports it to the server by the connection, once for each `what`. */
void untraced_use_report(enum untraced_reason reason, const char *what);
void untraced_use_forward(void); /* Sends what the server had no time for before. */
/* Writes an UNTRACED message for each that was reported before. */
void untraced_use_announce(struct encoder *out);
void untraced_use_forked(void); /* Called in a child after fork. */

/* Reports the untraced functions that are imported by the program and by those of its libraries
 * that were compiled with -trace. */
void untraced_imports_report(void);

/* ---- languages and libraries that synchronize in ways that are not traced ---- */

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

/* The environment of the process, read and changed without the program's help: a program may have a
 * getenv or setenv of its own (bash has), with another idea of what the environment is.
 *
 * In a program that runs with rights its user does not have (setuid, setgid, capabilities), nothing
 * is read: its user chose the variables. */
#ifndef CLIENTS_LIBPOET_CORE_ENVIRONMENT_H
#define CLIENTS_LIBPOET_CORE_ENVIRONMENT_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Whether the program has rights that its user does not have. */
bool environment_is_unsafe(void);
/* The value, owned by the environment; NULL: it is not set, or may not be trusted. */
const char *environment_get(const char *name);
/* For the programs that this one starts.  Never in a signal handler, and only while no other thread
 * may change the environment: at the start, and in a child after fork.  What is unset stays
 * allocated. */
void environment_set(const char *name, const char *value);
void environment_unset(const char *name);

#pragma GCC visibility pop
#endif

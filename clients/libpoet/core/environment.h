/* The environment of the process, read, sent and changed without the program's functions: a program
 * may define a getenv or setenv of its own (bash does) that works differently.
 *
 * In a program with privileges that its user does not have (setuid, setgid, capabilities), nothing
 * is read: its user chose the variables. */
#ifndef CLIENTS_LIBPOET_CORE_ENVIRONMENT_H
#define CLIENTS_LIBPOET_CORE_ENVIRONMENT_H

#include "wire/message.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Returns whether the program has privileges that its user does not have. */
bool environment_is_unsafe(void);
/* Returns the value, which the environment owns, or NULL if it is not set or must not be
 * trusted. */
const char *environment_get(const char *name);
/* Change the environment for the programs that this one starts. Not async-signal-safe; no other
 * thread may change the environment meanwhile: at the start, and in a child after fork. Memory of
 * unset variables stays allocated. */
void environment_set(const char *name, const char *value);
void environment_unset(const char *name);

/* Appends all variables, for the program's HELLO (wire/variable.h), with the values of those that
 * the description or POET_VARIABLES names; none if POET_VARIABLES says so. No other thread may
 * change the environment meanwhile. */
void environment_encode(struct encoder *out, const char *description);

#pragma GCC visibility pop

#endif

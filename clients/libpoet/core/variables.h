/* The environment variables of the program, for its HELLO (wire/variable.h). */
#ifndef CLIENTS_LIBPOET_CORE_VARIABLES_H
#define CLIENTS_LIBPOET_CORE_VARIABLES_H

#include "wire/message.h"

#pragma GCC visibility push(hidden)

/* Appends them all, with the values of those that are of the description or named by
 * POET_VARIABLES; none of them where that says so.  Only while no other thread may change the
 * environment. */
void variables_encode(struct encoder *out, const char *description);

#pragma GCC visibility pop
#endif

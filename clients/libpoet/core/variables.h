/* The environment variables of the program, for its HELLO (wire/variable.h). */
#ifndef CLIENTS_LIBPOET_CORE_VARIABLES_H
#define CLIENTS_LIBPOET_CORE_VARIABLES_H

#include "wire/message.h"

#pragma GCC visibility push(hidden)

/* Appends all of them, with the values of those that the description or POET_VARIABLES names; none
 * if POET_VARIABLES says so. No other thread may change the environment meanwhile. */
void variables_encode(struct encoder *out, const char *description);

#pragma GCC visibility pop
#endif

/* The picture of two runs of a program (clients/poet/both.h): the window is made here, not by a server. */
#ifndef CLIENTS_POET_BOTHDRAWN_H
#define CLIENTS_POET_BOTHDRAWN_H

#include "clients/poet/both.h"

/* An exit status, with a complaint if it is not good.  The books of both are one, then. */
int bothdrawn_write(const struct command *command, struct both *both, const char *file);

#endif

/* The rings of a program, in which its threads write when their calls began and ended, emptied into the journal.  In
 * the door. */
#ifndef SERVER_TAKING_ENTERING_H
#define SERVER_TAKING_ENTERING_H

#include "server/taking/taking.h"

/* Empties them, and gives back those of threads that have ended. */
void entering_round(struct program *program, struct ticks *ticks);
/* Nothing more will come. */
void entering_last(struct program *program, struct ticks *ticks);

#endif

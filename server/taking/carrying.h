/* The rings of a program's carriers, in which they write which of its tasks is on them, emptied
 * into the journal.  In the door. */
#ifndef SERVER_TAKING_CARRYING_H
#define SERVER_TAKING_CARRYING_H

#include "server/taking/taking.h"

/* Empties them, and gives back those of threads that have ended. */
void placement_reader_poll(struct captured_program *program, struct tsc_clock *ticks);

#endif

/* The regions of a program, read now and then; what they say goes to the journal.  In the door. */
#ifndef SERVER_TAKING_SUMMING_H
#define SERVER_TAKING_SUMMING_H

#include "server/taking/taking.h"

#define SUMS_EVERY_NS UINT64_C(1000000000) /* so often, if no more is to be written */
#define SUMS_NS_A_BYTE 1000u /* no more than 1 MB a second, on the average */

/* Reads those that are due, and those of threads that have ended, which are given back. */
void summing_round(struct program *program, struct ticks *ticks);
/* Reads all of them.  last: nothing more will come. */
void summing_now(struct program *program, struct ticks *ticks, bool last);

#endif

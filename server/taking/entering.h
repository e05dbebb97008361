/* The rings of a program, in which its threads write when their calls began and ended, emptied into
 * the journal.  In the door. */
#ifndef SERVER_TAKING_ENTERING_H
#define SERVER_TAKING_ENTERING_H

#include "server/taking/taking.h"

/* Empties them, and gives back those of threads that have ended. */
void call_record_reader_poll(struct captured_program *program, struct tsc_clock *ticks);
/* Nothing more will come. */
void call_record_reader_finish(struct captured_program *program, struct tsc_clock *ticks);

#endif

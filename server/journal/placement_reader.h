/* Empties the rings of a program's carriers, in which they record their current tasks, into the
 * journal.  Must hold the capture lock. */
#ifndef SERVER_JOURNAL_PLACEMENT_READER_H
#define SERVER_JOURNAL_PLACEMENT_READER_H

#include "server/journal/capture.h"

/* Empties the rings, and frees those of threads that have ended. */
void placement_reader_poll(struct captured_program *program, struct tsc_clock *ticks);

#endif

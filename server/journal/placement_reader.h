/* The rings of a program's carriers, in which they write which of its tasks is on them, emptied
 * into the journal.  In the door. */
#ifndef SERVER_JOURNAL_PLACEMENT_READER_H
#define SERVER_JOURNAL_PLACEMENT_READER_H

#include "server/journal/capture.h"

/* Empties them, and gives back those of threads that have ended. */
void placement_reader_poll(struct captured_program *program, struct tsc_clock *ticks);

#endif

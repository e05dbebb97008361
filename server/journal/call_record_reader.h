/* The rings of a program, in which its threads write when their calls began and ended, emptied into
 * the journal.  In the door. */
#ifndef SERVER_JOURNAL_CALL_RECORD_READER_H
#define SERVER_JOURNAL_CALL_RECORD_READER_H

#include "server/journal/capture.h"

/* Empties them, and gives back those of threads that have ended. */
void call_record_reader_poll(struct captured_program *program, struct tsc_clock *ticks);
/* Nothing more will come. */
void call_record_reader_finish(struct captured_program *program, struct tsc_clock *ticks);

#endif

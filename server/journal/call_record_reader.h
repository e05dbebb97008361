/* Empties the rings of a program, in which its threads record the begins and ends of their
 * calls, into the journal.  Must hold the capture lock. */
#ifndef SERVER_JOURNAL_CALL_RECORD_READER_H
#define SERVER_JOURNAL_CALL_RECORD_READER_H

#include "server/journal/capture.h"

/* Empties the rings, and frees those of threads that have ended. */
void call_record_reader_poll(struct captured_program *program, struct tsc_clock *ticks);
/* Nothing more will come. */
void call_record_reader_finish(struct captured_program *program, struct tsc_clock *ticks);

#endif

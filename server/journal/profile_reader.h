/* Reads the regions of a program at intervals and writes their measurements to the journal.
 * Must hold the capture lock. */
#ifndef SERVER_JOURNAL_PROFILE_READER_H
#define SERVER_JOURNAL_PROFILE_READER_H

#include "server/journal/capture.h"

#define PROFILE_READ_INTERVAL_NS UINT64_C(1000000000) /* so often, if no more is to be written */
#define PROFILE_READ_NS_PER_BYTE 1000u /* no more than 1 MB a second, on the average */

/* Reads the regions that are due, and reads and frees those of threads that have ended. */
void profile_reader_poll(struct captured_program *program, struct tsc_clock *ticks);
/* Reads all of them.  last: nothing more will come. */
void profile_reader_now(struct captured_program *program, struct tsc_clock *ticks, bool last);

#endif

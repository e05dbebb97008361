/* Reader of cuts: appends the events of CUT, EVENTS and LEFT_OUT to a run (cut_records.h). */
#ifndef SERVER_CUTS_CUT_READER_H
#define SERVER_CUTS_CUT_READER_H

#include "server/tracefile/chunks.h"

#include <stdbool.h>

struct run;
struct cut_reader;

struct cut_reader *cut_reader_new(struct run *run);
void cut_reader_free(struct cut_reader *reader);
/* Returns whether this is a chunk of a cut. */
bool cut_reader_accepts(const struct chunk *chunk);
/* Applies one; returns false if it is invalid. */
bool cut_reader_apply(struct cut_reader *reader, struct chunk chunk);

#endif

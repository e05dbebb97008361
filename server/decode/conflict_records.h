/* Messages about conflicting accesses of memory: CONFLICT and UNEXAMINED. */
#ifndef SERVER_DECODE_CONFLICT_RECORDS_H
#define SERVER_DECODE_CONFLICT_RECORDS_H

#include "server/decode/program_session.h"

/* Returns the first line that a CONFLICT names and that was not declared yet, by its code, or 0. */
uint32_t conflict_records_missing_line(const struct program_session *session, struct decoder in);
/* Decode the body of a CONFLICT that this thread has sent, and that of an UNEXAMINED. Return false
 * with in->error. */
bool conflict_records_decode(struct program_session *session, struct decoder *in, uint32_t thread);
bool conflict_records_decode_unexamined(struct program_session *session, struct decoder *in);

#endif

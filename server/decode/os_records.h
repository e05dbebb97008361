/* Decodes what the operating system said of a program and its threads, as its journal has it:
 * USAGE, and SWITCHES, by program_session_decode_switches(). */
#ifndef SERVER_DECODE_OS_RECORDS_H
#define SERVER_DECODE_OS_RECORDS_H

#include "server/decode/program_session.h"
#include "wire/message.h"

/* The process that usage records are about. */
struct usage_target {
    struct run *run;
    uint32_t process;
    const struct program_session *session;
    uint32_t (*line)(const struct program_session *session,
                     uint32_t code); /* of the run; 0: none is announced */
};

/* Decodes usage records.  Returns false with in->error if they are malformed.  Ignores
 * values of undeclared threads and unknown metrics. */
bool usage_records_decode(const struct usage_target *by, struct decoder *in);

#endif

/* USAGE: what the operating system said of a program and its threads, as its journal has it. */
#ifndef SERVER_DECODE_USAGE_RECORDS_H
#define SERVER_DECODE_USAGE_RECORDS_H

#include "server/decode/program_session.h"
#include "wire/message.h"

/* Whose it is. */
struct usage_target {
    struct run *run;
    uint32_t process;
    const struct program_session *session;
    uint32_t (*line)(const struct program_session *session,
                     uint32_t code); /* of the run; 0: none is announced */
};

/* False, with in->error: it cannot be read.  Figures of threads that are not announced are left
 * out, and so are meters that are not known. */
bool usage_records_decode(const struct usage_target *by, struct decoder *in);

#endif

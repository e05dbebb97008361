/* A run of one program with some threads, to which fuzzers pass records. */
#ifndef TESTS_FUZZ_TOLD_H
#define TESTS_FUZZ_TOLD_H

#include "server/decode/program_session.h"

#define TOLD_THREADS 3u /* codes 1 .. TOLD_THREADS */

struct told {
    struct run *run;
    struct program_session *session;
    uint64_t ns, numbers[TOLD_THREADS + 1]; /* by thread: number of its last event */
};

/* Begins the run; event type 1 is "note", type 2 is "start". */
struct told told_begin(void);
void told_end(struct told *told); /* closes the session; the caller frees the run */

#endif

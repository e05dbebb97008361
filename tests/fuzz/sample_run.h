/* A run of one program with some threads, to which fuzzers pass records. */
#ifndef TESTS_FUZZ_SAMPLE_RUN_H
#define TESTS_FUZZ_SAMPLE_RUN_H

#include "server/decode/program_session.h"

#define SAMPLE_RUN_THREADS 3u /* codes 1 .. SAMPLE_RUN_THREADS */

struct sample_run {
    struct run *run;
    struct program_session *session;
    uint64_t ns, numbers[SAMPLE_RUN_THREADS + 1]; /* by thread: number of its last event */
};

/* Begins the run; event type 1 is "note", type 2 is "start". */
struct sample_run sample_run_begin(void);
void sample_run_end(struct sample_run *sample); /* closes the session; the caller frees the run */

#endif

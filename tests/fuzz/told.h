/* A run of one program with some threads, that is told things. */
#ifndef TESTS_FUZZ_TOLD_H
#define TESTS_FUZZ_TOLD_H

#include "server/decode/program_session.h"

#define TOLD_THREADS 3u /* codes 1 .. TOLD_THREADS */

struct told {
    struct run *run;
    struct program_session *session;
    uint64_t ns, numbers[TOLD_THREADS + 1]; /* of the last event, of each thread */
};

/* Type 1 is "note", type 2 "start". */
struct told told_begin(void);
void told_end(struct told *told); /* the program is gone; its run is to be freed */

#endif

/* Recorded input of a run (wire/input.h): the bodies of INPUT, each thread's in its order, at most LIMIT_INPUT_BYTES. */
#ifndef SERVER_RUN_INPUTS_H
#define SERVER_RUN_INPUTS_H

#include "server/run/run.h"
#include "wire/input.h"

/* Of one thread. */
struct inputs_thread {
    uint32_t session, thread; /* code of its own line */
    uint32_t line; /* the same of the run; 0: not announced yet */
    uint8_t *bytes; /* bodies, each behind its size (u32) */
    size_t size, room;
    uint64_t calls, passed;
    bool cut; /* not all that it called was recorded */
    bool streams; /* nor what its program reads through C's stdio */
};

/* Of the thread of a session whose own line that is in the program, and in the run. */
void inputs_add(struct run *run, uint32_t session, uint32_t thread, uint32_t line,
                const struct input *input);
size_t inputs_threads(const struct run *run);
const struct inputs_thread *inputs_thread(const struct run *run, size_t i);

struct inputs;
void inputs_free(struct inputs *inputs); /* of NULL nothing */

#endif

/* Recorded input of a run (wire/recorded_input.h): the bodies of INPUT, each thread's in its order,
 * at most LIMIT_INPUT_BYTES. */
#ifndef SERVER_RUN_INPUT_STORE_H
#define SERVER_RUN_INPUT_STORE_H

#include "server/run/run.h"
#include "wire/recorded_input.h"

/* Inputs of one thread. */
struct input_store_thread {
    uint32_t session, thread; /* code of its own line */
    uint32_t line; /* number of that line in the run; 0: not announced yet */
    uint8_t *bytes; /* bodies, each after its size (u32) */
    size_t size, room;
    uint64_t calls, passed;
    bool cut; /* not all that it called was recorded */
    bool streams; /* nor what its program reads through C's stdio */
};

/* Adds an input of a session's thread; its own line is `thread` in the program and `line` in the
 * run. */
void input_store_add(struct run *run, uint32_t session, uint32_t thread, uint32_t line,
                     const struct input *input);
size_t input_store_threads(const struct run *run);
const struct input_store_thread *input_store_thread(const struct run *run, size_t i);

#endif

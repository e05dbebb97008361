/* Input from outside of the run that is replayed to the threads' calls (wire/recorded_input.h). */
#ifndef CLIENTS_LIBPOET_REPLAY_REPLAYED_INPUT_H
#define CLIENTS_LIBPOET_REPLAY_REPLAYED_INPUT_H

#include "wire/recorded_input.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

bool replayed_input_begin(void); /* Reads POET_REPLAY_INPUT. Returns false if there is none. */

struct replayed_input { /* input of a call, from its first byte */
    uint32_t line, used; /* bytes of the current piece that were read */
    uint64_t at, end; /* of the line's pieces */
    struct input piece;
};
/* Finds what the next such call of the thread returned. Returns true and sets result and errno.
 * Returns false if nothing is recorded of it, if it got no input from outside, or if it is another
 * call, which is a divergence; then the call must be made. */
bool replayed_input_find(struct traced_thread *thread, struct input *call,
                         struct replayed_input *given);
/* Returns whether the next call of the thread failed. */
bool replayed_input_fails(struct traced_thread *thread);
/* Reads its next bytes, or skips them if `to` is NULL; returns how many there were. */
size_t replayed_input_read(struct replayed_input *given, void *to, size_t size);

#pragma GCC visibility pop
#endif

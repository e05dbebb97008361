/* What calls of the threads of a repeated run brought from outside, given back
 * (wire/recorded_input.h). */
#ifndef CLIENTS_LIBPOET_REPLAY_REPLAYED_INPUT_H
#define CLIENTS_LIBPOET_REPLAY_REPLAYED_INPUT_H

#include "wire/recorded_input.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

bool replayed_input_begin(void); /* reads POET_REPLAY_INPUT; false: there is none */

struct replayed_input { /* what a call brought, from its begin */
    uint32_t line, used; /* of the piece, so much was read */
    uint64_t at, end; /* of the line's pieces */
    struct input piece;
};
/* What the next such call of the thread returned: true, and result and errno are there.  False:
 * nothing is recorded of it, or it brought nothing from outside, or it is another call, which is a
 * difference; it is made then. */
bool replayed_input_find(struct traced_thread *thread, struct input *call,
                         struct replayed_input *given);
bool replayed_input_fails(struct traced_thread *thread); /* the next call of the thread did */
/* The next bytes of it, passed over where `to` is NULL; how many there were. */
size_t replayed_input_read(struct replayed_input *given, void *to, size_t size);

#pragma GCC visibility pop
#endif

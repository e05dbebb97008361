/* What calls of the threads of a repeated run brought from outside, given back (wire/input.h). */
#ifndef CLIENTS_TRACE_REPLAY_GIVEN_H
#define CLIENTS_TRACE_REPLAY_GIVEN_H

#include "wire/input.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct thread;

bool given_begin(void); /* reads POET_REPLAY_INPUT; false: there is none */
/* What the next such call of the thread returned: true, and result, errno and bytes, of which `room` are wanted, are
 * there.  False: nothing is recorded of it, or it is another call, which is a difference; it is made then. */
bool given_take(struct thread *thread, struct input *call, void *bytes, size_t room);

#pragma GCC visibility pop
#endif

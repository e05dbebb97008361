/* After a fork, in the child: nobody else is there any more. */
#ifndef CLIENTS_TRACE_CORE_FORKED_H
#define CLIENTS_TRACE_CORE_FORKED_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct object;

void objects_begin_child(void);
void signals_begin_child(struct object *condition);
void barriers_forked(void);
void objects_forked(void); /* in the child: nobody else is there any more */
void codes_forked(void);
void modules_forked(void);
void life_forked(bool was_traced);

#pragma GCC visibility pop
#endif

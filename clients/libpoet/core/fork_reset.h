/* Resets after a fork, in the child, where the other threads do not exist any more. */
#ifndef CLIENTS_LIBPOET_CORE_FORK_RESET_H
#define CLIENTS_LIBPOET_CORE_FORK_RESET_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct sync_object;

void sync_objects_begin_child(void);
void condition_signals_begin_child(struct sync_object *condition);
void barriers_forked(void);
void sync_objects_forked(void); /* Resets all objects in the child. */
void type_code_forked(void);
void modules_forked(void);
void thread_lifetime_forked(bool was_traced);

#pragma GCC visibility pop
#endif

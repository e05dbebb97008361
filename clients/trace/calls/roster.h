/* The threads that there are: each by its id, and how many are recorded. */
#ifndef CLIENTS_TRACE_CALLS_ROSTER_H
#define CLIENTS_TRACE_CALLS_ROSTER_H

#include "clients/trace/core/task.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

void roster_bind(struct task *task, const pthread_t *id); /* it is found by its id from here on */
void roster_bind_self(struct task *task);                 /* by that of the calling thread */
void roster_unbind(struct task *task, pthread_t id);
struct task *roster_find(pthread_t id); /* NULL: none that is known */

void roster_begin(void); /* one more is recorded, */
void roster_end(void);   /* and one less */
unsigned roster_recorded(void);
void roster_forked(void); /* in the child: nobody else is there any more */

#pragma GCC visibility pop
#endif

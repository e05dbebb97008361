/* The threads that there are: each by its id, and how many are recorded. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_THREAD_REGISTRY_H
#define CLIENTS_LIBPOET_INTERPOSE_THREAD_REGISTRY_H

#include "clients/libpoet/core/thread_info.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

void thread_registry_bind(struct thread_info *task,
                          const pthread_t *id); /* it is found by its id from here on */
void thread_registry_bind_self(struct thread_info *task); /* by that of the calling thread */
void thread_registry_unbind(struct thread_info *task, pthread_t id);
struct thread_info *thread_registry_find(pthread_t id); /* NULL: none that is known */

void thread_registry_begin(void); /* one more is recorded, */
void thread_registry_end(void); /* and one less */
unsigned thread_registry_recorded(void);
void thread_registry_forked(void); /* in the child: nobody else is there any more */

#pragma GCC visibility pop
#endif

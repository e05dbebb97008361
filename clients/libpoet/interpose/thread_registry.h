/* Registry of threads: each by its id, and how many are recorded. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_THREAD_REGISTRY_H
#define CLIENTS_LIBPOET_INTERPOSE_THREAD_REGISTRY_H

#include "clients/libpoet/core/thread_info.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

/* From here on the thread is found by its id. */
void thread_registry_bind(struct thread_info *task, const pthread_t *id);
void thread_registry_bind_self(struct thread_info *task); /* By the id of the calling thread. */
void thread_registry_unbind(struct thread_info *task, pthread_t id);
/* Returns NULL if no such thread is known. */
struct thread_info *thread_registry_find(pthread_t id);

void thread_registry_begin(void); /* Counts one more recorded thread, */
void thread_registry_end(void); /* and one less. */
unsigned thread_registry_recorded(void);
void thread_registry_forked(void); /* Called in the child, where no other thread exists. */

#pragma GCC visibility pop
#endif

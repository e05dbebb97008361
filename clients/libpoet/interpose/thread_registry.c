/* Registry of threads: each by its id, and how many are recorded. */
#include "clients/libpoet/interpose/thread_registry.h"

#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/sync_object.h"

#include <stdatomic.h>
#include <stddef.h>

/* Called by the creator and by the thread itself. Whichever is first, the thread has not yet run
 * the program's code: *id is valid and its own. An entry left by a thread that has ended is
 * overwritten. */
void thread_registry_bind(struct thread_info *task, const pthread_t *id)
{
    latch_lock(&task->binding);
    if (!(atomic_fetch_or(&task->flags, TASK_BOUND) & TASK_BOUND)) {
        struct sync_object *entry = sync_object_get((void *)*id, SYNC_TASK);
        if (entry)
            atomic_store(&entry->task, task);
    }
    latch_unlock(&task->binding);
}

void thread_registry_bind_self(struct thread_info *task)
{
    pthread_t id = pthread_self();
    thread_registry_bind(task, &id);
}

/* By now another thread may have the id. */
void thread_registry_unbind(struct thread_info *task, pthread_t id)
{
    struct sync_object *entry = sync_object_find((void *)id, SYNC_TASK);
    if (entry)
        atomic_compare_exchange_strong(&entry->task, &(struct thread_info *){task}, NULL);
}

struct thread_info *thread_registry_find(pthread_t id)
{
    struct sync_object *entry = sync_object_find((void *)id, SYNC_TASK);
    return entry ? atomic_load(&entry->task) : NULL;
}

static _Atomic unsigned recorded_threads;

void thread_registry_begin(void) { atomic_fetch_add(&recorded_threads, 1); }
void thread_registry_end(void) { atomic_fetch_sub(&recorded_threads, 1); }
unsigned thread_registry_recorded(void) { return atomic_load(&recorded_threads); }
void thread_registry_forked(void) { atomic_store(&recorded_threads, 0); }

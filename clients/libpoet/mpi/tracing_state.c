/* Global state of MPI tracing: whether calls are traced, its memory and its lock. */
#include "clients/libpoet/mpi/tracing_state.h"

#include "clients/libpoet/poet.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

bool mpi_tracing, mpi_is_threaded;

static atomic_flag tracing_state_is_locked = ATOMIC_FLAG_INIT;

void tracing_state_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&tracing_state_is_locked, memory_order_acquire))
        sched_yield();
}

void tracing_state_unlock(void)
{
    atomic_flag_clear_explicit(&tracing_state_is_locked, memory_order_release);
}

/* Memory for calls in progress when there is none left: from then on nothing more is traced. */
static _Alignas(16) char reserve[4u << 20];
static size_t reserved;

void *tracing_state_alloc(size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (p)
        return p;
    size_t bytes = (n * each + 15) & ~(size_t)15;
    mpi_tracing = false;
    poet_untraced("MPI calls after memory for tracing ran out");
    size_t at = __atomic_fetch_add(&reserved, bytes, __ATOMIC_RELAXED);
    return bytes <= sizeof reserve && at <= sizeof reserve - bytes ? reserve + at : NULL;
}

void tracing_state_free(void *p)
{
    if ((char *)p < reserve || (char *)p >= reserve + sizeof reserve)
        free(p);
}

/* Call context of the calling thread, for libpoet-memory. */
#include "clients/libpoet/core/heap_channel.h"

#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/call_stack.h"

uint64_t poet_heap_context(void)
{
    const struct traced_thread *t = thread_self();
    const struct thread_profile *m = t && t->queue ? t->profile : NULL;
    if (!m || !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_CALLS))
        return 0;
    uint32_t context = atomic_load_explicit(&call_stack_top(m)->context, memory_order_relaxed);
    return context ? (uint64_t)m->serial << 32 | context : 0;
}

uint32_t poet_heap_calls(uint64_t context, uint64_t *functions, uint32_t most)
{
    const struct traced_thread *t = thread_self();
    const struct thread_profile *m = t ? t->profile : NULL;
    uint32_t n = 0;
    if (!m || m->serial != context >> 32)
        return 0;
    for (uint32_t c = (uint32_t)context; c && c < REGION_CONTEXTS && n < most;
         c = contexts_of(m)[c].parent)
        if (contexts_of(m)[c].scope == SCOPE_FUNCTION)
            functions[n++] = contexts_of(m)[c].function;
    return n;
}

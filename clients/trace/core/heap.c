#include "clients/trace/core/heap.h"

#include "clients/trace/core/link.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/frames.h"
#include "wire/heap.h"
#include "wire/message.h"

bool poet_heap_begin(int fd)
{
    const struct thread *t = thread_self();
    if (!t || server_remote || !server_heaps)
        return false;
    uint8_t message[MESSAGE_FRAME_BYTES + 8];
    struct out out = {.data = message, .room = sizeof message};
    out_begin(&out, MESSAGE_HEAP);
    put_u32(&out, HEAP_VERSION);
    out_end(&out);
    return server_send_at_once(&out, fd, t->life);
}

struct poet_heap_where poet_heap_where(void)
{
    const struct thread *t = thread_self();
    if (!LIKELY(t && t->queue))
        return (struct poet_heap_where){0};
    struct poet_heap_where where = {.thread = t->queue->thread,
                                    .records = !t->busy && !t->off,
                                    .measures = t->measured != NULL};
    if (t->last.line == where.thread)
        where.event = t->last.number;
    return where;
}

uint64_t poet_heap_context(void)
{
    const struct thread *t = thread_self();
    const struct measured *m = t && t->queue ? t->measured : NULL;
    if (!m || !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_CALLS))
        return 0;
    uint32_t context = atomic_load_explicit(&frames_top(m)->context, memory_order_relaxed);
    return context ? (uint64_t)m->serial << 32 | context : 0;
}

uint32_t poet_heap_calls(uint64_t context, uint64_t *functions, uint32_t most)
{
    const struct thread *t = thread_self();
    const struct measured *m = t ? t->measured : NULL;
    uint32_t n = 0;
    if (!m || m->serial != context >> 32)
        return 0;
    for (uint32_t c = (uint32_t)context; c && c < REGION_CONTEXTS && n < most;
         c = contexts_of(m)[c].parent)
        if (contexts_of(m)[c].scope == SCOPE_FUNCTION)
            functions[n++] = contexts_of(m)[c].function;
    return n;
}

#include "clients/libpoet/core/heap_channel.h"

#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "wire/heap_region.h"
#include "wire/message.h"

/* Returns the lifetime in which the heap begins; 0: none. In a program of a runtime's tasks it
 * begins before any task does, by a thread that is not recorded itself. */
static uint32_t heap_life(void)
{
    const struct traced_thread *t = thread_self();
    return t                                  ? t->life
           : thread_runtime() && !thread_mine ? atomic_load(&tracer.lifetime.number)
                                              : 0;
}

bool poet_heap_begin(int fd)
{
    uint32_t life = heap_life();
    if (!life || tracer.server.needs_socket)
        return false;
    uint8_t message[MESSAGE_FRAME_BYTES + 8];
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_HEAP);
    encode_u32(&out, HEAP_VERSION);
    encoder_end_message(&out);
    return server_send_at_once(&out, fd, life);
}

uint32_t poet_heap_thread(void)
{
    const struct traced_thread *t = thread_self();
    return LIKELY(t && t->queue) ? t->queue->thread : 0;
}

struct poet_heap_where poet_heap_where(void)
{
    const struct traced_thread *t = thread_self();
    if (UNLIKELY(!t || !t->queue))
        return (struct poet_heap_where){0};
    struct poet_heap_where where = {.thread = t->queue->thread,
                                    .records = !t->busy && !thread_is_off(t),
                                    .measures = t->profile != NULL,
                                    .stacks = t->stacks.innermost || t->stacks.own_bytes};
    if (t->last.line == where.thread)
        where.event = t->last.number;
    return where;
}

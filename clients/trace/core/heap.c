#include "clients/trace/core/heap.h"

#include "clients/trace/core/link.h"
#include "clients/trace/core/thread.h"
#include "wire/heap.h"
#include "wire/message.h"

bool poet_heap_begin(int fd)
{
    const struct thread *t = thread_self();
    if (!t || server_remote)
        return false;
    uint8_t message[MESSAGE_FRAME_BYTES + 8];
    struct out out = {.data = message, .room = sizeof message};
    out_begin(&out, MESSAGE_HEAP);
    put_u32(&out, HEAP_VERSION);
    out_end(&out);
    return server_send_at_once(&out, fd, t->life);
}

uint32_t poet_heap_thread(uint64_t *event)
{
    const struct thread *t = thread_self();
    *event = 0;
    if (!t || !t->queue)
        return 0;
    uint32_t code = t->queue->thread;
    if (t->last.line == code)
        *event = t->last.number;
    return code;
}

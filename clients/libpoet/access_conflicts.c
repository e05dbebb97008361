/* Conflicting accesses of memory (poet.h), as a library that examines accesses finds them. */
#define _GNU_SOURCE
#include "clients/libpoet/poet.h"

#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/wait_stack.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <errno.h>

_Static_assert(POET_ACCESS_WRITE == ACCESS_WRITE && POET_ACCESS_ATOMIC == ACCESS_ATOMIC &&
                   POET_ACCESS_FREE == ACCESS_FREE && POET_ACCESS_RELEASE == ACCESS_RELEASE &&
                   POET_MEMORY_HEAP == (int)MEMORY_HEAP && POET_MEMORY_STACK == (int)MEMORY_STACK &&
                   POET_MEMORY_UNSEEN == (int)MEMORY_UNSEEN,
               "as programs and servers name them");

unsigned poet_held_locks(poet_line_t *lines, unsigned most)
{
    const struct traced_thread *t = thread_self();
    unsigned count = 0;
    for (size_t i = t && !t->busy ? t->hold_stack.count : 0; i > 0 && count < most; i--) {
        const struct object_hold *hold = &t->hold_stack.holds[i - 1];
        const struct sync_object *o = hold->object;
        bool excludes =
            o && (o->kind == SYNC_MUTEX || o->kind == SYNC_SPIN_LOCK) && hold->visit == o->visit;
        poet_line_t line = excludes ? trace_line_index(hold->line) : 0;
        if (line)
            lines[count++] = line;
    }
    return count;
}

int poet_may_find_stack(void) { return seccomp_allows(ALLOWED_THREAD_STACKS); }

int poet_conflict(const poet_conflict_t *c)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[256];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    struct slot_stack stack = {0};
    if (!t)
        return 0;
    int saved = errno;
    const poet_access_t *a = &c->earlier, *b = &c->later;
    const struct slot_stack *read =
        b->site && c->with_callers ? wait_stack_read((uintptr_t)b->site, &stack) : NULL;
    uint64_t callers[4] = {0};
    for (uint32_t i = 0; read && i < read->count && i < 4; i++)
        callers[i] = read->callers[i];
    encode_conflict(&body, &(struct conflict_message){
                               .last = a->after.line,
                               .number = a->after.number,
                               .thread = a->thread,
                               .site = (uintptr_t)a->site,
                               .flags = (uint8_t)a->flags,
                               .lock = a->locks[0],
                               .outer_lock = a->locks[1],
                               .then_last = b->after.line,
                               .then_number = b->after.number,
                               .then_site = (uintptr_t)b->site,
                               .then_flags = (uint8_t)b->flags,
                               .then_lock = b->locks[0],
                               .then_outer_lock = b->locks[1],
                               .address = (uintptr_t)c->address,
                               .bytes = c->bytes < UINT32_MAX ? (uint32_t)c->bytes : UINT32_MAX,
                               .memory = (uint8_t)c->memory,
                               .owner = c->owner,
                               .block = (uintptr_t)c->block,
                               .block_bytes = c->block_bytes,
                               .block_site = (uintptr_t)c->block_site,
                               .caller_1 = callers[0],
                               .caller_2 = callers[1],
                               .caller_3 = callers[2],
                               .caller_4 = callers[3]});
    bool sent = !body.failed && message_queue_send(t, MESSAGE_CONFLICT, &body);
    errno = saved;
    return sent;
}

void poet_unexamined(unsigned why, uint64_t count)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[16];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    if (!t)
        return;
    int saved = errno;
    encode_unexamined(&body, &(struct unexamined_message){(uint8_t)why, count});
    message_queue_send(t, MESSAGE_UNEXAMINED, &body);
    errno = saved;
}

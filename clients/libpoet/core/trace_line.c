#define _GNU_SOURCE
#include "clients/libpoet/core/trace_line.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "clients/libpoet/poet.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint32_t next_line = 1, first_line = 1;

void trace_lines_begin(void) { atomic_store(&first_line, atomic_load(&next_line)); }

bool trace_line_is_current(uint32_t code)
{
    return code >= atomic_load_explicit(&first_line, memory_order_relaxed) &&
           code < atomic_load_explicit(&next_line, memory_order_relaxed);
}

uint32_t trace_line_announce(struct traced_thread *t, const char *kind, const char *name,
                             const void *object, uintptr_t entry, unsigned flags,
                             const uint64_t identity[2])
{
    if (atomic_load_explicit(&next_line, memory_order_relaxed) >= LIMIT_LINES)
        return 0;
    uint32_t index = atomic_fetch_add_explicit(&next_line, 1, memory_order_relaxed);
    if (index >= LIMIT_LINES)
        return 0;
    uint8_t small[512];
    busy_begin(t);
    struct encoder body = message_text_buffer(t, small, sizeof small,
                                              64 + message_text_size(kind, NAME_BYTES) +
                                                  message_text_size(name, LIMIT_TEXT_BYTES - 1));
    encode_line(&body,
                &(struct line_message){.code = index,
                                       .high = identity ? identity[0] : tracer.process.instance,
                                       .low = identity ? identity[1] : index,
                                       .flags = (uint8_t)flags,
                                       .object = (uint64_t)(uintptr_t)object,
                                       .entry = entry,
                                       .kind = message_text_limit(kind, NAME_BYTES),
                                       .name = message_text_limit(name, LIMIT_TEXT_BYTES - 1)});
    bool sent = message_queue_send(t, MESSAGE_LINE, &body);
    busy_end(t);
    return sent ? index : 0;
}

void trace_line_close(struct traced_thread *t, const struct trace_line *line)
{
    uint8_t bytes[12];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    if (!trace_line_index(line) || atomic_load_explicit(&line->remote, memory_order_relaxed))
        return;
    encode_close(
        &body, &(struct close_message){trace_line_index(line),
                                       atomic_load_explicit(&line->number, memory_order_relaxed)});
    message_queue_send(t, MESSAGE_CLOSE, &body);
}

void trace_line_rename(struct traced_thread *t, const struct trace_line *line, const char *name)
{
    uint8_t small[512];
    busy_begin(t);
    struct encoder body = message_text_buffer(t, small, sizeof small,
                                              16 + message_text_size(name, LIMIT_TEXT_BYTES - 1));
    encode_rename(&body, &(struct rename_message){
                             trace_line_index(line), message_text_limit(name, LIMIT_TEXT_BYTES - 1),
                             atomic_load_explicit(&line->number, memory_order_relaxed)});
    message_queue_send(t, MESSAGE_NAME, &body);
    busy_end(t);
}

void poet_line_name(poet_line_t line, const char *name)
{
    struct traced_thread *t = thread_recording();
    struct trace_line *named = t && line && name ? trace_line_by_code(t, line) : NULL;
    if (named)
        trace_line_rename(t, named, name);
}

void poet_line_kind(poet_line_t line, const char *kind, const char *name)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[600];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    if (!t || !line || !kind || !name)
        return;
    encode_kind(&body, &(struct kind_message){line, message_text_limit(kind, NAME_BYTES),
                                              message_text_limit(name, NAME_BYTES)});
    message_queue_send(t, MESSAGE_KIND, &body);
    if (line == trace_line_index(t->own))
        replay_hook_thread_named(t, name);
}

void poet_participants(poet_line_t line, uint32_t count)
{
    struct traced_thread *t = line ? thread_recording() : NULL;
    uint8_t bytes[8];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    if (!t)
        return;
    encode_participants(&body, &(struct participants_message){line, count});
    message_queue_send(t, MESSAGE_PARTICIPANTS, &body);
}

void poet_set_name(const char *name)
{
    struct traced_thread *t = thread_recording();
    if (!t || !name)
        return;
    trace_line_rename(t, t->own, name);
    replay_hook_thread_named(t, name);
}

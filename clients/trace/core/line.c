#define _GNU_SOURCE
#include "clients/trace/core/line.h"

#include "clients/trace/core/entry.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/text.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/part.h"
#include "clients/trace/poet.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/told.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint32_t next_line = 1, first_line = 1;

void lines_begin(void) { atomic_store(&first_line, atomic_load(&next_line)); }

bool line_current(uint32_t code)
{
    return code >= atomic_load_explicit(&first_line, memory_order_relaxed) &&
           code < atomic_load_explicit(&next_line, memory_order_relaxed);
}

uint32_t line_announce(struct thread *t, const char *kind, const char *name, const void *object,
                       uintptr_t entry, unsigned flags, const uint64_t identity[2])
{
    if (atomic_load_explicit(&next_line, memory_order_relaxed) >= LIMIT_LINES)
        return 0;
    uint32_t index = atomic_fetch_add_explicit(&next_line, 1, memory_order_relaxed);
    if (index >= LIMIT_LINES)
        return 0;
    uint8_t small[512];
    busy_begin(t);
    struct out body =
        message_room(t, small, sizeof small,
                     64 + text_size(kind, NAME_BYTES) + text_size(name, LIMIT_TEXT_BYTES - 1));
    put_told_line(&body, &(struct told_line){.code = index,
                                             .high = identity ? identity[0] : instance,
                                             .low = identity ? identity[1] : index,
                                             .flags = (uint8_t)flags,
                                             .object = (uint64_t)(uintptr_t)object,
                                             .entry = entry,
                                             .kind = text_within(kind, NAME_BYTES),
                                             .name = text_within(name, LIMIT_TEXT_BYTES - 1)});
    bool told = tell_control(t, MESSAGE_LINE, &body);
    busy_end(t);
    return told ? index : 0;
}

void line_close(struct thread *t, const struct line *line)
{
    uint8_t bytes[12];
    struct out body = {.data = bytes, .room = sizeof bytes};
    if (!line_index(line) || atomic_load_explicit(&line->far, memory_order_relaxed))
        return;
    put_told_close(&body,
                   &(struct told_close){line_index(line),
                                        atomic_load_explicit(&line->number, memory_order_relaxed)});
    tell_control(t, MESSAGE_CLOSE, &body);
}

void line_rename(struct thread *t, const struct line *line, const char *name)
{
    uint8_t small[512];
    busy_begin(t);
    struct out body =
        message_room(t, small, sizeof small, 16 + text_size(name, LIMIT_TEXT_BYTES - 1));
    put_told_rename(
        &body, &(struct told_rename){line_index(line), text_within(name, LIMIT_TEXT_BYTES - 1),
                                     atomic_load_explicit(&line->number, memory_order_relaxed)});
    tell_control(t, MESSAGE_NAME, &body);
    busy_end(t);
}

void poet_line_name(poet_line_t line, const char *name)
{
    struct thread *t = thread_recording();
    struct line *named = t && line && name ? line_by_code(t, line) : NULL;
    if (named)
        line_rename(t, named, name);
}

void poet_line_kind(poet_line_t line, const char *kind, const char *name)
{
    struct thread *t = thread_recording();
    uint8_t bytes[600];
    struct out body = {.data = bytes, .room = sizeof bytes};
    if (!t || !line || !kind || !name)
        return;
    put_told_kind(&body, &(struct told_kind){line, text_within(kind, NAME_BYTES),
                                             text_within(name, NAME_BYTES)});
    tell_control(t, MESSAGE_KIND, &body);
    if (replays && line == line_index(t->own))
        part_named(t, script_text(name, strlen(name)));
}

void poet_set_name(const char *name)
{
    struct thread *t = thread_recording();
    if (!t || !name)
        return;
    line_rename(t, t->own, name);
    if (replays)
        part_named(t, script_text(name, strlen(name)));
}

/* Implementation of poet.h: events and orders of the program's own. */
#define _GNU_SOURCE
#include "clients/libpoet/poet.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "clients/libpoet/user_lines.h"
#include "wire/annotation_text.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/program_messages.h"
#include "wire/slot.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

poet_type_t poet_type(const char *name, const char *const *ordered_after)
{
    return name ? type_code_get(name, ordered_after) : 0;
}

poet_line_t poet_current_line(void)
{
    struct traced_thread *t = thread_recording();
    return t ? atomic_load(&thread_place(t)->index) : 0;
}

static const poet_event_t none = {0, 0};

/* Fills in the line and writes a single event; used for every one of the program's own. */
/* Completes the record, in place: each copy would take as long as a tenth of an event. */
static poet_event_t poet_record_single_by(struct traced_thread *t, poet_line_t index,
                                          struct record *r)
{
    struct trace_line *line = trace_line_by_code(t, index);
    if (!line || !r->shape)
        return none;
    int saved = errno;
    r->a = line;
    r->take_a = 1;
    if (r->about && !trace_line_is_current(r->about))
        r->about = 0;
    uint64_t number = record_write(t, r, NULL);
    record_mark_nonempty();
    errno = saved;
    return number ? (poet_event_t){atomic_load(&line->index), number} : none;
}

static poet_event_t poet_record_single(poet_line_t index, struct record *r)
{
    struct traced_thread *t = thread_recording();
    return t ? poet_record_single_by(t, index, r) : none;
}

static poet_event_t poet_record_event(poet_line_t line, poet_type_t type, poet_line_t object,
                                      unsigned flags, uintptr_t site)
{
    return poet_record_single(line,
                              &(struct record){.shape = type,
                                               .about = object,
                                               .site = site,
                                               .flags = flags & POET_CLOSES ? SLOT_CLOSES : 0});
}

poet_event_t poet_event(poet_line_t line, poet_type_t type, poet_line_t object, unsigned flags)
{
    return poet_record_event(line, type, object, flags, SITE);
}

poet_event_t poet_event_at(poet_line_t line, poet_type_t type, poet_line_t object, unsigned flags,
                           const void *site)
{
    return poet_record_event(line, type, object, flags, site ? (uintptr_t)site : SITE);
}

/* Formats the text into `room`, truncated; returns its size, 0 if that fails. */
__attribute__((format(printf, 2, 0))) static size_t format_text(char room[LIMIT_TEXT_BYTES],
                                                                const char *format, va_list ap)
{
    int n = room ? vsnprintf(room, LIMIT_TEXT_BYTES, format, ap) : -1;
    if (n >= (int)LIMIT_TEXT_BYTES) {
        n = (int)message_text_trim(room, LIMIT_TEXT_BYTES - 1);
        room[n] = 0;
    }
    return n < 0 ? 0 : (size_t)n;
}

poet_event_t poet_text(const char *format, ...)
{
    struct traced_thread *t = thread_recording();
    if (!t)
        return none;
    int saved = errno;
    va_list ap;
    va_start(ap, format);
    busy_begin(t);
    size_t size = format_text(thread_scratch(t), format, ap);
    va_end(ap);
    poet_event_t event = poet_record_single_by(t, 0,
                                               &(struct record){.shape = TYPE_NOTE,
                                                                .flags = SLOT_TEXT,
                                                                .site = SITE,
                                                                .payload = t->scratch,
                                                                .payload_bytes = (uint32_t)size});
    busy_end(t);
    errno = saved;
    return event;
}

uint32_t poet_record_choice(poet_line_t line, uint32_t of, uint32_t chosen)
{
    struct traced_thread *t = thread_recording();
    char text[32];
    if (!t || chosen >= of)
        return chosen;
    int saved = errno;
    chosen = replay_hook_choose(t, of, chosen);
    int size = snprintf(text, sizeof text, "%u of %u", chosen, of);
    poet_record_single_by(t, line,
                          &(struct record){.shape = TYPE_CHOOSE,
                                           .flags = SLOT_TEXT,
                                           .site = SITE,
                                           .payload = text,
                                           .payload_bytes = (uint32_t)size});
    errno = saved;
    return chosen;
}

void poet_annotate(poet_event_t event, const char *format, ...)
{
    struct traced_thread *t = thread_recording();
    if (!t || !event.line)
        return;
    int saved = errno;
    va_list ap;
    va_start(ap, format);
    busy_begin(t);
    struct encoder body = message_text_buffer(t, NULL, 0, SCRATCH_BYTES);
    encode_annotation(&body, &(struct annotation_message){
                                 event.line, event.number, {NULL, 0}}); /* the text follows */
    if (!body.failed) {
        size_t size = format_text(t->scratch + body.size, format, ap);
        memcpy(t->scratch + body.size - 4, &(uint32_t){htole32((uint32_t)size)}, 4);
        body.size += size;
    }
    message_queue_send(t, MESSAGE_ANNOTATION, &body);
    busy_end(t);
    va_end(ap);
    errno = saved;
}

static poet_event_t poet_record_pair_flagged(struct traced_thread *t, struct trace_line *a,
                                             poet_type_t type_a, struct trace_line *b,
                                             poet_type_t type_b, uintptr_t site, uint16_t flags,
                                             poet_event_t *on_b)
{
    uint16_t shape = type_a && type_b && a && b && a != b ? type_code_get_pair(type_a, type_b) : 0;
    if (!shape)
        return none;
    uint64_t number_b, number_a = record_write(t,
                                               &(struct record){.shape = shape,
                                                                .a = a,
                                                                .b = b,
                                                                .take_a = 1,
                                                                .take_b = 1,
                                                                .site = site,
                                                                .flags = flags},
                                               &number_b);
    record_mark_nonempty();
    if (!number_a)
        return none;
    if (on_b)
        *on_b = (poet_event_t){atomic_load(&b->index), number_b};
    return (poet_event_t){atomic_load(&a->index), number_a};
}

static poet_event_t poet_record_pair(struct traced_thread *t, struct trace_line *a,
                                     poet_type_t type_a, struct trace_line *b, poet_type_t type_b,
                                     uintptr_t site, poet_event_t *on_b)
{
    return poet_record_pair_flagged(t, a, type_a, b, type_b, site, 0, on_b);
}

static poet_event_t poet_record_pair_on(poet_line_t a, poet_type_t type_a, poet_line_t b,
                                        poet_type_t type_b, poet_event_t *on_b, uintptr_t site)
{
    struct traced_thread *t = thread_recording();
    if (on_b)
        *on_b = none;
    return t ? poet_record_pair(t, trace_line_by_code(t, a), type_a, trace_line_by_code(t, b),
                                type_b, site, on_b)
             : none;
}

static poet_event_t poet_enter_line(poet_line_t to, poet_type_t type, poet_type_t entered,
                                    uintptr_t site)
{
    struct traced_thread *t = thread_recording();
    struct trace_line *line = t ? user_line_find(to) : NULL;
    if (!line)
        return none;
    poet_event_t event = poet_record_pair(t, thread_place(t), type, line, entered, site, NULL);
    if (event.line)
        thread_push(t, NULL, line);
    return event;
}

static poet_event_t poet_leave_line(poet_line_t from, poet_type_t type, poet_type_t left,
                                    uintptr_t site)
{
    struct traced_thread *t = thread_recording();
    struct trace_line *line = t ? user_line_find(from) : NULL;
    for (size_t i = line ? t->hold_stack.count : 0; i-- > 0;) {
        if (t->hold_stack.holds[i].line != line || t->hold_stack.holds[i].object)
            continue;
        thread_pop(t, &t->hold_stack.holds[i]);
        poet_event_t event = none;
        poet_record_pair(t, thread_place(t), left, line, type, site, &event);
        return event;
    }
    return none;
}

poet_event_t poet_pair(poet_line_t a, poet_type_t type_a, poet_line_t b, poet_type_t type_b,
                       poet_event_t *on_b)
{
    return poet_record_pair_on(a, type_a, b, type_b, on_b, SITE);
}

poet_event_t poet_pair_at(poet_line_t a, poet_type_t type_a, poet_line_t b, poet_type_t type_b,
                          poet_event_t *on_b, const void *site)
{
    return poet_record_pair_on(a, type_a, b, type_b, on_b, site ? (uintptr_t)site : SITE);
}

poet_event_t poet_enter(poet_line_t to, poet_type_t type, poet_type_t entered)
{
    return poet_enter_line(to, type, entered, SITE);
}

poet_event_t poet_enter_at(poet_line_t to, poet_type_t type, poet_type_t entered, const void *site)
{
    return poet_enter_line(to, type, entered, site ? (uintptr_t)site : SITE);
}

poet_event_t poet_leave(poet_line_t from, poet_type_t type, poet_type_t left)
{
    return poet_leave_line(from, type, left, SITE);
}

poet_event_t poet_leave_at(poet_line_t from, poet_type_t type, poet_type_t left, const void *site)
{
    return poet_leave_line(from, type, left, site ? (uintptr_t)site : SITE);
}

void poet_set_current_line(poet_line_t index)
{
    struct traced_thread *t = thread_recording();
    struct trace_line *line = t && index ? trace_line_by_code(t, index) : NULL;
    if (!t)
        return;
    for (size_t i = t->hold_stack.count; i-- > 0;)
        if (!t->hold_stack.holds[i].object)
            thread_pop(t, &t->hold_stack.holds[i]);
    if (line && line != t->own)
        thread_push(t, NULL, line);
}

poet_event_t poet_send(poet_line_t line, poet_type_t type)
{
    return poet_record_single(
        line, &(struct record){.shape = type, .flags = RELATION_SEND, .site = SITE});
}

struct wire_partner {
    uint32_t line, zero;
    uint64_t number;
};
#define MOST_PARTNERS (LIMIT_PAYLOAD_BYTES / sizeof(struct wire_partner) - 1)

/* Returns a buffer for the partners of one event; the thread's own, once it has needed many. */
static struct wire_partner *poet_partners_buffer(struct traced_thread *t, size_t count)
{
    static struct wire_partner nothing;
    if (count && !t->partners)
        t->partners = tracer_arena_alloc(LIMIT_PAYLOAD_BYTES);
    return count ? t->partners : &nothing;
}

poet_event_t poet_receive(poet_line_t line, poet_type_t type, const poet_event_t *sends,
                          size_t count)
{
    struct traced_thread *t = count && sends ? thread_recording() : NULL;
    struct wire_partner *more = t ? poet_partners_buffer(t, count - 1) : NULL;
    uint32_t n = 0;
    if (!t || !more)
        return none;
    busy_begin(t);
    for (size_t i = 1; i < count && n < MOST_PARTNERS; i++)
        more[n++] = (struct wire_partner){sends[i].line, 0, sends[i].number};
    poet_event_t event =
        poet_record_single_by(t, line,
                              &(struct record){.shape = type,
                                               .flags = RELATION_RECEIVE | (n ? SLOT_PARTNERS : 0),
                                               .site = SITE,
                                               .partner = {sends[0].line, sends[0].number},
                                               .payload = more,
                                               .payload_bytes = n * (uint32_t)sizeof *more});
    busy_end(t);
    return event;
}

static poet_event_t poet_record_keyed(poet_line_t line, poet_type_t type, unsigned relation,
                                      uint64_t high, uint64_t low, uint32_t count, uintptr_t site)
{
    return poet_record_single(line, &(struct record){.shape = type,
                                                     .flags = (uint16_t)(relation | SLOT_KEYED),
                                                     .site = site,
                                                     .partner = {0, low},
                                                     .key = high,
                                                     .count = count});
}

poet_event_t poet_send_key(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low)
{
    return poet_record_keyed(line, type, RELATION_SEND, high, low, 0, SITE);
}

poet_event_t poet_receive_key(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low)
{
    return poet_record_keyed(line, type, RELATION_RECEIVE, high, low, 0, SITE);
}

poet_event_t poet_barrier_event(poet_line_t line, poet_type_t type, uint64_t high, uint64_t low,
                                uint32_t count)
{
    return poet_record_keyed(line, type, RELATION_GROUP, high, low, count, SITE);
}

static poet_event_t poet_record_after(poet_line_t line, poet_type_t type, poet_event_t earlier,
                                      uintptr_t site)
{
    return poet_record_single(
        line, &(struct record){.shape = type,
                               .flags = earlier.line ? RELATION_ORDER : RELATION_NONE,
                               .site = site,
                               .partner = {earlier.line, earlier.number}});
}

poet_event_t poet_event_after(poet_line_t line, poet_type_t type, poet_event_t earlier)
{
    return poet_record_after(line, type, earlier, SITE);
}

poet_event_t poet_event_after_at(poet_line_t line, poet_type_t type, poet_event_t earlier,
                                 const void *site)
{
    return poet_record_after(line, type, earlier, site ? (uintptr_t)site : SITE);
}

static unsigned poet_get_relation(unsigned flags)
{
    return flags & POET_SEND      ? RELATION_SEND | SLOT_KEYED
           : flags & POET_RECEIVE ? RELATION_RECEIVE | SLOT_KEYED
           : flags & POET_MEET    ? RELATION_GROUP | SLOT_KEYED
           : flags & POET_AFTER   ? RELATION_ORDER
                                  : RELATION_NONE;
}

static uint16_t poet_get_doubt(unsigned flags)
{
    return flags & POET_DOUBT_STREAM   ? SLOT_DOUBT(UNTRACED_STREAM)
           : flags & POET_DOUBT_THREAD ? SLOT_DOUBT(UNTRACED_THREAD)
           : flags & POET_DOUBT_OBJECT ? SLOT_DOUBT(UNTRACED_OBJECT)
                                       : 0;
}

/* Records a message without a key. */
static poet_event_t poet_record_message(struct traced_thread *t, const poet_record_t *record,
                                        uintptr_t site)
{
    bool receives = record->flags & POET_RECEIVE;
    size_t count = receives ? record->send_count : 0;
    struct wire_partner *more =
        receives == (count > 0) ? poet_partners_buffer(t, count ? count - 1 : 0) : NULL;
    uint32_t n = 0;
    if (!more)
        return none;
    busy_begin(t);
    for (size_t i = 1; i < count && n < MOST_PARTNERS; i++)
        more[n++] = (struct wire_partner){record->sends[i].line, 0, record->sends[i].number};
    struct record r = {.shape = record->type,
                       .flags = (uint16_t)((receives ? RELATION_RECEIVE : RELATION_SEND) |
                                           (n ? SLOT_PARTNERS : 0) | poet_get_doubt(record->flags)),
                       .about = record->about,
                       .site = site,
                       .began = record->began,
                       .payload = more,
                       .payload_bytes = n * (uint32_t)sizeof *more};
    if (receives)
        r.partner = (struct event_id){record->sends[0].line, record->sends[0].number};
    poet_event_t event = poet_record_single_by(t, record->line, &r);
    busy_end(t);
    return event;
}

poet_event_t poet_record(const poet_record_t *record)
{
    struct traced_thread *t = thread_recording();
    if (t && record->flags & POET_BY_EVENT)
        return poet_record_message(t, record, record->site ? (uintptr_t)record->site : SITE);
    if (t && record->other)
        return poet_record_pair_flagged(t, trace_line_by_code(t, record->line), record->type,
                                        trace_line_by_code(t, record->other), record->other_type,
                                        record->site ? (uintptr_t)record->site : SITE,
                                        poet_get_doubt(record->flags), NULL);
    unsigned relation = poet_get_relation(record->flags);
    size_t keys = relation ? record->keys : 1;
    struct wire_partner *more = t && keys ? poet_partners_buffer(t, keys - 1) : NULL;
    uint32_t n = 0;
    if (!more)
        return none;
    struct slot_stack stack;
    uintptr_t site = record->site ? (uintptr_t)record->site : SITE;
    const struct slot_stack *waits =
        record->flags & POET_WAITS ? wait_stack_read(site, &stack) : NULL;
    busy_begin(t);
    char text[NONDET_BYTES];
    bool answers = record->asked && keys <= 1;
    int size = answers ? snprintf(text, sizeof text, NONDET_TEXT "%s", record->got, record->asked,
                                  record->flags & POET_TOGETHER ? NONDET_TOGETHER : "")
                       : 0;
    for (size_t i = 1; i < keys && n < MOST_PARTNERS; i++)
        more[n++] = (struct wire_partner){0, 0, record->low[i]};
    poet_event_t event = poet_record_single_by(
        t, record->line,
        &(struct record){.shape = record->type,
                         .flags = (uint16_t)(relation | (n ? SLOT_PARTNERS : 0) |
                                             (answers ? SLOT_TEXT : 0) |
                                             (record->flags & POET_STREAM ? SLOT_STREAM : 0) |
                                             (record->flags & POET_CLOSES ? SLOT_CLOSES : 0) |
                                             poet_get_doubt(record->flags)),
                         .about = record->about,
                         .site = site,
                         .stack = waits,
                         .began = record->began,
                         .partner = {relation == RELATION_ORDER ? (uint32_t)record->high : 0,
                                     relation ? record->low[0] : 0},
                         .key = relation == RELATION_ORDER ? 0 : record->high,
                         .count = record->count,
                         .answers = answers,
                         .payload = answers ? (const void *)text : more,
                         .payload_bytes = answers ? (uint32_t)size : n * (uint32_t)sizeof *more});
    busy_end(t);
    return event;
}

int poet_recorded(void) { return thread_self() != NULL; }

uint64_t poet_time(void)
{
    const struct traced_thread *t = thread_recording();
    return t ? record_time(t) : 0;
}

void poet_position(poet_position_t *position)
{
    struct traced_thread *t = thread_self();
    struct event_id last = t && !t->busy ? ring_slots_last(t) : (struct event_id){0, 0};
    *position = (poet_position_t){
        .thread = t ? trace_line_index(t->own) : 0,
        .lifetime = atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed),
        .last = {last.line, last.number}};
}

void poet_environment(const char *name)
{
    struct traced_thread *t = thread_recording();
    if (!t || !name)
        return;
    uint8_t bytes[512];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    encode_describe(&body, &(struct describe_message){message_text_limit(name, NAME_BYTES)});
    message_queue_send(t, MESSAGE_DESCRIBE, &body);
}

uint64_t poet_lost(void) { return atomic_load(&tracer.events.dropped); }

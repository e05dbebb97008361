#include "wire/trace_view.h"

#include "wire/event_types.h"
#include "wire/fields.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

/* clang-format off */
#define LINE_FIELDS(F, o) \
    F(u32, o, process) F(u64, o, object) F(u64, o, entry) F(event_id, o, opened_by) \
    F(u64, o, events) F(u64, o, first) F(u64, o, last) F(trace_name, o, kind) \
    F(trace_name, o, name)
#define EVENT_FIELDS(F, o) \
    F(i64, o, time_ns) F(u32, o, about) F(u32, o, thread) F(u32, o, process) F(u64, o, site) \
    F(u32, o, context)
#define EVENT_PLACE_FIELDS(F, o) \
    F(u64, o, group) F(occupants, o, in) F(i32, o, column) F(u32, o, fold) F(u8, o, doubt) \
    F(i64, o, since_ns) F(i64, o, waited_ns)
#define CLOCK_FIELDS(F, o) \
    F(u8, o, is_known) F(u8, o, is_first) F(u8, o, is_uneven) F(u64, o, at_ns) F(i64, o, low_ns) \
    F(i64, o, high_ns) F(i64, o, low_ppb) F(i64, o, high_ppb) F(i64, o, ahead_ns)
#define STAT_FIELDS(F, o) \
    F(u64, o, lines) F(u64, o, hidden_lines) F(u64, o, events) F(u64, o, pending) \
    F(u64, o, lost) F(u64, o, contradictions) F(u64, o, duplicates) F(u64, o, untraced) \
    F(u64, o, texts) F(u64, o, waited_ns) F(i64, o, duration_ns) F(u32, o, connected)
#define UNSEEN_FIELDS(F, o) F(u8, o, reason) F(trace_name, o, about) F(u64, o, count)
#define STAT_END_FIELDS(F, o) F(u64, o, behind_ns) F(u64, o, journal_ahead) F(u64, o, discarded)
/* clang-format on */

/* Minimum encoded sizes: a count of more items than fit the rest of the message is rejected. */
enum {
    STRING_BYTES = 4,
    MODULE_BYTES = 3 * 8 + 2 * STRING_BYTES,
    FIELD_BYTES_trace_name = STRING_BYTES
};

/* Sanitizing may have lengthened a name. */
#define NAME_BYTES (LIMIT_TEXT_BYTES * 4)
static void encode_trace_name(struct encoder *out, const char *name) { encode_string(out, name); }
static char *decode_trace_name(struct decoder *in) { return decode_name(in, NAME_BYTES); }

void encode_line_info(struct encoder *out, const struct line_info *line)
{
    encode_u32(out, line->line);
    encode_u8(out, (uint8_t)(line->shared | line->closed << 1 | line->exited << 2));
    LINE_FIELDS(FIELD_ENCODE, line)
}

void decode_line_info(struct decoder *in, struct line_info *line)
{
    *line = (struct line_info){.line = decode_u32(in)};
    uint8_t flags = decode_u8(in);
    line->shared = flags & 1;
    line->closed = flags & 2;
    line->exited = flags & 4;
    LINE_FIELDS(FIELD_DECODE, line)
}

void line_info_free(struct line_info *line)
{
    free(line->kind);
    free(line->name);
    *line = (struct line_info){0};
}

static void encode_stack(struct encoder *out, const struct slot_stack *stack)
{
    encode_u8(out, (uint8_t)stack->end);
    encode_u8(out, (uint8_t)stack->count);
    for (uint32_t i = 0; i < stack->count; i++)
        encode_u64(out, stack->callers[i]);
}

static void decode_stack(struct decoder *in, struct slot_stack *stack)
{
    *stack = (struct slot_stack){.end = decode_u8(in)};
    uint32_t count = decode_u8(in);
    if (stack->end >= STACK_ENDS || count > STACK_CALLERS)
        decoder_fail(in, "invalid call stack");
    while (!in->error && stack->count < count)
        stack->callers[stack->count++] = decode_u64(in);
}

void encode_event_info(struct encoder *out, const struct event_info *event)
{
    encode_event_id(out, event->at);
    encode_u64(out, event->position);
    encode_u32(out, event->type);
    encode_u8(out, event->relation);
    encode_u8(out, (uint8_t)(event->state | (event->partner_lost ? 0x80 : 0) |
                             (event->undelivered ? 0x40 : 0)));
    EVENT_FIELDS(FIELD_ENCODE, event)
    encode_u32(out, event->call_count);
    for (uint32_t i = 0; i < event->call_count; i++)
        encode_u64(out, event->calls[i]);
    encode_stack(out, &event->stack);
    EVENT_PLACE_FIELDS(FIELD_ENCODE, event)
    encode_event_ids(out, event->partners, event->partner_count);
    encode_event_ids(out, event->after, event->after_count);
    encode_u32(out, event->text_count);
    for (uint32_t i = 0; i < event->text_count; i++)
        encode_string(out, event->texts[i]);
}

void decode_event_info(struct decoder *in, struct event_info *event)
{
    *event = (struct event_info){.at = decode_event_id(in)};
    event->position = decode_u64(in);
    event->type = decode_u32(in);
    event->relation = decode_u8(in);
    uint8_t state = decode_u8(in);
    event->state = state & 0x3f;
    event->partner_lost = state & 0x80;
    event->undelivered = state & 0x40;
    if (event->relation >= RELATION_COUNT || event->state > EVENT_CONTRADICTORY)
        decoder_fail(in, "invalid event relation or state");
    EVENT_FIELDS(FIELD_DECODE, event)
    uint32_t calls = decode_count(in, 8);
    if (calls > CALLS_SHOWN)
        decoder_fail(in, "event in too many calls");
    event->calls = calls ? decode_array(in, calls, sizeof *event->calls) : NULL;
    for (; event->calls && event->call_count < calls; event->call_count++)
        event->calls[event->call_count] = decode_u64(in);
    decode_stack(in, &event->stack);
    EVENT_PLACE_FIELDS(FIELD_DECODE, event)
    event->partners = decode_event_ids(in, &event->partner_count);
    event->after = decode_event_ids(in, &event->after_count);
    uint32_t n = decode_count(in, STRING_BYTES);
    event->texts = decode_array(in, n, sizeof *event->texts);
    for (; event->texts && event->text_count < n; event->text_count++)
        event->texts[event->text_count] = decode_note(in, NAME_BYTES);
}

bool event_info_same_point(const struct event_info *a, const struct event_info *b)
{
    if (a->state != EVENT_ORDERED || b->state != EVENT_ORDERED)
        return false;
    if (a->relation == RELATION_GROUP)
        return a->group && a->group == b->group;
    return a->relation == RELATION_SYNC && a->partner_count == 1 &&
           event_id_equal(a->partners[0], b->at);
}

void event_info_free(struct event_info *event)
{
    free(event->partners);
    free(event->after);
    free(event->calls);
    for (uint32_t i = 0; i < event->text_count; i++)
        free(event->texts[i]);
    free(event->texts);
    *event = (struct event_info){0};
}

void encode_process_info(struct encoder *out, const struct process_info *process)
{
    encode_u32(out, process->pid);
    encode_string(out, process->path);
    encode_string(out, process->host);
    encode_u32(out, process->argument_count);
    for (uint32_t i = 0; i < process->argument_count; i++)
        encode_string(out, process->arguments[i]);
    encode_u32(out, process->variable_count);
    for (uint32_t i = 0; i < process->variable_count; i++)
        encode_string(out, process->variables[i]);
    encode_u32(out, process->module_count);
    for (uint32_t i = 0; i < process->module_count; i++) {
        encode_u64(out, process->modules[i].start);
        encode_u64(out, process->modules[i].end);
        encode_u64(out, process->modules[i].bias);
        encode_string(out, process->modules[i].build_id);
        encode_string(out, process->modules[i].path);
    }
}

void decode_process_info(struct decoder *in, struct process_info *process)
{
    *process = (struct process_info){.pid = decode_u32(in)};
    process->path = decode_trace_name(in);
    process->host = decode_trace_name(in);
    uint32_t n = decode_count(in, STRING_BYTES);
    process->arguments = decode_array(in, n, sizeof *process->arguments);
    for (; process->arguments && process->argument_count < n; process->argument_count++)
        process->arguments[process->argument_count] = decode_string(in, NAME_BYTES);
    n = decode_count(in, STRING_BYTES);
    process->variables = decode_array(in, n, sizeof *process->variables);
    for (; process->variables && process->variable_count < n; process->variable_count++)
        process->variables[process->variable_count] = decode_string(in, NAME_BYTES);
    n = decode_count(in, MODULE_BYTES);
    process->modules = decode_array(in, n, sizeof *process->modules);
    for (; process->modules && process->module_count < n; process->module_count++) {
        struct module_info *m = &process->modules[process->module_count];
        m->start = decode_u64(in);
        m->end = decode_u64(in);
        m->bias = decode_u64(in);
        char *id = decode_string(in, sizeof m->build_id - 1);
        if (id)
            memcpy(m->build_id, id, strlen(id) + 1);
        free(id);
        m->path = decode_string(in, NAME_BYTES); /* a file name is bytes, not text */
    }
}

void process_info_free(struct process_info *process)
{
    free(process->path);
    free(process->host);
    for (uint32_t i = 0; i < process->argument_count; i++)
        free(process->arguments[i]);
    free(process->arguments);
    for (uint32_t i = 0; i < process->variable_count; i++)
        free(process->variables[i]);
    free(process->variables);
    for (uint32_t i = 0; i < process->module_count; i++)
        free(process->modules[i].path);
    free(process->modules);
    *process = (struct process_info){0};
}

void encode_run_info(struct encoder *out, const struct run_info *run)
{
    encode_u32(out, run->number);
    encode_u32(out, run->connected);
    encode_u64(out, run->events);
    encode_u64(out, run->wall_ns);
    encode_string(out, run->name);
    encode_string(out, run->file);
    encode_u64(out, run->lost);
    encode_u8(out, (uint8_t)(run->unfinished | run->written << 1));
    encode_string(out, run->cut);
}

void decode_run_info(struct decoder *in, struct run_info *run)
{
    *run = (struct run_info){.number = decode_u32(in)};
    run->connected = decode_u32(in);
    run->events = decode_u64(in);
    run->wall_ns = decode_u64(in);
    run->name = decode_trace_name(in);
    run->file = decode_string(in, NAME_BYTES);
    run->lost = decode_u64(in);
    uint8_t flags = decode_u8(in);
    run->unfinished = flags & 1;
    run->written = flags & 2;
    run->cut = decode_trace_name(in);
}

void run_info_free(struct run_info *run)
{
    free(run->name);
    free(run->file);
    free(run->cut);
    *run = (struct run_info){0};
}

void encode_clock_info(struct encoder *out, const struct clock_info *c)
{
    encode_string(out, c->host);
    CLOCK_FIELDS(FIELD_ENCODE, c)
}

void decode_clock_info(struct decoder *in, struct clock_info *c)
{
    c->host = decode_name(in, LIMIT_TEXT_BYTES);
    CLOCK_FIELDS(FIELD_DECODE, c)
}

void encode_stat_info(struct encoder *out, const struct stat_info *s)
{
    STAT_FIELDS(FIELD_ENCODE, s)
    encode_u8(out, (uint8_t)(s->unfinished | s->written << 1));
    encode_string(out, s->damage);
    encode_u32(out, s->cut_off);
    encode_u64(out, s->doubtful);
    ENCODE_LIST(s->unseen, s->unseen_count, UNSEEN_FIELDS);
    STAT_END_FIELDS(FIELD_ENCODE, s)
}

void decode_stat_info(struct decoder *in, struct stat_info *s)
{
    *s = (struct stat_info){0};
    STAT_FIELDS(FIELD_DECODE, s)
    uint8_t flags = decode_u8(in);
    s->unfinished = flags & 1;
    s->written = flags & 2;
    s->damage = decode_trace_name(in);
    s->cut_off = decode_u32(in);
    s->doubtful = decode_u64(in);
    DECODE_LIST(s->unseen, s->unseen_count, UNSEEN_FIELDS);
    STAT_END_FIELDS(FIELD_DECODE, s)
}

void stat_info_free(struct stat_info *s)
{
    for (uint32_t i = 0; i < s->unseen_count; i++)
        free(s->unseen[i].about);
    free(s->unseen);
    free(s->damage);
    *s = (struct stat_info){0};
}

#include "wire/trace_view.h"

#include "wire/limits.h"
#include "wire/event_id.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* Minimum encoded sizes: a count of more items than fit the rest of the message is rejected. */
enum {
    STRING_BYTES = 4,
    MODULE_BYTES = 3 * 8 + 2 * STRING_BYTES,
    UNSEEN_BYTES = 1 + STRING_BYTES + 8
};

/* Sanitizing may have lengthened a name. */
#define NAME_BYTES (LIMIT_TEXT_BYTES * 4)
static char *trace_view_decode_name(struct decoder *in) { return decode_name(in, NAME_BYTES); }

void encode_line_info(struct encoder *out, const struct line_info *line)
{
    encode_u32(out, line->line);
    encode_u8(out, (uint8_t)(line->shared | line->closed << 1 | line->exited << 2));
    encode_u32(out, line->process);
    encode_u64(out, line->object);
    encode_u64(out, line->entry);
    encode_event_id(out, line->opened_by);
    encode_u64(out, line->events);
    encode_u64(out, line->first);
    encode_u64(out, line->last);
    encode_string(out, line->kind);
    encode_string(out, line->name);
}

void decode_line_info(struct decoder *in, struct line_info *line)
{
    *line = (struct line_info){.line = decode_u32(in)};
    uint8_t flags = decode_u8(in);
    line->shared = flags & 1;
    line->closed = flags & 2;
    line->exited = flags & 4;
    line->process = decode_u32(in);
    line->object = decode_u64(in);
    line->entry = decode_u64(in);
    line->opened_by = decode_event_id(in);
    line->events = decode_u64(in);
    line->first = decode_u64(in);
    line->last = decode_u64(in);
    line->kind = trace_view_decode_name(in);
    line->name = trace_view_decode_name(in);
}

void line_info_free(struct line_info *line)
{
    free(line->kind);
    free(line->name);
    *line = (struct line_info){0};
}

void encode_event_info(struct encoder *out, const struct event_info *event)
{
    encode_event_id(out, event->at);
    encode_u64(out, event->position);
    encode_u32(out, event->type);
    encode_u8(out, event->relation);
    encode_u8(out, (uint8_t)(event->state | (event->partner_lost ? 0x80 : 0) |
                             (event->undelivered ? 0x40 : 0)));
    encode_u64(out, (uint64_t)event->time_ns);
    encode_u32(out, event->about);
    encode_u32(out, event->thread);
    encode_u32(out, event->process);
    encode_u64(out, event->site);
    encode_u32(out, event->context);
    encode_u32(out, event->call_count);
    for (uint32_t i = 0; i < event->call_count; i++)
        encode_u64(out, event->calls[i]);
    encode_u64(out, event->group);
    encode_occupants(out, event->in);
    encode_u32(out, (uint32_t)event->column);
    encode_u32(out, event->fold);
    encode_u8(out, event->doubt);
    encode_u64(out, (uint64_t)event->since_ns);
    encode_u64(out, (uint64_t)event->waited_ns);
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
    event->time_ns = (int64_t)decode_u64(in);
    event->about = decode_u32(in);
    event->thread = decode_u32(in);
    event->process = decode_u32(in);
    event->site = decode_u64(in);
    event->context = decode_u32(in);
    uint32_t calls = decode_count(in, 8);
    if (calls > CALLS_SHOWN)
        decoder_fail(in, "event in too many calls");
    event->calls = calls ? decode_array(in, calls, sizeof *event->calls) : NULL;
    for (; event->calls && event->call_count < calls; event->call_count++)
        event->calls[event->call_count] = decode_u64(in);
    event->group = decode_u64(in);
    event->in = decode_occupants(in);
    event->column = (int32_t)decode_u32(in);
    event->fold = decode_u32(in);
    event->doubt = decode_u8(in);
    event->since_ns = (int64_t)decode_u64(in);
    event->waited_ns = (int64_t)decode_u64(in);
    event->partners = decode_event_ids(in, &event->partner_count);
    event->after = decode_event_ids(in, &event->after_count);
    uint32_t n = decode_count(in, STRING_BYTES);
    event->texts = decode_array(in, n, sizeof *event->texts);
    for (; event->texts && event->text_count < n; event->text_count++)
        event->texts[event->text_count] = decode_note(in, NAME_BYTES);
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
    process->path = trace_view_decode_name(in);
    process->host = trace_view_decode_name(in);
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
}

void decode_run_info(struct decoder *in, struct run_info *run)
{
    *run = (struct run_info){.number = decode_u32(in)};
    run->connected = decode_u32(in);
    run->events = decode_u64(in);
    run->wall_ns = decode_u64(in);
    run->name = trace_view_decode_name(in);
    run->file = decode_string(in, NAME_BYTES);
    run->lost = decode_u64(in);
    uint8_t flags = decode_u8(in);
    run->unfinished = flags & 1;
    run->written = flags & 2;
}

void run_info_free(struct run_info *run)
{
    free(run->name);
    free(run->file);
    *run = (struct run_info){0};
}

void encode_clock_info(struct encoder *out, const struct clock_info *c)
{
    encode_string(out, c->host);
    encode_u8(out, c->is_known);
    encode_u8(out, c->is_first);
    encode_u8(out, c->is_uneven);
    encode_u64(out, c->at_ns);
    encode_u64(out, (uint64_t)c->low_ns);
    encode_u64(out, (uint64_t)c->high_ns);
    encode_u64(out, (uint64_t)c->low_ppb);
    encode_u64(out, (uint64_t)c->high_ppb);
    encode_u64(out, (uint64_t)c->ahead_ns);
}

void decode_clock_info(struct decoder *in, struct clock_info *c)
{
    c->host = decode_name(in, LIMIT_TEXT_BYTES);
    c->is_known = decode_u8(in);
    c->is_first = decode_u8(in);
    c->is_uneven = decode_u8(in);
    c->at_ns = decode_u64(in);
    c->low_ns = (int64_t)decode_u64(in);
    c->high_ns = (int64_t)decode_u64(in);
    c->low_ppb = (int64_t)decode_u64(in);
    c->high_ppb = (int64_t)decode_u64(in);
    c->ahead_ns = (int64_t)decode_u64(in);
}

void encode_stat_info(struct encoder *out, const struct stat_info *s)
{
    const uint64_t v[] = {s->lines,
                          s->hidden_lines,
                          s->events,
                          s->pending,
                          s->lost,
                          s->contradictions,
                          s->duplicates,
                          s->untraced,
                          s->texts,
                          s->waited_ns,
                          (uint64_t)s->duration_ns};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        encode_u64(out, v[i]);
    encode_u32(out, s->connected);
    encode_u8(out, (uint8_t)(s->unfinished | s->written << 1));
    encode_string(out, s->damage);
    encode_u32(out, s->cut_off);
    encode_u64(out, s->doubtful);
    encode_u32(out, s->unseen_count);
    for (uint32_t i = 0; i < s->unseen_count; i++) {
        encode_u8(out, s->unseen[i].reason);
        encode_string(out, s->unseen[i].about);
        encode_u64(out, s->unseen[i].count);
    }
    encode_u64(out, s->behind_ns);
    encode_u64(out, s->journal_ahead);
    encode_u64(out, s->discarded);
}

void decode_stat_info(struct decoder *in, struct stat_info *s)
{
    *s = (struct stat_info){0};
    uint64_t *v[] = {&s->lines, &s->hidden_lines,   &s->events,     &s->pending,
                     &s->lost,  &s->contradictions, &s->duplicates, &s->untraced,
                     &s->texts, &s->waited_ns};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        *v[i] = decode_u64(in);
    s->duration_ns = (int64_t)decode_u64(in);
    s->connected = decode_u32(in);
    uint8_t flags = decode_u8(in);
    s->unfinished = flags & 1;
    s->written = flags & 2;
    s->damage = trace_view_decode_name(in);
    s->cut_off = decode_u32(in);
    s->doubtful = decode_u64(in);
    uint32_t n = decode_count(in, UNSEEN_BYTES);
    s->unseen = decode_array(in, n, sizeof *s->unseen);
    for (; s->unseen && s->unseen_count < n; s->unseen_count++) {
        s->unseen[s->unseen_count].reason = decode_u8(in);
        s->unseen[s->unseen_count].about = trace_view_decode_name(in);
        s->unseen[s->unseen_count].count = decode_u64(in);
    }
    s->behind_ns = decode_u64(in);
    s->journal_ahead = decode_u64(in);
    s->discarded = decode_u64(in);
}

void stat_info_free(struct stat_info *s)
{
    for (uint32_t i = 0; i < s->unseen_count; i++)
        free(s->unseen[i].about);
    free(s->unseen);
    free(s->damage);
    *s = (struct stat_info){0};
}

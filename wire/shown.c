#include "wire/shown.h"

#include "wire/limits.h"
#include "wire/ref.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* So many bytes, at least, each of them takes: more of them than fit are nonsense. */
enum {
    STRING_BYTES = 4,
    MODULE_BYTES = 3 * 8 + 2 * STRING_BYTES,
    UNSEEN_BYTES = 1 + STRING_BYTES + 8
};

/* What was mended may have grown. */
#define NAME_BYTES (LIMIT_TEXT_BYTES * 4)
static char *get_one(struct in *in) { return get_name(in, NAME_BYTES); }

void put_line_is(struct out *out, const struct shown_line *line)
{
    put_u32(out, line->line);
    put_u8(out, (uint8_t)(line->shared | line->closed << 1 | line->exited << 2));
    put_u32(out, line->process);
    put_u64(out, line->object);
    put_u64(out, line->entry);
    put_ref(out, line->opened_by);
    put_u64(out, line->events);
    put_u64(out, line->first);
    put_u64(out, line->last);
    put_string(out, line->kind);
    put_string(out, line->name);
}

void get_line_is(struct in *in, struct shown_line *line)
{
    *line = (struct shown_line){.line = get_u32(in)};
    uint8_t flags = get_u8(in);
    line->shared = flags & 1;
    line->closed = flags & 2;
    line->exited = flags & 4;
    line->process = get_u32(in);
    line->object = get_u64(in);
    line->entry = get_u64(in);
    line->opened_by = get_ref(in);
    line->events = get_u64(in);
    line->first = get_u64(in);
    line->last = get_u64(in);
    line->kind = get_one(in);
    line->name = get_one(in);
}

void shown_line_free(struct shown_line *line)
{
    free(line->kind);
    free(line->name);
    *line = (struct shown_line){0};
}

void put_event(struct out *out, const struct shown_event *event)
{
    put_ref(out, event->at);
    put_u64(out, event->position);
    put_u32(out, event->type);
    put_u8(out, event->relation);
    put_u8(out, (uint8_t)(event->state | (event->partner_lost ? 0x80 : 0) |
                          (event->unheard ? 0x40 : 0)));
    put_u64(out, (uint64_t)event->time_ns);
    put_u32(out, event->about);
    put_u32(out, event->thread);
    put_u32(out, event->process);
    put_u64(out, event->site);
    put_u32(out, event->context);
    put_u32(out, event->call_count);
    for (uint32_t i = 0; i < event->call_count; i++)
        put_u64(out, event->calls[i]);
    put_u64(out, event->group);
    put_presences(out, event->in);
    put_u32(out, (uint32_t)event->column);
    put_u32(out, event->fold);
    put_u8(out, event->doubt);
    put_u64(out, (uint64_t)event->since_ns);
    put_u64(out, (uint64_t)event->waited_ns);
    put_refs(out, event->partners, event->partner_count);
    put_refs(out, event->after, event->after_count);
    put_u32(out, event->text_count);
    for (uint32_t i = 0; i < event->text_count; i++)
        put_string(out, event->texts[i]);
}

void get_event(struct in *in, struct shown_event *event)
{
    *event = (struct shown_event){.at = get_ref(in)};
    event->position = get_u64(in);
    event->type = get_u32(in);
    event->relation = get_u8(in);
    uint8_t state = get_u8(in);
    event->state = state & 0x3f;
    event->partner_lost = state & 0x80;
    event->unheard = state & 0x40;
    if (event->relation >= RELATION_COUNT || event->state > EVENT_CONTRADICTORY)
        in_fail(in, "an event has an impossible relation or state");
    event->time_ns = (int64_t)get_u64(in);
    event->about = get_u32(in);
    event->thread = get_u32(in);
    event->process = get_u32(in);
    event->site = get_u64(in);
    event->context = get_u32(in);
    uint32_t calls = get_count(in, 8);
    if (calls > CALLS_SHOWN)
        in_fail(in, "an event in too many calls");
    event->calls = calls ? get_room(in, calls, sizeof *event->calls) : NULL;
    for (; event->calls && event->call_count < calls; event->call_count++)
        event->calls[event->call_count] = get_u64(in);
    event->group = get_u64(in);
    event->in = get_presences(in);
    event->column = (int32_t)get_u32(in);
    event->fold = get_u32(in);
    event->doubt = get_u8(in);
    event->since_ns = (int64_t)get_u64(in);
    event->waited_ns = (int64_t)get_u64(in);
    event->partners = get_refs(in, &event->partner_count);
    event->after = get_refs(in, &event->after_count);
    uint32_t n = get_count(in, STRING_BYTES);
    event->texts = get_room(in, n, sizeof *event->texts);
    for (; event->texts && event->text_count < n; event->text_count++)
        event->texts[event->text_count] = get_note(in, NAME_BYTES);
}

void shown_event_free(struct shown_event *event)
{
    free(event->partners);
    free(event->after);
    free(event->calls);
    for (uint32_t i = 0; i < event->text_count; i++)
        free(event->texts[i]);
    free(event->texts);
    *event = (struct shown_event){0};
}

void put_process(struct out *out, const struct shown_process *process)
{
    put_u32(out, process->pid);
    put_string(out, process->path);
    put_string(out, process->host);
    put_u32(out, process->argument_count);
    for (uint32_t i = 0; i < process->argument_count; i++)
        put_string(out, process->arguments[i]);
    put_u32(out, process->variable_count);
    for (uint32_t i = 0; i < process->variable_count; i++)
        put_string(out, process->variables[i]);
    put_u32(out, process->module_count);
    for (uint32_t i = 0; i < process->module_count; i++) {
        put_u64(out, process->modules[i].start);
        put_u64(out, process->modules[i].end);
        put_u64(out, process->modules[i].bias);
        put_string(out, process->modules[i].build_id);
        put_string(out, process->modules[i].path);
    }
}

void get_process(struct in *in, struct shown_process *process)
{
    *process = (struct shown_process){.pid = get_u32(in)};
    process->path = get_one(in);
    process->host = get_one(in);
    uint32_t n = get_count(in, STRING_BYTES);
    process->arguments = get_room(in, n, sizeof *process->arguments);
    for (; process->arguments && process->argument_count < n; process->argument_count++)
        process->arguments[process->argument_count] = get_string(in, NAME_BYTES);
    n = get_count(in, STRING_BYTES);
    process->variables = get_room(in, n, sizeof *process->variables);
    for (; process->variables && process->variable_count < n; process->variable_count++)
        process->variables[process->variable_count] = get_string(in, NAME_BYTES);
    n = get_count(in, MODULE_BYTES);
    process->modules = get_room(in, n, sizeof *process->modules);
    for (; process->modules && process->module_count < n; process->module_count++) {
        struct shown_module *m = &process->modules[process->module_count];
        m->start = get_u64(in);
        m->end = get_u64(in);
        m->bias = get_u64(in);
        char *id = get_string(in, sizeof m->build_id - 1);
        if (id)
            memcpy(m->build_id, id, strlen(id) + 1);
        free(id);
        m->path = get_string(in, NAME_BYTES); /* a file's name: bytes */
    }
}

void shown_process_free(struct shown_process *process)
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
    *process = (struct shown_process){0};
}

void put_run(struct out *out, const struct shown_run *run)
{
    put_u32(out, run->number);
    put_u32(out, run->connected);
    put_u64(out, run->events);
    put_u64(out, run->wall_ns);
    put_string(out, run->name);
    put_string(out, run->file);
    put_u64(out, run->lost);
    put_u8(out, (uint8_t)(run->unfinished | run->written << 1));
}

void get_run(struct in *in, struct shown_run *run)
{
    *run = (struct shown_run){.number = get_u32(in)};
    run->connected = get_u32(in);
    run->events = get_u64(in);
    run->wall_ns = get_u64(in);
    run->name = get_one(in);
    run->file = get_string(in, NAME_BYTES);
    run->lost = get_u64(in);
    uint8_t flags = get_u8(in);
    run->unfinished = flags & 1;
    run->written = flags & 2;
}

void shown_run_free(struct shown_run *run)
{
    free(run->name);
    free(run->file);
    *run = (struct shown_run){0};
}

void put_clock(struct out *out, const struct shown_clock *c)
{
    put_string(out, c->host);
    put_u8(out, c->is_known);
    put_u8(out, c->is_first);
    put_u8(out, c->is_uneven);
    put_u64(out, c->at_ns);
    put_u64(out, (uint64_t)c->low_ns);
    put_u64(out, (uint64_t)c->high_ns);
    put_u64(out, (uint64_t)c->low_ppb);
    put_u64(out, (uint64_t)c->high_ppb);
    put_u64(out, (uint64_t)c->ahead_ns);
}

void get_clock(struct in *in, struct shown_clock *c)
{
    c->host = get_name(in, LIMIT_TEXT_BYTES);
    c->is_known = get_u8(in);
    c->is_first = get_u8(in);
    c->is_uneven = get_u8(in);
    c->at_ns = get_u64(in);
    c->low_ns = (int64_t)get_u64(in);
    c->high_ns = (int64_t)get_u64(in);
    c->low_ppb = (int64_t)get_u64(in);
    c->high_ppb = (int64_t)get_u64(in);
    c->ahead_ns = (int64_t)get_u64(in);
}

void put_stat(struct out *out, const struct shown_stat *s)
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
        put_u64(out, v[i]);
    put_u32(out, s->connected);
    put_u8(out, (uint8_t)(s->unfinished | s->written << 1));
    put_string(out, s->damage);
    put_u32(out, s->cut_off);
    put_u64(out, s->doubtful);
    put_u32(out, s->unseen_count);
    for (uint32_t i = 0; i < s->unseen_count; i++) {
        put_u8(out, s->unseen[i].reason);
        put_string(out, s->unseen[i].about);
        put_u64(out, s->unseen[i].count);
    }
    put_u64(out, s->behind_ns);
    put_u64(out, s->journal_ahead);
    put_u64(out, s->discarded);
}

void get_stat(struct in *in, struct shown_stat *s)
{
    *s = (struct shown_stat){0};
    uint64_t *v[] = {&s->lines, &s->hidden_lines,   &s->events,     &s->pending,
                     &s->lost,  &s->contradictions, &s->duplicates, &s->untraced,
                     &s->texts, &s->waited_ns};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        *v[i] = get_u64(in);
    s->duration_ns = (int64_t)get_u64(in);
    s->connected = get_u32(in);
    uint8_t flags = get_u8(in);
    s->unfinished = flags & 1;
    s->written = flags & 2;
    s->damage = get_one(in);
    s->cut_off = get_u32(in);
    s->doubtful = get_u64(in);
    uint32_t n = get_count(in, UNSEEN_BYTES);
    s->unseen = get_room(in, n, sizeof *s->unseen);
    for (; s->unseen && s->unseen_count < n; s->unseen_count++) {
        s->unseen[s->unseen_count].reason = get_u8(in);
        s->unseen[s->unseen_count].about = get_one(in);
        s->unseen[s->unseen_count].count = get_u64(in);
    }
    s->behind_ns = in_left(in) ? get_u64(in) : 0; /* an older server does not say */
    s->journal_ahead = in_left(in) ? get_u64(in) : 0;
    s->discarded = in_left(in) ? get_u64(in) : 0;
}

void shown_stat_free(struct shown_stat *s)
{
    for (uint32_t i = 0; i < s->unseen_count; i++)
        free(s->unseen[i].about);
    free(s->unseen);
    free(s->damage);
    *s = (struct shown_stat){0};
}

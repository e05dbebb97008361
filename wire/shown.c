#include "wire/shown.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* What was mended may have grown. */
#define NAME_BYTES (LIMIT_TEXT_BYTES * 4)
static char *get_one(struct in *in) { return get_name(in, NAME_BYTES); }

void put_ref(struct out *out, struct ref ref)
{
    put_u32(out, ref.line);
    put_u64(out, ref.number);
}

struct ref get_ref(struct in *in)
{
    uint32_t line = get_u32(in);
    return (struct ref){line, get_u64(in)};
}

static void put_refs(struct out *out, const struct ref *refs, uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        put_ref(out, refs[i]);
}

static struct ref *get_refs(struct in *in, uint32_t *count)
{
    uint32_t n = get_count(in, 12);
    struct ref *refs = get_room(in, n, sizeof *refs);
    for (*count = 0; refs && *count < n; ++*count)
        refs[*count] = get_ref(in);
    return refs;
}

static void put_in(struct out *out, struct presences p)
{
    put_u16(out, p.active);
    put_u16(out, p.blocked);
    put_u16(out, p.away);
}

static struct presences get_in(struct in *in)
{
    struct presences p;
    p.active = get_u16(in);
    p.blocked = get_u16(in);
    p.away = get_u16(in);
    return p;
}

void put_line_is(struct out *out, const struct shown_line *line)
{
    put_u32(out, line->line);
    put_u8(out, (uint8_t)(line->shared | line->closed << 1));
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
    put_u8(out, (uint8_t)(event->state | (event->partner_lost ? 0x80 : 0)));
    put_u64(out, (uint64_t)event->time_ns);
    put_u32(out, event->about);
    put_u32(out, event->thread);
    put_u32(out, event->process);
    put_u64(out, event->site);
    put_u64(out, event->group);
    put_in(out, event->in);
    put_u32(out, (uint32_t)event->column);
    put_u32(out, event->fold);
    put_u8(out, event->doubt);
    put_u64(out, (uint64_t)event->since_ns);
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
    event->state = state & 0x7f;
    event->partner_lost = state & 0x80;
    if (event->relation >= RELATION_COUNT || event->state > EVENT_CONTRADICTORY)
        in_fail(in, "an event has an impossible relation or state");
    event->time_ns = (int64_t)get_u64(in);
    event->about = get_u32(in);
    event->thread = get_u32(in);
    event->process = get_u32(in);
    event->site = get_u64(in);
    event->group = get_u64(in);
    event->in = get_in(in);
    event->column = (int32_t)get_u32(in);
    event->fold = get_u32(in);
    event->doubt = get_u8(in);
    event->since_ns = (int64_t)get_u64(in);
    event->partners = get_refs(in, &event->partner_count);
    event->after = get_refs(in, &event->after_count);
    uint32_t n = get_count(in, 4);
    event->texts = get_room(in, n, sizeof *event->texts);
    for (; event->texts && event->text_count < n; event->text_count++)
        event->texts[event->text_count] = get_note(in, NAME_BYTES);
}

void shown_event_free(struct shown_event *event)
{
    free(event->partners);
    free(event->after);
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
    uint32_t n = get_count(in, 4);
    process->arguments = get_room(in, n, sizeof *process->arguments);
    for (; process->arguments && process->argument_count < n; process->argument_count++)
        process->arguments[process->argument_count] = get_one(in);
    n = get_count(in, 32);
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

void put_stat(struct out *out, const struct shown_stat *s)
{
    const uint64_t v[] = {s->lines,      s->hidden_lines, s->events, s->pending,
                          s->lost,       s->contradictions, s->duplicates, s->untraced,
                          s->texts,      s->waited_ns,    (uint64_t)s->duration_ns};
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
}

void get_stat(struct in *in, struct shown_stat *s)
{
    *s = (struct shown_stat){0};
    uint64_t *v[] = {&s->lines, &s->hidden_lines, &s->events,     &s->pending,  &s->lost,
                     &s->contradictions, &s->duplicates, &s->untraced, &s->texts, &s->waited_ns};
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
    uint32_t n = get_count(in, 13);
    s->unseen = get_room(in, n, sizeof *s->unseen);
    for (; s->unseen && s->unseen_count < n; s->unseen_count++) {
        s->unseen[s->unseen_count].reason = get_u8(in);
        s->unseen[s->unseen_count].about = get_one(in);
        s->unseen[s->unseen_count].count = get_u64(in);
    }
    s->behind_ns = in_left(in) ? get_u64(in) : 0; /* an older server does not say */
    s->journal_ahead = in_left(in) ? get_u64(in) : 0;
}

void shown_stat_free(struct shown_stat *s)
{
    for (uint32_t i = 0; i < s->unseen_count; i++)
        free(s->unseen[i].about);
    free(s->unseen);
    free(s->damage);
    *s = (struct shown_stat){0};
}

void put_density(struct out *out, const struct shown_density *d)
{
    put_u64(out, (uint64_t)d->from);
    put_u64(out, (uint64_t)d->to);
    put_u32(out, d->pixels);
    put_u32(out, d->row_count);
    for (uint32_t i = 0; i < d->row_count; i++)
        put_u32(out, d->rows[i]);
    for (size_t i = 0; i < (size_t)d->row_count * d->pixels; i++) {
        put_u32(out, d->counts[i]);
        put_u64(out, d->blocked_ns[i]);
    }
}

void get_density(struct in *in, struct shown_density *d)
{
    *d = (struct shown_density){.from = (int64_t)get_u64(in)};
    d->to = (int64_t)get_u64(in);
    uint32_t pixels = get_u32(in), n = get_count(in, 4);
    if (pixels > LIMIT_PIXELS || (pixels && n > in_left(in) / 4 / (1 + 3 * (size_t)pixels))) {
        in_fail(in, "a density of an impossible size");
        return;
    }
    size_t cells = (size_t)n * pixels;
    d->rows = get_room(in, n, sizeof *d->rows);
    d->counts = get_room(in, cells, sizeof *d->counts);
    d->blocked_ns = get_room(in, cells, sizeof *d->blocked_ns);
    if (in->error || (cells && (!d->rows || !d->counts || !d->blocked_ns)))
        return;
    d->pixels = pixels;
    d->row_count = n;
    for (uint32_t i = 0; i < n; i++)
        d->rows[i] = get_u32(in);
    for (size_t i = 0; i < cells; i++) {
        d->counts[i] = get_u32(in);
        d->blocked_ns[i] = get_u64(in);
    }
}

void shown_density_free(struct shown_density *d)
{
    free(d->rows);
    free(d->counts);
    free(d->blocked_ns);
    *d = (struct shown_density){0};
}

static void put_events(struct out *out, const struct shown_event *events, uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        put_event(out, &events[i]);
}

static struct shown_event *get_events(struct in *in, uint32_t *count)
{
    uint32_t n = get_count(in, 97);
    struct shown_event *events = get_room(in, n, sizeof *events);
    for (*count = 0; events && *count < n; ++*count)
        get_event(in, &events[*count]);
    return events;
}

void put_window(struct out *out, const struct shown_window *w)
{
    put_u64(out, w->generation);
    put_u64(out, w->anchor);
    put_u64(out, w->count);
    put_u32(out, (uint32_t)w->from);
    put_u32(out, w->columns);
    put_u64(out, (uint64_t)w->time_ns);
    put_u32(out, (uint32_t)w->first);
    put_u32(out, (uint32_t)w->last);
    put_u8(out, (uint8_t)(w->more_left | w->more_right << 1 | w->unresolved << 2));
    put_u32(out, w->row_count);
    for (uint32_t i = 0; i < w->row_count; i++) {
        put_u32(out, w->rows[i].line);
        put_u32(out, w->rows[i].member_count);
        for (uint32_t k = 0; k < w->rows[i].member_count; k++) {
            put_u32(out, w->rows[i].members[k]);
            put_u64(out, w->rows[i].lefts[k]);
        }
        put_in(out, w->rows[i].in);
        put_u64(out, w->rows[i].left);
        put_u8(out, w->rows[i].open);
    }
    put_events(out, w->events, w->event_count);
    put_events(out, w->pending, w->pending_count);
    put_u32(out, w->gap_count);
    for (uint32_t i = 0; i < w->gap_count; i++) {
        put_u32(out, w->gaps[i].line);
        put_u64(out, w->gaps[i].first);
        put_u64(out, w->gaps[i].count);
    }
    put_u32(out, w->crossing_count);
    for (uint32_t i = 0; i < w->crossing_count; i++) {
        put_ref(out, w->crossings[i].from);
        put_ref(out, w->crossings[i].to);
    }
    put_u32(out, w->via_count);
    for (uint32_t i = 0; i < w->via_count; i++) {
        put_ref(out, w->vias[i].from);
        put_ref(out, w->vias[i].to);
        put_u32(out, w->vias[i].line);
    }
    put_u64(out, w->idle_lines);
    put_u64(out, w->left_lines);
}

/* Whoever draws it counts columns from the first that holds something to the last. */
static void check_columns(struct in *in, const struct shown_window *w)
{
    if (w->event_count && (w->first > w->last || (int64_t)w->last - w->first >= LIMIT_COLUMNS))
        in_fail(in, "a window has impossible columns");
    for (uint32_t i = 0; i < w->event_count; i++)
        if (w->events[i].column < w->first || w->events[i].column > w->last)
            in_fail(in, "an event lies outside of its window's columns");
}

void get_window(struct in *in, struct shown_window *w)
{
    *w = (struct shown_window){.generation = get_u64(in)};
    w->anchor = get_u64(in);
    w->count = get_u64(in);
    w->from = (int32_t)get_u32(in);
    w->columns = get_u32(in);
    w->time_ns = (int64_t)get_u64(in);
    w->first = (int32_t)get_u32(in);
    w->last = (int32_t)get_u32(in);
    uint8_t flags = get_u8(in);
    w->more_left = flags & 1;
    w->more_right = flags & 2;
    w->unresolved = flags & 4;
    uint32_t n = get_count(in, 23);
    w->rows = get_room(in, n, sizeof *w->rows);
    for (; w->rows && w->row_count < n; w->row_count++) {
        struct shown_row *row = &w->rows[w->row_count];
        row->line = get_u32(in);
        uint32_t members = get_count(in, 12);
        row->members = get_room(in, members, sizeof *row->members);
        row->lefts = get_room(in, members, sizeof *row->lefts);
        for (; row->members && row->lefts && row->member_count < members; row->member_count++) {
            row->members[row->member_count] = get_u32(in);
            row->lefts[row->member_count] = get_u64(in);
        }
        row->in = get_in(in);
        row->left = get_u64(in);
        row->open = get_u8(in);
    }
    w->events = get_events(in, &w->event_count);
    check_columns(in, w);
    w->pending = get_events(in, &w->pending_count);
    n = get_count(in, 20);
    w->gaps = get_room(in, n, sizeof *w->gaps);
    for (; w->gaps && w->gap_count < n; w->gap_count++) {
        struct shown_gap *gap = &w->gaps[w->gap_count];
        gap->line = get_u32(in);
        gap->first = get_u64(in);
        gap->count = get_u64(in);
    }
    n = get_count(in, 24);
    w->crossings = get_room(in, n, sizeof *w->crossings);
    for (; w->crossings && w->crossing_count < n; w->crossing_count++) {
        w->crossings[w->crossing_count].from = get_ref(in);
        w->crossings[w->crossing_count].to = get_ref(in);
    }
    n = get_count(in, 28);
    w->vias = get_room(in, n, sizeof *w->vias);
    for (; w->vias && w->via_count < n; w->via_count++) {
        w->vias[w->via_count].from = get_ref(in);
        w->vias[w->via_count].to = get_ref(in);
        w->vias[w->via_count].line = get_u32(in);
    }
    w->idle_lines = get_u64(in);
    w->left_lines = get_u64(in);
}

void shown_window_free(struct shown_window *w)
{
    for (uint32_t i = 0; i < w->event_count; i++)
        shown_event_free(&w->events[i]);
    for (uint32_t i = 0; i < w->pending_count; i++)
        shown_event_free(&w->pending[i]);
    for (uint32_t i = 0; i < w->row_count; i++) {
        free(w->rows[i].members);
        free(w->rows[i].lefts);
    }
    free(w->events);
    free(w->pending);
    free(w->rows);
    free(w->gaps);
    free(w->crossings);
    free(w->vias);
    *w = (struct shown_window){0};
}

void put_wait(struct out *out, const struct shown_wait *wait)
{
    put_u32(out, wait->thread);
    put_u32(out, wait->about);
    put_event(out, &wait->event);
    put_u32(out, wait->holder_count);
    for (uint32_t i = 0; i < wait->holder_count; i++) {
        put_u32(out, wait->holders[i].thread);
        put_ref(out, wait->holders[i].since);
    }
}

void get_wait(struct in *in, struct shown_wait *wait)
{
    *wait = (struct shown_wait){.thread = get_u32(in)};
    wait->about = get_u32(in);
    get_event(in, &wait->event);
    uint32_t n = get_count(in, 16);
    wait->holders = get_room(in, n, sizeof *wait->holders);
    for (; wait->holders && wait->holder_count < n; wait->holder_count++) {
        wait->holders[wait->holder_count].thread = get_u32(in);
        wait->holders[wait->holder_count].since = get_ref(in);
    }
}

void shown_wait_free(struct shown_wait *wait)
{
    shown_event_free(&wait->event);
    free(wait->holders);
    *wait = (struct shown_wait){0};
}

void get_cycle(struct in *in, struct shown_cycle *cycle)
{
    uint32_t n = get_count(in, 8);
    *cycle = (struct shown_cycle){.steps = get_room(in, n, sizeof *cycle->steps)};
    for (; cycle->steps && cycle->count < n; cycle->count++) {
        cycle->steps[cycle->count].thread = get_u32(in);
        cycle->steps[cycle->count].about = get_u32(in);
    }
}

void put_count(struct out *out, const struct shown_count *c)
{
    put_ref(out, c->at);
    put_u8(out, c->known);
    put_u64(out, c->before);
    put_u64(out, c->after);
    put_u64(out, c->concurrent);
    put_u64(out, c->same);
    put_u64(out, c->unknown);
}

void get_count_is(struct in *in, struct shown_count *c)
{
    *c = (struct shown_count){.at = get_ref(in)};
    c->known = get_u8(in);
    c->before = get_u64(in);
    c->after = get_u64(in);
    c->concurrent = get_u64(in);
    c->same = get_u64(in);
    c->unknown = get_u64(in);
}

void put_found(struct out *out, const struct shown_found *f)
{
    put_u8(out, f->done);
    put_u64(out, f->looked);
    put_u64(out, f->count);
    put_string(out, f->problem);
    put_u32(out, f->hit_count);
    for (uint32_t i = 0; i < f->hit_count; i++) {
        put_ref(out, f->hits[i].at);
        put_u64(out, f->hits[i].position);
    }
}

void get_found(struct in *in, struct shown_found *f)
{
    *f = (struct shown_found){.done = get_u8(in)};
    f->looked = get_u64(in);
    f->count = get_u64(in);
    f->problem = get_one(in);
    uint32_t n = get_count(in, 20);
    f->hits = get_room(in, n, sizeof *f->hits);
    for (; f->hits && f->hit_count < n; f->hit_count++) {
        f->hits[f->hit_count].at = get_ref(in);
        f->hits[f->hit_count].position = get_u64(in);
    }
}

void shown_found_free(struct shown_found *f)
{
    free(f->problem);
    free(f->hits);
    *f = (struct shown_found){0};
}

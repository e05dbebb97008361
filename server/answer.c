#define _GNU_SOURCE
#include "server/answer.h"

#include "server/order/place.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- one event ---- */

struct list {
    struct ref *items;
    size_t count, room;
};

static void list_add(struct list *list, struct ref ref)
{
    list->items = grow(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = ref;
}

static struct ref ref_at(const struct run *run, uint64_t position)
{
    const struct event *e = order_event(run->order, position);
    return (struct ref){e->line, e->number};
}

static void add_partners(const struct run *run, uint64_t position, struct list *partners)
{
    const struct event *e = order_event(run->order, position);
    const uint64_t *edges = order_edges(run->order, e);
    if (e->relation == RELATION_SYNC && e->state == EVENT_ORDERED) {
        uint64_t end = order_point_end(run->order, position);
        for (uint64_t p = e->point; p <= end; p++)
            if (p != position)
                list_add(partners, ref_at(run, p));
    }
    for (uint16_t i = 0; i < e->send_count; i++)
        if (edges[i] >= order_first(run->order))
            list_add(partners, ref_at(run, edges[i]));
    for (uint64_t cursor = e->receives; cursor;)
        list_add(partners, ref_at(run, order_receives(run->order, &cursor)));
}

static void add_texts(const struct run *run, struct shown_event *shown)
{
    const struct run_text *t = run_texts(run, shown->at);
    for (; t; t = t->next) {
        shown->texts = realloc(shown->texts, (shown->text_count + 1) * sizeof *shown->texts);
        if (!shown->texts)
            abort();
        shown->texts[shown->text_count++] = (char *)(uintptr_t)t->text; /* borrowed */
    }
}

/* Fills in a delivered event; texts are borrowed: free with show_free. */
static struct shown_event show(const struct run *run, uint64_t position)
{
    const struct event *e = order_event(run->order, position);
    const uint64_t *edges = order_edges(run->order, e);
    struct shown_event s = {.at = {e->line, e->number},
                            .type = e->type,
                            .relation = e->relation,
                            .state = e->state,
                            .partner_lost = e->partner_lost,
                            .time_ns = e->time_ns,
                            .about = e->about,
                            .thread = e->thread,
                            .in = e->in};
    if (e->site) {
        s.process = run->site_list[e->site - 1].process;
        s.site = run->site_list[e->site - 1].address;
    }
    if (e->relation == RELATION_GROUP)
        s.group = e->point + 1;
    struct list partners = {0}, after = {0};
    add_partners(run, position, &partners);
    for (uint32_t i = e->send_count; i + e->opened < e->edge_count; i++)
        if (edges[i] >= order_first(run->order))
            list_add(&after, ref_at(run, edges[i]));
    s.partners = partners.items;
    s.partner_count = (uint32_t)partners.count;
    s.after = after.items;
    s.after_count = (uint32_t)after.count;
    add_texts(run, &s);
    return s;
}

static void show_free(struct shown_event *s)
{
    free(s->partners);
    free(s->after);
    free(s->texts);
}

struct waiting {
    const struct run *run;
    struct shown_event *events;
    size_t count, room;
};

static void add_pending(void *context, const struct arrival *a)
{
    struct waiting *w = context;
    w->events = grow(w->events, &w->room, w->count + 1, sizeof *w->events);
    struct shown_event *s = &w->events[w->count++];
    *s = (struct shown_event){.at = a->at,
                              .type = a->type,
                              .relation = (uint8_t)a->relation,
                              .state = EVENT_PENDING,
                              .time_ns = a->time_ns,
                              .about = a->about,
                              .thread = a->thread};
    if (a->site) {
        s->process = w->run->site_list[a->site - 1].process;
        s->site = w->run->site_list[a->site - 1].address;
    }
    struct list partners = {0};
    for (uint32_t i = 0; i < a->partner_count && a->relation != RELATION_ORDER; i++)
        list_add(&partners, a->partners[i]);
    s->partners = partners.items;
    s->partner_count = (uint32_t)partners.count;
    add_texts(w->run, s);
}

static int by_line(const void *a, const void *b)
{
    struct ref x = ((const struct shown_event *)a)->at, y = ((const struct shown_event *)b)->at;
    if (x.line != y.line)
        return x.line < y.line ? -1 : 1;
    return x.number < y.number ? -1 : x.number > y.number;
}

static struct waiting pending_of(const struct run *run)
{
    struct waiting w = {.run = run};
    order_pending(run->order, add_pending, &w);
    if (w.count)
        qsort(w.events, w.count, sizeof *w.events, by_line);
    return w;
}

static void pending_free(struct waiting *w)
{
    for (size_t i = 0; i < w->count; i++)
        show_free(&w->events[i]);
    free(w->events);
}

/* ---- tables ---- */

void answer_run(struct out *out, const struct run *run, enum message type)
{
    struct shown_run r = {.name = run->name,
                          .file = run->file,
                          .number = run->number,
                          .events = order_figures(run->order).events,
                          .wall_ns = run->wall_ns,
                          .connected = run->connected};
    out_begin(out, type);
    put_run(out, &r);
    out_end(out);
}

static void tell_line(struct out *out, const struct run *run, uint32_t line)
{
    const struct order *order = run->order;
    struct shown_line s = {.line = line, .kind = (char *)(uintptr_t) "order", .name = NULL};
    uint64_t n = order_line_events(order, line), first = order_line_first(order, line);
    if (line & HIDDEN_LINE) {
        s.kind = (char *)(uintptr_t)run_kind_name(run, order_line_kind(order, line));
    } else {
        const struct run_line *l = &run->lines[line - 1];
        s.kind = (char *)(uintptr_t)run_kind_name(run, l->kind);
        s.name = l->name;
        s.process = l->process;
        s.object = l->object;
        s.entry = l->entry;
    }
    s.shared = order_line_shared(order, line);
    s.closed = order_line_closed(order, line);
    s.opened_by = order_line_opened_by(order, line);
    s.events = n;
    s.first = n > first ? order_event(order, order_line_at(order, line, first))->number : 0;
    s.last = n > first ? order_event(order, order_line_at(order, line, n - 1))->number : 0;
    out_begin(out, MESSAGE_LINE_IS);
    put_line_is(out, &s);
    out_end(out);
}

static void tell_process(struct out *out, uint32_t index, const struct run_process *p)
{
    struct shown_process s = {.pid = p->pid,
                              .path = p->path,
                              .host = p->host,
                              .arguments = p->arguments,
                              .argument_count = (uint32_t)p->argument_count};
    s.modules = calloc(p->module_count + 1, sizeof *s.modules);
    for (size_t i = 0; s.modules && i < p->module_count; i++) {
        struct shown_module *m = &s.modules[s.module_count++];
        const struct run_module *from = &p->modules[i];
        *m = (struct shown_module){
            .path = from->path, .start = from->start, .end = from->end, .bias = from->bias};
        for (unsigned k = 0; k < from->build_id_bytes; k++)
            snprintf(m->build_id + 2 * k, 3, "%02x", from->build_id[k]);
    }
    out_begin(out, MESSAGE_PROCESS);
    put_u32(out, index);
    put_process(out, &s);
    out_end(out);
    free(s.modules);
}

void answer_news(struct out *out, const struct run *run, struct known *known)
{
    for (; known->targets < run->target_count; known->targets++) {
        out_begin(out, MESSAGE_TARGET);
        put_string(out, run->targets[known->targets]->name);
        put_string(out, run->target_texts[known->targets]);
        out_end(out);
    }
    size_t first = known->processes; /* the newest may have got modules since */
    if (first && run->processes[first - 1].module_count != known->modules)
        first--;
    for (; first < run->process_count; first++) {
        tell_process(out, (uint32_t)first, &run->processes[first]);
        known->modules = run->processes[first].module_count;
    }
    known->processes = run->process_count;
    for (; known->types < run->types.count; known->types++) {
        out_begin(out, MESSAGE_TYPE_NAME);
        put_u32(out, (uint32_t)known->types + 1);
        put_string(out, run->types.items[known->types]);
        out_end(out);
    }
    for (uint32_t i = 1; i <= order_lines(run->order); i++)
        if (i > known->lines || run->lines[i - 1].generation > known->generation)
            tell_line(out, run, i);
    known->lines = order_lines(run->order);
    known->generation = run->generation;
}

void answer_stat(struct out *out, const struct run *run)
{
    struct order_figures f = order_figures(run->order);
    struct shown_stat s = {.lines = order_lines(run->order),
                           .hidden_lines = order_hidden_lines(run->order),
                           .events = f.events,
                           .pending = f.pending,
                           .lost = f.lost,
                           .contradictions = f.contradictions,
                           .duplicates = f.duplicates,
                           .texts = run->text_count,
                           .duration_ns = run->last_ns,
                           .connected = run->connected,
                           .unfinished = run->unfinished,
                           .damage = run->damage};
    for (size_t i = 0; i < run->process_count; i++) {
        s.waited_ns += run->processes[i].waited_ns;
        s.untraced += run->processes[i].dropped;
    }
    out_begin(out, MESSAGE_STAT_IS);
    put_stat(out, &s);
    out_end(out);
    size_t count;
    const struct trouble *troubles = order_troubles(run->order, &count);
    for (size_t i = 0; i < count && i < 1000; i++) {
        out_begin(out, MESSAGE_TROUBLE);
        put_ref(out, troubles[i].at);
        put_ref(out, troubles[i].with);
        put_string(out, troubles[i].why);
        out_end(out);
    }
    out_begin(out, MESSAGE_DUMP_END);
    out_end(out);
}

static bool exists(const struct run *run, struct ref at)
{
    uint32_t lines = at.line & HIDDEN_LINE ? order_hidden_lines(run->order)
                                           : order_lines(run->order);
    uint32_t line = at.line & ~HIDDEN_LINE;
    return line && line <= lines && at.number && at.number <= order_line_highest(run->order, at.line);
}

/* For each pair of refs a byte: 1 + enum precedence, or 0 if one does not exist. */
void answer_order(struct out *out, const struct run *run, struct in *in)
{
    out_begin(out, MESSAGE_ORDER_IS);
    while (in_left(in) >= 24) {
        struct ref a = get_ref(in), b = get_ref(in);
        bool both = exists(run, a) && exists(run, b);
        put_u8(out, both ? (uint8_t)(1 + order_compare(run->order, a, b)) : 0);
    }
    out_end(out);
}

static void tell_tail(struct out *out, const struct run *run, uint32_t line)
{
    const struct order *order = run->order;
    struct shown_tail tail = {.line = line};
    uint64_t n = order_line_events(order, line);
    if (n > order_line_first(order, line)) {
        uint64_t last = order_line_at(order, line, n - 1);
        tail.in = order_event(order, last)->in;
        tail.last = show(run, last);
    }
    uint64_t acted = order_thread_last(order, line);
    if (acted != NO_POSITION)
        tail.last_acted = show(run, acted);
    uint32_t thread;
    enum presence presence;
    uint64_t since;
    for (size_t i = 0; order_line_inside(order, line, i, &thread, &presence, &since); i++) {
        if (thread == line)
            continue;
        tail.inside = realloc(tail.inside, (tail.inside_count + 1) * sizeof *tail.inside);
        if (!tail.inside)
            abort();
        tail.inside[tail.inside_count++] =
            (struct shown_inside){thread, (uint8_t)presence, {line, since}};
    }
    out_begin(out, MESSAGE_TAIL);
    put_tail(out, &tail);
    out_end(out);
    show_free(&tail.last);
    show_free(&tail.last_acted);
    free(tail.inside);
}

void answer_tails(struct out *out, const struct run *run)
{
    for (uint32_t line = 1; line <= order_lines(run->order); line++)
        tell_tail(out, run, line);
    out_begin(out, MESSAGE_TAILS_END);
    put_u64(out, (uint64_t)run->last_ns);
    out_end(out);
}

/* ---- windows ---- */

static bool has_text(void *context, struct ref at)
{
    return run_texts(context, at) != NULL;
}

static uint64_t anchor_position(const struct run *run, const struct window_request *r)
{
    uint64_t count = order_count(run->order), position = 0;
    uint32_t line = r->event.line;
    switch (r->anchor) {
    case ANCHOR_END:
        return count;
    case ANCHOR_EVENT:
        position = line && line <= order_lines(run->order) ? order_position(run->order, r->event)
                                                           : NO_POSITION;
        break;
    case ANCHOR_POSITION:
        position = r->position;
        break;
    case ANCHOR_FRACTION:
        position = (uint64_t)(r->fraction * (double)count);
        break;
    default:
        break;
    }
    if (position < order_first(run->order))
        position = order_first(run->order);
    if (position >= count)
        return count;
    return order_event(run->order, position)->point;
}

static uint8_t *choose_rows(const struct run *run, const struct window_request *r,
                            struct shown_window *w)
{
    uint32_t lines = order_lines(run->order);
    uint8_t *shown = calloc(lines + 1, 1);
    w->rows = calloc((r->row_count ? r->row_count : lines) + 1, sizeof *w->rows);
    if (!shown || !w->rows)
        abort();
    for (uint32_t i = 0; i < r->row_count; i++)
        if (r->rows[i] && r->rows[i] <= lines && !shown[r->rows[i] - 1]) {
            shown[r->rows[i] - 1] = 1;
            w->rows[w->row_count++].line = r->rows[i];
        }
    for (uint32_t i = 1; r->row_count == 0 && i <= lines; i++) {
        const struct target_kind *kind = run_target_kind(run, run_kind_name(run, run->lines[i - 1].kind));
        if ((kind && !kind->drawn) ||
            order_line_events(run->order, i) == order_line_first(run->order, i))
            continue;
        shown[i - 1] = 1;
        w->rows[w->row_count++].line = i;
    }
    return shown;
}

static void add_gaps(const struct run *run, struct shown_window *w)
{
    size_t room = 0;
    for (uint32_t i = 0; i < w->row_count; i++) {
        uint64_t first, count;
        for (size_t g = 0; order_line_gap(run->order, w->rows[i].line, g, &first, &count); g++) {
            w->gaps = grow(w->gaps, &room, w->gap_count + 1, sizeof *w->gaps);
            w->gaps[w->gap_count++] = (struct shown_gap){w->rows[i].line, first, count};
        }
    }
}

void answer_window(struct out *out, const struct run *run, const struct window_request *r)
{
    struct shown_window w = {.id = r->id,
                             .generation = run->generation,
                             .anchor = anchor_position(run, r),
                             .count = order_count(run->order),
                             .from = r->from,
                             .columns = r->columns};
    uint8_t *shown = choose_rows(run, r, &w);
    struct placement placement;
    struct placing placing = {.anchor = w.anchor,
                              .from = r->from,
                              .columns = r->columns,
                              .shown = shown,
                              .fold = r->fold,
                              .has_text = has_text,
                              .context = (void *)(uintptr_t)run};
    if (!place(run->order, &placing, &placement))
        abort();
    w.first = placement.first;
    w.last = placement.last;
    w.more_left = placement.more_left;
    w.more_right = placement.more_right;
    for (uint32_t i = 0; i < w.row_count; i++) {
        struct shown_row *row = &w.rows[i];
        row->left = placement.before[row->line - 1];
        uint64_t n = order_line_events(run->order, row->line);
        row->left = row->left > n ? n : row->left;
        row->open = row->left > 0;
        if (row->left > order_line_first(run->order, row->line))
            row->in = order_event(run->order, order_line_at(run->order, row->line, row->left - 1))->in;
    }
    w.events = calloc(placement.count + 1, sizeof *w.events);
    if (!w.events)
        abort();
    for (size_t i = 0; i < placement.count; i++) {
        const struct placed *p = &placement.events[i];
        struct shown_event *s = &w.events[w.event_count++];
        *s = show(run, p->position);
        s->column = p->column;
        s->fold = p->fold;
        if (p->fold)
            s->in = order_event(run->order, p->fold_end)->in;
    }
    struct waiting pending = {.run = run};
    if (!w.more_right)
        pending = pending_of(run);
    w.pending = pending.events;
    w.pending_count = (uint32_t)pending.count;
    add_gaps(run, &w);
    out_begin(out, MESSAGE_WINDOW_IS);
    put_window(out, &w);
    out_end(out);
    for (uint32_t i = 0; i < w.event_count; i++)
        show_free(&w.events[i]);
    pending_free(&pending);
    free(w.events);
    free(w.rows);
    free(w.gaps);
    free(shown);
    placement_free(&placement);
}

void answer_find(struct out *out, const struct run *run, const char *text, uint64_t from,
                 bool backwards)
{
    uint64_t count = order_count(run->order);
    struct ref found = {0, 0};
    uint64_t position = from;
    if (position < order_first(run->order))
        position = order_first(run->order);
    while (!found.line && (backwards ? position > order_first(run->order) : position < count)) {
        uint64_t p = backwards ? --position : position++;
        const struct event *e = order_event(run->order, p);
        struct ref at = {e->line, e->number};
        for (const struct run_text *t = run_texts(run, at); t && !found.line; t = t->next)
            if (strcasestr(t->text, text))
                found = at;
        if (!found.line && !(e->line & HIDDEN_LINE) &&
            strcasecmp(run_type_name(run, e->type), text) == 0)
            found = at;
        if (found.line)
            position = p;
    }
    out_begin(out, MESSAGE_FOUND);
    put_ref(out, found);
    put_u64(out, position);
    out_end(out);
}

/* ---- dump ---- */

static void tell_event(struct out *out, struct shown_event *s)
{
    out_begin(out, MESSAGE_EVENT);
    put_event(out, s);
    out_end(out);
}

static void tell_leftovers(struct out *out, const struct run *run)
{
    struct waiting pending = pending_of(run);
    for (size_t i = 0; i < pending.count; i++)
        tell_event(out, &pending.events[i]);
    pending_free(&pending);
    for (uint64_t p = order_first(run->order); order_figures(run->order).contradictions && p < order_count(run->order);
         p++) {
        if (order_event(run->order, p)->state != EVENT_CONTRADICTORY)
            continue;
        struct shown_event s = show(run, p);
        tell_event(out, &s);
        show_free(&s);
    }
    for (uint32_t line = 1; line <= order_lines(run->order); line++) {
        struct shown_gap gap = {.line = line};
        for (size_t i = 0; order_line_gap(run->order, line, i, &gap.first, &gap.count); i++) {
            out_begin(out, MESSAGE_LOST_IS);
            put_ref(out, (struct ref){line, gap.first});
            put_u64(out, gap.count);
            out_end(out);
        }
    }
    out_begin(out, MESSAGE_DUMP_END);
    out_end(out);
}

bool answer_dump(struct out *out, const struct run *run, uint64_t *cursor, size_t enough)
{
    if (*cursor == 0)
        for (uint32_t i = 1; i <= order_hidden_lines(run->order); i++)
            tell_line(out, run, HIDDEN_LINE | i);
    if (*cursor < order_first(run->order))
        *cursor = order_first(run->order);
    while (*cursor < order_count(run->order)) {
        if (out->size >= enough)
            return false;
        uint64_t position = (*cursor)++;
        if (order_event(run->order, position)->state == EVENT_CONTRADICTORY)
            continue;
        struct shown_event s = show(run, position);
        tell_event(out, &s);
        show_free(&s);
    }
    tell_leftovers(out, run);
    return true;
}

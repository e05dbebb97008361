#define _GNU_SOURCE
#include "server/answer.h"

#include "server/unseen.h"
#include "wire/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    struct event e = order_event(run->order, position);
    return (struct ref){e.line, e.number};
}

struct partners {
    const struct run *run;
    struct list list;
};

static void add_receive(void *context, uint64_t receive)
{
    struct partners *partners = context;
    list_add(&partners->list, ref_at(partners->run, receive));
}

static struct list partners_of(const struct run *run, uint64_t position, const struct event *e)
{
    struct partners partners = {.run = run};
    if (e->relation == RELATION_SYNC && e->state == EVENT_ORDERED) {
        uint64_t end = order_point_end(run->order, position);
        for (uint64_t p = e->point; p <= end; p++)
            if (p != position)
                list_add(&partners.list, ref_at(run, p));
    }
    for (uint32_t i = 0; i < e->send_count; i++) {
        uint64_t send = order_edge(run->order, position, i);
        if (send >= order_first(run->order))
            list_add(&partners.list, ref_at(run, send));
    }
    if (e->sends)
        order_receives(run->order, position, add_receive, &partners);
    return partners.list;
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

struct shown_event show(const struct run *run, uint64_t position)
{
    struct event e = order_event(run->order, position);
    struct shown_event s = {.at = {e.line, e.number},
                            .position = position,
                            .type = e.type,
                            .relation = e.relation,
                            .state = e.state,
                            .partner_lost = e.partner_lost,
                            .doubt = e.doubt,
                            .time_ns = e.time_ns,
                            .about = e.about,
                            .thread = e.thread,
                            .in = e.in};
    if (e.site && e.site <= run->site_count) {
        s.process = run->site_list[e.site - 1].process;
        s.site = run->site_list[e.site - 1].address;
    }
    if (e.relation == RELATION_GROUP)
        s.group = e.point + 1;
    struct list partners = partners_of(run, position, &e), after = {0};
    for (uint32_t i = e.send_count; i + e.opened < e.edge_count; i++) {
        uint64_t edge = order_edge(run->order, position, i);
        if (edge >= order_first(run->order))
            list_add(&after, ref_at(run, edge));
    }
    s.partners = partners.items;
    s.partner_count = (uint32_t)partners.count;
    s.after = after.items;
    s.after_count = (uint32_t)after.count;
    add_texts(run, &s);
    return s;
}

void show_free(struct shown_event *s)
{
    free(s->partners);
    free(s->after);
    free(s->texts);
}

static void add_pending(void *context, const struct arrival *a)
{
    struct waiting *w = context;
    w->events = grow(w->events, &w->room, w->count + 1, sizeof *w->events);
    struct shown_event *s = &w->events[w->count++];
    *s = (struct shown_event){.at = a->at,
                              .position = NO_PLACE,
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

struct waiting pending_of(const struct run *run)
{
    struct waiting w = {.run = run};
    order_pending(run->order, add_pending, &w);
    if (w.count)
        qsort(w.events, w.count, sizeof *w.events, by_line);
    return w;
}

void waiting_free(struct waiting *w)
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
                          .connected = run->connected,
                          .unfinished = run->unfinished,
                          .written = run->written};
    out_begin(out, type);
    put_run(out, &r);
    out_end(out);
}

static uint64_t number_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    uint64_t position = order_line_at(order, line, ordinal);
    return position == NO_POSITION ? 0 : order_event(order, position).number;
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
    s.first = n > first ? number_at(order, line, first) : 0;
    s.last = n > first ? number_at(order, line, n - 1) : 0;
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

/* What the file has lost, and how many of its parts turned out to be unreadable since; NULL nothing.
 * Caller frees. */
static char *damage_of(const struct run *run, uint64_t parts)
{
    char *text = NULL;
    if (!parts)
        return run->damage ? strdup(run->damage) : NULL;
    if (asprintf(&text, "%s%s%llu damaged part%s: the events in %s cannot be read",
                 run->damage ? run->damage : "", run->damage ? "; " : "",
                 (unsigned long long)parts, parts == 1 ? "" : "s", parts == 1 ? "it" : "them") < 0)
        abort();
    return text;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct shown_event *)a)->time_ns, y = ((const struct shown_event *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static void tell_event(struct out *out, struct shown_event *s)
{
    out_begin(out, MESSAGE_EVENT);
    put_event(out, s);
    out_end(out);
}

void answer_stat(struct out *out, const struct run *run)
{
    struct order_figures f = order_figures(run->order);
    char *damage = damage_of(run, f.damaged);
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
                           .written = run->written,
                           .doubtful = f.doubtful,
                           .damage = damage};
    for (size_t i = 0; i < run->process_count; i++) {
        s.waited_ns += run->processes[i].waited_ns;
        s.untraced += run->processes[i].unfollowed;
    }
    s.lost += unseen_lost(run); /* not all of them were numbered */
    s.unseen = unseen_list(run, &s.unseen_count);
    out_begin(out, MESSAGE_STAT_IS);
    put_stat(out, &s);
    out_end(out);
    free(damage);
    free(s.unseen);
    size_t count;
    const struct trouble *troubles = order_troubles(run->order, &count);
    for (size_t i = 0; i < count && i < LIMIT_TOLD; i++) {
        out_begin(out, MESSAGE_TROUBLE);
        put_ref(out, troubles[i].at);
        put_ref(out, troubles[i].with);
        put_string(out, troubles[i].why);
        out_end(out);
    }
    struct waiting pending = pending_of(run);
    if (pending.count)
        qsort(pending.events, pending.count, sizeof *pending.events, by_time);
    for (size_t i = 0; i < pending.count && i < LIMIT_TOLD; i++)
        tell_event(out, &pending.events[i]);
    waiting_free(&pending);
    out_begin(out, MESSAGE_DUMP_END);
    out_end(out);
}

void answer_event(struct out *out, const struct run *run, struct ref at)
{
    uint64_t position = order_position(run->order, at);
    struct shown_event s = {.at = at, .position = NO_PLACE};
    if (position != NO_POSITION)
        s = show(run, position);
    tell_event(out, &s);
    show_free(&s);
}

static void tell_tail(struct out *out, const struct run *run, uint32_t line)
{
    const struct order *order = run->order;
    struct shown_tail tail = {.line = line};
    uint64_t n = order_line_events(order, line);
    if (n > order_line_first(order, line)) {
        uint64_t last = order_line_at(order, line, n - 1);
        tail.in = order_event(order, last).in;
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

/* ---- dump ---- */

static void tell_leftovers(struct out *out, const struct run *run)
{
    struct waiting pending = pending_of(run);
    for (size_t i = 0; i < pending.count; i++)
        tell_event(out, &pending.events[i]);
    waiting_free(&pending);
    for (uint64_t p = order_first(run->order); order_figures(run->order).contradictions && p < order_count(run->order);
         p++) {
        if (order_event(run->order, p).state != EVENT_CONTRADICTORY)
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
    if (unseen_lost(run)) { /* without a number, or on lines that nobody knows */
        out_begin(out, MESSAGE_LOST_IS);
        put_ref(out, (struct ref){0, 0});
        put_u64(out, unseen_lost(run));
        out_end(out);
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
        struct event e = order_event(run->order, position);
        if (e.state == EVENT_CONTRADICTORY || !e.line) /* told last; cannot be read */
            continue;
        struct shown_event s = show(run, position);
        tell_event(out, &s);
        show_free(&s);
    }
    tell_leftovers(out, run);
    return true;
}

void answer_sites(struct out *out, const struct run *run)
{
    uint32_t count = (uint32_t)(run->site_count < LIMIT_SITES ? run->site_count : LIMIT_SITES);
    out_begin(out, MESSAGE_SITES_ARE);
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(out, run->site_list[i].process);
        put_u64(out, run->site_list[i].address);
    }
    out_end(out);
}

#define FETCH_BYTES (1u << 20)

void answer_bytes(struct out *out, const struct run *run, uint64_t offset)
{
    struct stat st = {0};
    int fd = run->file ? open(run->file, O_RDONLY | O_CLOEXEC) : -1;
    uint8_t *bytes = malloc(FETCH_BYTES);
    ssize_t n = fd >= 0 && bytes && offset <= INT64_MAX && fstat(fd, &st) == 0
                    ? pread(fd, bytes, FETCH_BYTES, (off_t)offset) : -1;
    out_begin(out, MESSAGE_BYTES);
    put_u64(out, offset);
    put_u64(out, (uint64_t)st.st_size);
    put_string(out, n < 0 ? strerror(errno) : "");
    put_u32(out, n > 0 ? (uint32_t)n : 0);
    put_bytes(out, bytes, n > 0 ? (size_t)n : 0);
    out_end(out);
    if (fd >= 0)
        close(fd);
    free(bytes);
}

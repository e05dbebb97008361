#define _GNU_SOURCE
#include "server/answer/answer.h"

#include "server/answer/named.h"
#include "server/answer/question.h"
#include "server/loop/turn.h"
#include "server/run/lost.h"
#include "server/run/unseen.h"
#include "wire/limits.h"
#include "memory/memory.h"
#include "wire/ref.h"

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
    named_note(ref.line);
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
        shown->texts = memory_resized(shown->texts, shown->text_count + 1, sizeof *shown->texts);
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
    named_note(e.line);
    named_note(e.about);
    named_note(e.thread);
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

struct shown_event show_pending(const struct run *run, const struct arrival *a)
{
    struct shown_event s = {.at = a->at,
                            .position = NO_POSITION,
                            .type = a->type,
                            .relation = (uint8_t)a->relation,
                            .state = EVENT_PENDING,
                            .time_ns = a->time_ns,
                            .about = a->about,
                            .thread = a->thread};
    named_note(a->at.line);
    named_note(a->about);
    named_note(a->thread);
    if (a->site) {
        s.process = run->site_list[a->site - 1].process;
        s.site = run->site_list[a->site - 1].address;
    }
    struct list partners = {0};
    for (uint32_t i = 0; i < a->partner_count && a->relation != RELATION_ORDER; i++)
        list_add(&partners, a->partners[i]);
    s.partners = partners.items;
    s.partner_count = (uint32_t)partners.count;
    add_texts(run, &s);
    return s;
}

static void add_pending(void *context, const struct arrival *a)
{
    struct waiting *w = context;
    w->events = grow(w->events, &w->room, w->count + 1, sizeof *w->events);
    w->events[w->count++] = show_pending(w->run, a);
}

static int by_line(const void *a, const void *b)
{
    struct ref x = ((const struct shown_event *)a)->at, y = ((const struct shown_event *)b)->at;
    if (x.line != y.line)
        return x.line < y.line ? -1 : 1;
    return x.number < y.number ? -1 : x.number > y.number;
}

struct waiting pending_of(const struct run *run, uint64_t most)
{
    struct waiting w = {.run = run};
    order_pending(run->order, most, add_pending, &w);
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

void answer_run(struct out *out, const struct run *run)
{
    struct shown_run r = {.name = run->name,
                          .file = run->file,
                          .number = run->number,
                          .events = run->resting ? run->rest_events : order_figures(run->order).events,
                          .lost = run->resting ? run->rest_lost : run_lost(run),
                          .wall_ns = run->wall_ns,
                          .connected = run->connected,
                          .unfinished = run->unfinished,
                          .written = run->written};
    put_run(out, &r);
}

static uint64_t number_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    uint64_t position = order_line_at(order, line, ordinal);
    return position == NO_POSITION ? 0 : order_event(order, position).number;
}

void tell_line(struct out *out, const struct run *run, uint32_t line)
{
    const struct order *order = run->order;
    struct shown_line s = {.line = line, .kind = (char *)(uintptr_t) "order", .name = NULL};
    uint64_t n = order_line_events(order, line), first = order_line_first(order, line);
    if (line & HIDDEN_LINE) {
        s.kind = (char *)(uintptr_t)run_kind_name(run, order_line_kind(order, line));
    } else {
        const struct run_line *l = run_line_at(run, line);
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

#define NEWS_NS 3000000u

bool answer_some_news(struct out *out, const struct run *run, struct known *known, size_t enough)
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
    if (!known->lines) /* what changed before is told with the line */
        known->changes = run->change_count;
    struct share share = share_of(NEWS_NS);
    bool named = named_only(run, known);
    if (named)
        named_count(out, run, known);
    for (unsigned n = 1; !named && known->lines < order_lines(run->order); n++) {
        if (out->size >= enough || (n % 64 == 0 && !share_left(share)))
            return false;
        tell_line(out, run, ++known->lines);
    }
    for (unsigned n = 1; known->changes < run->change_count; n++) {
        if (out->size >= enough || (n % 64 == 0 && !share_left(share)))
            return false;
        uint32_t line = run->changes[known->changes++];
        if (named_told(known, line))
            tell_line(out, run, line);
    }
    return true;
}

void answer_news(struct out *out, const struct run *run, struct known *known)
{
    while (!answer_some_news(out, run, known, SIZE_MAX))
        ;
}

/* What the file has lost, and what of it turned out to be unreadable since; NULL nothing.
 * Caller frees. */
static char *damage_of(const struct run *run, uint64_t parts)
{
    char *text = NULL;
    uint64_t events = order_unreadable_events(run->order);
    const char *before = run->damage ? run->damage : "", *between = run->damage ? "; " : "";
    const char *file = run->file ? run->file : run->name;
    unsigned long long place = order_first_damage(run->order);
    if (!parts)
        return run->damage ? strdup(run->damage) : NULL;
    int n = events ? asprintf(&text, "%s%s%llu events of %llu could not be read (%s: part at byte %llu)",
                              before, between, (unsigned long long)events,
                              (unsigned long long)order_figures(run->order).events, file, place)
                   : asprintf(&text, "%s%ssome of what comes before what could not be read (%s: part at "
                              "byte %llu)", before, between, file, place);
    if (n < 0)
        abort();
    return text;
}

void answer_damage(struct out *out, const struct run *run, struct known *known)
{
    uint64_t parts = order_figures(run->order).damaged;
    if (known->damaged == parts + 1 || (!parts && !run->damage))
        return;
    char *text = damage_of(run, parts);
    out_begin(out, MESSAGE_DAMAGE);
    put_u64(out, order_unreadable_events(run->order));
    put_string(out, text);
    out_end(out);
    free(text);
    known->damaged = parts + 1;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct shown_event *)a)->time_ns, y = ((const struct shown_event *)b)->time_ns;
    return x < y ? -1 : x > y;
}

void answer_shown(struct reply *reply, const struct shown_event *s)
{
    part_begin(reply, PART_EVENT);
    put_event(reply->out, s);
    part_end(reply);
}

static void answer_stat(const struct run *run, struct in *in, struct reply *reply)
{
    struct out *out = reply->out;
    if (!in_done(in))
        return;
    if (run->verify)
        order_verify(run->order);
    struct order_figures f = order_figures(run->order);
    char *damage = damage_of(run, f.damaged);
    uint64_t unreadable = order_unreadable_events(run->order);
    struct shown_stat s = {.lines = order_lines(run->order),
                           .hidden_lines = order_hidden_lines(run->order),
                           .events = f.events - unreadable,
                           .pending = f.pending,
                           .lost = run_lost(run) + unreadable,
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
    s.unseen = unseen_list(run, &s.unseen_count);
    part_begin(reply, PART_STAT);
    put_stat(out, &s);
    part_end(reply);
    free(damage);
    free(s.unseen);
    size_t count;
    const struct trouble *troubles = order_troubles(run->order, &count);
    for (size_t i = 0; i < count && i < LIMIT_TOLD; i++) {
        named_note(troubles[i].at.line);
        named_note(troubles[i].with.line);
        part_begin(reply, PART_TROUBLE);
        put_ref(out, troubles[i].at);
        put_ref(out, troubles[i].with);
        put_string(out, troubles[i].why);
        part_end(reply);
    }
    struct waiting pending = pending_of(run, LIMIT_TOLD);
    if (pending.count)
        qsort(pending.events, pending.count, sizeof *pending.events, by_time);
    for (size_t i = 0; i < pending.count; i++)
        answer_shown(reply, &pending.events[i]);
    waiting_free(&pending);
}

const struct question question_stat = {.at_once = answer_stat};

void answer_event(struct reply *reply, const struct run *run, struct ref at)
{
    uint64_t position = order_position(run->order, at);
    struct shown_event s = {.at = at, .position = NO_POSITION};
    named_note(at.line);
    if (position != NO_POSITION)
        s = show(run, position);
    answer_shown(reply, &s);
    show_free(&s);
}

/* ---- sites, and the file ---- */

static void answer_sites(const struct run *run, struct in *in, struct reply *reply)
{
    if (!in_done(in))
        return;
    uint32_t count = (uint32_t)(run->site_count < LIMIT_SITES ? run->site_count : LIMIT_SITES);
    part_begin(reply, PART_SITES);
    put_u32(reply->out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(reply->out, run->site_list[i].process);
        put_u64(reply->out, run->site_list[i].address);
    }
    part_end(reply);
}

const struct question question_sites = {.at_once = answer_sites};

#define FETCH_BYTES (1u << 20)

static void answer_bytes(const struct run *run, struct in *in, struct reply *reply)
{
    struct out *out = reply->out;
    uint64_t offset = get_u64(in);
    if (!in_done(in))
        return;
    struct stat st = {0};
    int fd = run->file ? open(run->file, O_RDONLY | O_CLOEXEC) : -1;
    uint8_t *bytes = malloc(FETCH_BYTES);
    ssize_t n = fd >= 0 && bytes && offset <= INT64_MAX && fstat(fd, &st) == 0
                    ? pread(fd, bytes, FETCH_BYTES, (off_t)offset) : -1;
    part_begin(reply, PART_BYTES);
    put_u64(out, offset);
    put_u64(out, (uint64_t)st.st_size);
    put_string(out, n < 0 ? strerror(errno) : "");
    put_u32(out, n > 0 ? (uint32_t)n : 0);
    put_bytes(out, bytes, n > 0 ? (size_t)n : 0);
    part_end(reply);
    if (fd >= 0)
        close(fd);
    free(bytes);
}

const struct question question_fetch = {.at_once = answer_bytes};

#include "clients/schedule/schedule_builder.h"

#include "base/alloc.h"
#include "wire/annotation_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct schedule_action { /* one event */
    struct schedule_event is; /* without its ticket at first */
    uint32_t thread;
    uint32_t process;
    uint64_t site;
    int64_t time_ns;
    /* 1 + index of its first predecessor in `edges`: order edges, then the sends it receives; 0:
     * none */
    uint32_t after;
    uint32_t after_count, causes; /* number of predecessors; of them order edges */
    uint32_t of, chosen; /* from a text "CHOSEN of OF"; of 0: no such text */
    bool answers; /* reports nondeterministic call `of` of its thread, result `chosen` */
};

struct schedule_thread { /* the events of a thread */
    uint32_t *acts; /* indices in schedule_builder.acts */
    size_t count, room;
    size_t next; /* index of the first that is not processed */
    uint16_t named;
    uint32_t parked; /* the next thread that waits for the same line; 0: none */
};

struct schedule_builder {
    struct schedule_action *acts;
    size_t act_count, act_room;
    struct event_id *edges;
    size_t edge_count, edge_room;
    struct schedule_thread *courses; /* by line */
    uint32_t *own, *done,
        *parked; /* by line: events; processed events; first thread that waits for it */
    size_t course_room, line_room;
    uint32_t line_count;
    char (*types)[SCHEDULE_NAME_BYTES]; /* by code - 1 */
    size_t type_room;
    uint32_t type_count;
    uint32_t *walk; /* threads of all events, in processing order */
    const char *wrong;
};

struct schedule_builder *schedule_builder_new(void)
{
    return xcalloc(1, sizeof(struct schedule_builder));
}

void schedule_builder_free(struct schedule_builder *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->course_room; i++)
        free(p->courses[i].acts);
    free(p->acts);
    free(p->edges);
    free(p->courses);
    free(p->own);
    free(p->done);
    free(p->parked);
    free(p->types);
    free(p->walk);
    free(p);
}

/* ---- recorded events ---- */

static void know_line(struct schedule_builder *p, uint32_t line)
{
    size_t room = p->line_room;
    if (line <= p->line_count && p->line_room)
        return;
    p->courses = array_reserve_zeroed(p->courses, &p->course_room, line + 1u, sizeof *p->courses);
    p->own = array_reserve_zeroed(p->own, &p->line_room, line + 1u, sizeof *p->own);
    if (p->line_room != room) {
        p->done = xreallocarray(p->done, p->line_room, sizeof *p->done);
        p->parked = xreallocarray(p->parked, p->line_room, sizeof *p->parked);
        memset(p->done + room, 0, (p->line_room - room) * sizeof *p->done);
        memset(p->parked + room, 0, (p->line_room - room) * sizeof *p->parked);
    }
    if (line > p->line_count)
        p->line_count = line;
}

static void add_edge(struct schedule_builder *p, struct schedule_action *act,
                     struct event_id before)
{
    if (before.line & HIDDEN_LINE)
        return;
    p->edges[p->edge_count++] = before;
    act->after_count++;
}

/* Adds its order edges, then the sends it receives. */
static void add_edges(struct schedule_builder *p, struct schedule_action *act,
                      const struct event_info *e)
{
    uint32_t sends = e->relation == RELATION_RECEIVE ? e->partner_count : 0;
    p->edges = array_reserve(p->edges, &p->edge_room, p->edge_count + e->after_count + sends,
                             sizeof *p->edges);
    act->after = (uint32_t)p->edge_count + 1;
    for (uint32_t i = 0; i < e->after_count; i++)
        add_edge(p, act, e->after[i]);
    act->causes = act->after_count;
    for (uint32_t i = 0; i < sends; i++)
        add_edge(p, act, e->partners[i]);
}

/* Parses a choice from the text; it counts only if the type is SCHEDULE_CHOICE, or the text a
 * nondet_result. */
static void schedule_parse_choice(struct schedule_action *act, const struct event_info *e)
{
    unsigned chosen, of;
    char more;
    if (e->text_count && sscanf(e->texts[0], "%u of %u%c", &chosen, &of, &more) == 2)
        act->chosen = chosen, act->of = of;
    act->answers = e->text_count && nondet_result_read(e->texts[0], &chosen, &of);
    if (act->answers)
        act->chosen = chosen, act->of = of;
}

static bool is_at(const struct schedule_action *act, struct event_id at)
{
    return act->is.line == at.line && act->is.number == at.number;
}

/* Appends an event to its thread; puts the half of a sync pair on the thread's own line first,
 * since their order in the log is arbitrary. */
static void add_to_course(struct schedule_builder *p, uint32_t thread, const struct event_info *e)
{
    struct schedule_thread *c = &p->courses[thread];
    c->acts = array_reserve(c->acts, &c->room, c->count + 1, sizeof *c->acts);
    uint32_t act = (uint32_t)p->act_count++;
    size_t i = c->count++;
    if (i && e->relation == RELATION_SYNC && e->at.line == thread && e->partner_count &&
        is_at(&p->acts[c->acts[i - 1]], e->partners[0])) {
        c->acts[i] = c->acts[i - 1];
        i--;
    }
    c->acts[i] = act;
}

/* Returns the line on which the first event receives what an event sends: that of a child, or of an
 * executed program; 0: none. */
static uint32_t schedule_created_line(struct schedule_builder *p, const struct event_info *e)
{
    for (uint32_t i = 0; i < e->partner_count; i++)
        if (e->partners[i].number == 1 && !(e->partners[i].line & HIDDEN_LINE)) {
            know_line(p, e->partners[i].line);
            return e->partners[i].line;
        }
    return 0;
}

void schedule_builder_add_event(struct schedule_builder *p, const struct event_info *e)
{
    if (e->at.line & HIDDEN_LINE)
        return;
    if (e->state != EVENT_ORDERED || e->at.number > INT32_MAX || p->act_count >= UINT32_MAX)
        p->wrong = "some of its events are not ordered";
    uint32_t thread = e->thread ? e->thread : e->at.line;
    know_line(p, e->at.line);
    know_line(p, thread);
    know_line(p, e->about & HIDDEN_LINE ? 0 : e->about);
    if (e->at.number != p->own[e->at.line] + 1u)
        p->wrong = "some of its events were lost or discarded";
    p->own[e->at.line]++;
    p->acts = array_reserve(p->acts, &p->act_room, p->act_count + 1, sizeof *p->acts);
    struct schedule_action *act = &p->acts[p->act_count];
    *act = (struct schedule_action){
        .is = {.line = e->at.line,
               .number = (uint32_t)e->at.number,
               .about = e->about & HIDDEN_LINE ? 0 : e->about,
               .type = (uint16_t)(e->type - 1),
               .text = e->text_count ? schedule_text_hash(e->texts[0], strlen(e->texts[0])) : 0},
        .thread = thread,
        .process = e->process,
        .site = e->site,
        .time_ns = e->time_ns};
    if (!act->is.about && e->relation == RELATION_SEND && e->partner_count)
        act->is.about = schedule_created_line(p, e);
    if (e->relation == RELATION_RECEIVE && e->partner_count &&
        !(e->partners[0].line & HIDDEN_LINE) && e->partners[0].number <= INT32_MAX) {
        act->is.after_line = e->partners[0].line;
        act->is.after_number = (uint32_t)e->partners[0].number;
    }
    schedule_parse_choice(act, e);
    if (e->after_count || e->relation == RELATION_RECEIVE)
        add_edges(p, act, e);
    add_to_course(p, thread, e);
}

void schedule_builder_add_foreign(struct schedule_builder *p, uint32_t thread, const char *name)
{
    know_line(p, thread);
    p->courses[thread].named = schedule_text_hash(name, strlen(name));
}

void schedule_builder_set_type(struct schedule_builder *p, uint32_t type, const char *name)
{
    if (!type || type >= UINT16_MAX)
        return;
    p->types = array_reserve_zeroed(p->types, &p->type_room, type, sizeof *p->types);
    strncpy(p->types[type - 1], name, SCHEDULE_NAME_BYTES - 1);
    if (type > p->type_count)
        p->type_count = type;
}

/* ---- second pass ---- */

struct schedule_ready_queue { /* heap of threads, ordered by the times of their next events */
    uint32_t *threads;
    size_t count, room;
};

static struct schedule_action *next_of(const struct schedule_builder *p, uint32_t thread)
{
    const struct schedule_thread *c = &p->courses[thread];
    return c->next < c->count ? &p->acts[c->acts[c->next]] : NULL;
}

static bool is_earlier(const struct schedule_builder *p, uint32_t a, uint32_t b)
{
    const struct schedule_action *first = next_of(p, a), *second = next_of(p, b);
    return first->time_ns != second->time_ns ? first->time_ns < second->time_ns : first < second;
}

static void schedule_swap_ready_threads(struct schedule_ready_queue *r, size_t a, size_t b)
{
    uint32_t thread = r->threads[a];
    r->threads[a] = r->threads[b];
    r->threads[b] = thread;
}

static void schedule_push_ready(const struct schedule_builder *p, struct schedule_ready_queue *r,
                                uint32_t thread)
{
    r->threads = array_reserve(r->threads, &r->room, r->count + 1, sizeof *r->threads);
    size_t i = r->count++;
    r->threads[i] = thread;
    for (; i && is_earlier(p, r->threads[i], r->threads[(i - 1) / 2]); i = (i - 1) / 2)
        schedule_swap_ready_threads(r, i, (i - 1) / 2);
}

static uint32_t schedule_pop_ready(const struct schedule_builder *p, struct schedule_ready_queue *r)
{
    uint32_t first = r->threads[0];
    r->threads[0] = r->threads[--r->count];
    for (size_t i = 0, least = 0;; i = least) {
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < r->count; child++)
            if (is_earlier(p, r->threads[child], r->threads[least]))
                least = child;
        if (least == i)
            return first;
        schedule_swap_ready_threads(r, i, least);
    }
}

/* Returns a line with an unprocessed predecessor of an event; 0: the event is ready. */
static uint32_t schedule_find_unready_line(const struct schedule_builder *p,
                                           const struct schedule_action *act)
{
    if (p->done[act->is.line] + 1 != act->is.number)
        return act->is.line;
    for (uint32_t i = 0; i < act->after_count; i++) {
        struct event_id before = p->edges[act->after - 1 + i];
        if (before.line <= p->line_count && p->done[before.line] < before.number)
            return before.line;
    }
    return 0;
}

static void schedule_enqueue_or_park(struct schedule_builder *p, struct schedule_ready_queue *r,
                                     uint32_t thread)
{
    const struct schedule_action *act = next_of(p, thread);
    uint32_t line = act ? schedule_find_unready_line(p, act) : 0;
    if (!act)
        return;
    if (line) {
        p->courses[thread].parked = p->parked[line];
        p->parked[line] = thread;
    } else {
        schedule_push_ready(p, r, thread);
    }
}

/* Checks the threads that wait for a line again. */
static void schedule_unpark_waiters(struct schedule_builder *p, struct schedule_ready_queue *r,
                                    uint32_t line)
{
    uint32_t thread = p->parked[line];
    p->parked[line] = 0;
    while (thread) {
        uint32_t next = p->courses[thread].parked;
        schedule_enqueue_or_park(p, r, thread);
        thread = next;
    }
}

/* Events by line: those of a line begin at of[first[line]]. */
struct schedule_line_index {
    size_t *first;
    uint32_t *of;
};

static struct schedule_line_index index_lines(const struct schedule_builder *p)
{
    struct schedule_line_index index = {xcalloc(p->line_count + 2u, sizeof *index.first),
                                        xcalloc(p->act_count, sizeof *index.of)};
    for (uint32_t i = 1; i <= p->line_count; i++)
        index.first[i + 1] = index.first[i] + p->own[i];
    for (size_t i = 0; i < p->act_count; i++)
        index.of[index.first[p->acts[i].is.line] + p->acts[i].is.number - 1] = (uint32_t)i;
    return index;
}

/* Sets after_line, unless it is set, to the first order edge from another thread. */
static void find_cause(const struct schedule_builder *p, const struct schedule_line_index *index,
                       struct schedule_action *act)
{
    for (uint32_t i = 0; i < act->causes && !act->is.after_line; i++) {
        struct event_id before = p->edges[act->after - 1 + i];
        if (before.line > p->line_count || before.number - 1 >= p->own[before.line])
            continue;
        const struct schedule_action *from =
            &p->acts[index->of[index->first[before.line] + before.number - 1]];
        if (from->thread != act->thread)
            act->is.after_line = before.line, act->is.after_number = (uint32_t)before.number;
    }
}

static void find_causes(struct schedule_builder *p)
{
    struct schedule_line_index index = index_lines(p);
    for (size_t i = 0; i < p->act_count; i++)
        find_cause(p, &index, &p->acts[i]);
    free(index.first);
    free(index.of);
}

static bool schedule_needs_ticket(const struct schedule_builder *p, uint32_t line)
{
    return line && !p->own[line];
}

/* Assigns tickets; returns the number of events processed, which is less than all if there is a
 * cycle. */
static size_t schedule_process_events(struct schedule_builder *p)
{
    struct schedule_ready_queue ready = {0};
    size_t count = 0;
    free(p->walk);
    p->walk = xcalloc(p->act_count, sizeof *p->walk);
    for (uint32_t i = 1; i <= p->line_count; i++)
        schedule_enqueue_or_park(p, &ready, i);
    while (ready.count) {
        uint32_t thread = schedule_pop_ready(p, &ready);
        struct schedule_action *act = next_of(p, thread);
        if (schedule_needs_ticket(p, act->is.about))
            act->is.ticket = ++p->done[act->is.about];
        p->done[act->is.line]++;
        p->courses[thread].next++;
        p->walk[count++] = thread;
        schedule_enqueue_or_park(p, &ready, thread);
        schedule_unpark_waiters(p, &ready, act->is.line);
    }
    free(ready.threads);
    return count;
}

bool schedule_builder_event_at(const struct schedule_builder *p, uint32_t thread, uint64_t i,
                               struct event_info *event)
{
    const struct schedule_thread *c = thread <= p->line_count ? &p->courses[thread] : NULL;
    if (!c || i >= c->count)
        return false;
    const struct schedule_action *act = &p->acts[c->acts[i]];
    *event = (struct event_info){.at = {act->is.line, act->is.number},
                                 .type = act->is.type + 1u,
                                 .about = act->is.about,
                                 .thread = thread,
                                 .process = act->process,
                                 .site = act->site};
    return true;
}

/* ---- encoding ---- */

/* Returns the first thread, in processing order, that begins with its own start; 0: none. The log's
 * order is arbitrary for concurrent events. */
static uint32_t first_thread(const struct schedule_builder *p)
{
    for (size_t i = 0; i < p->act_count; i++) {
        const struct schedule_action *first = &p->acts[p->courses[p->walk[i]].acts[0]];
        if (first->is.line == p->walk[i] && first->is.number == 1)
            return p->walk[i];
    }
    return 0;
}

static uint32_t since_ms(const struct schedule_builder *p, const struct schedule_thread *c,
                         size_t i)
{
    int64_t ns = i ? p->acts[c->acts[i]].time_ns - p->acts[c->acts[i - 1]].time_ns : 0;
    return ns < 0 ? 0 : ns / 1000000 < UINT32_MAX ? (uint32_t)(ns / 1000000) : UINT32_MAX;
}

static struct schedule_event schedule_make_event(const struct schedule_builder *p,
                                                 const struct schedule_thread *c, size_t i)
{
    const struct schedule_action *act = &p->acts[c->acts[i]];
    struct schedule_event e = act->is;
    e.after_ms = since_ms(p, c, i);
    if (act->answers || (e.type < p->type_count && strcmp(p->types[e.type], SCHEDULE_CHOICE) == 0))
        e.after_line = act->of, e.after_number = act->chosen;
    return e;
}

static void write_threads(const struct schedule_builder *p, struct schedule_line *lines,
                          struct schedule_event *events)
{
    uint64_t at = 0;
    for (uint32_t i = 1; i <= p->line_count; i++) {
        const struct schedule_thread *c = &p->courses[i];
        lines[i].first = at;
        lines[i].count = c->count;
        lines[i].last = p->done[i];
        lines[i].named = c->named;
        for (size_t k = 0; k < c->count; k++)
            events[at++] = schedule_make_event(p, c, k);
    }
}

struct schedule_head *schedule_builder_write(struct schedule_builder *p, size_t *bytes,
                                             const char **why)
{
    *why = p->wrong ? p->wrong : !p->act_count ? "nothing was recorded" : NULL;
    if (!*why && schedule_process_events(p) != p->act_count)
        *why = "its order is contradictory";
    if (*why)
        return NULL;
    find_causes(p);
    struct schedule_head head = {.magic = SCHEDULE_MAGIC,
                                 .version = SCHEDULE_VERSION,
                                 .line_count = p->line_count,
                                 .type_count = p->type_count,
                                 .main = first_thread(p),
                                 .event_count = p->act_count,
                                 .lines_at = sizeof head};
    head.events_at = head.lines_at + (p->line_count + 1ull) * sizeof(struct schedule_line);
    head.types_at = head.events_at + p->act_count * sizeof(struct schedule_event);
    head.stops_at = (head.types_at + (uint64_t)p->type_count * SCHEDULE_NAME_BYTES + 63) / 64 * 64;
    head.order_at = head.stops_at + (p->line_count + 1ull) * sizeof(struct schedule_breakpoint);
    head.bytes = head.order_at + p->act_count * sizeof(uint32_t);
    *bytes = head.bytes;
    char *all = xcalloc(1, head.bytes);
    memcpy(all, &head, sizeof head);
    write_threads(p, (void *)(all + head.lines_at), (void *)(all + head.events_at));
    memcpy(all + head.types_at, p->types, (size_t)p->type_count * SCHEDULE_NAME_BYTES);
    memcpy(all + head.order_at, p->walk, p->act_count * sizeof(uint32_t));
    return (void *)all;
}

#include "clients/plan/plan.h"

#include "memory/memory.h"
#include "wire/got.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct act { /* one event */
    struct script_event is; /* about, and no ticket yet */
    uint32_t thread;
    uint32_t process;
    uint64_t site;
    int64_t time_ns;
    uint32_t
        after; /* 1 + index of the first of what is before it: its order edges, then its sends; 0 none */
    uint32_t after_count, causes; /* all of them; the order edges */
    uint32_t of, chosen; /* "CHOSEN of OF" of its text, if it says that; of 0: it does not */
    bool answers; /* of is which ask, chosen what that got */
};

struct course { /* what one thread did */
    uint32_t *acts; /* indices */
    size_t count, room;
    size_t next; /* the first that has not been gone through */
    uint16_t named;
    uint32_t parked; /* 1 + the next thread that waits for the same line, 0 none */
};

struct plan {
    struct act *acts;
    size_t act_count, act_room;
    struct ref *edges;
    size_t edge_count, edge_room;
    struct course *courses; /* by line */
    uint32_t *own, *done,
        *parked; /* by line: how many events; gone through up to; threads that wait for it */
    size_t course_room, line_room;
    uint32_t line_count;
    char (*types)[SCRIPT_NAME_BYTES]; /* by code - 1 */
    size_t type_room;
    uint32_t type_count;
    uint32_t *walk; /* the threads of all events, in the order in which they are gone through */
    const char *wrong;
};

struct plan *plan_new(void) { return memory_zeroed(1, sizeof(struct plan)); }

void plan_free(struct plan *p)
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

/* ---- what happened ---- */

static void know_line(struct plan *p, uint32_t line)
{
    size_t room = p->line_room;
    if (line <= p->line_count && p->line_room)
        return;
    p->courses = grow_zeroed(p->courses, &p->course_room, line + 1u, sizeof *p->courses);
    p->own = grow_zeroed(p->own, &p->line_room, line + 1u, sizeof *p->own);
    if (p->line_room != room) {
        p->done = memory_resized(p->done, p->line_room, sizeof *p->done);
        p->parked = memory_resized(p->parked, p->line_room, sizeof *p->parked);
        memset(p->done + room, 0, (p->line_room - room) * sizeof *p->done);
        memset(p->parked + room, 0, (p->line_room - room) * sizeof *p->parked);
    }
    if (line > p->line_count)
        p->line_count = line;
}

static void add_edge(struct plan *p, struct act *act, struct ref before)
{
    if (before.line & HIDDEN_LINE)
        return;
    p->edges[p->edge_count++] = before;
    act->after_count++;
}

/* Its order edges, then what it receives. */
static void add_edges(struct plan *p, struct act *act, const struct shown_event *e)
{
    uint32_t sends = e->relation == RELATION_RECEIVE ? e->partner_count : 0;
    p->edges =
        grow(p->edges, &p->edge_room, p->edge_count + e->after_count + sends, sizeof *p->edges);
    act->after = (uint32_t)p->edge_count + 1;
    for (uint32_t i = 0; i < e->after_count; i++)
        add_edge(p, act, e->after[i]);
    act->causes = act->after_count;
    for (uint32_t i = 0; i < sends; i++)
        add_edge(p, act, e->partners[i]);
}

/* (it is one only if its type says so, too) */
static void find_choice(struct act *act, const struct shown_event *e)
{
    unsigned chosen, of;
    char more;
    if (e->text_count && sscanf(e->texts[0], "%u of %u%c", &chosen, &of, &more) == 2)
        act->chosen = chosen, act->of = of;
    act->answers = e->text_count && got_read(e->texts[0], &chosen, &of);
    if (act->answers)
        act->chosen = chosen, act->of = of;
}

static bool is_at(const struct act *act, struct ref at)
{
    return act->is.line == at.line && act->is.number == at.number;
}

/* Which half of a point the log has first is chance: the one on the thread's own line is the first here. */
static void add_to_course(struct plan *p, uint32_t thread, const struct shown_event *e)
{
    struct course *c = &p->courses[thread];
    c->acts = grow(c->acts, &c->room, c->count + 1, sizeof *c->acts);
    uint32_t act = (uint32_t)p->act_count++;
    size_t i = c->count++;
    if (i && e->relation == RELATION_SYNC && e->at.line == thread && e->partner_count &&
        is_at(&p->acts[c->acts[i - 1]], e->partners[0])) {
        c->acts[i] = c->acts[i - 1];
        i--;
    }
    c->acts[i] = act;
}

/* The line that begins with what an event sends: of a child, or of a program that is executed; 0: none does. */
static uint32_t begun_by(struct plan *p, const struct shown_event *e)
{
    for (uint32_t i = 0; i < e->partner_count; i++)
        if (e->partners[i].number == 1 && !(e->partners[i].line & HIDDEN_LINE)) {
            know_line(p, e->partners[i].line);
            return e->partners[i].line;
        }
    return 0;
}

void plan_event(struct plan *p, const struct shown_event *e)
{
    if (e->at.line & HIDDEN_LINE)
        return;
    if (e->state != EVENT_ORDERED || e->at.number > INT32_MAX || p->act_count >= UINT32_MAX)
        p->wrong = "not all of it is ordered";
    uint32_t thread = e->thread ? e->thread : e->at.line;
    know_line(p, e->at.line);
    know_line(p, thread);
    know_line(p, e->about & HIDDEN_LINE ? 0 : e->about);
    if (e->at.number != p->own[e->at.line] + 1u)
        p->wrong = "events of it are lost or forgotten";
    p->own[e->at.line]++;
    p->acts = grow(p->acts, &p->act_room, p->act_count + 1, sizeof *p->acts);
    struct act *act = &p->acts[p->act_count];
    *act = (struct act){
        .is = {.line = e->at.line,
               .number = (uint32_t)e->at.number,
               .about = e->about & HIDDEN_LINE ? 0 : e->about,
               .type = (uint16_t)(e->type - 1),
               .text = e->text_count ? script_text(e->texts[0], strlen(e->texts[0])) : 0},
        .thread = thread,
        .process = e->process,
        .site = e->site,
        .time_ns = e->time_ns};
    if (!act->is.about && e->relation == RELATION_SEND && e->partner_count)
        act->is.about = begun_by(p, e);
    if (e->relation == RELATION_RECEIVE && e->partner_count &&
        !(e->partners[0].line & HIDDEN_LINE) && e->partners[0].number <= INT32_MAX) {
        act->is.after_line = e->partners[0].line;
        act->is.after_number = (uint32_t)e->partners[0].number;
    }
    find_choice(act, e);
    if (e->after_count || e->relation == RELATION_RECEIVE)
        add_edges(p, act, e);
    add_to_course(p, thread, e);
}

void plan_stranger(struct plan *p, uint32_t thread, const char *name)
{
    know_line(p, thread);
    p->courses[thread].named = script_text(name, strlen(name));
}

void plan_type(struct plan *p, uint32_t type, const char *name)
{
    if (!type || type >= UINT16_MAX)
        return;
    p->types = grow_zeroed(p->types, &p->type_room, type, sizeof *p->types);
    strncpy(p->types[type - 1], name, SCRIPT_NAME_BYTES - 1);
    if (type > p->type_count)
        p->type_count = type;
}

/* ---- through it once more ---- */

struct ready { /* a heap of threads by the times of their next events */
    uint32_t *threads;
    size_t count, room;
};

static struct act *next_of(const struct plan *p, uint32_t thread)
{
    const struct course *c = &p->courses[thread];
    return c->next < c->count ? &p->acts[c->acts[c->next]] : NULL;
}

static bool is_earlier(const struct plan *p, uint32_t a, uint32_t b)
{
    const struct act *first = next_of(p, a), *second = next_of(p, b);
    return first->time_ns != second->time_ns ? first->time_ns < second->time_ns : first < second;
}

static void swap(struct ready *r, size_t a, size_t b)
{
    uint32_t thread = r->threads[a];
    r->threads[a] = r->threads[b];
    r->threads[b] = thread;
}

static void ready_add(const struct plan *p, struct ready *r, uint32_t thread)
{
    r->threads = grow(r->threads, &r->room, r->count + 1, sizeof *r->threads);
    size_t i = r->count++;
    r->threads[i] = thread;
    for (; i && is_earlier(p, r->threads[i], r->threads[(i - 1) / 2]); i = (i - 1) / 2)
        swap(r, i, (i - 1) / 2);
}

static uint32_t ready_take(const struct plan *p, struct ready *r)
{
    uint32_t first = r->threads[0];
    r->threads[0] = r->threads[--r->count];
    for (size_t i = 0, least = 0;; i = least) {
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < r->count; child++)
            if (is_earlier(p, r->threads[child], r->threads[least]))
                least = child;
        if (least == i)
            return first;
        swap(r, i, least);
    }
}

/* The line that has not come far enough for an event; 0: nothing is lacking. */
static uint32_t lacks(const struct plan *p, const struct act *act)
{
    if (p->done[act->is.line] + 1 != act->is.number)
        return act->is.line;
    for (uint32_t i = 0; i < act->after_count; i++) {
        struct ref before = p->edges[act->after - 1 + i];
        if (before.line <= p->line_count && p->done[before.line] < before.number)
            return before.line;
    }
    return 0;
}

static void put(struct plan *p, struct ready *r, uint32_t thread)
{
    const struct act *act = next_of(p, thread);
    uint32_t line = act ? lacks(p, act) : 0;
    if (!act)
        return;
    if (line) {
        p->courses[thread].parked = p->parked[line];
        p->parked[line] = thread;
    } else {
        ready_add(p, r, thread);
    }
}

/* Those that wait for a line look again. */
static void unpark(struct plan *p, struct ready *r, uint32_t line)
{
    uint32_t thread = p->parked[line];
    p->parked[line] = 0;
    while (thread) {
        uint32_t next = p->courses[thread].parked;
        put(p, r, thread);
        thread = next;
    }
}

/* Where the acts of each line begin in `of`, by line. */
struct index {
    size_t *first;
    uint32_t *of;
};

static struct index index_lines(const struct plan *p)
{
    struct index index = {memory_zeroed(p->line_count + 2u, sizeof *index.first),
                          memory_zeroed(p->act_count, sizeof *index.of)};
    for (uint32_t i = 1; i <= p->line_count; i++)
        index.first[i + 1] = index.first[i] + p->own[i];
    for (size_t i = 0; i < p->act_count; i++)
        index.of[index.first[p->acts[i].is.line] + p->acts[i].is.number - 1] = (uint32_t)i;
    return index;
}

/* The first of its order edges that comes from another thread. */
static void find_cause(const struct plan *p, const struct index *index, struct act *act)
{
    for (uint32_t i = 0; i < act->causes && !act->is.after_line; i++) {
        struct ref before = p->edges[act->after - 1 + i];
        if (before.line > p->line_count || before.number - 1 >= p->own[before.line])
            continue;
        const struct act *from = &p->acts[index->of[index->first[before.line] + before.number - 1]];
        if (from->thread != act->thread)
            act->is.after_line = before.line, act->is.after_number = (uint32_t)before.number;
    }
}

static void find_causes(struct plan *p)
{
    struct index index = index_lines(p);
    for (size_t i = 0; i < p->act_count; i++)
        find_cause(p, &index, &p->acts[i]);
    free(index.first);
    free(index.of);
}

static bool is_of_tickets(const struct plan *p, uint32_t line) { return line && !p->own[line]; }

/* Gives the tickets; how many events were gone through. */
static size_t go_through(struct plan *p)
{
    struct ready ready = {0};
    size_t count = 0;
    free(p->walk);
    p->walk = memory_zeroed(p->act_count, sizeof *p->walk);
    for (uint32_t i = 1; i <= p->line_count; i++)
        put(p, &ready, i);
    while (ready.count) {
        uint32_t thread = ready_take(p, &ready);
        struct act *act = next_of(p, thread);
        if (is_of_tickets(p, act->is.about))
            act->is.ticket = ++p->done[act->is.about];
        p->done[act->is.line]++;
        p->courses[thread].next++;
        p->walk[count++] = thread;
        put(p, &ready, thread);
        unpark(p, &ready, act->is.line);
    }
    free(ready.threads);
    return count;
}

bool plan_act(const struct plan *p, uint32_t thread, uint64_t i, struct shown_event *event)
{
    const struct course *c = thread <= p->line_count ? &p->courses[thread] : NULL;
    if (!c || i >= c->count)
        return false;
    const struct act *act = &p->acts[c->acts[i]];
    *event = (struct shown_event){.at = {act->is.line, act->is.number},
                                  .type = act->is.type + 1u,
                                  .about = act->is.about,
                                  .thread = thread,
                                  .process = act->process,
                                  .site = act->site};
    return true;
}

/* ---- as bytes ---- */

/* (in the order of the walk: that of the log has those which nothing orders as they were read) */
static uint32_t first_thread(const struct plan *p)
{
    for (size_t i = 0; i < p->act_count; i++) {
        const struct act *first = &p->acts[p->courses[p->walk[i]].acts[0]];
        if (first->is.line == p->walk[i] && first->is.number == 1)
            return p->walk[i];
    }
    return 0;
}

static uint32_t since_ms(const struct plan *p, const struct course *c, size_t i)
{
    int64_t ns = i ? p->acts[c->acts[i]].time_ns - p->acts[c->acts[i - 1]].time_ns : 0;
    return ns < 0 ? 0 : ns / 1000000 < UINT32_MAX ? (uint32_t)(ns / 1000000) : UINT32_MAX;
}

static struct script_event written(const struct plan *p, const struct course *c, size_t i)
{
    const struct act *act = &p->acts[c->acts[i]];
    struct script_event e = act->is;
    e.after_ms = since_ms(p, c, i);
    if (act->answers || (e.type < p->type_count && strcmp(p->types[e.type], SCRIPT_CHOICE) == 0))
        e.after_line = act->of, e.after_number = act->chosen;
    return e;
}

static void write_threads(const struct plan *p, struct script_line *lines,
                          struct script_event *events)
{
    uint64_t at = 0;
    for (uint32_t i = 1; i <= p->line_count; i++) {
        const struct course *c = &p->courses[i];
        lines[i].first = at;
        lines[i].count = c->count;
        lines[i].last = p->done[i];
        lines[i].named = c->named;
        for (size_t k = 0; k < c->count; k++)
            events[at++] = written(p, c, k);
    }
}

struct script_head *plan_script(struct plan *p, size_t *bytes, const char **why)
{
    *why = p->wrong ? p->wrong : !p->act_count ? "nothing was recorded" : NULL;
    if (!*why && go_through(p) != p->act_count)
        *why = "its order contradicts itself";
    if (*why)
        return NULL;
    find_causes(p);
    struct script_head head = {.magic = SCRIPT_MAGIC,
                               .version = SCRIPT_VERSION,
                               .line_count = p->line_count,
                               .type_count = p->type_count,
                               .main = first_thread(p),
                               .event_count = p->act_count,
                               .lines_at = sizeof head};
    head.events_at = head.lines_at + (p->line_count + 1ull) * sizeof(struct script_line);
    head.types_at = head.events_at + p->act_count * sizeof(struct script_event);
    head.stops_at = (head.types_at + (uint64_t)p->type_count * SCRIPT_NAME_BYTES + 63) / 64 * 64;
    head.order_at = head.stops_at + (p->line_count + 1ull) * sizeof(struct script_stop);
    head.bytes = head.order_at + p->act_count * sizeof(uint32_t);
    *bytes = head.bytes;
    char *all = memory_zeroed(1, head.bytes);
    memcpy(all, &head, sizeof head);
    write_threads(p, (void *)(all + head.lines_at), (void *)(all + head.events_at));
    memcpy(all + head.types_at, p->types, (size_t)p->type_count * SCRIPT_NAME_BYTES);
    memcpy(all + head.order_at, p->walk, p->act_count * sizeof(uint32_t));
    return (void *)all;
}

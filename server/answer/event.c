#include "server/answer/event.h"

#include "memory/memory.h"
#include "server/answer/named.h"
#include "server/run/times.h"
#include "wire/region.h"
#include "wire/shown.h"

#include <stdlib.h>
#include <string.h>

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

/* From the innermost function out, as far as the thread has told them by now; parts with names of their own are left
 * out. */
static void show_calls(const struct run *run, const struct site *site, struct shown_event *shown)
{
    const struct context_thread *t =
        site->thread ? contexts_of_line(&run->contexts, site->thread) : NULL;
    uint64_t calls[CALLS_SHOWN];
    uint32_t n = 0;
    for (uint32_t c = site->context; t && c && c < t->count && t->items[c].known && n < CALLS_SHOWN;
         c = t->items[c].sums.is.parent)
        if (t->items[c].sums.is.scope == SCOPE_FUNCTION)
            calls[n++] = t->items[c].sums.is.function;
    if (!n)
        return;
    shown->calls = memory_bytes(n * sizeof *calls);
    memcpy(shown->calls, calls, n * sizeof *calls);
    shown->call_count = n;
}

static void show_site(const struct run *run, uint32_t number, struct shown_event *shown)
{
    if (!number || number > run->site_count)
        return;
    const struct site *site = &run->site_list[number - 1];
    shown->process = site->process;
    shown->site = site->address;
    shown->context = site->context;
    show_calls(run, site, shown);
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
                            .time_ns = times_of(run, &e),
                            .about = e.about,
                            .thread = e.thread,
                            .in = e.in};
    named_note(e.line);
    named_note(e.about);
    named_note(e.thread);
    show_site(run, e.site, &s);
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
    free(s->calls);
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
    show_site(run, a->site, &s);
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

/* ---- as answers ---- */

void answer_shown(struct reply *reply, const struct shown_event *s)
{
    part_begin(reply, PART_EVENT);
    put_event(reply->out, s);
    part_end(reply);
}

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

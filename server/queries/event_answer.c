#include "server/queries/event_answer.h"

#include "base/alloc.h"
#include "server/queries/referenced_lines.h"
#include "server/run/event_times.h"
#include "wire/profile_region.h"
#include "wire/trace_view.h"

#include <stdlib.h>
#include <string.h>

struct event_text_list {
    struct event_id *items;
    size_t count, room;
};

static void list_add(struct event_text_list *list, struct event_id ref)
{
    referenced_lines_note(ref.line);
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = ref;
}

static struct event_id ref_at(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    return (struct event_id){e.line, e.number};
}

struct event_partners {
    const struct run *run;
    struct event_text_list list;
};

static void add_receive(void *context, uint64_t receive)
{
    struct event_partners *partners = context;
    list_add(&partners->list, ref_at(partners->run, receive));
}

static struct event_text_list partners_of(const struct run *run, uint64_t position,
                                          const struct order_event *e)
{
    struct event_partners partners = {.run = run};
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

/* Adds the functions of the calls that led to a site, from the innermost one outwards, as far as
 * they were received. */
static void show_calls(const struct run *run, const struct site *site, struct event_info *shown)
{
    const struct call_context_thread *t =
        site->thread ? call_contexts_of_line(&run->contexts, site->thread) : NULL;
    uint64_t calls[CALLS_SHOWN];
    uint32_t n = 0;
    for (uint32_t c = site->context; t && c && c < t->count && t->items[c].known && n < CALLS_SHOWN;
         c = t->items[c].sums.is.parent)
        if (t->items[c].sums.is.scope == SCOPE_FUNCTION)
            calls[n++] = t->items[c].sums.is.function;
    if (!n)
        return;
    shown->calls = xmalloc(n * sizeof *calls);
    memcpy(shown->calls, calls, n * sizeof *calls);
    shown->call_count = n;
}

/* Adds the call sites that led to a site, if they were recorded. */
static void show_callers(const struct run *run, const struct site *site, struct event_info *shown)
{
    struct slot_stack *stack = &shown->stack;
    const struct site *caller = site_table_at(&run->sites, site->caller);
    for (; caller && stack->count < STACK_CALLERS;
         caller = site_table_at(&run->sites, caller->caller)) {
        stack->callers[stack->count++] = caller->address;
        site = caller;
    }
    stack->end = site->caller == SITE_UNKNOWN ? STACK_UNKNOWN
                 : site->caller               ? STACK_CUT
                                              : STACK_WHOLE;
}

static void show_site(const struct run *run, uint32_t number, struct event_info *shown)
{
    const struct site *site = site_table_at(&run->sites, number);
    if (!site)
        return;
    shown->process = site->process;
    shown->site = site->address;
    shown->context = site->context;
    show_calls(run, site, shown);
    show_callers(run, site, shown);
}

static void add_texts(const struct run *run, struct event_info *shown)
{
    const struct run_text *t = run_texts(run, shown->at);
    for (; t; t = t->next) {
        shown->texts = xreallocarray(shown->texts, shown->text_count + 1, sizeof *shown->texts);
        shown->texts[shown->text_count++] = (char *)(uintptr_t)t->text; /* borrowed */
    }
}

struct event_info event_answer_info(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    struct event_info s = {.at = {e.line, e.number},
                           .position = position,
                           .type = e.type,
                           .relation = e.relation,
                           .state = e.state,
                           .partner_lost = e.partner_lost,
                           .doubt = e.doubt,
                           .time_ns = event_times_for_process(run, &e),
                           .about = e.about,
                           .thread = e.thread,
                           .in = e.in};
    referenced_lines_note(e.line);
    referenced_lines_note(e.about);
    referenced_lines_note(e.thread);
    show_site(run, e.site, &s);
    if (e.relation == RELATION_GROUP)
        s.group = e.point + 1;
    struct event_text_list partners = partners_of(run, position, &e), after = {0};
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

void event_answer_free(struct event_info *s)
{
    free(s->partners);
    free(s->after);
    free(s->calls);
    free(s->texts);
}

struct event_info event_answer_pending(const struct run *run, const struct arrival *a)
{
    struct event_info s = {.at = a->at,
                           .position = NO_POSITION,
                           .type = a->type,
                           .relation = (uint8_t)a->relation,
                           .state = EVENT_PENDING,
                           .time_ns = a->time_ns,
                           .about = a->about,
                           .thread = a->thread};
    referenced_lines_note(a->at.line);
    referenced_lines_note(a->about);
    referenced_lines_note(a->thread);
    show_site(run, a->site, &s);
    struct event_text_list partners = {0};
    for (uint32_t i = 0; i < a->partner_count && a->relation != RELATION_ORDER; i++)
        list_add(&partners, a->partners[i]);
    s.partners = partners.items;
    s.partner_count = (uint32_t)partners.count;
    add_texts(run, &s);
    return s;
}

static void add_pending(void *context, const struct arrival *a)
{
    struct event_waiting *w = context;
    w->events = array_reserve(w->events, &w->room, w->count + 1, sizeof *w->events);
    w->events[w->count++] = event_answer_pending(w->run, a);
}

static int by_line(const void *a, const void *b)
{
    struct event_id x = ((const struct event_info *)a)->at, y = ((const struct event_info *)b)->at;
    if (x.line != y.line)
        return x.line < y.line ? -1 : 1;
    return x.number < y.number ? -1 : x.number > y.number;
}

struct event_waiting event_answer_pending_of(const struct run *run, uint64_t most)
{
    struct event_waiting w = {.run = run};
    order_pending(run->order, most, add_pending, &w);
    if (w.count)
        qsort(w.events, w.count, sizeof *w.events, by_line);
    return w;
}

void event_answer_waiting_free(struct event_waiting *w)
{
    for (size_t i = 0; i < w->count; i++)
        event_answer_free(&w->events[i]);
    free(w->events);
}

/* ---- encoding ---- */

void event_answer_encode(struct response *reply, const struct event_info *s)
{
    response_chunk_begin(reply, RESPONSE_EVENT);
    encode_event_info(reply->out, s);
    response_chunk_end(reply);
}

void event_answer_query(struct response *reply, const struct run *run, struct event_id at)
{
    uint64_t position = order_position(run->order, at);
    struct event_info s = {.at = at, .position = NO_POSITION};
    referenced_lines_note(at.line);
    if (position != NO_POSITION)
        s = event_answer_info(run, position);
    event_answer_encode(reply, &s);
    event_answer_free(&s);
}

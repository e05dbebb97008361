#include "server/queries/wait_start.h"

#include "wire/annotation_text.h"

#include <string.h>

/* Keeps an event as the latest if it belongs to the thread of event `of` and precedes it. */
static void wait_start_consider_event(const struct run *run, uint64_t position,
                                      const struct order_event *of, uint64_t *latest)
{
    if (position == NO_POSITION || position >= of->point || position < order_first(run->order))
        return;
    if (*latest != NO_POSITION && position <= *latest)
        return;
    struct order_event e = order_event(run->order, position);
    if (e.line && !(e.line & HIDDEN_LINE) && e.thread == of->thread)
        *latest = position;
}

/* Events of a line searched backwards for the thread's previous event there. */
#define LINE_STEPS 4096u

/* The thread's previous event directly precedes this event or its partner, on their lines or by
 * an edge; else it is searched on the line. */
uint64_t wait_start_previous(const struct run *run, uint64_t position)
{
    uint64_t latest = NO_POSITION;
    struct order_event of = order_event(run->order, position);
    if (!of.line || !of.thread)
        return latest;
    uint64_t first = of.relation == RELATION_SYNC ? of.point : position;
    uint64_t last = of.relation == RELATION_SYNC ? order_point_end(run->order, position) : position;
    for (uint64_t p = first; p <= last && p < first + 2; p++) {
        struct order_event e = p == position ? of : order_event(run->order, p);
        wait_start_consider_event(run, order_previous(run->order, p), &of, &latest);
        for (uint32_t i = e.send_count; i + e.opened < e.edge_count; i++)
            wait_start_consider_event(run, order_edge(run->order, p, i), &of, &latest);
    }
    if (latest == NO_POSITION)
        wait_start_consider_event(run, order_previous_of_thread(run->order, position, LINE_STEPS),
                                  &of, &latest);
    return latest;
}

uint64_t wait_start_time(const struct run *run, uint64_t position)
{
    uint64_t before = wait_start_previous(run, position);
    if (before == NO_POSITION)
        return before;
    struct order_event e = order_event(run->order, before);
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    return look && look->waits ? before : NO_POSITION;
}

/* ---- waits in signal handlers ---- */

/* Events of the thread that are examined between the begin of its handler and its wait. */
#define HANDLER_EVENTS 200u

static bool wait_handler_has_text(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    const struct run_text *text = run_texts(run, (struct event_id){e.line, e.number});
    for (; text; text = text->next)
        if (strncmp(text->text, TEXT_IN_HANDLER, strlen(TEXT_IN_HANDLER)) == 0)
            return true;
    return false;
}

static const struct target_event *wait_start_look(const struct run *run, uint64_t position)
{
    struct order_event e =
        position == NO_POSITION ? (struct order_event){0} : order_event(run->order, position);
    return e.line ? run_event_type(run, e.line, e.type, (enum relation)e.relation) : NULL;
}

/* Returns the position of the event by which the thread entered its latest handler before that;
 * NO_POSITION if it is not found. What sent the signal, if that is known, is right before the
 * begin of the handler. */
static uint64_t wait_handler_begin(const struct run *run, uint64_t position)
{
    for (unsigned i = 0; i < HANDLER_EVENTS && position != NO_POSITION; i++) {
        position = wait_start_previous(run, position);
        const struct target_event *look = wait_start_look(run, position);
        if (!look || look->category != CATEGORY_SIGNAL)
            continue;
        uint64_t before =
            look->role == ROLE_HANDLER_BEGIN ? wait_start_previous(run, position) : NO_POSITION;
        const struct target_event *handled = wait_start_look(run, before);
        bool sent = handled && handled->category == CATEGORY_SIGNAL && handled->role == ROLE_NONE;
        return sent ? before : position;
    }
    return NO_POSITION;
}

struct event_id wait_handler_signal(const struct run *run, uint64_t position, uint32_t *sender)
{
    uint64_t begin =
        wait_handler_has_text(run, position) ? wait_handler_begin(run, position) : NO_POSITION;
    bool known = begin != NO_POSITION && order_event(run->order, begin).send_count;
    uint64_t sent = known ? order_edge(run->order, begin, 0) : NO_POSITION;
    *sender = 0;
    if (sent == NO_POSITION || sent < order_first(run->order))
        return (struct event_id){0, 0};
    struct order_event e = order_event(run->order, sent);
    *sender = e.thread;
    return (struct event_id){e.line, e.number};
}

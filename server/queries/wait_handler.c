#include "server/queries/wait_handler.h"

#include "server/queries/wait_start.h"
#include "wire/handler_text.h"

#include <string.h>

/* Events of the thread that are examined between the begin of its handler and its wait. */
#define HANDLER_EVENTS 200u

static bool wait_handler_has_text(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    const struct run_text *text =
        annotations_at(&run->annotations, (struct event_id){e.line, e.number});
    for (; text; text = text->next)
        if (strncmp(text->text, TEXT_IN_HANDLER, strlen(TEXT_IN_HANDLER)) == 0)
            return true;
    return false;
}

/* Returns the position of the event by which the thread entered its latest handler before that;
 * NO_POSITION if it is not found. */
static uint64_t wait_handler_begin(const struct run *run, uint64_t position)
{
    for (unsigned i = 0; i < HANDLER_EVENTS && position != NO_POSITION; i++) {
        position = wait_start_previous(run, position);
        struct order_event e =
            position == NO_POSITION ? (struct order_event){0} : order_event(run->order, position);
        const struct target_event *look =
            e.line ? run_event_type(run, e.line, e.type, (enum relation)e.relation) : NULL;
        if (look && look->category == CATEGORY_SIGNAL)
            return position;
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

#include "server/queries/group_members.h"

#include "base/alloc.h"
#include "server/queries/wait_holders.h"
#include "server/queries/wait_start.h"
#include "server/run/run_processes.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_MEMBERS_MOST 64u /* members that have not arrived; of more none is named */
#define GROUP_EVENTS_MOST 4096u /* events of a thread that are examined */

bool group_members_are_of(const struct wait_graph *g, uint32_t line)
{
    const struct target_line_type *kind =
        line && line <= g->lines ? run_line_type(g->run, order_line_kind(g->run->order, line))
                                 : NULL;
    return kind && kind->members;
}

static const struct target_event *group_member_event_type(const struct wait_graph *g,
                                                          const struct order_event *e)
{
    return e->line ? run_event_type(g->run, e->line, e->type, (enum relation)e->relation) : NULL;
}

/* Returns the event with which a thread left all groups; number 0: it has not. */
static struct event_id group_member_departure(const struct wait_graph *g, uint32_t thread)
{
    uint64_t position = order_thread_last(g->run->order, thread);
    for (unsigned i = 0; i < GROUP_EVENTS_MOST && position != NO_POSITION; i++) {
        struct order_event e = order_event(g->run->order, position);
        const struct target_event *look = group_member_event_type(g, &e);
        if (look && look->role == ROLE_LEAVE)
            return (struct event_id){e.line, e.number};
        position = wait_start_previous(g->run, position);
    }
    return (struct event_id){0, 0};
}

/* ---- which threads act for the processes ---- */

enum group_member_state { MEMBER_ABSENT, MEMBER_ARRIVED };

struct group_member {
    enum group_member_state state;
    uint32_t runs; /* a thread of it that does not wait; 0: there is none */
};

/* Returns the state of each process; the caller frees it. */
static struct group_member *group_members_look(const struct wait_graph *g, const struct waiter *w)
{
    struct group_member *all = xcalloc(g->run->processes.count, sizeof *all);
    for (uint32_t line = 1; line <= g->lines; line++) {
        uint32_t process = run_line_at(g->run, line)->process;
        if (g->is_thread[line - 1] != WAITS_ACTS || process >= g->run->processes.count)
            continue;
        const struct waiter *other =
            g->waiter_of[line - 1] ? &g->waiters[g->waiter_of[line - 1] - 1] : NULL;
        if (!other)
            all[process].runs = line;
        else if (other->about == w->about && strcmp(other->look->name, w->look->name) == 0)
            all[process].state = MEMBER_ARRIVED;
    }
    return all;
}

/* Any thread of a process may make the call for it: one that runs, if there is one. */
static struct holder_info group_member_holder(const struct wait_graph *g, uint32_t process,
                                              const struct group_member *member)
{
    uint32_t first = process_creation_line(g->run, process);
    struct holder_info holder = {.thread = member->runs ? member->runs : first, .how = HOLD_MEMBER};
    struct event_id left = first ? group_member_departure(g, first) : (struct event_id){0, 0};
    if (left.number) {
        holder.thread = first;
        holder.since = left;
        holder.how = HOLD_LEFT;
    }
    return holder;
}

void group_members_add(struct wait_graph *g, struct wait_graph_object *object,
                       const struct waiter *w)
{
    uint32_t count = run_lines_member_count(&g->run->lines, w->about),
             own = run_line_at(g->run, w->thread)->process;
    if (!group_members_are_of(g, w->about) || w->at_exit ||
        !target_has_line_type(&w->look->woken_by, w->look->name) ||
        count != run_lines_participants(&g->run->lines, w->about))
        return;
    struct group_member *all = group_members_look(g, w);
    bool known = true;
    for (uint32_t i = 0; i < count && known; i++) {
        uint32_t process = run_lines_member(&g->run->lines, w->about, i);
        if (process == own || all[process].state == MEMBER_ARRIVED)
            continue;
        struct holder_info holder = group_member_holder(g, process, &all[process]);
        known = holder.thread && object->count < GROUP_MEMBERS_MOST;
        if (known)
            wait_graph_add_holder(g, object, holder);
    }
    if (!known) {
        g->holder_count -= object->count;
        object->count = 0;
    }
    free(all);
}

/* ---- messages on their way ---- */

struct group_receipt {
    const struct order *order;
    uint32_t thread;
    bool received;
};

static void group_member_note_receive(void *receipt, uint64_t receive)
{
    struct group_receipt *r = receipt;
    r->received |= order_event(r->order, receive).thread == r->thread;
}

/* Returns whether a message, or a contribution to a call as that of the waiter, may be for it, and
 * was not received. */
static bool group_member_is_on_its_way(const struct wait_graph *g, const struct waiter *w,
                                       uint64_t position, const struct order_event *e)
{
    struct group_receipt receipt = {.order = g->run->order, .thread = w->thread};
    bool same = e->type == order_event(g->run->order, w->position).type;
    if (!order_sends(g->run->order, position) || (e->about != w->thread && !same))
        return false;
    order_receives(g->run->order, position, group_member_note_receive, &receipt);
    return !receipt.received;
}

bool group_members_are_sending(const struct wait_graph *g, const struct waiter *w)
{
    uint32_t other = w->about && w->about <= g->lines ? g->waiter_of[w->about - 1] : 0;
    if (!other || !group_members_are_of(g, g->waiters[other - 1].about))
        return false;
    uint64_t position = order_thread_last(g->run->order, w->about);
    bool sending = w->look->category == CATEGORY_SEND; /* it may be in a buffer already */
    for (unsigned i = 0; i < GROUP_EVENTS_MOST && position != NO_POSITION && !sending; i++) {
        struct order_event e = order_event(g->run->order, position);
        sending = group_member_is_on_its_way(g, w, position, &e);
        position = wait_start_previous(g->run, position);
    }
    return sending;
}

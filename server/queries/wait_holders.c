#include "server/queries/wait_holders.h"

#include "base/alloc.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/wait_start.h"
#include "server/run/cpu_placement.h"
#include "server/run/run_processes.h"
#include "server/timing/cpu_states.h"

void wait_graph_add_holder(struct wait_graph *g, struct wait_graph_object *object,
                           struct holder_info holder)
{
    g->holders =
        array_reserve(g->holders, &g->holder_room, g->holder_count + 1, sizeof *g->holders);
    g->holders[g->holder_count++] = holder;
    object->count++;
}

void wait_holder_copy_site(const struct run *run, uint32_t number, uint32_t *process,
                           uint64_t *address)
{
    const struct site *site = site_table_at(&run->sites, number);
    if (site) {
        *process = site->process;
        *address = site->address;
    }
}

void wait_holder_set_site(const struct run *run, struct holder_info *holder)
{
    uint64_t at = holder->since.number ? order_position(run->order, holder->since) : NO_POSITION;
    referenced_lines_note(holder->thread);
    if (at != NO_POSITION && at >= order_first(run->order))
        wait_holder_copy_site(run, order_event(run->order, at).site, &holder->process,
                              &holder->site);
}

/* ---- threads in the object ---- */

#define ENTERED_EVENTS 4096u /* events of a thread that are examined */

/* Returns the event on another line by which a thread entered the object that it is about, as the
 * initializer of a once flag; number 0: not found. */
static struct event_id wait_holder_entry(const struct run *run, uint32_t thread, uint32_t about)
{
    uint64_t position = order_thread_last(run->order, thread);
    for (unsigned i = 0; i < ENTERED_EVENTS && position != NO_POSITION; i++) {
        struct order_event e = order_event(run->order, position);
        const struct target_event *look =
            e.line ? run_event_type(run, e.line, e.type, (enum relation)e.relation) : NULL;
        if (e.about == about && look && look->has_about && look->about == OCCUPANCY_ACTIVE)
            return (struct event_id){e.line, e.number};
        position = wait_start_previous(run, position);
    }
    return (struct event_id){about, 0};
}

/* Returns whether the thread holds the line that it is in.  A thread that is blocked there does,
 * unless its wait releases the line. */
static bool wait_holder_keeps(const struct wait_graph *g, uint32_t thread, enum occupancy presence,
                              uint32_t line)
{
    uint64_t position = presence == OCCUPANCY_BLOCKED && thread && thread <= g->lines
                            ? order_thread_last(g->run->order, thread)
                            : NO_POSITION;
    if (position == NO_POSITION)
        return true;
    struct order_event e = order_event(g->run->order, position);
    const struct target_event *look =
        e.line == line ? run_event_type(g->run, e.line, e.type, (enum relation)e.relation) : NULL;
    return !look || !look->releases;
}

/* Returns how a thread holds a shared lock: a reader comes after the writers, a writer after the
 * readers, too. */
static enum hold_kind wait_holder_occupant_kind(const struct run *run, struct event_id since)
{
    uint64_t position = since.number && order_line_shared(run->order, since.line)
                            ? order_position(run->order, since)
                            : NO_POSITION;
    if (position == NO_POSITION || position < order_first(run->order))
        return HOLD_LOCK;
    struct order_event e = order_event(run->order, position);
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    return !look || !look->after.count ? HOLD_LOCK : look->after.count > 1 ? HOLD_WRITE : HOLD_READ;
}

/* Returns the event by which a thread came to a line for the part of its events there that ends at
 * a position. */
static struct event_id wait_holder_arrival(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    uint32_t thread = e.thread;
    struct event_id arrival = {e.line, e.number};
    for (unsigned i = 0; i < ENTERED_EVENTS; i++) {
        position = order_previous(run->order, position);
        if (position == NO_POSITION || position < order_first(run->order))
            break;
        e = order_event(run->order, position);
        const struct target_event *look =
            run_event_type(run, e.line, e.type, (enum relation)e.relation);
        if (e.thread != thread || !look ||
            (look->has_presence && look->presence == OCCUPANCY_OUT && !look->keeps))
            break;
        if (look->has_presence && !look->own && look->presence == OCCUPANCY_ACTIVE)
            arrival = (struct event_id){e.line, e.number};
    }
    return arrival;
}

/* Adds the thread that is elsewhere and holds the line, as in a monitor that it called from there:
 * the last one that acted on the line. */
static void wait_holders_add_absent(struct wait_graph *g, struct wait_graph_object *object,
                                    const struct waiter *w)
{
    const struct order *order = g->run->order;
    uint64_t count = order_line_events(order, w->about),
             position = count > order_line_first(order, w->about)
                            ? order_line_at(order, w->about, count - 1)
                            : NO_POSITION;
    struct order_event e =
        position == NO_POSITION ? (struct order_event){0} : order_event(order, position);
    const struct target_event *look =
        e.line ? run_event_type(g->run, e.line, e.type, (enum relation)e.relation) : NULL;
    if (look && look->keeps && e.thread && e.thread != w->about)
        wait_graph_add_holder(g, object,
                              (struct holder_info){.thread = e.thread,
                                                   .since = wait_holder_arrival(g->run, position),
                                                   .how = HOLD_LOCK});
}

static void wait_holders_add_occupants(struct wait_graph *g, struct wait_graph_object *object,
                                       const struct waiter *w)
{
    uint32_t thread;
    enum occupancy presence;
    uint64_t since;
    for (size_t i = 0; order_line_inside(g->run->order, w->about, i, &thread, &presence, &since);
         i++) {
        struct event_id at = since ? (struct event_id){w->about, since}
                                   : wait_holder_entry(g->run, thread, w->about);
        if (thread != w->about && wait_holder_keeps(g, thread, presence, w->about))
            wait_graph_add_holder(
                g, object,
                (struct holder_info){.thread = thread,
                                     .since = at,
                                     .how = (uint8_t)wait_holder_occupant_kind(g->run, at)});
    }
}

/* ---- locks that were held at a fork ---- */

#define HELD_THREADS 64u /* that have left a lock */
#define HELD_EVENTS 100000u /* events in a critical section that are examined */

/* Returns whether an event says that its thread left the lock on the line of which it is. */
static bool wait_holder_leaves(const struct run *run, const struct order_event *e)
{
    const struct target_event *look =
        run_event_type(run, e->line, e->type, (enum relation)e->relation);
    return look && (look->releases || (look->has_presence && look->presence == OCCUPANCY_OUT));
}

struct seen_threads {
    uint32_t items[HELD_THREADS];
    unsigned count;
};

/* Adds a thread; returns false if it was there, or there are too many. */
static bool wait_holder_see(struct seen_threads *seen, uint32_t thread)
{
    for (unsigned i = 0; i < seen->count; i++)
        if (seen->items[i] == thread)
            return false;
    if (seen->count == HELD_THREADS)
        return false;
    seen->items[seen->count++] = thread;
    return true;
}

/* Returns the position of the event by which a thread acquired a lock that it held at that of
 * another one on the lock's line: the first thread, backwards, that did not leave it. NO_POSITION:
 * none is known. */
static uint64_t wait_holder_acquisition(const struct run *run, uint64_t position)
{
    struct seen_threads seen = {.count = 0};
    uint64_t found = NO_POSITION;
    uint32_t holder = 0;
    for (unsigned i = 0; i < HELD_EVENTS && position != NO_POSITION; i++) {
        if (position < order_first(run->order))
            return NO_POSITION;
        struct order_event e = order_event(run->order, position);
        bool leaves = wait_holder_leaves(run, &e), shared = order_line_shared(run->order, e.line);
        if (leaves && (holder == e.thread || !shared))
            break;
        if (!leaves && (holder == e.thread || (!holder && wait_holder_see(&seen, e.thread)))) {
            holder = e.thread;
            found = position;
        } else if (leaves) {
            wait_holder_see(&seen, e.thread);
        }
        position = order_previous(run->order, position);
    }
    return found;
}

/* The child has the lock in the state that it had at the fork.  The thread that forked has become
 * the child's first thread, and can release it. */
static void wait_holders_add_inherited(struct wait_graph *g, struct wait_graph_object *object,
                                       const struct waiter *w)
{
    const struct run *run = g->run;
    struct event_id last = inherited_holds_last(run, w->about);
    uint64_t position =
        last.line ? wait_holder_acquisition(run, order_position(run->order, last)) : NO_POSITION;
    if (position == NO_POSITION)
        return;
    struct order_event e = order_event(run->order, position);
    uint32_t process = run_line_at(run, w->about)->process;
    uint64_t fork =
        process < run->processes.count ? process_creation_message(run, process) : NO_POSITION;
    struct holder_info holder = {
        .thread = e.thread, .since = {e.line, e.number}, .how = HOLD_AT_FORK};
    if (fork != NO_POSITION && order_event(run->order, fork).thread == e.thread) {
        holder.thread = process_creation_line(run, process);
        holder.how = HOLD_LOCK;
    }
    wait_graph_add_holder(g, object, holder);
}

/* ---- units of semaphores ---- */

#define UNITS_THREADS 64u /* maximum number of threads that use the semaphore */
#define UNITS_EVENTS 100000u /* events of its line that are examined, from the last one on */

/* What a thread did with a semaphore, backwards from the end of the trace. */
struct unit_user {
    uint32_t thread;
    bool posted; /* the earliest event examined */
    bool holds;
    uint64_t acquired; /* number of the last event by which it acquired a unit */
    uint64_t first; /* number of the earliest event examined */
    bool acquires; /* one of its events does */
};

static struct unit_user *wait_holder_unit_user(struct unit_user *users, unsigned *count,
                                               uint32_t thread)
{
    for (unsigned i = 0; i < *count; i++)
        if (users[i].thread == thread)
            return &users[i];
    if (*count == UNITS_THREADS)
        return NULL;
    users[*count] = (struct unit_user){.thread = thread};
    return &users[(*count)++];
}

static bool wait_holder_is_any_of(const struct target_names *names, const struct target_names *of)
{
    for (size_t i = 0; i < names->count; i++)
        if (target_has_line_type(of, names->items[i]))
            return true;
    return false;
}

/* Takes one event of a semaphore's line into account.  Returns false if a thread posted a unit that
 * it had not acquired: then the semaphore is not a lock. */
static bool wait_holder_add_unit_event(const struct run *run, const struct waiter *w,
                                       const struct order_event *e, struct unit_user *users,
                                       unsigned *count, bool *posts)
{
    const struct target_event *look =
        run_event_type(run, e->line, e->type, (enum relation)e->relation);
    bool post = target_has_line_type(&w->look->woken_by, run_type_name(run, e->type)),
         acquires = look && wait_holder_is_any_of(&look->after, &w->look->woken_by);
    if ((!post && !acquires) || !e->thread)
        return true;
    struct unit_user *user = wait_holder_unit_user(users, count, e->thread);
    if (!user || (post && user->posted))
        return false;
    user->holds |= acquires && !user->posted && !user->acquired;
    user->acquired = acquires && !user->acquired ? e->number : user->acquired;
    *posts |= post;
    user->posted = post;
    user->first = e->number;
    user->acquires |= acquires;
    return true;
}

/* Returns whether a thread that posted first set the initial value: no unit was acquired before,
 * and it acquires them, too, or waits for one. */
static bool wait_holder_initializes(const struct wait_graph *g, const struct waiter *w,
                                    const struct unit_user *users, unsigned count,
                                    const struct unit_user *user)
{
    uint32_t waiter = user->thread <= g->lines ? g->waiter_of[user->thread - 1] : 0;
    bool uses = user->acquires || (waiter && g->waiters[waiter - 1].about == w->about);
    for (unsigned i = 0; i < count; i++)
        uses &= &users[i] == user || users[i].first > user->first;
    return uses;
}

/* If each thread posts only what it has acquired, the semaphore is used as a lock, and those that
 * have not posted hold it.  If no thread ever posted, others than the waiter may be to post. */
static void wait_holders_add_units(struct wait_graph *g, struct wait_graph_object *object,
                                   const struct waiter *w)
{
    const struct order *order = g->run->order;
    struct unit_user users[UNITS_THREADS];
    unsigned count = 0;
    bool lock = w->look->woken_by.count && order_line_shared(order, w->about), posts = false;
    uint64_t first = order_line_first(order, w->about), n = order_line_events(order, w->about),
             least = n - first > UNITS_EVENTS ? n - UNITS_EVENTS : first;
    for (; lock && n > least; n--) {
        uint64_t position = order_line_at(order, w->about, n - 1);
        struct order_event e =
            position == NO_POSITION ? (struct order_event){0} : order_event(order, position);
        if (e.line && e.state == EVENT_ORDERED)
            lock = wait_holder_add_unit_event(g->run, w, &e, users, &count, &posts);
    }
    for (unsigned i = 0; i < count; i++)
        lock &= least > first || !users[i].posted ||
                wait_holder_initializes(g, w, users, count, &users[i]);
    for (unsigned i = 0; lock && i < count; i++)
        if (users[i].holds && (posts || users[i].thread != w->thread))
            wait_graph_add_holder(g, object,
                                  (struct holder_info){.thread = users[i].thread,
                                                       .since = {w->about, users[i].acquired},
                                                       .how = HOLD_UNIT});
}

/* ---- teams of threads that were not forked ---- */

/* Returns whether a thread existed before an event of its process, and has helped at objects of
 * that kind since: its last event says that it waits for such work. */
static bool wait_holder_is_helper(const struct wait_graph *g, uint32_t thread, uint32_t kind,
                                  const struct order_event *before, struct event_id *idle)
{
    const struct order *order = g->run->order;
    uint64_t last = order_thread_last(order, thread),
             first = order_line_at(order, thread, order_line_first(order, thread));
    if (g->is_thread[thread - 1] != WAITS_ACTS || last == NO_POSITION || first == NO_POSITION ||
        order_event(order, first).time_ns >= before->time_ns)
        return false;
    struct order_event e = order_event(order, last);
    const struct target_event *look =
        e.line ? run_event_type(g->run, e.line, e.type, (enum relation)e.relation) : NULL;
    *idle = (struct event_id){e.line, e.number};
    return look && look->rests && e.about && e.about <= g->lines &&
           order_line_kind(order, e.about) == kind;
}

/* A runtime such as OpenMP's keeps its threads for the next region.  The child of a fork has its
 * data, but not these threads, so its first region waits for them. */
static void wait_holders_add_team(struct wait_graph *g, struct wait_graph_object *object,
                                  const struct waiter *w)
{
    const struct run *run = g->run;
    uint32_t process = run_line_at(run, w->about)->process;
    uint64_t fork =
        process < run->processes.count && target_has_line_type(&w->look->woken_by, w->look->name)
            ? process_creation_message(run, process)
            : NO_POSITION;
    if (fork == NO_POSITION)
        return;
    struct order_event e = order_event(run->order, fork);
    uint32_t parent = e.thread ? run_line_at(run, e.thread)->process : process;
    struct holder_info holder = {.how = HOLD_TEAM};
    for (uint32_t line = 1; line <= g->lines && parent != process; line++)
        if (run_line_at(run, line)->process == parent &&
            wait_holder_is_helper(g, line, order_line_kind(run->order, w->about), &e,
                                  &holder.since)) {
            holder.thread = line;
            wait_graph_add_holder(g, object, holder);
            return;
        }
}

/* Adds the thread that deleted the object as the only one. Returns false if the object exists. */
static bool wait_holders_add_deleter(struct wait_graph *g, struct wait_graph_object *object,
                                     const struct waiter *w)
{
    const struct order *order = g->run->order;
    uint64_t count = order_line_events(order, w->about),
             position =
                 order_line_closed(order, w->about) && count > order_line_first(order, w->about)
                     ? order_line_at(order, w->about, count - 1)
                     : NO_POSITION;
    struct order_event e =
        position == NO_POSITION ? (struct order_event){0} : order_event(order, position);
    if (!e.line || !e.thread)
        return false;
    wait_graph_add_holder(
        g, object,
        (struct holder_info){.thread = e.thread, .since = {e.line, e.number}, .how = HOLD_DELETED});
    return true;
}

void wait_holders_find(struct wait_graph *g, struct wait_graph_object *object,
                       const struct waiter *w)
{
    if (wait_holders_add_deleter(g, object, w))
        return;
    wait_holders_add_occupants(g, object, w);
    if (!object->count)
        wait_holders_add_absent(g, object, w);
    if (!object->count)
        wait_holders_add_inherited(g, object, w);
    if (!object->count)
        wait_holders_add_units(g, object, w);
    if (!object->count)
        wait_holders_add_team(g, object, w);
}

static bool wait_holder_is_reader(const struct wait_graph *g, const struct waiter *w,
                                  uint32_t thread)
{
    const struct wait_graph_object *object = &g->objects[w->object];
    for (uint32_t i = 0; i < object->count; i++)
        if (g->holders[object->first + i].how == HOLD_READ &&
            g->holders[object->first + i].thread == thread)
            return true;
    return false;
}

/* A wait for a condition variable returns only with its mutex: its event is on the line of that. */
static void wait_holders_find_mutex(const struct wait_graph *g, struct waiter *w)
{
    uint32_t thread, line = w->at.line;
    enum occupancy presence;
    uint64_t since;
    if (!w->look->releases || w->at_exit || !w->about || line == w->about || line == w->thread)
        return;
    for (size_t i = 0;
         !w->ahead.thread && order_line_inside(g->run->order, line, i, &thread, &presence, &since);
         i++)
        if (thread != w->thread && thread != line && wait_holder_keeps(g, thread, presence, line))
            w->ahead =
                (struct holder_info){.thread = thread,
                                     .since = since ? (struct event_id){line, since}
                                                    : wait_holder_entry(g->run, thread, line),
                                     .how = HOLD_MUTEX};
}

void wait_holders_find_ahead(struct wait_graph *g, size_t waiter)
{
    struct waiter *w = &g->waiters[waiter];
    wait_holders_find_mutex(g, w);
    if (w->look->timed || !wait_holder_is_reader(g, w, w->thread))
        return;
    for (size_t i = 0; i < waiter && !w->ahead.thread; i++) {
        const struct waiter *other = &g->waiters[i];
        if (other->about == w->about && !wait_holder_is_reader(g, w, other->thread))
            w->ahead = (struct holder_info){
                .thread = other->thread, .since = other->at, .how = HOLD_QUEUED};
    }
}

/* ---- the loader ---- */

/* Describes a sleep at the loader's lock. */
static const struct target_event look_of_loader = {.name = (char[]){""}, .waits = true};

bool wait_holders_find_loader(const struct wait_graph *g, struct waiter *waiter)
{
    const struct run *run = g->run;
    int64_t end_ns = run->programs.connected ? 0 : run->clock.ended_ns, since_ns, held_ns;
    uint32_t holder = cpu_states_lock_holder(cpu_placement_states(run), waiter->thread, end_ns,
                                             &since_ns, &held_ns);
    if (!holder || holder > g->lines || holder == waiter->thread)
        return false;
    uint64_t position = order_thread_last(run->order, holder);
    struct order_event last =
        position == NO_POSITION ? (struct order_event){0} : order_event(run->order, position);
    if (!last.line || last.time_ns > held_ns)
        return false;
    waiter->ahead = (struct holder_info){.thread = holder, .how = HOLD_LOADER};
    waiter->look = &look_of_loader;
    waiter->loader = true;
    waiter->time_ns = since_ns;
    return true;
}

#include "server/queries/sync_ops.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/call_sites.h"
#include "server/timing/run_metadata_source.h"
#include "wire/annotation_text.h"

#include <stdlib.h>
#include <string.h>

#define SYNC_OPS_READ 256u /* events read at once */
#define AMBIGUOUS ((void *)UINTPTR_MAX)

/* ---- the target description ---- */

static uint8_t sync_ops_line_kind(struct sync_ops *ops, uint32_t line)
{
    const struct run *run = ops->run;
    uint32_t kind = order_line_kind(run->order, line);
    ops->locks = array_reserve_zeroed(ops->locks, &ops->kind_room, kind + 1u, sizeof *ops->locks);
    if (!ops->locks[kind]) {
        const struct target_line_type *k = run_line_type(run, kind);
        ops->locks[kind] = (uint8_t)(1 + (k ? k->category * 2 : 0) +
                                     (k && k->category == CATEGORY_LOCK && k->threads));
    }
    return ops->locks[kind] - 1;
}

static bool sync_ops_is_lock(const void *context, uint32_t line)
{
    return sync_ops_line_kind((struct sync_ops *)(uintptr_t)context, line) & 1;
}

/* Returns whether another type of event on lines of a kind comes after more types: of those that
 * acquire a shared line it is then the one in shared mode. */
static bool sync_ops_is_reader(const struct run *run, uint64_t kind,
                               const struct target_event *look)
{
    const char *name = run_kind_name(run, (uint32_t)kind);
    for (size_t t = 0; look && t < run->targets.count; t++)
        for (size_t i = 0; i < run->targets.items[t]->event_count; i++) {
            const struct target_event *other = &run->targets.items[t]->events[i];
            if (target_has_line_type(&other->on, name) && other->after.count > look->after.count)
                return true;
        }
    return false;
}

/* Returns what the description says of the type of an event. */
static const struct sync_ops_type *sync_ops_type_of(struct sync_ops *ops,
                                                    const struct order_event *e)
{
    const struct run *run = ops->run;
    uint64_t kind = order_line_kind(run->order, e->line),
             key = kind << 40 | (uint64_t)e->type << 8 | (e->relation + 1u);
    struct sync_ops_type *t = &ops->types[key * 0x9e3779b97f4a7c15u >> 56];
    if (t->key != key) {
        const struct target_event *look =
            run_event_type(run, e->line, e->type, (enum relation)e->relation);
        *t = (struct sync_ops_type){.key = key,
                                    .look = look,
                                    .role = look ? look->role : ROLE_NONE,
                                    .signals = look && look->undelivered,
                                    .reads = sync_ops_is_reader(run, kind, look)};
    }
    return t;
}

/* Returns whether the succession on a line depends on scheduling. */
static bool sync_ops_is_scheduled(const void *context, uint32_t line)
{
    const struct sync_ops *ops = context;
    return sync_ops_is_lock(ops, line) || semaphore_locks_have(&ops->semaphores, line);
}

static bool sync_ops_is_timed(struct sync_ops *ops, const struct order_event *e)
{
    const struct target_event *look = sync_ops_type_of(ops, e)->look;
    return look && look->timed;
}

/* ---- processes that were forked ---- */

/* Notes the events that created a process that continues the program of its parent: those report no
 * variables of their environment. */
static void sync_ops_find_forks(struct sync_ops *ops)
{
    const struct run *run = ops->run;
    for (size_t i = 0; i < run->processes.count; i++) {
        uint64_t message = process_creation_message(run, i);
        if (message == NO_POSITION || run->processes.items[i].variable_count)
            continue;
        map_put(&ops->forks, message, 0, ops);
    }
}

static void sync_ops_find_objects(struct sync_ops *ops)
{
    const struct run *run = ops->run;
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        if (!sync_ops_is_lock(ops, line))
            continue;
        const struct run_line *lock = run_line_at(run, line);
        uint64_t of = (uint64_t)lock->process << 32 | lock->kind;
        if (lock->object)
            map_put(&ops->objects, of, lock->object,
                    map_get(&ops->objects, of, lock->object) ? AMBIGUOUS : (void *)(uintptr_t)line);
    }
}

/* Sets the line that the lock of a request has in the process which forked that of the thread; none
 * if the lock was initialized after the fork. */
static void sync_ops_set_inherited(struct sync_ops *ops, struct sync_op *op)
{
    const struct run *run = ops->run;
    const struct run_line *lock = run_line_at(run, op->lock);
    uint32_t process = lock->process, kind = lock->kind;
    uint64_t object = lock->object, fork, first;
    if (process != run_line_at(run, op->thread)->process || process >= run->processes.count)
        return;
    fork = process_creation_message(run, process);
    if (fork == NO_POSITION || !map_get(&ops->forks, fork, 0))
        return;
    uint32_t parent = run_line_at(run, order_event(run->order, fork).thread)->process;
    void *line = map_get(&ops->objects, (uint64_t)parent << 32 | kind, object);
    first = order_position(run->order, (struct event_id){op->lock, 1});
    if (!line || line == AMBIGUOUS || parent == process || first == NO_POSITION ||
        order_event(run->order, first).opened)
        return;
    op->inherited = (uint32_t)(uintptr_t)line;
    op->fork = fork;
}

/* ---- events as synchronization operations ---- */

static void sync_ops_feed_op(struct sync_ops *ops, struct sync_op op)
{
    predict_feed(ops->prediction, &op);
}

/* Feeds a signal that only threads that wait at that time receive. */
static void sync_ops_feed_signal(struct sync_ops *ops, const struct order_event *e,
                                 struct sync_op op)
{
    const struct run *run = ops->run;
    const struct sync_ops_type *type = e->about ? sync_ops_type_of(ops, e) : NULL;
    if (!type || !type->signals)
        return;
    op.is = SYNC_OP_SIGNAL;
    op.all = run_signal_wakes_all(run, (struct event_id){e->line, e->number}, type->look);
    sync_ops_feed_op(ops, op);
}

/* Feeds the first event of a thread after it began to wait for a signal, and notes whether it
 * begins such a wait. */
static void sync_ops_feed_wakeup(struct sync_ops *ops, const struct order_event *e,
                                 struct sync_op op)
{
    const struct event_meaning *is = interval_cache_meaning(ops->run, e);
    ops->waits =
        array_reserve_zeroed(ops->waits, &ops->wait_room, e->thread + 1u, sizeof *ops->waits);
    struct sync_ops_waiting *t = &ops->waits[e->thread];
    if (t->about) {
        op.is = SYNC_OP_WOKEN;
        op.about = t->about;
        sync_ops_feed_op(ops, op);
    }
    *t = (struct sync_ops_waiting){.began = t->began,
                                   .receiver = t->receiver,
                                   .place = t->place,
                                   .requested = t->requested,
                                   .signaled = t->signaled,
                                   .blocked = t->blocked,
                                   .asked = t->asked};
    if (is->waits && is->releases && e->line != e->thread && sync_ops_is_lock(ops, e->line))
        t->about = e->about;
}

/* Returns the other thread that an event comes directly after; 0: none, or several. */
static uint32_t sync_ops_waker(const struct sync_ops *ops, const struct order_event *e,
                               uint64_t position)
{
    uint32_t waker = 0;
    for (uint32_t i = 0; i < e->edge_count; i++) {
        uint64_t from = order_edge(ops->run->order, position, i);
        uint32_t thread =
            from >= ops->sure.first ? order_event(ops->run->order, from).thread : e->thread;
        if (thread && thread != e->thread && waker && thread != waker)
            return 0;
        waker = thread && thread != e->thread ? thread : waker;
    }
    return waker;
}

/* Feeds the end of a thread's wait for another one, and notes whether the event begins such a wait:
 * a join, or one for a condition variable, a semaphore or a barrier. */
static void sync_ops_feed_wait(struct sync_ops *ops, const struct order_event *e,
                               const struct event_meaning *is, struct sync_op op)
{
    ops->waits =
        array_reserve_zeroed(ops->waits, &ops->wait_room, e->thread + 1u, sizeof *ops->waits);
    struct sync_ops_waiting *t = &ops->waits[e->thread];
    if (is->interrupts)
        return;
    bool passes = is->takes && sync_ops_line_kind(ops, e->line) / 2u == CATEGORY_SEMAPHORE;
    if (passes && !t->blocked)
        t->blocked = op.position + 1;
    if (t->blocked && !is->by_clock) {
        struct order_event wait = order_event(ops->run->order, t->blocked - 1);
        op.is = SYNC_OP_UNBLOCK;
        op.lock = 0;
        op.about = wait.about ? wait.about : wait.line;
        op.place = call_sites_for_line(ops->run, wait.site);
        op.began = t->blocked - 1;
        op.sender = sync_ops_waker(ops, e, op.position);
        op.sent_mark = mhb_clock_at(&ops->sure, e->thread, op.began - (op.began == op.position));
        sync_ops_feed_op(ops, op);
    }
    uint32_t line = e->about ? e->about : e->line != e->thread ? e->line : 0;
    unsigned category = line && is->waits ? sync_ops_line_kind(ops, line) / 2u : CATEGORY_NONE;
    bool another = is->category == CATEGORY_JOIN || category == CATEGORY_CONDITION ||
                   category == CATEGORY_SEMAPHORE || category == CATEGORY_BARRIER;
    t->blocked = is->waits && another && !sync_ops_is_timed(ops, e) &&
                         !semaphore_locks_have(&ops->semaphores, line)
                     ? op.position + 1
                     : 0;
    if (is->gives && sync_ops_line_kind(ops, e->line) / 2u == CATEGORY_SEMAPHORE) {
        op.is = SYNC_OP_POST;
        op.lock = 0;
        op.about = e->line;
        sync_ops_feed_op(ops, op);
    }
}

/* Feeds a message that was awaited from any sender, and notes whether the event begins such a
 * wait. */
static void sync_ops_feed_message(struct sync_ops *ops, const struct order_event *e,
                                  const struct event_meaning *is, struct sync_op op)
{
    const struct order *order = ops->run->order;
    struct sync_ops_waiting *t = &ops->waits[e->thread];
    if (e->send_count == 1 && t->receiver) {
        uint64_t sent = order_edge(order, op.position, 0);
        struct order_event send =
            sent >= ops->sure.first ? order_event(order, sent) : (struct order_event){0};
        op.is = SYNC_OP_RECEIVE;
        op.about = t->receiver;
        op.place = t->place;
        op.began = t->began;
        op.sender = send.thread;
        op.sent = sent;
        op.sent_mark = mhb_clock_at(&ops->sure, send.thread, sent);
        if (send.thread && send.thread != e->thread)
            sync_ops_feed_op(ops, op);
    }
    bool any = is->waits && is->category == CATEGORY_RECEIVE && e->about &&
               !order_line_events(order, e->about);
    t->receiver = any ? e->about : 0;
    t->began = op.position;
    t->place = op.place;
}

/* Feeds an acquisition or a release of a semaphore that is used as a lock. */
static void sync_ops_feed_unit(struct sync_ops *ops, const struct order_event *e,
                               const struct event_meaning *is, struct sync_op op)
{
    op.unit = true;
    op.lock = e->line;
    if (is->takes) {
        op.is = SYNC_OP_REQUEST;
        sync_ops_feed_op(ops, op);
    }
    if (is->takes || is->gives) {
        op.is = is->takes ? SYNC_OP_ACQUIRE : SYNC_OP_RELEASE;
        sync_ops_feed_op(ops, op);
    }
}

/* Feeds a nested acquisition by a reader that blocks if a writer waits. */
static void sync_ops_feed_reread(struct sync_ops *ops, const struct order_event *e,
                                 struct sync_op op)
{
    if (!run_has_text(ops->run, (struct event_id){e->line, e->number}, TEXT_WRITERS_FIRST))
        return;
    op.is = SYNC_OP_REREAD;
    op.lock = e->line;
    sync_ops_feed_op(ops, op);
}

/* Returns whether a line is that of a receiver of messages, such as a rank. */
static bool sync_ops_is_receiver(const struct run *run, uint32_t line)
{
    const struct target_line_type *kind =
        line ? run_line_type(run, order_line_kind(run->order, line)) : NULL;
    return kind && kind->category == CATEGORY_RECEIVE;
}

/* Feeds a blocking send, or a receive, and notes whether the event requests a message. */
static void sync_ops_feed_send(struct sync_ops *ops, const struct order_event *e,
                               const struct event_meaning *is, struct sync_op op)
{
    const struct run *run = ops->run;
    struct sync_ops_waiting *t = &ops->waits[e->thread];
    uint64_t sent = e->send_count == 1 ? order_edge(run->order, op.position, 0) : NO_POSITION;
    const struct target_event *look = is->waits && e->about ? sync_ops_type_of(ops, e)->look : NULL;
    bool requests = look && look->waits && look->category == CATEGORY_RECEIVE && e->about;
    if (sent != NO_POSITION && sync_ops_is_receiver(run, e->thread)) {
        op.is = SYNC_OP_MESSAGE;
        op.sent = sent;
        op.any = !t->requested;
        op.began = t->requested - !op.any;
        sync_ops_feed_op(ops, op);
    } else if (is->waits && is->sends && e->sends && sync_ops_is_receiver(run, e->about)) {
        op.is = SYNC_OP_SEND;
        sync_ops_feed_op(ops, op);
    }
    t->requested = requests && order_line_events(run->order, e->about) ? op.position + 1 : 0;
}

/* ---- objects that are destroyed ---- */

/* Returns the category of a line of a synchronization object; else CATEGORY_NONE. */
static unsigned sync_ops_object_category(struct sync_ops *ops, uint32_t line)
{
    unsigned category = line ? sync_ops_line_kind(ops, line) / 2u : CATEGORY_NONE;
    bool object = category == CATEGORY_LOCK || category == CATEGORY_CONDITION ||
                  category == CATEGORY_SEMAPHORE || category == CATEGORY_BARRIER;
    return object ? category : CATEGORY_NONE;
}

/* Feeds what a thread does with an object. A thread is in a semaphore only while it posts or
 * acquires a unit; the order between threads is that of these. */
static void sync_ops_feed_use(struct sync_ops *ops, const struct order_event *e,
                              const struct event_meaning *is, struct sync_op op)
{
    uint32_t line = e->line != e->thread ? e->line : 0;
    unsigned category = sync_ops_object_category(ops, line);
    op.is = SYNC_OP_USE;
    if (category && (category != CATEGORY_SEMAPHORE || e->relation != RELATION_SYNC)) {
        bool waits = is->waits && !is->releases;
        op.about = line;
        op.opens = waits || (is->enters && !is->waits && category != CATEGORY_SEMAPHORE);
        op.closes =
            !op.opens && (is->leaves || is->takes || is->gives || is->by_clock || is->waits);
        sync_ops_feed_op(ops, op);
    }
    bool woken = e->thread < ops->wait_room && ops->waits[e->thread].about == e->about &&
                 !is->waits && !is->by_clock; /* what woke the thread used the object */
    if (e->about && e->about != line && !woken && sync_ops_object_category(ops, e->about)) {
        op.about = e->about;
        op.opens = is->waits;
        op.closes = !is->waits;
        op.signals = sync_ops_type_of(ops, e)->signals;
        sync_ops_feed_op(ops, op);
    }
}

/* Returns whether no other thread is known to have initialized an object. */
static bool sync_ops_is_own(const struct run *run, uint32_t line, uint32_t thread)
{
    struct event_id by = order_line_opened_by(run->order, line);
    uint64_t position = by.line ? order_position(run->order, by) : NO_POSITION;
    return position == NO_POSITION || order_event(run->order, position).thread == thread;
}

/* Feeds the destruction of an object, or that one is used after it. */
static void sync_ops_feed_destroy(struct sync_ops *ops, const struct order_event *e,
                                  struct sync_op op, bool reuse)
{
    const struct run *run = ops->run;
    const struct run_line *line = run_line_at(run, e->about);
    op.is = reuse ? SYNC_OP_REUSE : SYNC_OP_DESTROY;
    op.object = (line->object * 31 + line->kind) * 31 + line->process;
    op.in_use = !reuse && run_has_text(run, (struct event_id){e->line, e->number}, TEXT_IN_USE);
    op.wakes = sync_ops_object_category(ops, e->about) == CATEGORY_CONDITION;
    op.own = sync_ops_is_own(run, e->about, e->thread);
    sync_ops_feed_op(ops, op);
}

/* ---- signal handlers ---- */

/* Feeds the begin or the end of a handler, or a change of the signal mask. */
static void sync_ops_feed_handler(struct sync_ops *ops, const struct order_event *e,
                                  enum target_role role, struct sync_op op)
{
    const struct run *run = ops->run;
    const struct run_text *text = run_texts(run, (struct event_id){e->line, e->number});
    uint64_t sent = e->thread < ops->wait_room ? ops->waits[e->thread].signaled : 0;
    op.is = role == ROLE_HANDLER_BEGIN ? SYNC_OP_HANDLER_BEGIN
            : role == ROLE_HANDLER_END ? SYNC_OP_HANDLER_END
                                       : SYNC_OP_SIGNAL_MASK;
    op.text = text ? text->text : "";
    if (sent) {
        op.sent = sent - 1;
        op.sender = order_event(run->order, op.sent).thread;
        op.sent_mark = mhb_clock_at(&ops->sure, op.sender, op.sent);
    }
    sync_ops_feed_op(ops, op);
}

/* Notes the event that sent a signal that the thread handles from here on. */
static void sync_ops_note_signal(struct sync_ops *ops, const struct order_event *e,
                                 const struct event_meaning *is, uint64_t position)
{
    bool handled = is->interrupts && e->send_count == 1;
    if (e->thread >= ops->wait_room && !handled)
        return;
    ops->waits =
        array_reserve_zeroed(ops->waits, &ops->wait_room, e->thread + 1u, sizeof *ops->waits);
    uint64_t sent = handled ? order_edge(ops->run->order, position, 0) : 0;
    ops->waits[e->thread].signaled = handled && sent >= ops->sure.first ? sent + 1 : 0;
}

/* Feeds the execution of an initializer (pthread_once), which other threads wait for as for a lock;
 * and a request for one that was executed before: in another order it would wait. */
static void sync_ops_feed_once(struct sync_ops *ops, const struct order_event *e, struct sync_op op)
{
    uint32_t line = e->about;
    if (!line || e->relation == RELATION_SYNC || !sync_ops_is_lock(ops, line) ||
        order_line_events(ops->run->order, line))
        return;
    const struct target_event *look = sync_ops_type_of(ops, e)->look;
    struct sync_ops_waiting *t = &ops->waits[e->thread];
    bool runs = look && look->has_about && look->about == OCCUPANCY_ACTIVE,
         found = look && !look->has_about && !look->waits && t->asked == line;
    op.lock = line;
    op.is = SYNC_OP_REQUEST;
    op.timed = true; /* a thread that runs the initializer waits for no other one */
    if (runs)
        sync_ops_feed_op(ops, op);
    op.is = SYNC_OP_ACQUIRE;
    op.timed = false;
    if (runs || found)
        sync_ops_feed_op(ops, op);
    if (found || (look && look->has_about && look->about == OCCUPANCY_OUT)) {
        op.is = SYNC_OP_RELEASE;
        sync_ops_feed_op(ops, op);
    }
    t->asked = look && look->waits ? line : 0;
}

static void sync_ops_feed_event(struct sync_ops *ops, const struct order_event *e,
                                uint64_t position)
{
    const struct run *run = ops->run;
    const struct event_meaning *is = interval_cache_meaning(run, e);
    struct sync_op op = {.thread = e->thread,
                         .about = e->about,
                         .place = call_sites_for_line(run, e->site),
                         .position = position,
                         .time_ns = e->time_ns,
                         .mark = mhb_clock(&ops->sure, e->thread)};
    bool within = e->line != e->thread && sync_ops_is_lock(ops, e->line);
    enum target_role role = (enum target_role)sync_ops_type_of(ops, e)->role;
    op.lock = within ? e->line : e->about;
    if (e->about && (role == ROLE_DESTROY || role == ROLE_REUSE)) {
        sync_ops_feed_destroy(ops, e, op, role == ROLE_REUSE);
        return;
    }
    if (role == ROLE_HANDLER_BEGIN || role == ROLE_HANDLER_END || role == ROLE_SIGNAL_MASK) {
        sync_ops_feed_handler(ops, e, role, op);
        return;
    }
    sync_ops_note_signal(ops, e, is, position);
    sync_ops_feed_use(ops, e, is, op);
    sync_ops_feed_wait(ops, e, is, op);
    if (semaphore_locks_have(&ops->semaphores, e->line)) {
        sync_ops_feed_unit(ops, e, is, op);
        return;
    }
    if (within && order_line_shared(run->order, e->line))
        sync_ops_feed_reread(ops, e, op);
    if (e->sends && map_get(&ops->forks, position, 0)) {
        op.is = SYNC_OP_FORK;
        sync_ops_feed_op(ops, op);
    }
    if (is->waits && is->class == WAIT_CONTENTION && e->about && sync_ops_is_lock(ops, e->about)) {
        op.is = SYNC_OP_REQUEST;
        op.lock = e->about;
        op.timed = sync_ops_is_timed(ops, e);
        if (order_line_events(run->order, e->about)) /* initializers begin again in a child */
            sync_ops_set_inherited(ops, &op);
        sync_ops_feed_op(ops, op);
        op.inherited = 0;
    } else if (within && is->waits && is->releases) {
        op.is = SYNC_OP_WAIT;
        op.timed = sync_ops_is_timed(ops, e);
        op.unchecked = run_has_text(run, (struct event_id){e->line, e->number}, TEXT_UNCHECKED);
        sync_ops_feed_op(ops, op);
        op.unchecked = false;
    } else if (is->by_clock && e->about && sync_ops_is_lock(ops, e->about)) {
        op.is = SYNC_OP_REFUSED;
        op.lock = e->about;
        sync_ops_feed_op(ops, op);
    }
    if (within && (is->enters || is->leaves) && !is->waits) {
        op.is = is->enters ? SYNC_OP_ACQUIRE : SYNC_OP_RELEASE;
        op.lock = e->line;
        op.may_share = order_line_shared(run->order, e->line);
        op.shared = is->enters && op.may_share && sync_ops_type_of(ops, e)->reads;
        sync_ops_feed_op(ops, op);
    }
    sync_ops_feed_once(ops, e, op);
    sync_ops_feed_signal(ops, e, op);
    sync_ops_feed_wakeup(ops, e, op);
    sync_ops_feed_send(ops, e, is, op);
    sync_ops_feed_message(ops, e, is, op);
}

/* Feeds the events of one synchronization point, from the i-th one that was read; returns how many.
 */
static uint32_t sync_ops_feed_point(struct sync_ops *ops, size_t i)
{
    uint32_t count = 1;
    while (i + count < ops->count && ops->events[i + count].point == ops->first + i)
        count++;
    ops->cut |= !mhb_add_point(&ops->sure, ops->first + i, ops->events + i, count);
    for (uint32_t k = 0; !ops->cut && k < count; k++) {
        const struct order_event *e = &ops->events[i + k];
        if (e->line && !(e->line & HIDDEN_LINE) && e->thread && e->state == EVENT_ORDERED)
            sync_ops_feed_event(ops, e, ops->first + i + k);
    }
    return count;
}

/* ---- reading ---- */

struct sync_ops *sync_ops_new(const struct run *run, struct bug_prediction *prediction)
{
    struct sync_ops *ops = xcalloc(1, sizeof *ops);
    ops->run = run;
    ops->prediction = prediction;
    ops->next = order_first(run->order);
    ops->end = order_count(run->order);
    ops->sure = (struct must_happen_before){
        .order = run->order, .is_lock = sync_ops_is_scheduled, .context = ops, .first = ops->next};
    sync_ops_find_forks(ops);
    if (ops->forks.count)
        sync_ops_find_objects(ops);
    ops->events = xcalloc(SYNC_OPS_READ, sizeof *ops->events);
    return ops;
}

/* Reads the next events, up to the end of a synchronization point unless that is longer than the
 * buffer. */
static void sync_ops_read_events(struct sync_ops *ops)
{
    uint64_t most = ops->end - ops->next < SYNC_OPS_READ ? ops->end - ops->next : SYNC_OPS_READ;
    ops->first = ops->next;
    ops->count = order_read(ops->run->order, ops->next, most, ops->events);
    if (ops->next + ops->count >= ops->end)
        return;
    uint64_t point = ops->events[ops->count - 1].point;
    if (point > ops->first && point < ops->first + ops->count)
        ops->count = point - ops->first;
}

bool sync_ops_step(struct sync_ops *ops, uint64_t *budget)
{
    if (!semaphore_locks_step(&ops->semaphores, ops->run, budget))
        return false;
    while (ops->next < ops->end && !ops->cut && *budget) {
        sync_ops_read_events(ops);
        for (size_t i = 0; i < ops->count && !ops->cut;)
            i += sync_ops_feed_point(ops, i);
        ops->next += ops->count;
        *budget -= ops->count < *budget ? ops->count : *budget;
    }
    return ops->next >= ops->end || ops->cut;
}

void sync_ops_free(struct sync_ops *ops)
{
    mhb_free(&ops->sure);
    free(ops->events);
    free(ops->locks);
    free(ops->waits);
    semaphore_locks_free(&ops->semaphores);
    map_free(&ops->forks);
    map_free(&ops->objects);
    free(ops);
}

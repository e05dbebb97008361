#include "tests/bench/workload.h"

#include <stdlib.h>
#include <string.h>

const char *const workload_names[WORKLOADS] = {"uniform",  "torus",      "clustered", "ring",
                                               "monitors", "semaphores", "rwlocks"};

#define INBOX 8u /* maximum number of messages under way to one line */
#define HOMES 4u

struct inbox {
    struct event_id sends[INBOX];
    uint32_t count;
};

struct late { /* ring buffer of delayed events of late lines */
    struct happening *items;
    uint64_t *due;
    size_t room, begin, count;
};

struct workload {
    struct workload_options options;
    uint64_t random, step;
    uint64_t *numbers;
    struct event_id *last; /* by task: its last event, on any line */
    uint32_t *inside; /* by task: the monitor that it is in; 0: none */
    uint32_t *holder; /* by monitor: the task that is in it */
    struct inbox *inboxes;
    uint32_t tasks, side;
    struct late late;
};

static uint64_t next_random(struct workload *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

static uint32_t below(struct workload *w, uint32_t n)
{
    return (uint32_t)(((next_random(w) >> 32) * n) >> 32);
}

static void *zeroed(size_t n, size_t each)
{
    void *p = calloc(n, each);
    if (!p)
        abort();
    return p;
}

struct workload *workload_new(const struct workload_options *options)
{
    struct workload *w = zeroed(1, sizeof *w);
    w->options = *options;
    w->random = 0x9e3779b97f4a7c15u * (options->seed + 1);
    w->numbers = zeroed(options->lines + 1, sizeof *w->numbers);
    w->last = zeroed(options->lines + 1, sizeof *w->last);
    w->inside = zeroed(options->lines + 1, sizeof *w->inside);
    w->holder = zeroed(options->lines + 1, sizeof *w->holder);
    w->inboxes = zeroed(options->lines + 1, sizeof *w->inboxes);
    w->tasks = options->lines;
    if (options->kind >= MONITORS)
        w->tasks -= options->lines / 10;
    while ((w->side + 1) * (w->side + 1) <= options->lines)
        w->side++;
    return w;
}

void workload_free(struct workload *w)
{
    free(w->numbers);
    free(w->last);
    free(w->inside);
    free(w->holder);
    free(w->inboxes);
    free(w->late.items);
    free(w->late.due);
    free(w);
}

bool workload_is_shared(const struct workload *w, uint32_t line)
{
    return w->options.kind > MONITORS && line > w->tasks;
}

void workload_lines(const struct workload *w, struct order *order)
{
    for (uint32_t line = 1; line <= w->options.lines; line++)
        order_line(order, workload_is_shared(w, line), 1);
    order_after(order, WORK_TAKEN, WORK_POST);
    order_after(order, WORK_READ, WORK_WRITE_END);
    order_after(order, WORK_WRITE, WORK_WRITE_END);
    order_after(order, WORK_WRITE, WORK_READ_END);
}

/* ---- making events ---- */

static void add(struct workload *w, struct happening *h, uint32_t line, uint32_t task,
                uint32_t type, enum relation relation)
{
    struct arrival *a = &h->arrivals[h->count++];
    *a = (struct arrival){.at = {line, ++w->numbers[line]},
                          .type = type,
                          .thread = task,
                          .site = type + 7 * (task % 5),
                          .time_ns = (int64_t)(w->step * 100 + task % 97),
                          .relation = relation};
}

/* Orders a happening after the previous event of its task. */
static void follow(struct workload *w, struct happening *h, uint32_t task)
{
    struct event_id last = w->last[task];
    bool implied = false;
    for (unsigned i = 0; i < h->count; i++)
        implied |= h->arrivals[i].at.line == last.line && !workload_is_shared(w, last.line);
    if (!implied)
        h->arrivals[0].after[0] = last;
    w->last[task] = h->arrivals[0].at;
}

static uint32_t neighbour(struct workload *w, uint32_t task)
{
    uint32_t n = w->tasks, x, y;
    switch (w->options.kind) {
    case RING:
        return task % n + 1;
    case TORUS:
        if (task > w->side * w->side)
            return task % n + 1;
        x = (task - 1) % w->side;
        y = (task - 1) / w->side;
        switch (below(w, 4)) {
        case 0:
            x = (x + 1) % w->side;
            break;
        case 1:
            x = (x + w->side - 1) % w->side;
            break;
        case 2:
            y = (y + 1) % w->side;
            break;
        default:
            y = (y + w->side - 1) % w->side;
        }
        return 1 + y * w->side + x;
    case CLUSTERED:
        if (below(w, 100) < 97) {
            uint32_t first = (task - 1) / 20 * 20, size = n - first < 20 ? n - first : 20;
            return 1 + first + below(w, size);
        }
        return 1 + below(w, n);
    default:
        return 1 + below(w, n);
    }
}

static bool receive(struct workload *w, struct happening *h, uint32_t task)
{
    struct inbox *inbox = &w->inboxes[task];
    if (!inbox->count)
        return false;
    uint32_t i = w->options.overtaking ? below(w, inbox->count) : 0;
    add(w, h, task, task, WORK_RECEIVE, RELATION_RECEIVE);
    h->partners[0] = inbox->sends[i];
    h->arrivals[0].partner_count = 1;
    memmove(inbox->sends + i, inbox->sends + i + 1, (--inbox->count - i) * sizeof *inbox->sends);
    return true;
}

static void communicate(struct workload *w, struct happening *h, uint32_t task)
{
    uint32_t to = neighbour(w, task);
    if (below(w, 100) < 60 && receive(w, h, task))
        return;
    if (to != task && w->inboxes[to].count < INBOX && below(w, 100) < 80) {
        add(w, h, task, task, WORK_SEND, RELATION_SEND);
        w->inboxes[to].sends[w->inboxes[to].count++] = h->arrivals[0].at;
        return;
    }
    add(w, h, task, task, WORK_PLAIN, RELATION_NONE);
}

static void pair(struct workload *w, struct happening *h, uint32_t task, uint32_t monitor,
                 uint32_t type)
{
    add(w, h, task, task, type, RELATION_SYNC);
    add(w, h, monitor, task, type, RELATION_SYNC);
    h->partners[0] = h->arrivals[1].at;
    h->partners[1] = h->arrivals[0].at;
    h->arrivals[0].partner_count = h->arrivals[1].partner_count = 1;
}

static uint32_t some_monitor(struct workload *w, uint32_t task)
{
    uint32_t count = w->options.lines - w->tasks;
    if (below(w, 100) < 95)
        return w->tasks + 1 + (task * HOMES + below(w, HOMES)) % count;
    uint32_t rank = 1u << below(w, 31); /* approximately Zipf-distributed */
    return w->tasks + 1 + below(w, rank < count ? rank : count);
}

static void enter_or_leave(struct workload *w, struct happening *h, uint32_t task)
{
    uint32_t monitor = w->inside[task];
    if (monitor) {
        pair(w, h, task, monitor, WORK_LEAVE);
        w->inside[task] = w->holder[monitor] = 0;
        return;
    }
    monitor = some_monitor(w, task);
    if (w->holder[monitor] || below(w, 100) < 18) {
        add(w, h, task, task, WORK_PLAIN, RELATION_NONE);
        return;
    }
    w->inside[task] = monitor;
    w->holder[monitor] = task;
    pair(w, h, task, monitor, WORK_ENTER);
}

static void post_or_take(struct workload *w, struct happening *h, uint32_t task)
{
    uint32_t object = w->tasks + 1 + below(w, w->options.lines - w->tasks);
    uint32_t type = w->options.kind == RWLOCKS ? WORK_READ + below(w, 4)
                    : below(w, 2)              ? WORK_POST
                                               : WORK_TAKEN;
    add(w, h, object, task, type, RELATION_NONE);
}

static void happen(struct workload *w, struct happening *h)
{
    uint32_t task = 1 + below(w, w->tasks);
    h->count = 0;
    w->step++;
    if (w->options.kind == MONITORS)
        enter_or_leave(w, h, task);
    else if (w->options.kind > MONITORS && below(w, 100) < 30)
        post_or_take(w, h, task);
    else
        communicate(w, h, task);
    follow(w, h, task);
}

/* ---- order of arrival ---- */

static bool is_late(const struct workload *w, uint32_t line)
{
    return w->options.late > 0 &&
           (line * 2654435761u >> 8) % 100000 < (uint32_t)(w->options.late * 100000);
}

static void hold_back(struct workload *w, const struct happening *h)
{
    struct late *late = &w->late;
    if (late->count == late->room) {
        size_t room = late->room ? 2 * late->room : 1024;
        struct happening *items = zeroed(room, sizeof *items);
        uint64_t *due = zeroed(room, sizeof *due);
        for (size_t i = 0; i < late->count; i++) {
            items[i] = late->items[(late->begin + i) % late->room];
            due[i] = late->due[(late->begin + i) % late->room];
        }
        free(late->items);
        free(late->due);
        *late = (struct late){items, due, room, 0, late->count};
    }
    size_t at = (late->begin + late->count++) % late->room;
    late->items[at] = *h;
    late->due[at] = w->step + w->options.lag;
}

static void point_into(struct happening *h)
{
    for (unsigned i = 0; i < h->count; i++)
        h->arrivals[i].partners = &h->partners[i];
}

bool workload_rest(struct workload *w, struct happening *h)
{
    struct late *late = &w->late;
    if (!late->count)
        return false;
    *h = late->items[late->begin];
    late->begin = (late->begin + 1) % late->room;
    late->count--;
    point_into(h);
    return true;
}

void workload_next(struct workload *w, struct happening *h)
{
    if (w->late.count && w->late.due[w->late.begin] <= w->step && workload_rest(w, h))
        return;
    for (;;) {
        happen(w, h);
        if (!is_late(w, h->arrivals[0].at.line))
            break;
        hold_back(w, h);
    }
    point_into(h);
}

void workload_accept(struct order *order, const struct happening *h)
{
    if (h->count == 2)
        order_insert_pair(order, &h->arrivals[0], &h->arrivals[1]);
    else
        order_insert(order, &h->arrivals[0]);
}

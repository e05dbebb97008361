#include "tests/bruteforce.h"

#include <string.h>

enum { PLAIN = 1, RELEASE, TAKEN };

uint32_t execution_random(unsigned *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

struct making {
    struct execution *x;
    unsigned state;
    uint64_t numbers[EXECUTION_LINES + 1];
    uint32_t last_on_line[EXECUTION_LINES + 1];   /* index + 1 of an event */
    uint32_t last_of_thread[EXECUTION_LINES + 1]; /* likewise */
    uint32_t sends[EXECUTION_EVENTS], send_count;
};

static void edge(struct execution *x, uint32_t from, uint32_t to)
{
    if (x->point[from] != x->point[to])
        x->direct[x->point[from]][x->point[to]]++;
}

/* One event on a line, done by a thread; tied to what the model ties it to. */
static uint32_t add(struct making *m, uint32_t line, uint32_t thread, uint32_t type, uint32_t point)
{
    struct execution *x = m->x;
    uint32_t i = x->count++;
    x->point[i] = point;
    x->arrivals[i] =
        (struct arrival){.at = {line, ++m->numbers[line]}, .type = type, .thread = thread};
    if (!x->shared[line] && m->last_on_line[line])
        edge(x, m->last_on_line[line] - 1, i);
    if (x->shared[line] && type == TAKEN)
        for (uint32_t k = 0; k < i; k++)
            if (x->arrivals[k].at.line == line && x->arrivals[k].type == RELEASE)
                edge(x, k, i);
    uint32_t before = m->last_of_thread[thread];
    if (before) {
        edge(x, before - 1, i);
        x->arrivals[i].after[0] = x->arrivals[before - 1].at;
        if (x->point[before - 1] == point) /* the other end of this very pair */
            x->arrivals[i].after[0] = (struct event_id){0, 0};
    }
    m->last_on_line[line] = i + 1;
    return i;
}

static void add_pair(struct making *m, uint32_t thread)
{
    struct execution *x = m->x;
    uint32_t other = 1 + execution_random(&m->state, x->lines);
    if (other == thread)
        return;
    uint32_t point = x->points++;
    uint32_t a = add(m, thread, thread, PLAIN, point), b = add(m, other, thread, PLAIN, point);
    x->arrivals[a].relation = x->arrivals[b].relation = RELATION_SYNC;
    x->partners[a] = x->arrivals[b].at;
    x->partners[b] = x->arrivals[a].at;
    x->arrivals[b].after[0] = (struct event_id){0, 0};
    m->last_of_thread[thread] = a + 1;
}

static void add_group(struct making *m)
{
    struct execution *x = m->x;
    uint32_t point = x->points++, first = 1 + execution_random(&m->state, x->lines / 2);
    for (uint32_t line = first; line < first + 3; line++) {
        uint32_t i = add(m, line, line, PLAIN, point);
        x->arrivals[i].relation = RELATION_GROUP;
        x->arrivals[i].keyed = true;
        x->arrivals[i].key[0] = 7;
        x->arrivals[i].key[1] = point;
        x->arrivals[i].group_size = 3;
        m->last_of_thread[line] = i + 1;
    }
}

static void add_single(struct making *m, uint32_t thread)
{
    struct execution *x = m->x;
    uint32_t what = execution_random(&m->state, 6), line = thread;
    if (what == 0)
        line = 1 + execution_random(&m->state, x->lines);
    if (line != thread && !x->shared[line])
        line = thread;
    uint32_t type = x->shared[line] ? 1 + execution_random(&m->state, 3) : PLAIN;
    uint32_t i = add(m, line, thread, type, x->points++);
    if (what == 1) {
        x->arrivals[i].relation = RELATION_SEND;
        m->sends[m->send_count++] = i;
    } else if (what == 2 && m->send_count) {
        uint32_t send = m->sends[execution_random(&m->state, m->send_count)];
        x->arrivals[i].relation = RELATION_RECEIVE;
        x->partners[i] = x->arrivals[send].at;
        edge(x, send, i);
    } else if (what == 3 && i) {
        uint32_t earlier = execution_random(&m->state, i);
        x->arrivals[i].relation = RELATION_ORDER;
        x->arrivals[i].after[1] = x->arrivals[earlier].at;
        edge(x, earlier, i);
    }
    m->last_of_thread[thread] = i + 1;
}

#define ROW_WORDS ((EXECUTION_EVENTS + 63) / 64)

/* Warshall's algorithm, on rows of bits. */
static void close_transitively(struct execution *x)
{
    static uint64_t rows[EXECUTION_EVENTS][ROW_WORDS];
    memset(rows, 0, sizeof rows);
    for (uint32_t i = 0; i < x->points; i++)
        for (uint32_t j = 0; j < x->points; j++)
            if (x->direct[i][j])
                rows[i][j / 64] |= 1ull << j % 64;
    for (uint32_t k = 0; k < x->points; k++)
        for (uint32_t i = 0; i < x->points; i++)
            if (rows[i][k / 64] >> k % 64 & 1)
                for (uint32_t word = 0; word < ROW_WORDS; word++)
                    rows[i][word] |= rows[k][word];
    for (uint32_t i = 0; i < x->points; i++)
        for (uint32_t j = 0; j < x->points; j++)
            x->before[i][j] = rows[i][j / 64] >> j % 64 & 1;
}

void execution_make(struct execution *x, unsigned seed)
{
    struct making m = {.x = x, .state = seed * 2654435761u + 1};
    memset(x, 0, sizeof *x);
    x->lines = 4 + execution_random(&m.state, EXECUTION_LINES - 3);
    /* The upper quarter of the lines is shared; no thread has one as its own. */
    for (uint32_t line = x->lines - x->lines / 4 + 1; line <= x->lines; line++)
        x->shared[line] = true;
    uint32_t wanted = 20 + execution_random(&m.state, EXECUTION_EVENTS - 30);
    while (x->count + 4 < wanted) {
        uint32_t thread = 1 + execution_random(&m.state, x->lines - x->lines / 4);
        uint32_t what = execution_random(&m.state, 10);
        if (what < 4)
            add_pair(&m, thread);
        else if (what == 4 && x->lines >= 8)
            add_group(&m);
        else
            add_single(&m, thread);
    }
    close_transitively(x);
}

static void hide(struct execution *x, struct event_id from, uint32_t to, unsigned reason)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (event_id_equal(x->arrivals[i].at, from) && x->point[i] != x->point[to])
            x->direct[x->point[i]][x->point[to]]--;
    x->arrivals[to].doubt = (uint8_t)reason;
}

void execution_hide(struct execution *x, unsigned seed)
{
    unsigned state = seed * 747796405u + 1;
    for (uint32_t i = 0; i < x->count; i++) {
        struct arrival *a = &x->arrivals[i];
        if ((a->relation != RELATION_RECEIVE && a->relation != RELATION_ORDER) ||
            execution_random(&state, 3) == 0)
            continue;
        unsigned reason = UNTRACED_LOST + execution_random(&state, 3);
        hide(x, a->relation == RELATION_RECEIVE ? x->partners[i] : a->after[1], i, reason);
        a->relation = RELATION_NONE;
        a->after[1] = (struct event_id){0, 0};
    }
    close_transitively(x);
}

uint32_t execution_doubts_between(const struct execution *x, uint32_t a, uint32_t b)
{
    uint32_t p = x->point[a], q = x->point[b], reasons = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t d = x->point[i];
        if (x->arrivals[i].doubt && (d == p || x->before[d][p]) != (d == q || x->before[d][q]))
            reasons |= UNTRACED_BIT(x->arrivals[i].doubt);
    }
    return reasons;
}

bool execution_doubts_differ(const struct execution *x, uint32_t a, uint32_t b)
{
    return execution_doubts_between(x, a, b) != 0;
}

void execution_lose(struct execution *x, unsigned seed)
{
    unsigned state = seed * 747796405u + 1, rate = 3 + execution_random(&state, 60);
    for (uint32_t i = 0; i < x->count; i++)
        x->lost[i] = execution_random(&state, rate) == 0;
    for (uint32_t i = 0; i + 1 < x->count; i++) /* a pair is one record */
        if (x->arrivals[i].relation == RELATION_SYNC && x->point[i] == x->point[i + 1])
            x->lost[i + 1] = x->lost[i];
}

static bool is_told(const struct execution *x, uint32_t i)
{
    return execution_random(&(unsigned){i * 77u + x->count}, 2);
}

enum causal_relation execution_compare(const struct execution *x, uint32_t a, uint32_t b)
{
    uint32_t p = x->point[a], q = x->point[b];
    return p == q            ? ORDER_SAME
           : x->before[p][q] ? ORDER_BEFORE
           : x->before[q][p] ? ORDER_AFTER
                             : ORDER_CONCURRENT;
}

struct order *execution_order(const struct execution *x)
{
    struct order *order = order_new();
    for (uint32_t line = 1; line <= x->lines; line++)
        order_line(order, x->shared[line], 1);
    order_after(order, TAKEN, RELEASE);
    return order;
}

void execution_feed(const struct execution *x, struct order *order, unsigned seed)
{
    execution_feed_part(x, order, seed, 0, x->count);
}

void execution_feed_part(const struct execution *x, struct order *order, unsigned seed,
                         uint32_t first, uint32_t end)
{
    uint32_t shuffled[EXECUTION_EVENTS];
    unsigned state = seed;
    for (uint32_t i = 0; i < x->count; i++)
        shuffled[i] = i;
    for (uint32_t i = x->count; seed && i > 1; i--) {
        uint32_t k = execution_random(&state, i), t = shuffled[i - 1];
        shuffled[i - 1] = shuffled[k];
        shuffled[k] = t;
    }
    for (uint32_t i = first; i < end; i++) {
        if (x->lost
                [shuffled
                     [i]]) { /* some numbers are reported as lost, others only missed at the end */
            if (is_told(x, shuffled[i]))
                order_note_loss(order, x->arrivals[shuffled[i]].at.line,
                                x->arrivals[shuffled[i]].at.number, 1);
            continue;
        }
        struct arrival a = x->arrivals[shuffled[i]];
        if (a.relation == RELATION_SYNC || a.relation == RELATION_RECEIVE) {
            a.partners = &x->partners[shuffled[i]];
            a.partner_count = 1;
        }
        if (seed % 3 == 1 && execution_random(&state, 8) == 0) { /* in batches */
            order_unpin(order);
            order_pin(order);
        }
        order_insert(order, &a);
    }
    order_unpin(order);
}

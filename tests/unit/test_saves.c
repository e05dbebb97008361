/* An order that is saved while it goes on: what is saved is one moment of it. */
#include "memory/map.h"
#include "server/order/intake/pending.h"
#include "server/order/intake/stream.h"
#include "server/order/log/lines.h"
#include "server/order/log/log.h"
#include "server/order/log/receives.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct execution x;

/* A shelf for several orders; for such as are fed the same, what is the same lies in it once, whoever put it. */
struct parts {
    bool once;
    struct map by_content; /* 1 + index */
    struct part {
        uint8_t *bytes;
        size_t size;
    } *items;
    size_t count, room;
};

static uint64_t put_part(void *context, const void *bytes, size_t size)
{
    struct parts *parts = context;
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    uint64_t place = parts->once ? (uintptr_t)map_get(&parts->by_content, hash, size) : 0;
    if (place)
        return place;
    parts->items = grow(parts->items, &parts->room, parts->count + 1, sizeof *parts->items);
    struct part *part = &parts->items[parts->count++];
    *part = (struct part){calloc(size + 8, 1), size};
    assert_non_null(part->bytes);
    memcpy(part->bytes, bytes, size);
    map_put(&parts->by_content, hash, size, (void *)(uintptr_t)parts->count);
    return parts->count;
}

static uint8_t *get_part(void *context, uint64_t place, size_t *size)
{
    const struct parts *parts = context;
    if (place == 0 || place > parts->count)
        return NULL;
    const struct part *part = &parts->items[place - 1];
    uint8_t *copy = malloc(part->size + 8);
    assert_non_null(copy);
    memcpy(copy, part->bytes, part->size + 8);
    *size = part->size;
    return copy;
}

static void parts_free(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        free(parts->items[i].bytes);
    free(parts->items);
    map_free(&parts->by_content);
    *parts = (struct parts){0};
}

struct kept {
    struct order *order;
    struct parts *parts;
};

static void describe(struct order *order)
{
    for (uint32_t line = 1; line <= x.lines; line++)
        order_line(order, x.shared[line], 1);
    order_after(order, 3, 2);
    order_effect(order, 1, 1, false, PRESENCE_ACTIVE, true);
    order_effect(order, 1, 2, false, PRESENCE_OUT, false);
    order_effect(order, 1, 3, false, PRESENCE_BLOCKED, false);
    order_effect_about(order, 1, 1, false, PRESENCE_AWAY);
}

static struct kept begin(struct parts *parts)
{
    struct kept kept = {order_new_on((struct shelf){parts, put_part, get_part, NULL}), parts};
    describe(kept.order);
    return kept;
}

struct text {
    uint8_t *bytes;
    size_t size;
    struct parts *parts;
    size_t left; /* pages */
};

static void add_part(void *context, uint64_t place)
{
    struct text *text = context;
    if (text->left-- == 0) { /* what follows is not of the lines */
        text->left = 0;
        return;
    }
    size_t size = 0;
    uint8_t *part = get_part(text->parts, place, &size);
    assert_non_null(part);
    text->bytes = realloc(text->bytes, text->size + size + 1);
    assert_non_null(text->bytes);
    memcpy(text->bytes + text->size, part, size);
    text->size += size;
    free(part);
}

/* All that is saved of its lines, without regard to what lies on the shelf already. */
static struct text lines_of(struct kept *kept)
{
    struct text text = {.parts = kept->parts};
    size_t size;
    order_renew(kept->order, UINT64_MAX);
    order_save_begin(kept->order);
    while (!order_save_step(kept->order))
        ;
    text.left = kept->order->pages[0].count + kept->order->pages[1].count;
    order_saved_parts(kept->order, add_part, &text);
    free(order_save_end(kept->order, &size));
    return text;
}

/* Whatever may happen to an order beside arrivals; the same for the same seed. */
static void disturb(struct order *order, unsigned *random)
{
    uint32_t line = 1 + execution_random(random, order_lines(order));
    switch (execution_random(random, 12)) {
    case 0:
        order_close(order, line, execution_random(random, 40));
        break;
    case 1:
        order_gone(order, &line, 1);
        break;
    case 2:
        order_back(order, line);
        break;
    case 3:
        order_lost(order, line, 1 + execution_random(random, 40), 1 + execution_random(random, 3));
        break;
    case 4:
        order_opened_by(order, order_line(order, false, 1), (struct ref){line, 1});
        break;
    case 5:
        order_line_becomes(order, line, 1 + execution_random(random, 2));
        break;
    case 6:
        order_forget(order, order_count(order));
        break;
    default:
        break;
    }
}

/* Arrivals first .. last - 1, disturbed. */
static void feed(struct order *order, unsigned seed, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        unsigned random = seed * 1000 + i;
        execution_feed_part(&x, order, seed, i, i + 1);
        disturb(order, &random);
    }
}

static struct kept restored(struct kept *from, const uint8_t *bytes, size_t size, uint32_t lines)
{
    struct kept kept = begin(from->parts);
    while (order_lines(kept.order) < lines)
        order_line(kept.order, false, 1);
    assert_true(order_restore(kept.order, bytes, size));
    return kept;
}

/* Two orders are fed the same.  One is saved at once; the other in steps, while it goes on. */
static void what_comes_meanwhile_is_not_in_it(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 400; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        for (uint32_t i = 0; i < x.count; i++)
            x.arrivals[i].about = 1 + execution_random(&random, x.lines);
        struct parts parts = {.once = true};
        struct kept steps = begin(&parts), once = begin(&parts);
        uint32_t at = 0;
        for (int round = 0; round < 4; round++) { /* the later ones find pages on the shelf */
            uint32_t until = at + execution_random(&random, x.count / 6);
            feed(steps.order, seed, at, until);
            feed(once.order, seed, at, until);
            at = until;
            uint32_t lines = order_lines(once.order);
            size_t sizes[2];
            uint8_t *whole = order_save(once.order, &sizes[0]);
            order_save_begin(steps.order);
            until = at + execution_random(&random, x.count / 16);
            for (; at < until; at++) {
                feed(steps.order, seed, at, at + 1);
                if (execution_random(&random, 8) == 0)
                    order_save_step(steps.order);
            }
            uint8_t *slow = order_save_end(steps.order, &sizes[1]);
            struct kept a = restored(&once, whole, sizes[0], lines),
                        b = restored(&steps, slow, sizes[1], lines);
            struct text of_a = lines_of(&a), of_b = lines_of(&b);
            if (of_a.size != of_b.size || memcmp(of_a.bytes, of_b.bytes, of_a.size) != 0)
                fail_msg("seed %u, round %d: lines are not what they were", seed, round);
            struct order_figures f = order_figures(a.order), g = order_figures(b.order);
            assert_memory_equal(&f, &g, sizeof f);
            free(of_a.bytes);
            free(of_b.bytes);
            free(whole);
            free(slow);
            order_free(a.order);
            order_free(b.order);
            order_free(once.order); /* the other goes on from where it is: a new twin catches up */
            once = begin(&parts);
            feed(once.order, seed, 0, at);
        }
        order_free(steps.order);
        order_free(once.order);
        parts_free(&parts);
    }
}

/* Saved in steps at random moments, restored and fed on: every pair is answered as if it had never been saved. */
static void it_goes_on_from_there(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct parts parts = {0};
        struct kept kept = begin(&parts);
        uint32_t at = 0;
        while (at < x.count) {
            uint32_t first = at;
            order_save_begin(kept.order);
            uint32_t until = at + 1 + execution_random(&random, x.count - at);
            for (; at < until; at++) {
                execution_feed_part(&x, kept.order, seed, at, at + 1);
                if (execution_random(&random, 8) == 0)
                    order_save_step(kept.order);
            }
            if (execution_random(&random, 3) == 0) {
                order_save_drop(kept.order);
                continue;
            }
            size_t size;
            uint8_t *bytes = order_save_end(kept.order, &size);
            if (execution_random(&random, 2) == 0) {
                struct kept again = restored(&kept, bytes, size, x.lines);
                order_free(kept.order);
                kept = again;
                execution_feed_part(&x, kept.order, seed, 0, first); /* what waited comes again */
                at = first;
                if (execution_random(&random, 2) == 0) /* or all of it at once */
                    execution_feed_part(&x, kept.order, seed, at, x.count), at = x.count;
            }
            free(bytes);
        }
        assert_int_equal(order_figures(kept.order).events, x.count);
        assert_int_equal(
            order_figures(kept.order).pending + order_figures(kept.order).contradictions, 0);
        for (int n = 0; n < 200; n++) {
            uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
            assert_int_equal(order_compare(kept.order, x.arrivals[a].at, x.arrivals[b].at),
                             execution_compare(&x, a, b));
        }
        order_free(kept.order);
        parts_free(&parts);
    }
}

static void expect_same_answers(const struct order *a, const struct order *b, unsigned *random)
{
    assert_int_equal(order_first(a), order_first(b));
    for (uint32_t line = 1; line <= order_lines(a); line++) {
        assert_int_equal(order_line_first(a, line), order_line_first(b, line));
        assert_int_equal(order_line_from(a, line, 0), order_line_from(b, line, 0));
        assert_int_equal(order_line_events(a, line), order_line_events(b, line));
        assert_int_equal(order_thread_last(a, line), order_thread_last(b, line));
        for (uint64_t number = 1; number <= order_line_events(a, line) + 1; number++) {
            struct ref at = {line, number};
            assert_int_equal(order_is_forgotten(a, at), order_is_forgotten(b, at));
            assert_int_equal(order_position(a, at), order_position(b, at));
        }
    }
    for (int n = 0; n < 20; n++) {
        struct ref one = x.arrivals[execution_random(random, x.count)].at,
                   two = x.arrivals[execution_random(random, x.count)].at;
        assert_int_equal(order_compare(a, one, two), order_compare(b, one, two));
    }
    assert_int_equal(order_count(a), order_count(b));
    for (uint64_t p = order_first(a); p < order_count(a); p++) {
        struct event e = order_event(a, p), f = order_event(b, p);
        assert_int_equal(e.edge_count, f.edge_count);
        assert_int_equal(e.partner_lost, f.partner_lost);
        assert_int_equal(e.doubt, f.doubt);
        for (uint32_t i = 0; i < e.edge_count; i++)
            assert_int_equal(order_edge(a, p, i), order_edge(b, p, i));
    }
}

/* Two orders are fed the same and forget the same, one at once, the other in steps: none can tell them apart. */
static void forgetting_in_steps_is_forgetting(void **state)
{
    (void)state;
    size_t compared = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct parts parts = {0};
        struct kept steps = begin(&parts), once = begin(&parts);
        for (uint32_t at = 0; at < x.count;) {
            uint32_t until = at + 1 + execution_random(&random, x.count - at);
            execution_feed_part(&x, steps.order, seed, at, until);
            execution_feed_part(&x, once.order, seed, at, until);
            at = until;
            uint64_t position = order_count(once.order) - order_count(once.order) / 8;
            order_forget(once.order, position);
            order_forget_begin(steps.order, position);
            for (bool all = false; !all;) {
                expect_same_answers(once.order, steps.order, &random);
                compared += steps.order->forgetting.under_way;
                until = at + execution_random(&random, x.count - at < 9 ? x.count - at + 1 : 9);
                execution_feed_part(&x, steps.order, seed, at, until);
                execution_feed_part(&x, once.order, seed, at, until);
                at = until;
                if (at == x.count || execution_random(&random, 2) == 0)
                    all = order_forget_step(steps.order);
            }
            expect_same_answers(once.order, steps.order, &random);
        }
        order_free(steps.order);
        order_free(once.order);
        parts_free(&parts);
    }
    assert_true(compared > 100);
}

/* Many lines, of which few do something: a save writes those. */
static void a_save_costs_what_changed(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    struct order *order = order_new();
    for (uint32_t line = 1; line <= LINES; line++)
        order_line(order, false, 1);
    for (uint64_t number = 1; number <= 3; number++)
        for (uint32_t line = 1; line <= LINES; line++)
            order_accept(order, &(struct arrival){.at = {line, number}, .type = 1});
    size_t size;
    free(order_save(order, &size));
    uint64_t first = order_saved_bytes(order);
    free(order_save(order, &size));
    assert_int_equal(order_saved_bytes(order), 0);
    for (uint32_t line = 1; line <= LINES; line += LINES / 10)
        order_accept(order, &(struct arrival){.at = {line, 4}, .type = 1});
    free(order_save(order, &size));
    assert_in_range(order_saved_bytes(order), 1, first / 50);
    order_free(order);
}

/* ---- what lies beside the lines ---- */

struct rows { /* all that is to be saved of it, in an order of its own */
    struct row {
        uint64_t v[7];
    } *items;
    size_t count, room;
};

static void add_row(struct rows *rows, struct row row)
{
    rows->items = grow(rows->items, &rows->room, rows->count + 1, sizeof *rows->items);
    rows->items[rows->count++] = row;
}

static int by_value(const void *a, const void *b)
{
    const struct row *one = a, *two = b;
    for (size_t i = 0; i < 7; i++)
        if (one->v[i] != two->v[i])
            return one->v[i] < two->v[i] ? -1 : 1;
    return 0;
}

static uint64_t code_of(struct ref at) { return (uint64_t)at.line << 32 | at.number; }

static void add_meeting(struct rows *rows, const struct order *order, const struct meeting *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->count && !m->done; i++)
        if (!pending_is(order, m->members[i]))
            add_row(rows, (struct row){{1, m->a, m->b, n++, m->receives, m->expected,
                                        code_of(m->members[i])}});
}

static void add_stream(struct rows *rows, const struct order *order, const struct stream *stream)
{
    uint64_t n = 0;
    for (size_t i = stream->first; i < stream->count; i++) {
        const struct stretch *s = &stream->sent[i];
        if (!pending_is(order, s->send))
            add_row(rows, (struct row){
                              {2, stream->key, n++, s->begin, s->end, s->left, code_of(s->send)}});
    }
}

static struct rows rest_of(const struct order *order)
{
    struct rows rows = {0};
    size_t meetings = 0;
    for (const struct meeting *m = order->newest_meeting; m; m = m->next, meetings++)
        add_meeting(&rows, order, m);
    assert_int_equal(meetings, order->meetings.count);
    for (const struct stream *s = order->newest_stream; s; s = s->next)
        add_stream(&rows, order, s);
    for (size_t i = 0; i < order->late_count; i++)
        add_row(&rows, (struct row){{3, i, order->late[i].send, order->late[i].receive}});
    for (size_t i = 0; i < order->trouble_count; i++) {
        const struct trouble *t = &order->troubles[i];
        add_row(&rows, (struct row){{4, i, code_of(t->at), code_of(t->with), strlen(t->why),
                                     (uint8_t)t->why[0]}});
    }
    if (rows.count)
        qsort(rows.items, rows.count, sizeof *rows.items, by_value);
    return rows;
}

/* Those who meet by keys or send bytes, at random: some never meet, some do not fit. */
#define TALKERS 8u
#define TALKS 300u
struct talk {
    struct arrival arrivals[TALKS];
    struct ref partners[TALKS][3];
    uint64_t sent[3], received[3];
    uint32_t keys;
};

static void talk_by_key(struct talk *talk, struct arrival *a, struct ref *partners,
                        unsigned *random)
{
    a->keyed = true;
    a->key[0] = 9;
    a->key[1] = ++talk->keys;
    a->relation = execution_random(random, 3) ? RELATION_SEND : RELATION_SYNC;
    a->group_size = a->relation == RELATION_SEND ? execution_random(random, 3) : 0;
    if (execution_random(random, 2) == 0)
        return;
    a->key[1] = 1 + execution_random(random, talk->keys); /* it meets somebody */
    a->relation = execution_random(random, 4) ? RELATION_RECEIVE : RELATION_SYNC;
    a->group_size = a->relation == RELATION_RECEIVE ? execution_random(random, 2) : 0;
    if (a->relation != RELATION_RECEIVE || execution_random(random, 3))
        return;
    a->partner_count = 1 + execution_random(random, 3);
    for (uint32_t i = 0; i < a->partner_count; i++)
        partners[i] = (struct ref){0, 1 + execution_random(random, talk->keys)};
}

static void talk_by_bytes(struct talk *talk, struct arrival *a, unsigned *random)
{
    uint32_t stream = execution_random(random, 3), bytes = 1 + execution_random(random, 9);
    bool sends = execution_random(random, 5) < 3;
    uint64_t *at = sends ? &talk->sent[stream] : &talk->received[stream];
    *a = (struct arrival){.at = a->at,
                          .type = 1,
                          .relation = sends ? RELATION_SEND : RELATION_RECEIVE,
                          .keyed = true,
                          .stream = true,
                          .key = {70 + stream, *at},
                          .group_size = bytes};
    if (execution_random(random, 10) == 0)
        a->key[1] -= a->key[1] > 5 ? 5 : 0; /* once more, or out of turn */
    else
        *at += bytes;
}

static void talk_make(struct talk *talk, unsigned *random)
{
    uint64_t numbers[TALKERS + 1] = {0};
    memset(talk, 0, sizeof *talk);
    for (uint32_t i = 0; i < TALKS; i++) {
        struct arrival *a = &talk->arrivals[i];
        uint32_t line = 1 + execution_random(random, TALKERS), what = execution_random(random, 8);
        *a = (struct arrival){
            .at = {line, ++numbers[line]}, .type = 1, .partners = talk->partners[i]};
        if (what < 3)
            talk_by_key(talk, a, talk->partners[i], random);
        else if (what < 6)
            talk_by_bytes(talk, a, random);
        else
            a->relation = i % 8 == 0 ? RELATION_SEND : RELATION_NONE;
        const struct arrival *of = &talk->arrivals[i - i % 8];
        if (i % 8 && what >= 6 && of->relation == RELATION_SEND && !of->keyed &&
            of->at.line != line) {
            a->relation = RELATION_RECEIVE;
            a->partner_count = 1;
            talk->partners[i][0] = of->at;
        }
    }
    for (uint32_t i = 0; i + 1 < TALKS; i++) { /* many come late, some by far */
        uint32_t k = i + execution_random(random, execution_random(random, 12) ? 3 : 100);
        struct arrival other = talk->arrivals[k < TALKS ? k : i];
        talk->arrivals[k < TALKS ? k : i] = talk->arrivals[i];
        talk->arrivals[i] = other;
    }
}

static struct order *talkers(struct parts *parts)
{
    struct order *order = order_new_on((struct shelf){parts, put_part, get_part, NULL});
    while (order_lines(order) < TALKERS)
        order_line(order, false, 1);
    return order;
}

static void expect_rest(struct order *order, const struct rows *expected, unsigned seed)
{
    struct rows rows = rest_of(order);
    if (rows.count != expected->count ||
        (rows.count && memcmp(rows.items, expected->items, rows.count * sizeof *rows.items) != 0))
        fail_msg("seed %u: what lies beside the lines is not what it was", seed);
    free(rows.items);
}

/* Saved in steps while it goes on, it is as it was when the save began. */
static void who_meets_later_is_not_in_it(void **state)
{
    (void)state;
    static struct talk talk;
    size_t kinds[5] = {0}, parts_seen = 0;
    for (unsigned seed = 1; seed <= 1500; seed++) {
        unsigned random = seed;
        struct parts parts = {0};
        struct order *order = talkers(&parts);
        talk_make(&talk, &random);
        for (uint32_t at = 0; at < TALKS;) {
            for (uint32_t n = execution_random(&random, 60); n && at < TALKS; n--)
                order_accept(order, &talk.arrivals[at++]);
            if (execution_random(&random, 4) == 0)
                order_finish(order);
            struct rows expected = rest_of(order);
            for (size_t i = 0; i < expected.count; i++)
                kinds[expected.items[i].v[0]]++;
            order_save_begin(order);
            for (uint32_t n = execution_random(&random, 60); n && at < TALKS; n--) {
                order_accept(order, &talk.arrivals[at++]);
                if (execution_random(&random, 8) == 0)
                    order_save_step(order);
            }
            if (execution_random(&random, 8) == 0) {
                order_save_drop(order);
            } else {
                size_t size;
                while (!order_save_step(order))
                    ;
                parts_seen += order->frozen != NULL;
                uint8_t *bytes = order_save_end(order, &size);
                struct order *again = talkers(&parts);
                assert_true(order_restore(again, bytes, size));
                expect_rest(again, &expected, seed);
                free(order_save(again, &size)); /* and again */
                expect_rest(again, &expected, seed);
                order_free(again);
                free(bytes);
            }
            free(expected.items);
        }
        order_free(order);
        parts_free(&parts);
    }
    for (size_t i = 1; i < 5; i++)
        assert_true(kinds[i] > 0); /* the test is worth something */
    assert_true(parts_seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_meanwhile_is_not_in_it),
        cmocka_unit_test(it_goes_on_from_there),
        cmocka_unit_test(forgetting_in_steps_is_forgetting),
        cmocka_unit_test(who_meets_later_is_not_in_it),
        cmocka_unit_test(a_save_costs_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

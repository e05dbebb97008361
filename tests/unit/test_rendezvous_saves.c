/* The part of an order besides its lines (rendezvous by key, contents of streams), saved while the
 * order changes. */
#include "server/order/delivery/byte_stream.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/log/event_log.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/line_table.h"
#include "tests/bruteforce.h"
#include "tests/unit/block_store.h"

struct rows { /* everything that is to be saved, in a sorted form */
    struct row {
        uint64_t v[7];
    } *items;
    size_t count, room;
};

static void add_row(struct rows *rows, struct row row)
{
    rows->items = array_reserve(rows->items, &rows->room, rows->count + 1, sizeof *rows->items);
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

static uint64_t code_of(struct event_id at) { return (uint64_t)at.line << 32 | at.number; }

static void add_meeting(struct rows *rows, const struct order *order, const struct rendezvous *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->count && !m->done; i++)
        if (!pending_is(order, m->members[i]))
            add_row(rows, (struct row){{1, m->a, m->b, n++, m->receives, m->expected,
                                        code_of(m->members[i])}});
}

static void add_stream(struct rows *rows, const struct order *order,
                       const struct byte_stream *stream)
{
    uint64_t n = 0;
    for (size_t i = stream->first; i < stream->count; i++) {
        const struct byte_stream_range *s = &stream->sent[i];
        if (!pending_is(order, s->send))
            add_row(rows, (struct row){
                              {2, stream->key, n++, s->begin, s->end, s->left, code_of(s->send)}});
    }
}

static struct rows rest_of(const struct order *order)
{
    struct rows rows = {0};
    size_t meetings = 0;
    for (const struct rendezvous *m = order->rendezvous.newest; m; m = m->next, meetings++)
        add_meeting(&rows, order, m);
    assert_int_equal(meetings, order->rendezvous.by_key.count);
    for (const struct byte_stream *s = order->streams.newest; s; s = s->next)
        add_stream(&rows, order, s);
    for (size_t i = 0; i < order->late.count; i++)
        add_row(&rows,
                (struct row){{3, i, order->late.items[i].send, order->late.items[i].receive}});
    for (size_t i = 0; i < order->inconsistencies.count; i++) {
        const struct inconsistency *t = &order->inconsistencies.items[i];
        add_row(&rows, (struct row){{4, i, code_of(t->at), code_of(t->with), strlen(t->why),
                                     (uint8_t)t->why[0]}});
    }
    if (rows.count)
        qsort(rows.items, rows.count, sizeof *rows.items, by_value);
    return rows;
}

/* Random events that match by keys or send bytes: some never match, some are inconsistent. */
#define TALKERS 8u
#define TALKS 300u
struct talk {
    struct arrival arrivals[TALKS];
    struct event_id partners[TALKS][3];
    uint64_t sent[3], received[3];
    uint32_t keys;
};

static void talk_by_key(struct talk *talk, struct arrival *a, struct event_id *partners,
                        unsigned *random)
{
    a->keyed = true;
    a->key[0] = 9;
    a->key[1] = ++talk->keys;
    a->relation = execution_random(random, 3) ? RELATION_SEND : RELATION_SYNC;
    a->group_size = a->relation == RELATION_SEND ? execution_random(random, 3) : 0;
    if (execution_random(random, 2) == 0)
        return;
    a->key[1] = 1 + execution_random(random, talk->keys); /* matches an earlier event */
    a->relation = execution_random(random, 4) ? RELATION_RECEIVE : RELATION_SYNC;
    a->group_size = a->relation == RELATION_RECEIVE ? execution_random(random, 2) : 0;
    if (a->relation != RELATION_RECEIVE || execution_random(random, 3))
        return;
    a->partner_count = 1 + execution_random(random, 3);
    for (uint32_t i = 0; i < a->partner_count; i++)
        partners[i] = (struct event_id){0, 1 + execution_random(random, talk->keys)};
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
        a->key[1] -= a->key[1] > 5 ? 5 : 0; /* repeated, or out of order */
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
    for (uint32_t i = 0; i + 1 < TALKS; i++) { /* many come late, some by a large distance */
        uint32_t k = i + execution_random(random, execution_random(random, 12) ? 3 : 100);
        struct arrival other = talk->arrivals[k < TALKS ? k : i];
        talk->arrivals[k < TALKS ? k : i] = talk->arrivals[i];
        talk->arrivals[i] = other;
    }
}

static struct order *talkers(struct parts *parts)
{
    struct order *order = order_new_on((struct block_store){parts, put_part, get_part, NULL});
    while (order_line_count(order) < TALKERS)
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

/* An order that is saved in steps while it changes is saved as it was when the save began. */
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
                order_insert(order, &talk.arrivals[at++]);
            if (execution_random(&random, 4) == 0)
                order_finish(order);
            struct rows expected = rest_of(order);
            for (size_t i = 0; i < expected.count; i++)
                kinds[expected.items[i].v[0]]++;
            order_save_begin(order);
            for (uint32_t n = execution_random(&random, 60); n && at < TALKS; n--) {
                order_insert(order, &talk.arrivals[at++]);
                if (execution_random(&random, 8) == 0)
                    order_save_step(order);
            }
            if (execution_random(&random, 8) == 0) {
                order_save_drop(order);
            } else {
                size_t size;
                while (!order_save_step(order))
                    ;
                parts_seen += order->saves.frozen != NULL;
                uint8_t *bytes = order_save_end(order, &size);
                struct order *again = talkers(&parts);
                assert_true(order_restore(again, bytes, size));
                expect_rest(again, &expected, seed);
                free(order_save(again, &size)); /* once more */
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
        assert_true(kinds[i] > 0); /* the test covers all kinds */
    assert_true(parts_seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_meets_later_is_not_in_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Streams between hosts: their ends are reported late, in any order, or never; some bytes were
 * written by no event. */
#include "server/order/delivery/byte_stream.h"
#include "server/order/delivery/host_streams.h"
#include "tests/bruteforce.h"
#include "tests/unit/block_store.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define KEY 77u
#define WRITER 1u
#define READER 2u
#define TIMEOUT 1000u

static struct order *order_with(uint32_t lines)
{
    struct order *order = order_new();
    for (uint32_t i = 0; i < lines; i++)
        order_line(order, false, 1);
    return order;
}

static struct stream_place place(unsigned n) { return (struct stream_place){0, n, 9}; }

static void tell_as(struct order *order, uint64_t key, enum stream_end end, uint32_t line,
                    unsigned here, unsigned there)
{
    order_stream_end(
        order,
        &(struct stream_report){
            .stream = key, .end = end, .here = place(here), .there = place(there), .line = line});
    order_unpin(order);
}

static void tell(struct order *order, enum stream_end end)
{
    bool writes = end != END_READS;
    tell_as(order, KEY, end, writes ? WRITER : READER, writes ? 1 : 2, writes ? 2 : 1);
}

static void bytes(struct order *order, uint32_t line, uint64_t number, uint64_t key, uint64_t begin,
                  uint64_t end)
{
    order_insert(order,
                 &(struct arrival){.at = {line, number},
                                   .type = 1,
                                   .relation = line == WRITER ? RELATION_SEND : RELATION_RECEIVE,
                                   .keyed = true,
                                   .stream = true,
                                   .key = {key, begin},
                                   .group_size = (uint32_t)(end - begin)});
}

static void hole(struct order *order, uint64_t begin, uint64_t end, uint8_t doubt)
{
    order_stream_gap(order, KEY, begin, end, doubt);
    order_unpin(order);
}

/* Checks that a read is ordered after a number of sends, with a reason of uncertainty (0: none). */
static void expect(const struct order *order, uint64_t number, uint32_t sends, uint8_t doubt)
{
    uint64_t at = order_position(order, (struct event_id){READER, number});
    assert_int_not_equal(at, NO_POSITION);
    struct order_event event = order_event(order, at);
    assert_int_equal(event.send_count, sends);
    assert_int_equal(event.doubt, doubt);
}

static void expect_pending(const struct order *order, uint64_t number)
{
    assert_int_equal(order_position(order, (struct event_id){READER, number}), NO_POSITION);
}

static bool is_late(struct order *order, uint64_t now)
{
    uint64_t stream;
    if (!order_stream_late(order, now, TIMEOUT, &stream))
        return false;
    order_stream_alone(order, stream);
    order_unpin(order);
    return true;
}

static void a_read_waits_for_the_writes_whenever_its_ends_are_told(void **state)
{
    (void)state;
    for (unsigned when = 0; when < 4; when++) {
        struct order *order = order_with(2);
        if (when == 0 || when == 3)
            tell(order, END_READS);
        bytes(order, READER, 1, KEY, 0, 6);
        expect_pending(order, 1);
        if (when == 1)
            tell(order, END_READS);
        if (when != 2)
            tell(order, END_WRITES);
        bytes(order, WRITER, 1, KEY, 0, 4);
        expect_pending(order, 1);
        bytes(order, WRITER, 2, KEY, 4, 8);
        expect(order, 1, 2, 0);
        assert_false(is_late(order, 5 * TIMEOUT));
        order_free(order);
    }
}

static void who_is_waited_for_in_vain_is_given_up_and_his_address_too(void **state)
{
    (void)state;
    struct order *order = order_with(2);
    tell(order, END_READS);
    bytes(order, READER, 1, KEY, 0, 6);
    assert_false(is_late(order, 10));
    assert_false(is_late(order, 9 + TIMEOUT));
    expect_pending(order, 1);
    assert_true(is_late(order, 10 + TIMEOUT));
    expect(order, 1, 0, UNTRACED_STREAM);
    bytes(order, READER, 2, KEY, 6, 7); /* the same stream, at an address that was given up */
    expect(order, 2, 0, UNTRACED_STREAM);
    tell_as(order, 5, END_READS, READER, 2, 1);
    bytes(order, READER, 3, 5, 0, 6);
    expect(order, 3, 0, UNTRACED_STREAM);
    tell_as(order, 6, END_READS, READER, 2, 3); /* a stream from another address */
    bytes(order, READER, 4, 6, 0, 6);
    expect_pending(order, 4);
    order_finish(order);
    expect(order, 4, 0, UNTRACED_STREAM);
    order_free(order);
}

static void who_comes_after_all_is_waited_for_again(void **state)
{
    (void)state;
    struct order *order = order_with(2);
    tell(order, END_READS);
    bytes(order, READER, 1, KEY, 0, 6);
    assert_false(is_late(order, 1));
    assert_true(is_late(order, 1 + TIMEOUT));
    tell(order, END_WRITES);
    bytes(order, WRITER, 1, KEY, 0, 6);
    bytes(order, READER, 2, KEY, 6, 8);
    expect_pending(order, 2);
    bytes(order, WRITER, 2, KEY, 6, 8);
    expect(order, 2, 1, 0);
    tell_as(order, 5, END_READS, READER, 2, 1);
    bytes(order, READER, 3, 5, 0, 6);
    expect_pending(order, 3);
    order_free(order);
}

static void what_was_written_to_nobody_is_not_kept(void **state)
{
    (void)state;
    struct order *order = order_with(2);
    tell(order, END_WRITES);
    bytes(order, WRITER, 1, KEY, 0, 4);
    assert_false(is_late(order, 1));
    assert_true(is_late(order, 1 + TIMEOUT));
    for (uint64_t i = 1; i < 100; i++)
        bytes(order, WRITER, 1 + i, KEY, 4 * i, 4 * i + 4);
    const struct byte_stream *stream = byte_stream_for_key(&order->streams, KEY);
    assert_int_equal(stream->count - stream->first, 0);
    tell(order, END_READS); /* the reader reports late */
    bytes(order, READER, 1, KEY, 0, 398);
    expect(order, 1, 0, UNTRACED_STREAM);
    bytes(order, READER, 2, KEY, 398, 402);
    expect_pending(order, 2);
    bytes(order, WRITER, 101, KEY, 400, 404);
    expect(order, 2, 1, UNTRACED_STREAM);
    order_free(order);
}

static void in_a_hole_a_read_is_in_doubt_and_behind_it_not(void **state)
{
    (void)state;
    struct order *order = order_with(2);
    tell(order, END_READS);
    tell(order, END_WRITES);
    bytes(order, WRITER, 1, KEY, 0, 4);
    bytes(order, READER, 1, KEY, 0, 6);
    expect_pending(order, 1);
    hole(order, 4, 10, UNTRACED_STREAM);
    expect(order, 1, 1, UNTRACED_STREAM);
    bytes(order, READER, 2, KEY, 6, 9);
    expect(order, 2, 0, UNTRACED_STREAM);
    bytes(order, WRITER, 2, KEY, 10, 20);
    bytes(order, READER, 3, KEY, 9, 12);
    expect(order, 3, 1, UNTRACED_STREAM);
    bytes(order, READER, 4, KEY, 12, 20);
    expect(order, 4, 1, 0);
    order_free(order);
}

static void the_end_is_after_every_closing(void **state)
{
    (void)state;
    struct order *order = order_with(2);
    tell(order, END_READS);
    tell(order, END_WRITES);
    bytes(order, READER, 1, KEY, STREAM_CLOSINGS, STREAM_CLOSINGS + (1u << 30));
    bytes(order, WRITER, 1, KEY, STREAM_CLOSINGS, STREAM_CLOSINGS + 1);
    bytes(order, WRITER, 2, KEY, STREAM_CLOSINGS + 1, STREAM_CLOSINGS + 2);
    expect_pending(order, 1);
    hole(order, 0, STREAM_CLOSINGS, UNTRACED_STREAM);
    hole(order, STREAM_CLOSINGS + 2, UINT64_MAX, 0);
    expect(order, 1, 2, 0);
    bytes(order, READER, 2, KEY, STREAM_CLOSINGS, STREAM_CLOSINGS + (1u << 30));
    expect(order, 2, 2, 0); /* the end is found again */
    order_free(order);
}

static void nobody_waits_for_writers_who_are_all_gone(void **state)
{
    (void)state;
    struct order *order = order_with(3);
    tell(order, END_READS);
    tell(order, END_WRITES);
    tell_as(order, KEY, END_WRITES, 3, 1, 2);
    bytes(order, WRITER, 1, KEY, 0, 4);
    bytes(order, READER, 1, KEY, 2, 6);
    bytes(order, READER, 2, KEY, STREAM_CLOSINGS, STREAM_CLOSINGS + (1u << 30));
    order_end_of_input(order, &(uint32_t){3}, 1);
    expect_pending(order, 1);
    order_end_of_input(order, &(uint32_t){WRITER}, 1);
    expect(order, 1, 1, UNTRACED_THREAD);
    expect(order, 2, 0, UNTRACED_THREAD);
    order_free(order);
}

static void who_leaves_is_not_waited_for(void **state)
{
    (void)state;
    struct order *order = order_with(3);
    tell(order, END_READS);
    tell(order, END_WRITES);
    bytes(order, READER, 1, KEY, 0, 6);
    tell_as(order, KEY, END_LEAVES, WRITER, 1, 2);
    order_end_of_input(order, &(uint32_t){WRITER}, 1);
    expect_pending(order, 1); /* another process has the stream and has not reported yet */
    tell_as(order, KEY, END_WRITES, 3, 1, 2);
    order_end_of_input(order, &(uint32_t){3}, 1);
    expect(order, 1, 0, UNTRACED_THREAD);
    order_free(order);
}

static void at_the_end_nobody_waits_for_what_all_left(void **state)
{
    (void)state;
    struct order *order = order_with(2);
    tell(order, END_READS);
    tell(order, END_WRITES);
    bytes(order, READER, 1, KEY, 0, 6);
    tell(order, END_LEAVES);
    order_end_of_input(order, (uint32_t[]){WRITER, READER}, 2);
    order_finish(order);
    expect(order, 1, 0, UNTRACED_THREAD);
    order_free(order);
}

/* ---- random streams, compared with a table of bytes ---- */

#define BYTES 300u
#define PIECES 60u

enum owner { HOLE = 1000 };

struct play {
    struct piece {
        bool reads, is_hole;
        uint64_t begin, end, number;
    } pieces[2 * PIECES];
    size_t count;
    uint32_t owner[BYTES]; /* number of the write, or HOLE */
};

static void play_make(struct play *p, unsigned *random)
{
    uint64_t writes = 0, reads = 0;
    p->count = 0;
    for (uint64_t at = 0, n; at < BYTES; at += n) {
        n = 1 + execution_random(random, 20);
        n = at + n > BYTES ? BYTES - at : n;
        bool is_hole = execution_random(random, 5) == 0;
        writes += !is_hole;
        for (uint64_t i = at; i < at + n; i++)
            p->owner[i] = is_hole ? HOLE : (uint32_t)writes;
        p->pieces[p->count++] = (struct piece){false, is_hole, at, at + n, writes};
        if (p->count == PIECES)
            break;
    }
    uint64_t last = p->pieces[p->count - 1].end;
    for (uint64_t at = 0, n; at < last; at += n) {
        n = 1 + execution_random(random, 20);
        n = at + n > last ? last - at : n;
        p->pieces[p->count++] = (struct piece){true, false, at, at + n, ++reads};
    }
}

static struct order *lines_on(struct block_store shelf)
{
    struct order *order = order_new_on(shelf);
    order_line(order, false, 1);
    order_line(order, false, 1);
    return order;
}

static void feed(struct order *order, const struct piece *piece)
{
    if (piece->is_hole)
        hole(order, piece->begin, piece->end, UNTRACED_STREAM);
    else
        bytes(order, piece->reads ? READER : WRITER, piece->number, KEY, piece->begin, piece->end);
}

static void expect_as_in_table(const struct order *order, const struct play *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct piece *piece = &p->pieces[i];
        if (!piece->reads)
            continue;
        uint32_t sends = 0, last = 0;
        bool doubt = false;
        for (uint64_t b = piece->begin; b < piece->end; b++) {
            doubt |= p->owner[b] == HOLE;
            sends += p->owner[b] != HOLE && p->owner[b] != last;
            last = p->owner[b] == HOLE ? last : p->owner[b];
        }
        expect(order, piece->number, sends, doubt ? UNTRACED_STREAM : 0);
        for (uint32_t k = 0; k < sends; k++) { /* the last one wrote the last byte */
            uint64_t at = order_position(order, (struct event_id){READER, piece->number});
            struct order_event send = order_event(order, order_edge(order, at, k));
            assert_int_equal(send.line, WRITER);
            assert_in_range(send.number, 1, last);
        }
    }
}

/* Reads, writes, gaps and both ends come in any order that keeps that of each line; in between,
 * the order is saved and restored. */
static void each_read_is_after_the_writes_of_its_bytes(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 400; seed++) {
        static struct play p;
        unsigned random = seed;
        struct block_store shelf = block_store_in_memory(), shared = shelf;
        shared.free = NULL;
        play_make(&p, &random);
        struct order *order = lines_on(shared);
        size_t writes = 0, reads = 0;
        while (reads < p.count && !p.pieces[reads].reads)
            reads++;
        size_t first_read = reads;
        unsigned told = 0, save = execution_random(&random, (uint32_t)p.count);
        for (size_t n = 0; writes < first_read || reads < p.count || told != 3; n++) {
            unsigned what = execution_random(&random, 40);
            if (what < 2 && !(told & 1u << what)) {
                tell(order, what ? END_WRITES : END_READS);
                told |= 1u << what;
            } else if (what < 21 && writes < first_read) {
                feed(order, &p.pieces[writes++]);
            } else if (reads < p.count) {
                feed(order, &p.pieces[reads++]);
            }
            if (n == save && !order_figures(order).pending) {
                size_t size;
                uint8_t *saved = order_save(order, &size);
                order_free(order);
                order = lines_on(shared);
                assert_true(order_restore(order, saved, size));
                free(saved);
            }
        }
        assert_int_equal(order_figures(order).pending + order_figures(order).contradictions, 0);
        expect_as_in_table(order, &p);
        order_free(order);
        shelf.free(shelf.context);
    }
}

static void what_is_known_of_ends_is_saved(void **state)
{
    (void)state;
    struct block_store shelf = block_store_in_memory(), shared = shelf;
    shared.free = NULL;
    struct order *order = lines_on(shared);
    size_t size;
    tell_as(order, 5, END_READS, READER, 2, 1); /* given up, with its address */
    assert_false(is_late(order, 1));
    assert_true(is_late(order, 1 + TIMEOUT));
    tell_as(order, 6, END_READS, READER, 2, 3); /* still awaited */
    /* bytes that no event has read when the save begins */
    tell_as(order, 7, END_WRITES, WRITER, 2, 4);
    bytes(order, WRITER, 1, 7, 0, 4);
    order_save_begin(order);
    tell_as(order, 8, END_READS, READER, 2, 9);
    tell_as(order, 7, END_READS, READER, 4, 2);
    while (!order_save_step(order))
        ;
    uint8_t *saved = order_save_end(order, &size);
    order_free(order);
    order = lines_on(shared);
    assert_true(order_restore(order, saved, size));
    free(saved);
    assert_null(map_get(&order->streams.by_key, 8, 0));
    assert_false(byte_stream_for_key(&order->streams, 7)->ends->reads);
    bytes(order, READER, 1, 5, 0, 6);
    expect(order, 1, 0, UNTRACED_STREAM);
    tell_as(order, 15, END_READS, READER, 2, 1);
    bytes(order, READER, 2, 15, 0, 6);
    expect(order, 2, 0, UNTRACED_STREAM);
    tell_as(order, 7, END_READS, READER, 4, 2);
    bytes(order, READER, 3, 7, 0, 4);
    expect(order, 3, 1, 0);
    bytes(order, READER, 4, 6, 0, 6);
    expect_pending(order, 4);
    assert_false(is_late(order, 7));
    assert_true(is_late(order, 7 + TIMEOUT));
    expect(order, 4, 0, UNTRACED_STREAM);
    order_free(order);
    shelf.free(shelf.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_waits_for_the_writes_whenever_its_ends_are_told),
        cmocka_unit_test(who_is_waited_for_in_vain_is_given_up_and_his_address_too),
        cmocka_unit_test(who_comes_after_all_is_waited_for_again),
        cmocka_unit_test(what_was_written_to_nobody_is_not_kept),
        cmocka_unit_test(in_a_hole_a_read_is_in_doubt_and_behind_it_not),
        cmocka_unit_test(the_end_is_after_every_closing),
        cmocka_unit_test(nobody_waits_for_writers_who_are_all_gone),
        cmocka_unit_test(who_leaves_is_not_waited_for),
        cmocka_unit_test(at_the_end_nobody_waits_for_what_all_left),
        cmocka_unit_test(each_read_is_after_the_writes_of_its_bytes),
        cmocka_unit_test(what_is_known_of_ends_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

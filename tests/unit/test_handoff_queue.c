/* The queue between the capture thread and the event loop: two threads, everything in order,
 * bounded memory. */
#define _GNU_SOURCE
#include "server/journal/handoff_queue.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define STRETCHES 3000u

static uint64_t size_of(unsigned i)
{
    return 8 * (1 + (uint64_t)i * 7919 % 9000) + (i % 7 == 0 ? 400000 : 0);
}

static void *put_all(void *argument)
{
    struct handoff_queue *hand = argument;
    uint8_t *buffer = handoff_buffer_acquire();
    uint64_t at = 128;
    for (unsigned i = 0; i < STRETCHES; i++) {
        memset(buffer, (int)(i & 0xff), size_of(i));
        buffer = handoff_queue_push(hand,
                                    (struct handoff_extent){.at = at,
                                                            .size = size_of(i),
                                                            .epoch = 1 + i / 100,
                                                            .buffer = true,
                                                            .taken_ns = i + 1},
                                    buffer);
        at += size_of(i);
    }
    handoff_buffer_release(buffer);
    return NULL;
}

/* Takes what the other thread pushes and checks it; returns the number of ranges. */
static unsigned take_all(struct handoff_queue *hand, uint64_t *read_back)
{
    unsigned i = 0;
    uint64_t at = 128;
    while (i < STRETCHES) {
        struct handoff_extent *s = handoff_queue_pop(hand);
        if (!s)
            continue;
        uint64_t size = s->size;
        assert_int_equal(s->at, at);
        assert_int_equal(s->epoch, 1 + i / 100);
        for (uint64_t k = 0; s->bytes && k < size; k += 997)
            assert_int_equal(s->bytes[k], i & 0xff);
        *read_back += s->bytes ? 0 : size;
        assert_false(s->bytes && size != size_of(i));
        for (uint64_t left = size; left; left -= size_of(i++)) /* adjacent ranges may be merged */
            assert_true(left >= size_of(i));
        at += size;
        handoff_queue_mark_delivered(hand, size);
        handoff_extent_free(s);
    }
    return i;
}

static void two_threads_hand_over_all_in_order(void **state)
{
    (void)state;
    struct handoff_queue hand;
    pthread_t thread;
    uint64_t read_back = 0;
    handoff_queue_begin(&hand);
    assert_int_equal(pthread_create(&thread, NULL, put_all, &hand), 0);
    assert_int_equal(take_all(&hand, &read_back), STRETCHES);
    pthread_join(thread, NULL);
    assert_int_equal(handoff_queue_lag(&hand), 0);
    assert_int_equal(handoff_queue_oldest_ns(&hand), 0);
    handoff_queue_end(&hand);
}

static void what_does_not_fit_into_memory_is_a_place(void **state)
{
    (void)state;
    struct handoff_queue hand;
    uint64_t read_back = 0, all = 0;
    handoff_queue_begin(&hand);
    put_all(&hand);
    for (unsigned i = 0; i < STRETCHES; i++)
        all += size_of(i);
    assert_int_equal(handoff_queue_lag(&hand), all);
    assert_int_equal(handoff_queue_oldest_ns(&hand), 1);
    assert_int_equal(take_all(&hand, &read_back), STRETCHES);
    assert_true(all - read_back <= HANDOFF_QUEUE_BYTES);
    assert_true(read_back > 0);
    handoff_queue_end(&hand);
}

static void what_has_no_place_stays_in_memory(void **state)
{
    (void)state;
    struct handoff_queue hand;
    uint8_t bytes[8] = "12345678";
    handoff_queue_begin(&hand);
    put_all(&hand);
    handoff_queue_push(&hand, (struct handoff_extent){.size = 8, .unwritten = true}, bytes);
    bool found = false;
    for (struct handoff_extent *s; (s = handoff_queue_pop(&hand)) != NULL; handoff_extent_free(s)) {
        found = s->unwritten;
        assert_true(!found || (s->bytes && memcmp(s->bytes, bytes, 8) == 0));
    }
    assert_true(found); /* the last one */
    handoff_queue_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_hand_over_all_in_order),
        cmocka_unit_test(what_does_not_fit_into_memory_is_a_place),
        cmocka_unit_test(what_has_no_place_stays_in_memory),
    };
    return cmocka_run_group_tests_name("hand", tests, NULL, NULL);
}

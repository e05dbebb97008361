/* Copying of queues by the capture thread: whole records, each once, up to a limit; and how long
 * the thread sleeps. */
#include "server/decode/shared_queue.h"
#include "server/journal/capture.h"
#include "tests/unit/unit.h"
#include "wire/limits.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 1024u
#define ROOM 4096u
#define BEGIN_NS 1000u

static uint64_t seed = 88172645463325252u;

static uint64_t below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static struct ring_slot *slots_of(const struct shared_queue *q)
{
    return (struct ring_slot *)(void *)((char *)q->head + QUEUE_HEAD_BYTES);
}

static struct shared_queue begin(uint32_t clock)
{
    size_t bytes = QUEUE_HEAD_BYTES + SLOTS * SLOT_BYTES;
    struct queue_head *head = aligned_alloc(64, bytes);
    assert_non_null(head);
    memset(head, 0xee, bytes);
    *head = (struct queue_head){.slots = SLOTS, .clock = clock};
    return (struct shared_queue){.head = head, .slots = SLOTS, .tail = SLOTS - 100};
}

/* Adds a record of `size` slots; its number and its time are its position, to recognize it. */
static void put(struct shared_queue *q, size_t size)
{
    uint64_t at = q->tail + q->there;
    assert_true(q->there + size <= SLOTS);
    slots_of(q)[at % SLOTS] =
        (struct ring_slot){.shape = 1,
                           .payload_bytes = (uint32_t)((size - 1) * SLOT_BYTES),
                           .time_ns = BEGIN_NS + at,
                           .number_a = at};
    for (size_t i = 1; i < size; i++) /* looks like the head of a record */
        slots_of(q)[(at + i) % SLOTS] =
            (struct ring_slot){.shape = 7, .payload_bytes = 64 * 5, .number_a = at + i};
    q->there += size;
}

/* Copies as much as one round takes; checks that each slot is the next one, and that only whole
 * records are copied. */
static size_t take(struct shared_queue *q, struct ring_slot *to, struct shared_queue_request want)
{
    unsigned what = 77;
    size_t count = shared_queue_copy(q, to, &want, &what), size;
    assert_int_equal(what, 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(to[i].number_a, q->tail + i);
    for (size_t i = 0; i < count; i += size) {
        size = slot_next_record(to + i, count - i);
        assert_int_not_equal(size, 0);
        assert_true(i == 0 || i + size <= want.most || count == q->there);
        assert_true(i == 0 || to[i].time_ns <= want.horizon);
    }
    q->tail += count;
    q->there -= count;
    return count;
}

static void all_comes_once_in_whole_records(void **state)
{
    (void)state;
    struct shared_queue q = begin(QUEUE_CLOCK_NS);
    struct ring_slot *to = aligned_alloc(64, ROOM * SLOT_BYTES);
    assert_non_null(to);
    for (int round = 0; round < 3000; round++) {
        while (q.there < SLOTS / 2 + below(SLOTS / 2 - 40))
            put(&q, below(4) ? 1 : 1 + below(40));
        struct shared_queue_request want = {.most = 1 + below(below(2) ? 300 : 2000),
                                            .room = ROOM,
                                            .horizon = below(3) ? UINT64_MAX
                                                                : BEGIN_NS + q.tail + below(400)};
        assert_true(take(&q, to, want) > 0);
    }
    while (q.there)
        take(&q, to,
             (struct shared_queue_request){.most = 64, .room = ROOM, .horizon = UINT64_MAX});
    free(to);
    free(q.head);
}

static void a_record_that_finds_no_room_waits(void **state)
{
    (void)state;
    struct shared_queue q = begin(QUEUE_CLOCK_NS);
    struct ring_slot to[64];
    put(&q, 50);
    put(&q, 1);
    const struct shared_queue_request little = {.most = 64, .room = 40, .horizon = UINT64_MAX};
    assert_int_equal(take(&q, to, little), 0);
    assert_int_equal(
        take(&q, to, (struct shared_queue_request){.most = 64, .room = 50, .horizon = UINT64_MAX}),
        50);
    assert_int_equal(take(&q, to, little), 1);
    assert_int_equal(take(&q, to, little), 0);
    free(q.head);
}

/* Invalid records are copied completely, so that the decoder can report them. */
static void what_is_no_record_is_said(void **state)
{
    (void)state;
    struct shared_queue q = begin(QUEUE_CLOCK_NS);
    struct ring_slot *to = aligned_alloc(64, ROOM * SLOT_BYTES);
    const struct shared_queue_request want = {.most = ROOM, .room = ROOM, .horizon = UINT64_MAX};
    unsigned what = 0;
    assert_non_null(to);
    for (int i = 0; i < 300; i++)
        put(&q, 1);
    slots_of(&q)[(q.tail + 200) % SLOTS].payload_bytes = LIMIT_PAYLOAD_BYTES + 1;
    assert_int_equal(shared_queue_copy(&q, to, &want, &what), 300);
    assert_int_equal(what, SLOTS_BROKEN);
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(to[i].number_a, q.tail + i);
    slots_of(&q)[(q.tail + 10) % SLOTS].shape = SHAPE_CONTROL;
    slots_of(&q)[(q.tail + 10) % SLOTS].flags = MESSAGE_DESCRIBE;
    assert_int_equal(shared_queue_copy(&q, to, &want, &what), 300);
    assert_int_equal(what, SLOTS_BROKEN | SLOTS_DESCRIBE);
    free(to);
    free(q.head);
}

static void times_become_nanoseconds(void **state)
{
    (void)state;
    static struct tsc_clock ticks;
    struct shared_queue q = begin(QUEUE_CLOCK_TICKS);
    struct ring_slot *to = aligned_alloc(64, ROOM * SLOT_BYTES);
    unsigned what;
    assert_non_null(to);
    if (!tsc_clock_known())
        skip();
    while (ticks.count < 3)
        tsc_clock_read(&ticks);
    for (size_t i = 0, size; i < 500; i += size)
        put(&q, size = 1 + below(3));
    uint64_t first = ticks.points[0].ticks, last = ticks.points[2].ticks;
    for (uint64_t i = 0; i < q.there; i++) /* across all clock readings, and beyond */
        slots_of(&q)[(q.tail + i) % SLOTS].time_ns = first + (last - first) * i / 400;
    const struct shared_queue_request want = {
        .most = ROOM, .room = ROOM, .horizon = UINT64_MAX, .ticks = &ticks};
    size_t count = shared_queue_copy(&q, to, &want, &what), size;
    assert_int_equal(count, q.there);
    for (size_t i = 0; i < count; i += size) {
        size = slot_next_record(to + i, count - i);
        for (size_t k = 0; k < size; k++) {
            uint64_t stamp = slots_of(&q)[(q.tail + i + k) % SLOTS].time_ns;
            assert_int_equal(to[i + k].time_ns, k ? stamp : tsc_clock_ns(&ticks, stamp));
        }
    }
    free(to);
    free(q.head);
}

static void it_rests_until_a_quarter_is_there(void **state)
{
    (void)state;
    assert_int_equal(capture_sleep_ns(1000000, 64), 1000000); /* the target fill level */
    assert_int_equal(capture_sleep_ns(1000000, 128), 500000); /* twice as much: half as long */
    /* little: longer, but at most twice */
    assert_int_equal(capture_sleep_ns(1000000, 16), 2000000);
    assert_int_equal(capture_sleep_ns(1000000, 0), 2000000);
    assert_int_equal(capture_sleep_ns(100000, 256), 100000); /* never shorter than the minimum */
    assert_int_equal(capture_sleep_ns(10000000, 0), 10000000); /* nor longer than the maximum */
    assert_int_equal(capture_sleep_ns(8000000, 1), 10000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_comes_once_in_whole_records),
                                       cmocka_unit_test(a_record_that_finds_no_room_waits),
                                       cmocka_unit_test(what_is_no_record_is_said),
                                       cmocka_unit_test(times_become_nanoseconds),
                                       cmocka_unit_test(it_rests_until_a_quarter_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

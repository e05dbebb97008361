/* The slot codec: any slots survive encoding and decoding, and invalid chunks are rejected. */
#include "server/tracefile/slot_compression.h"
#include "tests/unit/unit.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

#define MOST 4096u

static uint64_t seed = 1;

static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static uint8_t *room(size_t count) { return malloc(count * SLOT_BYTES + SLOT_CODEC_SPARE_BYTES); }

/* Encodes, decodes and compares slots. Returns the encoded size; 0 if they are stored unencoded. */
static size_t there_and_back(const struct ring_slot *slots, size_t count)
{
    uint8_t *bytes = room(count);
    size_t size = slot_codec_encode(bytes, slots, count), got;
    if (size) {
        assert_true(size < count * SLOT_BYTES);
        /* of exact size, so that AddressSanitizer finds reads beyond it */
        uint8_t *exact = malloc(size);
        memcpy(exact, bytes, size);
        struct chunk chunk = {.kind = CHUNK_SLOTS, .data = exact, .size = (uint32_t)size};
        struct ring_slot *back = slot_codec_decode(&chunk, &got);
        assert_non_null(back);
        assert_int_equal(got, count);
        assert_int_equal(slot_codec_count(&chunk), count);
        assert_memory_equal(back, slots, count * SLOT_BYTES);
        free(back);
        free(exact);
    }
    free(bytes);
    return size;
}

/* Makes slots of a thread in a loop: two call sites, one mutex. */
static size_t loop(struct ring_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        slots[i] = (struct ring_slot){.shape = (uint16_t)(0x8001 + i % 2),
                                      .time_ns = 5000000000 + 40 * i + i % 7,
                                      .site = 0x55d2c0de1200 + i % 2 * 18,
                                      .line_a = 7,
                                      .line_b = 9,
                                      .number_a = 100 + 3 * i,
                                      .number_b = 1000000 + 2 * i};
    return count;
}

static void what_is_done_again_takes_few_bytes(void **state)
{
    (void)state;
    struct ring_slot *slots = calloc(MOST, sizeof *slots);
    size_t size = there_and_back(slots, loop(slots, MOST));
    assert_in_range(size, 1, MOST * 7);
    free(slots);
}

static void a_few_are_packed_too(void **state)
{
    (void)state;
    struct ring_slot slots[8] = {{0}};
    loop(slots, 8);
    assert_in_range(there_and_back(slots, 1), 1, 48);
    assert_in_range(there_and_back(slots, 2), 1, 80);
    assert_in_range(there_and_back(slots, 8), 1, 160);
}

/* Random exceptions: other lines, decreasing times, extreme numbers, payloads of any length. */
static void whatever_they_are_they_come_back(void **state)
{
    (void)state;
    struct ring_slot *slots = calloc(MOST, sizeof *slots);
    for (unsigned round = 0; round < 200; round++) {
        size_t count = loop(slots, 1 + any() % (MOST - 1));
        unsigned often = 1 + (unsigned)(any() % 50);
        for (size_t i = 0; i < count; i++) {
            uint64_t *words = (uint64_t *)(void *)&slots[i];
            if (any() % often == 0)
                words[any() % 8] = any() >> any() % 64;
            slots[i].payload_bytes = 0;
            if (any() % often == 0 && count - i > 3) {
                slots[i].payload_bytes = 1 + (uint32_t)(any() % (3 * SLOT_BYTES));
                size_t follow = slot_follow(slots[i].payload_bytes);
                memset(&slots[i + 1], 0, follow * SLOT_BYTES);
                for (uint32_t k = 0; k < slots[i].payload_bytes; k++)
                    ((uint8_t *)&slots[i + 1])[k] = (uint8_t)any();
                i += follow;
            }
        }
        there_and_back(slots, count);
    }
    free(slots);
}

/* Slots that would not become shorter, and invalid ones, are not encoded. */
static void noise_stays_as_it_is(void **state)
{
    (void)state;
    struct ring_slot slots[64];
    for (size_t i = 0; i < sizeof slots / 8; i++)
        ((uint64_t *)(void *)slots)[i] = any() | (uint64_t)1 << 63 | 1;
    for (size_t i = 0; i < 64; i++)
        slots[i].payload_bytes = 0;
    assert_int_equal(there_and_back(slots, 64), 0);
    loop(slots, 64);
    slots[63].payload_bytes = 1;
    assert_int_equal(there_and_back(slots, 64), 0);
    slots[63].payload_bytes = LIMIT_PAYLOAD_BYTES + 1;
    assert_int_equal(there_and_back(slots, 64), 0);
}

static void slots_as_they_came_are_read_too(void **state)
{
    (void)state;
    struct ring_slot slots[3];
    uint8_t bytes[1 + sizeof slots];
    size_t count;
    loop(slots, 3);
    memcpy(bytes + 1, slots, sizeof slots); /* unaligned */
    struct chunk chunk = {.kind = MESSAGE_SLOTS, .data = bytes + 1, .size = sizeof slots};
    struct ring_slot *back = slot_codec_decode(&chunk, &count);
    assert_int_equal(count, 3);
    assert_memory_equal(back, slots, sizeof slots);
    free(back);
}

/* Cut off anywhere, or with any byte changed, a chunk is rejected or yields some slots. */
static void what_is_broken_is_refused(void **state)
{
    (void)state;
    struct ring_slot slots[32];
    loop(slots, 32);
    slots[7].payload_bytes = 70;
    memset(&slots[8], 'x', 70);
    uint8_t bytes[sizeof slots + SLOT_CODEC_SPARE_BYTES];
    size_t size = slot_codec_encode(bytes, slots, 32), count;
    assert_true(size > 0);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, bytes, cut);
        assert_null(slot_codec_decode(
            &(struct chunk){.kind = CHUNK_SLOTS, .data = exact, .size = (uint32_t)cut}, &count));
        free(exact);
    }
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *exact = malloc(size);
        memcpy(exact, bytes, size);
        for (unsigned n = 0; n < 1 + round % 3; n++)
            exact[any() % size] = (uint8_t)any();
        free(slot_codec_decode(
            &(struct chunk){.kind = CHUNK_SLOTS, .data = exact, .size = (uint32_t)size}, &count));
        free(exact);
    }
    bytes[0]++; /* a count that is too large */
    assert_null(slot_codec_decode(
        &(struct chunk){.kind = CHUNK_SLOTS, .data = bytes, .size = (uint32_t)size}, &count));
    memset(bytes, 0xff, 4);
    assert_null(slot_codec_decode(
        &(struct chunk){.kind = CHUNK_SLOTS, .data = bytes, .size = (uint32_t)size}, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_again_takes_few_bytes),
        cmocka_unit_test(a_few_are_packed_too),
        cmocka_unit_test(whatever_they_are_they_come_back),
        cmocka_unit_test(noise_stays_as_it_is),
        cmocka_unit_test(slots_as_they_came_are_read_too),
        cmocka_unit_test(what_is_broken_is_refused),
    };
    return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}

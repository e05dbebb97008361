/* Accesses of memory and their conflicts, by threads that the test plays one after the other; and
 * by two threads at a time. */
#include "clients/libpoet/races/access_shadow.h"
#include "clients/libpoet/races/race_blocks.h"
#include "clients/libpoet/races/race_conflicts.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <string.h>

/* ---- libpoet, as the accesses see it ---- */

#define THREADS 100u
static uint32_t lifetime;
static poet_line_t playing, lock;
static uint64_t numbers[THREADS]; /* the last event of each thread */

__thread uint64_t poet_progress;
static poet_conflict_t recorded;
static unsigned records;

void poet_position(poet_position_t *position)
{
    *position =
        (poet_position_t){playing, lifetime, {numbers[playing] ? playing : 0, numbers[playing]}};
}

unsigned poet_held_locks(poet_line_t *lines, unsigned most)
{
    assert_true(most > 0);
    lines[0] = lock;
    return lock != 0;
}

int poet_conflict(const poet_conflict_t *conflict)
{
    recorded = *conflict;
    records++;
    return 1;
}

int poet_may_find_stack(void) { return 1; }

static uint64_t unexamined;
void poet_unexamined(unsigned why, uint64_t count)
{
    if (why == UNEXAMINED_CONFLICTS)
        unexamined = count;
}

/* ---- playing ---- */

static _Alignas(4096) char memory[3 * 4096];
static char code[1000]; /* places */

/* Each test begins with a lifetime and threads of its own, and memory that was not accessed. */
static void begin(void)
{
    lifetime++;
    lock = 0;
    records = 0;
    for (unsigned i = 0; i < THREADS; i++)
        numbers[i] = 1;
    access_shadow_clear((uintptr_t)memory, sizeof memory);
    race_thread_get()->system_thread = 0; /* the threads have threads of the system */
}

static void act(poet_line_t thread)
{
    playing = thread;
    poet_progress++;
}

static void event(poet_line_t thread)
{
    numbers[thread]++;
    poet_progress++;
}

static void access_at(poet_line_t thread, size_t at, size_t bytes, unsigned flags, unsigned place)
{
    act(thread);
    race_conflicts_note_range((uintptr_t)memory + at, bytes, flags, code + place);
}
#define READ 0u
#define WRITE POET_ACCESS_WRITE
#define ATOMIC POET_ACCESS_ATOMIC

static void accesses_of_the_same_bytes_conflict_if_one_is_a_write(void **state)
{
    (void)state;
    static const struct {
        size_t at, bytes;
        unsigned flags;
        size_t then_at, then_bytes;
        unsigned then_flags;
        unsigned conflicts;
    } cases[] = {{0, 4, WRITE, 0, 4, WRITE, 1},
                 {0, 4, WRITE, 0, 4, READ, 1},
                 {0, 4, READ, 0, 4, WRITE, 1},
                 {0, 4, READ, 0, 4, READ, 0},
                 {0, 4, WRITE, 4, 4, WRITE, 0},
                 {0, 4, WRITE, 3, 1, READ, 1},
                 {7, 1, WRITE, 4, 8, READ, 1},
                 {4088, 16, WRITE, 4096, 4, READ, 1},
                 {0, 8, WRITE | ATOMIC, 0, 8, WRITE | ATOMIC, 0},
                 {0, 8, WRITE | ATOMIC, 0, 8, READ | ATOMIC, 0},
                 {0, 8, READ | ATOMIC, 0, 8, READ, 0},
                 {0, 8, WRITE | ATOMIC, 0, 8, READ, 1},
                 {0, 8, READ | ATOMIC, 0, 8, WRITE, 1},
                 {0, 8, WRITE, 0, 8, READ | ATOMIC, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        access_at(1, cases[i].at, cases[i].bytes, cases[i].flags, 1);
        access_at(2, cases[i].then_at, cases[i].then_bytes, cases[i].then_flags, 2);
        assert_int_equal(records, cases[i].conflicts);
    }
    begin();
    access_at(1, 0, 4, WRITE, 1);
    access_at(1, 0, 4, WRITE, 2);
    assert_int_equal(records, 0);
}

static void a_conflict_has_both_places_and_events(void **state)
{
    (void)state;
    begin();
    numbers[1] = 7;
    numbers[2] = 9;
    access_at(1, 16, 8, WRITE, 1);
    access_at(2, 18, 2, READ, 2);
    assert_int_equal(records, 1);
    assert_int_equal(recorded.earlier.thread, 1);
    assert_int_equal(recorded.earlier.after.number, 7);
    assert_ptr_equal(recorded.earlier.site, code + 1);
    assert_int_equal(recorded.earlier.flags, WRITE);
    assert_int_equal(recorded.later.thread, 2);
    assert_int_equal(recorded.later.after.number, 9);
    assert_ptr_equal(recorded.later.site, code + 2);
    assert_int_equal(recorded.later.flags, READ);
    assert_ptr_equal(recorded.address, memory + 18);
    assert_int_equal(recorded.bytes, 2);
}

/* The latest writer and three readers are known, whatever each of them does in between. */
static void an_old_access_is_not_forgotten(void **state)
{
    (void)state;
    begin();
    access_at(1, 0, 4, READ, 1);
    for (unsigned i = 0; i < 1000; i++) {
        event(2);
        access_at(2, 0, 4, READ, 2);
        access_at(2, 4, 4, WRITE, 3);
    }
    access_at(3, 0, 4, READ, 4);
    assert_int_equal(records, 0);
    access_at(4, 0, 4, WRITE, 5);
    assert_int_equal(records, 3);
}

static void a_write_stands_for_what_came_before_it(void **state)
{
    (void)state;
    begin();
    for (unsigned thread = 1; thread < 50; thread++) {
        access_at(thread, 0, 4, READ, 2 * thread);
        access_at(thread, 0, 4, WRITE, 2 * thread + 1);
        assert_int_equal(records, 2 * (thread - 1)); /* of its read and its write, with one write */
    }
}

static void bytes_of_one_place_share_a_record(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 8; i++)
        access_at(1, i, 1, WRITE, 1);
    access_at(2, 0, 8, READ, 2);
    assert_int_equal(records, 1);
    begin();
    for (unsigned i = 0; i < 4; i++) /* each byte is another thread's */
        access_at(1 + i, i, 1, WRITE, 1);
    assert_int_equal(records, 0);
    access_at(9, 0, 8, READ, 2);
    assert_int_equal(records, 4);
}

static void a_common_lock_orders_them(void **state)
{
    (void)state;
    begin();
    lock = 77;
    access_at(1, 0, 4, WRITE, 1);
    event(1);
    access_at(2, 0, 4, WRITE, 1);
    assert_int_equal(records, 0);
    lock = 78;
    access_at(3, 0, 4, WRITE, 1);
    assert_int_equal(records, 1);
    assert_int_equal(recorded.earlier.locks[0], 77);
    assert_int_equal(recorded.later.locks[0], 78);
}

static void the_same_places_are_recorded_again_only_if_the_events_are_newer(void **state)
{
    (void)state;
    begin();
    for (size_t i = 0; i < 100; i++)
        access_at(1, 8 * i, 8, WRITE, 1);
    for (size_t i = 0; i < 100; i++)
        access_at(2, 8 * i, 8, READ, 2);
    assert_int_equal(records, 1);
    event(2); /* what was ordered before is ordered now, too */
    for (size_t i = 0; i < 100; i++)
        access_at(2, 8 * i, 8, READ, 2);
    assert_int_equal(records, 1);
    event(1);
    access_at(1, 0, 8, WRITE, 1); /* and the read conflicts with that write */
    assert_int_equal(records, 2);
    access_at(2, 0, 8, READ, 2);
    assert_int_equal(records, 3);
}

static void freed_memory_is_written_and_allocated_memory_is_new(void **state)
{
    (void)state;
    begin();
    access_at(1, 64, 8, READ, 1);
    act(2);
    race_conflicts_note_free(race_thread_get(), (uintptr_t)memory + 64, 32, code + 2);
    assert_int_equal(records, 1);
    assert_int_equal(recorded.later.flags, WRITE | POET_ACCESS_FREE);
    access_at(1, 64, 8, READ, 3);
    assert_int_equal(records, 2);
    assert_int_equal(recorded.earlier.flags, WRITE | POET_ACCESS_FREE);
    access_shadow_clear((uintptr_t)memory + 64, 32);
    access_at(3, 64, 8, WRITE, 4);
    assert_int_equal(records, 2);
}

static void a_thread_without_events_is_not_examined(void **state)
{
    (void)state;
    begin();
    numbers[1] = 0;
    access_at(1, 0, 4, WRITE, 1);
    access_at(2, 0, 4, WRITE, 2);
    assert_int_equal(records, 0);
}

static void tasks_of_one_thread_of_the_system_do_not_conflict(void **state)
{
    (void)state;
    begin();
    race_thread_get()->system_thread = 1;
    access_at(1, 0, 4, WRITE, 1);
    access_at(2, 0, 4, WRITE, 2);
    assert_int_equal(records, 0);
    race_thread_get()->system_thread = 2;
    access_at(3, 0, 4, WRITE, 3);
    assert_int_equal(records, 1);
    assert_int_equal(recorded.earlier.thread, 2);
}

static void accesses_of_another_lifetime_do_not_conflict(void **state)
{
    (void)state;
    begin();
    access_at(1, 0, 4, WRITE, 1);
    lifetime++;
    access_at(2, 0, 4, WRITE, 2);
    assert_int_equal(records, 0);
    access_at(3, 0, 4, WRITE, 3);
    assert_int_equal(records, 1);
}

/* Pairs of places that conflict all the time leave room for others. */
static void the_conflicts_of_a_process_are_limited(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 300000; i++) {
        access_at(1 + i % 2, 0, 4, WRITE, 10 + i % 2);
        event(1 + i % 2);
    }
    unsigned many = records;
    assert_true(many > 100000 && many < 110000);
    access_at(3, 8, 4, WRITE, 20);
    access_at(4, 8, 4, WRITE, 21);
    assert_int_equal(records, many + 1);
    assert_true(unexamined > 100000);
}

static void blocks_are_found_by_each_of_their_bytes(void **state)
{
    (void)state;
    struct race_block found;
    uintptr_t base = 0x100000;
    race_blocks_add(&(struct race_block){.address = base, .bytes = 40, .site = code, .thread = 3});
    race_blocks_add(&(struct race_block){.address = base + 48, .bytes = 8, .site = code + 1});
    race_blocks_add(&(struct race_block){.address = base + (1 << 20), .bytes = 1 << 20});
    assert_true(race_blocks_find(base + 39, &found));
    assert_int_equal(found.address, base);
    assert_int_equal(found.thread, 3);
    assert_false(race_blocks_find(base + 40, &found));
    assert_true(race_blocks_find(base + 50, &found));
    assert_ptr_equal(found.site, code + 1);
    assert_true(race_blocks_find(base + (1 << 20) + 70000, &found));
    assert_int_equal(found.bytes, 1 << 20);
    race_blocks_free(base + 48); /* now it is a part of a larger one */
    race_blocks_add(&(struct race_block){.address = base, .bytes = 100, .site = code + 2});
    assert_true(race_blocks_find(base + 50, &found));
    assert_ptr_equal(found.site, code + 2);
}

/* ---- two threads at the same time ---- */

#define ROUNDS 20000u
static struct shadow_cell *cell;
static pthread_barrier_t round_begins;
static unsigned conflicts_found[2][ROUNDS];

static void *add_at_the_same_time(void *which)
{
    unsigned me = *(const unsigned *)which;
    uint32_t interval =
        access_shadow_add_interval(&(struct shadow_interval){.thread = 50 + me, .line = 1});
    for (unsigned i = 0; i < ROUNDS; i++) {
        shadow_record_t found[SHADOW_RECORDS + 1];
        pthread_barrier_wait(&round_begins);
        conflicts_found[me][i] = access_shadow_add(
            cell, shadow_make_record(interval, 1 + me, WRITE, SHADOW_MASK), found);
        if (pthread_barrier_wait(&round_begins) == PTHREAD_BARRIER_SERIAL_THREAD)
            memset((void *)cell, 0, sizeof *cell);
    }
    return NULL;
}

static void of_two_threads_at_the_same_time_one_finds_the_other(void **state)
{
    (void)state;
    begin();
    static const unsigned which[] = {0, 1};
    pthread_t threads[2];
    cell = access_shadow_cell((uintptr_t)memory);
    pthread_barrier_init(&round_begins, NULL, 2);
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add_at_the_same_time, (void *)(uintptr_t)&which[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&round_begins);
    for (unsigned i = 0; i < ROUNDS; i++)
        assert_true(conflicts_found[0][i] + conflicts_found[1][i] > 0);
}

int main(void)
{
    assert_true(access_shadow_reserve());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_the_same_bytes_conflict_if_one_is_a_write),
        cmocka_unit_test(a_conflict_has_both_places_and_events),
        cmocka_unit_test(an_old_access_is_not_forgotten),
        cmocka_unit_test(a_write_stands_for_what_came_before_it),
        cmocka_unit_test(bytes_of_one_place_share_a_record),
        cmocka_unit_test(a_common_lock_orders_them),
        cmocka_unit_test(the_same_places_are_recorded_again_only_if_the_events_are_newer),
        cmocka_unit_test(freed_memory_is_written_and_allocated_memory_is_new),
        cmocka_unit_test(a_thread_without_events_is_not_examined),
        cmocka_unit_test(tasks_of_one_thread_of_the_system_do_not_conflict),
        cmocka_unit_test(accesses_of_another_lifetime_do_not_conflict),
        cmocka_unit_test(blocks_are_found_by_each_of_their_bytes),
        cmocka_unit_test(of_two_threads_at_the_same_time_one_finds_the_other),
        cmocka_unit_test(the_conflicts_of_a_process_are_limited),
    };
    return cmocka_run_group_tests_name("access_shadow", tests, NULL, NULL);
}

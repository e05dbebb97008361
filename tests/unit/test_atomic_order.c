/* The order of atomic operations: which events are recorded, of a store, a load and a fence by
 * threads that the test plays one after the other, and with what they synchronize. */
#include "clients/libpoet/atomics/atomic_order.h"
#include "tests/unit/unit.h"

#include <string.h>

/* ---- libpoet, as the operations see it ---- */

#define THREADS 100u
static uint32_t lifetime = 1;
static poet_line_t playing;
static uint64_t numbers[THREADS]; /* the last event of each thread */
static unsigned untraced;

static struct {
    poet_type_t type;
    poet_line_t about;
    unsigned flags;
    unsigned count;
    poet_event_t after[THREADS];
} recorded;
static unsigned records;
static void (*interrupting)(void); /* a signal handler, during a record */

void poet_position(poet_position_t *position)
{
    *position =
        (poet_position_t){playing, lifetime, {numbers[playing] ? playing : 0, numbers[playing]}};
}

enum { STORE = 1, UPDATE, LOAD, FENCE };
poet_type_t poet_type(const char *name, const char *const *ordered_after)
{
    static const char *const names[] = {"", "atomic_store", "atomic_update", "atomic_load",
                                        "atomic_fence"};
    poet_type_t type = FENCE;
    assert_null(ordered_after);
    while (type && strcmp(names[type], name) != 0)
        type--;
    return type;
}

poet_line_t poet_line_at(const char *kind, const char *name, const void *object, unsigned flags,
                         const void *site)
{
    static poet_line_t last = THREADS;
    (void)name, (void)object, (void)flags, (void)site;
    assert_string_equal(kind, "atomic");
    return ++last;
}

poet_event_t poet_record(const poet_record_t *r)
{
    recorded.type = r->type;
    recorded.about = r->about;
    recorded.flags = r->flags;
    recorded.count = 0;
    if (r->flags & POET_AFTER)
        recorded.after[recorded.count++] = (poet_event_t){(poet_line_t)r->high, *r->low};
    for (size_t i = 0; i < r->send_count; i++)
        recorded.after[recorded.count++] = r->sends[i];
    records++;
    if (interrupting)
        interrupting();
    return (poet_event_t){playing, ++numbers[playing]};
}

void poet_untraced_atomics(const char *what) { untraced += what != NULL; }
int poet_busy(void) { return 0; }

/* ---- operations ---- */

static struct atomic_value value_of(uint32_t v) { return (struct atomic_value){v, 0}; }

static void store(uint32_t *a, uint32_t v, int order)
{
    struct atomic_operation o = {.order = order};
    atomic_order_begin_write(&o, a, sizeof *a, value_of(*a), false, true);
    uint32_t found = *a;
    *a = v;
    atomic_order_end_store(&o, value_of(found), value_of(v));
}

static void add(uint32_t *a, uint32_t v, int order)
{
    struct atomic_operation o = {.order = order};
    atomic_order_begin_write(&o, a, sizeof *a, value_of(*a), true, true);
    uint32_t found = *a;
    *a += v;
    atomic_order_end_update(&o, value_of(found), value_of(*a));
}

static void load(uint32_t *a, int order)
{
    struct atomic_operation o = {.order = order};
    do {
        atomic_order_begin_load(&o, a, sizeof *a);
    } while (!atomic_order_end_load(&o, value_of(*a)));
}

/* From now on a thread acts; it has an event. */
static void act(poet_line_t thread)
{
    playing = thread;
    numbers[thread]++;
    records = 0;
}

static void expect_after(unsigned type, unsigned flag, poet_line_t line, uint64_t number)
{
    assert_int_equal(records, 1);
    assert_int_equal(recorded.type, type);
    assert_true(recorded.flags & flag);
    assert_int_equal(recorded.count, 1);
    assert_int_equal(recorded.after[0].line, line);
    assert_int_equal(recorded.after[0].number, number);
}

/* ---- cases ---- */

static void a_load_is_after_what_was_before_the_first_store(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    assert_int_equal(records, 0);
    uint64_t number = numbers[1];
    act(1); /* (this is not) */
    act(2);
    load(&flag, __ATOMIC_ACQUIRE);
    expect_after(LOAD, POET_AFTER, 1, number);
}

static void a_wait_and_a_relaxed_operation_record_nothing(void **state)
{
    static uint32_t flag, counter;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    store(&counter, 1, __ATOMIC_RELAXED);
    act(2);
    load(&flag, __ATOMIC_RELAXED);
    load(&counter, __ATOMIC_ACQUIRE);
    add(&counter, 1, __ATOMIC_RELAXED);
    assert_int_equal(records, 0);
    for (int i = 0; i < 100; i++)
        load(&flag, __ATOMIC_ACQUIRE);
    assert_int_equal(records, 1);
}

static void a_store_to_a_shared_object_has_an_event(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    act(2);
    load(&flag, __ATOMIC_ACQUIRE);
    act(1);
    store(&flag, 2, __ATOMIC_RELEASE);
    store(&flag, 3, __ATOMIC_RELEASE); /* nothing has happened in between */
    assert_int_equal(records, 1);
    assert_int_equal(recorded.type, STORE);
    assert_int_equal(recorded.flags, POET_SEND | POET_BY_EVENT);
    assert_int_equal(recorded.about > THREADS, 1);
    uint64_t number = numbers[1];
    act(2);
    load(&flag, __ATOMIC_ACQUIRE);
    expect_after(LOAD, POET_RECEIVE, 1, number);
}

static void a_fence_takes_part(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    atomic_order_fence(__ATOMIC_RELEASE, NULL);
    uint64_t number = numbers[1];
    numbers[1]++;
    store(&flag, 1, __ATOMIC_RELAXED);
    act(2);
    load(&flag, __ATOMIC_RELAXED);
    assert_int_equal(records, 0);
    atomic_order_fence(__ATOMIC_ACQUIRE, NULL);
    expect_after(FENCE, POET_AFTER, 1, number);
    atomic_order_fence(__ATOMIC_ACQUIRE, NULL);
    assert_int_equal(records, 1);
}

static void a_relaxed_store_ends_a_release_sequence_of_another_thread(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    act(2);
    store(&flag, 2, __ATOMIC_RELAXED);
    act(3);
    load(&flag, __ATOMIC_ACQUIRE);
    assert_int_equal(records, 0);
}

static void an_update_continues_it(void **state)
{
    static uint32_t count;
    (void)state;
    for (poet_line_t thread = 1; thread <= 20; thread++) {
        act(thread);
        add(&count, 1, __ATOMIC_RELEASE);
    }
    act(30);
    add(&count, 1, __ATOMIC_RELAXED);
    act(31);
    records = 0;
    load(&count, __ATOMIC_ACQUIRE);
    /* the first one has no event, since no other thread used the object then */
    assert_int_equal(records, 2);
    assert_int_equal(recorded.count, 19);
}

static void too_many_threads_are_reported(void **state)
{
    static uint32_t count;
    (void)state;
    untraced = 0;
    for (poet_line_t thread = 1; thread <= ATOMIC_HEADS_MOST; thread++) {
        act(thread);
        add(&count, 1, __ATOMIC_RELEASE);
    }
    assert_int_equal(untraced, 0);
    act(ATOMIC_HEADS_MOST + 1);
    add(&count, 1, __ATOMIC_RELEASE);
    assert_int_equal(untraced, 1);
}

static void an_untraced_store_orders_nothing(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    flag = 5;
    act(2);
    load(&flag, __ATOMIC_ACQUIRE);
    assert_int_equal(records, 0);
    flag = 1; /* it is another object now */
    load(&flag, __ATOMIC_ACQUIRE);
    assert_int_equal(records, 0);
}

static void other_sizes_are_other_objects(void **state)
{
    static _Alignas(8) uint32_t words[2];
    (void)state;
    act(1);
    store(words, 1, __ATOMIC_RELEASE);
    store(words + 1, 1, __ATOMIC_RELEASE);
    act(2);
    struct atomic_operation o = {.order = __ATOMIC_ACQUIRE};
    struct atomic_value both = {0x100000001, 0};
    for (int i = 0; i < 2; i++) {
        atomic_order_begin_load(&o, words, 8);
        assert_true(atomic_order_end_load(&o, both));
    }
    load(words, __ATOMIC_ACQUIRE);
    load(words + 1, __ATOMIC_ACQUIRE);
    assert_int_equal(records, 0);
}

static void another_lifetime_begins_without_knowledge(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    lifetime++;
    act(2);
    load(&flag, __ATOMIC_ACQUIRE);
    assert_int_equal(records, 0);
}

static uint32_t interrupted;
static void handle(void)
{
    interrupting = NULL;
    store(&interrupted, 9, __ATOMIC_RELEASE);
    load(&interrupted, __ATOMIC_ACQUIRE);
}

static void a_handler_does_not_wait(void **state)
{
    (void)state;
    act(1);
    store(&interrupted, 1, __ATOMIC_RELEASE);
    act(2);
    load(&interrupted, __ATOMIC_ACQUIRE);
    act(1);
    untraced = 0;
    interrupting = handle;
    store(&interrupted, 2, __ATOMIC_RELEASE);
    assert_int_equal(untraced, 2);
    assert_int_equal(interrupted, 2);
    /* the value is that of the thread's own store, which came last */
    uint64_t number = numbers[1];
    act(2);
    load(&interrupted, __ATOMIC_ACQUIRE);
    expect_after(LOAD, POET_RECEIVE, 1, number);
}

static void a_writer_that_never_ends_is_not_waited_for_again(void **state)
{
    static uint32_t flag;
    (void)state;
    act(1);
    store(&flag, 1, __ATOMIC_RELEASE);
    struct atomic_object *o = atomic_object_get(&flag, sizeof flag);
    atomic_fetch_add(&o->sequence, 1);
    atomic_store(&o->stuck, atomic_load(&o->sequence));
    untraced = 0;
    store(&flag, 2, __ATOMIC_RELEASE);
    act(2);
    load(&flag, __ATOMIC_ACQUIRE);
    assert_int_equal(flag, 2);
    assert_int_equal(untraced, 2);
    assert_int_equal(records, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_after_what_was_before_the_first_store),
        cmocka_unit_test(a_wait_and_a_relaxed_operation_record_nothing),
        cmocka_unit_test(a_store_to_a_shared_object_has_an_event),
        cmocka_unit_test(a_fence_takes_part),
        cmocka_unit_test(a_relaxed_store_ends_a_release_sequence_of_another_thread),
        cmocka_unit_test(an_update_continues_it),
        cmocka_unit_test(too_many_threads_are_reported),
        cmocka_unit_test(an_untraced_store_orders_nothing),
        cmocka_unit_test(other_sizes_are_other_objects),
        cmocka_unit_test(another_lifetime_begins_without_knowledge),
        cmocka_unit_test(a_handler_does_not_wait),
        cmocka_unit_test(a_writer_that_never_ends_is_not_waited_for_again),
    };
    return cmocka_run_group_tests_name("atomic_order", tests, NULL, NULL);
}

/* Parts of a thread's call profile: differences of two snapshots; all parts together add up to the
 * whole. */
#include "server/timing/call_contexts.h"
#include "tests/unit/unit.h"
#include "wire/profile_region.h"

#include <stdlib.h>

/* Adds a snapshot: main (1) calls f (2), with the sums so far. */
static void tell(struct call_contexts *all, uint64_t time_ns, uint64_t calls, uint64_t own,
                 uint64_t off, uint64_t open_last)
{
    struct call_context_thread *t = call_contexts_thread(all, 0, 5);
    struct encoder body = {0};
    const char *why;
    bool is = t->count == 0;
    encode_snapshot_head(
        &body, &(struct snapshot_head){.time_ns = time_ns, .flags = SNAPSHOT_CPU, .folded = calls});
    encode_snapshot_context(&body, UINT32_MAX,
                            &(struct snapshot_context){.index = 1,
                                                       .is = {0, 1, SCOPE_FUNCTION, 0x100},
                                                       .calls = 1,
                                                       .least_ns = UINT64_MAX,
                                                       .open = 1,
                                                       .open_real_ns = time_ns},
                            is);
    encode_snapshot_context(&body, 1,
                            &(struct snapshot_context){.index = 2,
                                                       .is = {1, 2, SCOPE_FUNCTION, 0x200},
                                                       .calls = calls,
                                                       .ended = calls,
                                                       .real_ns = own + off,
                                                       .least_ns = 1,
                                                       .most_ns = 9,
                                                       .own_ns = own,
                                                       .off_ns = off,
                                                       .open = open_last ? 1 : 0,
                                                       .open_last_ns = open_last},
                            is);
    assert_true(call_contexts_update(t, body.data, body.size, &why));
    call_contexts_keep(all, t, body.data, body.size);
    encoder_free(&body);
}

static struct call_contexts told(void)
{
    struct call_contexts all = {0};
    tell(&all, 100, 2, 20, 5, 0);
    /* an open call since 30 ns: whether the thread ran in it is not known yet */
    tell(&all, 200, 5, 50, 6, 30);
    tell(&all, 300, 9, 120, 7, 0); /* it did */
    return all;
}

static const struct snapshot_context *f_of(const struct profile_range *part)
{
    assert_true(part->thread.count > 2);
    return &part->thread.items[2].sums;
}

static void thread_schedule_next_is(const struct call_contexts *all, uint64_t from, uint64_t to,
                                    uint64_t begin, uint64_t end, uint64_t calls, uint64_t own,
                                    uint64_t off)
{
    struct profile_range part = profile_range_make(&all->threads[0], from, to);
    assert_int_equal(part.from_ns, begin);
    assert_int_equal(part.to_ns, end);
    assert_int_equal(f_of(&part)->calls, calls);
    assert_int_equal(part.thread.head.folded, calls);
    assert_int_equal(f_of(&part)->own_ns, own);
    assert_int_equal(f_of(&part)->off_ns, off);
    assert_true(f_of(&part)->least_ns == UINT64_MAX);
    assert_int_equal(f_of(&part)->is.function, 0x200);
    profile_range_free(&part);
}

static void parts_begin_and_end_where_sums_were_told(void **state)
{
    (void)state;
    struct call_contexts all = told();
    thread_schedule_next_is(&all, 0, 100, 0, 100, 2, 20, 5);
    thread_schedule_next_is(&all, 0, 101, 0, 200, 5, 50, 36);
    thread_schedule_next_is(&all, 100, 200, 100, 200, 3, 30, 31);
    thread_schedule_next_is(&all, 150, 199, 100, 200, 3, 30, 31);
    thread_schedule_next_is(&all, 50, 60, 0, 100, 2, 20, 5);
    thread_schedule_next_is(&all, 0, UINT64_MAX, 0, 300, 9, 120, 7);
    thread_schedule_next_is(&all, 100, 1000, 100, 300, 7, 100, 2);
    call_contexts_free(&all);
}

/* Time of an open call that turns out to be running time later is added once: own and off times
 * add up to the same. */
static void what_is_known_later_counts_once(void **state)
{
    (void)state;
    struct call_contexts all = told();
    thread_schedule_next_is(&all, 200, 300, 200, 300, 4, 41,
                            0); /* 70 ns own, less the 29 by which off decreased */
    call_contexts_free(&all);
}

static void an_open_call_counts_as_long_as_it_took(void **state)
{
    (void)state;
    struct call_contexts all = told();
    struct profile_range part = profile_range_make(&all.threads[0], 100, 200);
    assert_int_equal(part.thread.items[1].sums.real_ns, 100);
    assert_int_equal(part.thread.items[1].sums.calls, 0);
    profile_range_free(&part);
    call_contexts_free(&all);
}

/* The newest sums are known even if there was no space for the earlier ones. */
static void what_found_no_room_is_coarser_and_true(void **state)
{
    (void)state;
    struct call_contexts all = {0};
    tell(&all, 100, 2, 20, 5, 0);
    all.earlier_bytes = EARLIER_SNAPSHOTS_BYTES;
    tell(&all, 200, 5, 50, 6, 0);
    tell(&all, 300, 9, 120, 7, 0);
    assert_int_equal(call_contexts_times(&all.threads[0]), 1);
    thread_schedule_next_is(&all, 150, 180, 100, 300, 7, 100, 2);
    call_contexts_free(&all);
}

static int saved;
static void save(void *user, const struct call_context_thread *thread, const struct encoder *body)
{
    struct call_contexts *again = user;
    struct call_context_thread *t = call_contexts_thread(again, thread->session, thread->code);
    const char *why;
    saved++;
    assert_true(call_contexts_update(t, body->data, body->size, &why));
    call_contexts_keep(again, t, body->data, body->size);
}

static void a_state_has_them_all_once(void **state)
{
    (void)state;
    struct call_contexts all = told(), again = {0};
    saved = 0;
    call_contexts_save(&all, save, &again);
    call_contexts_save(&all, save, &again);
    assert_int_equal(saved, 3);
    thread_schedule_next_is(&again, 100, 200, 100, 200, 3, 30, 31);
    tell(&all, 400, 10, 130, 7, 0);
    call_contexts_save(&all, save, &again);
    assert_int_equal(saved, 4);
    thread_schedule_next_is(&again, 300, 400, 300, 400, 1, 10, 0);
    call_contexts_free(&all);
    call_contexts_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_begin_and_end_where_sums_were_told),
        cmocka_unit_test(what_is_known_later_counts_once),
        cmocka_unit_test(an_open_call_counts_as_long_as_it_took),
        cmocka_unit_test(what_found_no_room_is_coarser_and_true),
        cmocka_unit_test(a_state_has_them_all_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

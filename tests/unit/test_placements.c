/* Placements of tasks on worker threads: the ring (server/decode/placement_records.h), and the
 * intervals that are kept (server/timing/placements.h). */
#define _GNU_SOURCE
#include "server/decode/placement_records.h"
#include "server/timing/cpu_states.h"
#include "tests/unit/unit.h"
#include "wire/limits.h"
#include "wire/message.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the ring ---- */

struct written {
    int fd;
    struct task_placement_head *head;
    struct placement_ring *ring;
    struct tsc_clock ticks;
};

static void begin(struct written *w)
{
    *w = (struct written){.fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    assert_int_equal(ftruncate(w->fd, (off_t)PLACEMENT_MAP_BYTES), 0);
    assert_non_null(placement_ring_add(&w->ring, w->fd, 7)); /* the memory is not sealed */
    assert_int_equal(fcntl(w->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    assert_non_null(placement_ring_add(&w->ring, w->fd, 7)); /* it has no magic number */
    w->head = mmap(NULL, PLACEMENT_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
    assert_ptr_not_equal(w->head, MAP_FAILED);
    *w->head = (struct task_placement_head){
        .magic = PLACEMENT_MAGIC, .version = PLACEMENT_VERSION, .carrier = 7, .clock = 0 /* ns */};
    assert_null(placement_ring_add(&w->ring, w->fd, 7));
}

static void end(struct written *w)
{
    placement_ring_free(w->ring);
    munmap(w->head, PLACEMENT_MAP_BYTES);
    close(w->fd);
}

static void put_left(struct written *w, uint64_t time, uint32_t task, uint32_t left)
{
    placement_switches(w->head)[w->head->written++ % PLACEMENT_SWITCHES] =
        (struct task_switch){time, task, left};
}

static void put(struct written *w, uint64_t time, uint32_t task) { put_left(w, time, task, 0); }

struct body {
    uint32_t on, count, task[8], left[8];
    uint64_t since_ns, lost, at_ns[8];
};

/* Returns what is in the ring next; count is 0 if there is nothing. */
static struct body take(struct written *w)
{
    struct encoder out = {0};
    struct body body = {0};
    if (placement_ring_decode(w->ring, &w->ticks, &out)) {
        struct decoder in = decoder_init(out.data, out.size);
        body.on = decode_u32(&in);
        body.since_ns = decode_u64(&in);
        body.lost = decode_u64(&in);
        uint64_t at_ns = decode_u64(&in);
        body.count = decode_u32(&in);
        for (uint32_t i = 0; i < body.count && i < 8; i++) {
            body.at_ns[i] = at_ns += decode_varint(&in);
            body.task[i] = (uint32_t)decode_varint(&in);
            body.left[i] = (uint32_t)decode_varint(&in);
        }
        assert_true(body.count > 8 || decoder_finish(&in));
    }
    encoder_free(&out);
    return body;
}

static void a_ring_is_emptied(void **state)
{
    (void)state;
    struct written w;
    begin(&w);
    assert_int_equal(take(&w).count, 0);
    put(&w, 1000, 3);
    put_left(&w, 1500, 0, 6);
    put(&w, 1400, 4); /* a decreasing time is raised to the previous one */
    struct body body = take(&w);
    assert_int_equal(body.count, 3);
    assert_int_equal(body.on, 0);
    assert_int_equal(body.at_ns[0], 1000);
    assert_int_equal(body.at_ns[1], 1500);
    assert_int_equal(body.at_ns[2], 1500);
    assert_int_equal(body.task[2], 4);
    assert_int_equal(body.left[1], 6);
    assert_int_equal(w.head->taken, 3);
    put(&w, 2000, LIMIT_LINES); /* no task has that code */
    body = take(&w);
    assert_int_equal(body.on, 4); /* the task placed when this body begins */
    assert_int_equal(body.since_ns, 1500);
    assert_int_equal(body.task[0], 0);
    assert_false(placement_ring_is_over(w.ring));
    w.head->done = 1;
    assert_true(placement_ring_is_over(w.ring));
    end(&w);
}

static void what_is_lost_parts_what_is_told(void **state)
{
    (void)state;
    struct written w;
    begin(&w);
    put(&w, 1000, 3);
    put(&w, 5, PLACEMENT_LOST);
    put(&w, 9000, 4);
    assert_int_equal(take(&w).count, 1);
    struct body body = take(&w);
    assert_int_equal(body.count, 1);
    assert_int_equal(body.lost, 5);
    assert_int_equal(body.on, 0); /* it is unknown when the previous task left */
    assert_int_equal(body.at_ns[0], 9000);
    end(&w);
}

static void any_counts_are_borne(void **state)
{
    (void)state;
    struct written w;
    begin(&w);
    w.head->written = UINT64_MAX - 1; /* an impossible count */
    uint64_t before = w.ring->taken;
    take(&w);
    assert_true(w.ring->taken - before <= PLACEMENT_SWITCHES);
    assert_true(placement_ring_is_full(w.ring) <= 256);
    end(&w);
}

/* ---- placements ---- */

enum { A = 11, B = 12, LINE_A = 1, LINE_B = 2 };

static void switched(struct placements *s, uint32_t on, uint32_t ends, uint32_t begins,
                     int64_t since, int64_t at, uint64_t lost)
{
    placements_switched(s, (struct placement_switch){.session = 0,
                                                     .on = on,
                                                     .ends = ends,
                                                     .begins = begins,
                                                     .ends_line = ends ? ends - 10 : 0,
                                                     .begins_line = begins ? begins - 10 : 0,
                                                     .since_ns = since,
                                                     .at_ns = at,
                                                     .lost = lost});
}

static void is(const struct placements *s, uint32_t line, size_t i, uint32_t on, int64_t from,
               int64_t to)
{
    size_t count;
    const struct placement_interval *stays = placements_for_task(s, line, &count);
    assert_true(i < count);
    assert_int_equal(stays[i].on, on);
    assert_int_equal(stays[i].from_ns, from);
    assert_int_equal(stays[i].to_ns, to);
}

static size_t count_of(const struct placements *s, uint32_t line)
{
    size_t count;
    placements_for_task(s, line, &count);
    return count;
}

static void a_task_goes_from_carrier_to_carrier(void **state)
{
    (void)state;
    struct placements *s = placements_new();
    uint32_t x = placements_carrier(s, 0, 1), y = placements_carrier(s, 0, 2);
    assert_int_equal(placements_carrier(s, 0, 1), x);
    assert_int_not_equal(placements_carrier(s, 1, 1), x); /* of another program */
    switched(s, y, 0, A, 0, 50, 0); /* reported before its earlier placement on the other worker */
    switched(s, x, 0, A, 0, 10, 0);
    switched(s, x, A, B, 10, 30, 0);
    is(s, LINE_A, 0, x, 10, 30);
    is(s, LINE_A, 1, y, 50, PLACEMENT_OPEN);
    is(s, LINE_B, 0, x, 30, PLACEMENT_OPEN);
    switched(s, y, A, 0, 50, 70, 0);
    is(s, LINE_A, 1, y, 50, 70);
    assert_int_equal(placements_lost(s), 0);
    const struct placement_interval *of_a = placements_for_task(s, LINE_A, &(size_t){0});
    assert_int_equal(placements_overlap(of_a, 2, 1), 2);
    placements_free(s);
}

struct found {
    uint32_t on[4], left[4], count;
};

static void find(void *context, uint32_t on, uint32_t left, int64_t from_ns, int64_t to_ns)
{
    struct found *f = context;
    assert_true(f->count < 4 && from_ns < to_ns);
    f->on[f->count] = on;
    f->left[f->count++] = left;
}

static void the_context_in_which_a_task_left_is_where_it_resumes(void **state)
{
    (void)state;
    struct placements *s = placements_new();
    uint32_t x = placements_carrier(s, 0, 1);
    struct found found = {0};
    size_t count, near = 0;
    switched(s, x, 0, A, 0, 10, 0);
    placements_switched(s, (struct placement_switch){
                               .on = x, .ends = A, .ends_line = LINE_A, .at_ns = 30, .left = 8});
    switched(s, x, 0, A, 0, 50, 0);
    placements_switched(s, (struct placement_switch){
                               .on = x, .ends = A, .ends_line = LINE_A, .at_ns = 70, .left = 9});
    const struct placement_interval *items = placements_for_task(s, LINE_A, &count);
    placements_visit(items, count, &near, 10, 80, find, &found);
    assert_int_equal(found.count, 4);
    assert_int_equal(found.left[0], 0); /* it began */
    assert_int_equal(found.left[1], 8);
    assert_int_equal(found.on[1], 0);
    assert_int_equal(found.left[2], 8);
    assert_int_equal(found.on[2], x);
    assert_int_equal(found.left[3], 9);
    placements_free(s);
}

static void a_task_that_is_announced_late_has_its_stays(void **state)
{
    (void)state;
    struct placements *s = placements_new();
    uint32_t x = placements_carrier(s, 0, 1);
    placements_switched(s, (struct placement_switch){.on = x, .begins = A, .at_ns = 10});
    assert_int_equal(count_of(s, LINE_A), 0);
    placements_set_task_line(s, 0, A, LINE_A);
    is(s, LINE_A, 0, x, 10, PLACEMENT_OPEN);
    placements_set_task_line(s, 1, A, LINE_B); /* of another program */
    assert_int_equal(count_of(s, LINE_B), 0);
    placements_free(s);
}

static void what_was_lost_is_no_stay(void **state)
{
    (void)state;
    struct placements *s = placements_new();
    uint32_t x = placements_carrier(s, 0, 1);
    switched(s, x, 0, A, 0, 10, 0);
    switched(s, x, 0, B, 0, 90, 3);
    assert_int_equal(count_of(s, LINE_A), 0);
    is(s, LINE_B, 0, x, 90, PLACEMENT_OPEN);
    assert_int_equal(placements_lost(s), 3);
    switched(s, x, A, 0, 95, 99, 0); /* its begin was lost or discarded */
    is(s, LINE_A, 0, x, 95, 99);
    placements_free(s);
}

static void what_overlaps_is_found(void **state)
{
    (void)state;
    struct placements *s = placements_new();
    uint32_t x = placements_carrier(s, 0, 1), y = placements_carrier(s, 0, 2);
    switched(s, x, 0, A, 0, 10, 0);
    switched(s, x, A, 0, 10, 30, 0);
    switched(s, y, 0, A, 0, 29, 0);
    const struct placement_interval *of_a = placements_for_task(s, LINE_A, &(size_t){0});
    assert_int_equal(placements_overlap(of_a, 2, 1), 1);
    assert_int_equal(placements_carrier_at(s, x)->crossed, 0);
    switched(s, x, 0, B, 0, 20, 0);
    const struct placement_carrier *c = placements_carrier_at(s, x);
    assert_int_equal(c->crossed, 1);
    assert_int_equal(c->crossed_is, 20);
    assert_int_equal(c->crossed_should, 30);
    assert_int_equal(c->crossed_line, LINE_B);
    placements_free(s);
}

/* ---- CPU states from placements ---- */

struct seen {
    char text[256];
    struct cpu_state_walk walk;
};

static void see(void *context, enum cpu_state what, int64_t from_ns, int64_t to_ns)
{
    struct seen *seen = context;
    size_t at = strlen(seen->text);
    snprintf(seen->text + at, sizeof seen->text - at, "%s%u %d-%d; ",
             what == CPU_STATE_RUNNING ? "on " : "ready ", seen->walk.on, (int)from_ns, (int)to_ns);
}

static const char *cut(struct cpu_states *spans, int64_t from_ns, int64_t to_ns, struct seen *seen)
{
    struct thread_timeline course = {.thread = LINE_A};
    seen->text[0] = 0;
    cpu_states_visit(spans, &course, &seen->walk, from_ns, to_ns, see, seen);
    return seen->text;
}

static void a_task_runs_while_it_is_on_one(void **state)
{
    (void)state;
    struct cpu_states *spans = cpu_states_new();
    struct seen seen = {.text = ""};
    assert_string_equal(cut(spans, 0, 10, &seen), "on 0 0-10; "); /* by the order alone: running */
    struct placements *s = cpu_states_placements(spans);
    uint32_t x = placements_carrier(s, 0, 1), y = placements_carrier(s, 0, 2);
    switched(s, x, 0, A, 0, 10, 0);
    switched(s, x, A, B, 10, 30, 0);
    switched(s, y, 0, A, 0, 50, 0);
    assert_int_equal(cpu_states_best(spans, LINE_A, CPU_SOURCE_ORDER), CPU_SOURCE_SWITCHES);
    assert_string_equal(cut(spans, 0, 60, &seen),
                        "ready 0 0-10; on 1 10-30; ready 0 30-50; on 2 50-60; ");
    assert_string_equal(cut(spans, 20, 25, &seen), "on 1 20-25; ");
    assert_string_equal(cut(spans, 35, 40, &seen), "ready 0 35-40; ");
    assert_string_equal(cut(spans, 70, 80, &seen), "on 2 70-80; ");
    assert_string_equal(cut(spans, 5, 12, &seen), "ready 0 5-10; on 1 10-12; ");
    cpu_states_free(spans);
}

static void a_thread_runs_on_a_processor_of_the_machine(void **state)
{
    (void)state;
    struct cpu_states *spans = cpu_states_new();
    struct seen seen = {.text = ""};
    assert_false(cpu_states_cpus(spans));
    cpu_states_switched(spans, LINE_A, SWITCH_OUT, 3, 10);
    cpu_states_switched(spans, LINE_A, SWITCH_ON, 0, 20);
    cpu_states_switched(spans, LINE_A, SWITCH_ASLEEP, 0, 30);
    cpu_states_switched(spans, LINE_A, SWITCH_ON, UINT32_MAX, 40);
    assert_true(cpu_states_cpus(spans));
    assert_string_equal(cut(spans, 0, 50, &seen),
                        "on 4 0-10; ready 0 10-20; on 1 20-30; ready 0 30-40; on 0 40-50; ");
    cpu_states_free(spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_emptied),
        cmocka_unit_test(what_is_lost_parts_what_is_told),
        cmocka_unit_test(any_counts_are_borne),
        cmocka_unit_test(a_task_goes_from_carrier_to_carrier),
        cmocka_unit_test(the_context_in_which_a_task_left_is_where_it_resumes),
        cmocka_unit_test(a_task_that_is_announced_late_has_its_stays),
        cmocka_unit_test(what_was_lost_is_no_stay),
        cmocka_unit_test(what_overlaps_is_found),
        cmocka_unit_test(a_task_runs_while_it_is_on_one),
        cmocka_unit_test(a_thread_runs_on_a_processor_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

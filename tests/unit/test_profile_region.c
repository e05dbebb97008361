/* Profile regions of threads (server/decode/profile_region_reader.h): changes are recorded, and no
 * content of the region is trusted. */
#define _GNU_SOURCE
#include "server/decode/profile_region_reader.h"
#include "server/timing/call_contexts.h"
#include "tests/unit/unit.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A region that the test writes as a program would, and what was decoded from it. */
struct written {
    int fd;
    struct profile_region_head *head;
    struct profile_region_frame *frames;
    struct profile_region_context *contexts;
    struct region_reader *region;
    struct call_context_thread thread;
};

static int memory(size_t bytes, bool seals)
{
    int fd = memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    if (seals)
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    return fd;
}

static void begin(struct written *w)
{
    *w = (struct written){.fd = memory(REGION_MAP_BYTES, true)};
    char *base = mmap(NULL, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    w->head = (struct profile_region_head *)base;
    w->frames = (struct profile_region_frame *)(base + REGION_FRAMES_AT);
    w->contexts = (struct profile_region_context *)(base + REGION_CONTEXTS_AT);
    w->head->magic = REGION_MAGIC;
    w->head->version = REGION_VERSION;
    w->head->clock = QUEUE_CLOCK_NS;
    assert_null(region_reader_add(&w->region, w->fd, 7));
    assert_int_equal(w->region->thread, 7);
}

static void end(struct written *w)
{
    region_reader_free(w->region);
    munmap(w->head, REGION_MAP_BYTES);
    close(w->fd);
    free(w->thread.items);
}

static uint32_t add(struct written *w, uint32_t parent, uint64_t function)
{
    uint32_t index = w->head->contexts;
    struct profile_region_context *c = &w->contexts[index];
    c->parent = parent;
    c->lands = index;
    c->function = function;
    c->real_least = c->own_least = UINT64_MAX;
    w->head->contexts = index + 1;
    return index;
}

static void call(struct written *w, uint32_t index, uint64_t real, uint64_t own)
{
    struct profile_region_context *c = &w->contexts[index];
    c->calls++;
    c->ended++;
    c->real += real;
    c->own += own;
    c->real_least = real < c->real_least ? real : c->real_least;
    c->real_most = real > c->real_most ? real : c->real_most;
    c->own_least = own < c->own_least ? own : c->own_least;
    c->own_most = own > c->own_most ? own : c->own_most;
}

/* Reads the region at a time; returns the number of bodies. */
static unsigned look(struct written *w, uint64_t ns, bool all)
{
    struct region_moment moment = {.ns = ns, .all = all};
    struct encoder out = {0};
    unsigned told = 0;
    const char *why = NULL;
    bool any = region_reader_poll(w->region, &moment);
    while (any && region_reader_encode(w->region, &moment, &out)) {
        assert_true(call_contexts_update(&w->thread, out.data, out.size, &why));
        out.size = 0;
        told++;
    }
    encoder_free(&out);
    return told;
}

static const struct snapshot_context *sums(const struct written *w, uint32_t index)
{
    assert_true(index < w->thread.count);
    return &w->thread.items[index].sums;
}

/* ---- cases ---- */

static void it_takes_only_what_is_a_region(void **state)
{
    struct region_reader *list = NULL;
    int open = memory(REGION_MAP_BYTES, false), small = memory(4096, true),
        empty = memory(REGION_MAP_BYTES, true);
    (void)state;
    assert_string_equal(region_reader_add(&list, open, 1), "a region that is not sealed");
    assert_string_equal(region_reader_add(&list, small, 1), "a region of an invalid size");
    assert_non_null(region_reader_add(&list, empty, 1));
    assert_null(list);
    close(open);
    close(small);
    close(empty);
}

static void it_tells_what_has_changed_and_no_more(void **state)
{
    struct written w;
    (void)state;
    begin(&w);
    add(&w, 0, 0);
    uint32_t f = add(&w, 0, 0x1000), g = add(&w, f, 0x2000);
    w.head->enter_256 = 25 * 256;
    w.head->exit_256 = 12 * 256;
    call(&w, g, 40, 40);
    call(&w, g, 60, 50);
    call(&w, f, 200, 90);
    assert_int_equal(look(&w, 1000, false), 1);
    assert_int_equal(w.thread.head.time_ns, 1000);
    assert_int_equal(w.thread.head.enter_ps, 25000);
    assert_int_equal(w.thread.head.exit_ps, 12000);
    assert_int_equal(w.thread.head.flags, 0);
    assert_int_equal(sums(&w, g)->is.parent, f);
    assert_int_equal(sums(&w, g)->is.function, 0x2000);
    assert_int_equal(sums(&w, g)->calls, 2);
    assert_int_equal(sums(&w, g)->real_ns, 100);
    assert_int_equal(sums(&w, g)->least_ns, 40);
    assert_int_equal(sums(&w, g)->most_ns, 60);
    assert_int_equal(sums(&w, g)->own_ns, 90);
    assert_int_equal(sums(&w, g)->own_least_ns, 40);
    assert_int_equal(sums(&w, g)->own_most_ns, 50);
    assert_int_equal(look(&w, 2000, true), 0);
    assert_int_equal(w.thread.head.time_ns, 1000);
    call(&w, g, 5, 5);
    w.head->looked_ticks = 1;
    assert_int_equal(look(&w, 3000, false), 1);
    assert_int_equal(w.thread.head.flags, SNAPSHOT_CPU);
    assert_int_equal(sums(&w, g)->calls, 3);
    assert_int_equal(sums(&w, g)->least_ns, 5);
    assert_int_equal(sums(&w, g)->is.function, 0x2000); /* descriptions are sent only once */
    assert_int_equal(sums(&w, f)->calls, 1);
    region_reader_pending(w.region);
    free(w.thread.items);
    w.thread = (struct call_context_thread){0};
    assert_int_equal(look(&w, 3000, false), 1);
    assert_int_equal(sums(&w, g)->is.function, 0x2000);
    end(&w);
}

static void it_adds_what_open_calls_took_so_far(void **state)
{
    struct written w;
    (void)state;
    begin(&w);
    add(&w, 0, 0);
    uint32_t f = add(&w, 0, 0x1000), g = add(&w, f, 0x2000);
    w.contexts[f].calls = w.contexts[g].calls = 1;
    w.frames[0] = (struct profile_region_frame){.context = 0, .began = 100, .own = 10};
    w.frames[1] = (struct profile_region_frame){.context = f, .began = 110, .own = 20};
    w.frames[2] = (struct profile_region_frame){.context = g, .began = 150, .ran = 160, .own = 5};
    w.head->depth = 3;
    w.head->off_ticks = 30;
    look(&w, 1000, false);
    assert_int_equal(sums(&w, 0)->open_real_ns, 900);
    assert_int_equal(sums(&w, 0)->open_own_ns, 10);
    assert_int_equal(sums(&w, f)->open_real_ns, 890);
    assert_int_equal(sums(&w, f)->open_own_ns, 20);
    assert_int_equal(sums(&w, g)->open_real_ns, 850);
    assert_int_equal(sums(&w, g)->open_own_ns, 5);
    assert_int_equal(sums(&w, g)->open_last_ns, 1000 - 30 - 160);
    assert_int_equal(look(&w, 2000, false), 0); /* calls that only continued are not a change */
    assert_int_equal(look(&w, 2000, true), 1);
    assert_int_equal(sums(&w, g)->open_real_ns, 1850);
    w.head->depth = 2;
    call(&w, g, 1900, 1000);
    w.contexts[g].calls--; /* it was counted when it began */
    look(&w, 2100, false);
    assert_int_equal(sums(&w, g)->open, 0);
    assert_int_equal(sums(&w, g)->real_ns, 1900);
    assert_int_equal(sums(&w, f)->open, 1);
    end(&w);
}

static void numbers_that_run_back_are_kept_and_counted(void **state)
{
    struct written w;
    (void)state;
    begin(&w);
    add(&w, 0, 0);
    uint32_t f = add(&w, 0, 0x1000);
    call(&w, f, 500, 500);
    look(&w, 1, false);
    w.contexts[f].real = 3;
    w.contexts[f].real_least = 900;
    w.contexts[f].calls = 2;
    look(&w, 2, false);
    assert_int_equal(sums(&w, f)->real_ns, 500);
    assert_int_equal(sums(&w, f)->least_ns, 500);
    assert_int_equal(sums(&w, f)->calls, 2);
    assert_int_equal(w.thread.head.backwards, 1);
    end(&w);
}

static void what_cannot_be_is_mended(void **state)
{
    struct written w;
    (void)state;
    begin(&w);
    for (unsigned i = 0; i < 5; i++)
        add(&w, i ? i - 1 : 0, i);
    w.contexts[2].parent = 4;
    w.contexts[3].lands = 77;
    w.contexts[4].scope = 12345;
    w.contexts[1].real = UINT64_MAX;
    w.head->depth = UINT32_MAX;
    for (unsigned i = 0; i < REGION_FRAMES; i++)
        w.frames[i] = (struct profile_region_frame){.context = i * 7919, .began = UINT64_MAX - i};
    look(&w, 1000, true);
    assert_int_equal(sums(&w, 2)->is.parent, 0);
    assert_int_equal(sums(&w, 3)->is.lands, 3);
    assert_int_equal(sums(&w, 4)->is.scope, SCOPE_OTHER);
    assert_true(sums(&w, 1)->real_ns <= SNAPSHOT_TIME_MOST);
    assert_true(w.thread.head.backwards >= 3);
    w.head->contexts = UINT32_MAX;
    look(&w, 1001, true);
    assert_int_equal(w.thread.count, REGION_CONTEXTS);
    w.head->contexts = 0;
    look(&w, 1002, true);
    end(&w);
}

static void what_is_counted_only_says_since_when(void **state)
{
    struct written w;
    (void)state;
    begin(&w);
    for (unsigned i = 0; i < 5; i++)
        add(&w, 0, 100 * i);
    w.contexts[1].scope = w.contexts[2].scope = w.contexts[3].scope = SCOPE_COUNTED;
    w.contexts[2].site = w.contexts[4].site = 0x77;
    w.contexts[2].real = 12345;
    w.contexts[3].real = UINT64_MAX; /* an impossible time */
    w.contexts[2].calls = w.contexts[2].ended = 9;
    look(&w, 20000, true);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(sums(&w, i)->is.scope, SCOPE_COUNTED);
        assert_int_equal(sums(&w, i)->is.since_ns, i == 2 ? 12345 : 0);
        assert_int_equal(sums(&w, i)->is.site, i == 2 ? 0x77 : 0);
        assert_int_equal(sums(&w, i)->real_ns, 0);
        assert_int_equal(sums(&w, i)->least_ns, UINT64_MAX);
    }
    assert_int_equal(sums(&w, 2)->calls, 9);
    assert_int_equal(sums(&w, 4)->is.scope, SCOPE_FUNCTION);
    assert_int_equal(sums(&w, 4)->is.site, 0x77);
    end(&w);
}

static void many_contexts_are_told_in_parts(void **state)
{
    struct written w;
    (void)state;
    begin(&w);
    add(&w, 0, 0);
    for (uint32_t i = 1; i < 3 * REGION_READER_CHUNK; i++)
        call(&w, add(&w, i / 2, 16 * i), i, i);
    assert_int_equal(look(&w, 1, false), 3);
    for (uint32_t i = 1; i < 3 * REGION_READER_CHUNK; i++) {
        assert_int_equal(sums(&w, i)->is.parent, i / 2);
        assert_int_equal(sums(&w, i)->real_ns, i);
    }
    end(&w);
}

/* Applies a saved body to other call contexts. */
static void add_body(void *user, const struct call_context_thread *thread,
                     const struct encoder *body)
{
    struct call_contexts *other = user;
    const char *why;
    assert_true(call_contexts_update(call_contexts_thread(other, thread->session, thread->code),
                                     body->data, body->size, &why));
}

/* A time longer than the age of the region is rejected, as after a write that was interrupted. */
static void no_time_is_longer_than_the_region_is_old(void **state)
{
    struct written w;
    uint64_t never = (uint64_t)1 << 62;
    (void)state;
    begin(&w);
    w.head->began = 100;
    add(&w, 0, 0);
    uint32_t f = add(&w, 0, 16), g = add(&w, 0, 32);
    call(&w, f, 900, 800);
    look(&w, 1000, true);
    assert_int_equal(sums(&w, f)->real_ns, 900);
    assert_int_equal(w.thread.head.backwards, 0);
    call(&w, f, never, never);
    w.contexts[f].off = never;
    call(&w, g, 50, 40);
    w.frames[1] = (struct profile_region_frame){.context = g, .began = 2000, .own = never};
    w.head->depth = 2;
    look(&w, 3000, true);
    assert_int_equal(sums(&w, f)->calls, 2);
    assert_int_equal(sums(&w, f)->real_ns, 900);
    assert_int_equal(sums(&w, f)->own_ns, 800);
    assert_int_equal(sums(&w, f)->off_ns, 0);
    assert_int_equal(sums(&w, f)->most_ns, 900);
    assert_int_equal(sums(&w, g)->own_ns, 40);
    assert_int_equal(sums(&w, g)->open_own_ns, 0);
    assert_int_equal(sums(&w, g)->open_real_ns, 1000);
    assert_true(w.thread.head.backwards >= 5);
    end(&w);
}

static void sums_are_saved_once_and_read_again(void **state)
{
    struct written w;
    struct call_contexts all = {0}, other = {0};
    const char *why;
    struct encoder body = {0};
    (void)state;
    begin(&w);
    add(&w, 0, 0);
    for (uint32_t i = 1; i < 2 * REGION_READER_CHUNK; i++)
        call(&w, add(&w, i - 1, 16 * i), i, i);
    struct region_moment moment = {.ns = 5};
    region_reader_poll(w.region, &moment);
    for (; region_reader_encode(w.region, &moment, &body); body.size = 0)
        assert_true(
            call_contexts_update(call_contexts_thread(&all, 3, 7), body.data, body.size, &why));
    call_contexts_save(&all, add_body, &other);
    struct call_context_thread *saved = call_contexts_thread(&other, 3, 7),
                               *told = call_contexts_thread(&all, 3, 7);
    assert_int_equal(saved->count, told->count);
    for (size_t i = 0; i < told->count; i++)
        assert_memory_equal(&saved->items[i].sums, &told->items[i].sums,
                            sizeof told->items[i].sums);
    call_contexts_free(&other);
    call_contexts_save(&all, add_body, &other);
    assert_int_equal(other.count, 0);
    assert_false(
        call_contexts_update(call_contexts_thread(&all, 3, 7), (const uint8_t *)"\1\2", 2, &why));
    encoder_free(&body);
    call_contexts_free(&all);
    call_contexts_free(&other);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_only_what_is_a_region),
        cmocka_unit_test(it_tells_what_has_changed_and_no_more),
        cmocka_unit_test(it_adds_what_open_calls_took_so_far),
        cmocka_unit_test(numbers_that_run_back_are_kept_and_counted),
        cmocka_unit_test(what_cannot_be_is_mended),
        cmocka_unit_test(what_is_counted_only_says_since_when),
        cmocka_unit_test(many_contexts_are_told_in_parts),
        cmocka_unit_test(no_time_is_longer_than_the_region_is_old),
        cmocka_unit_test(sums_are_saved_once_and_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

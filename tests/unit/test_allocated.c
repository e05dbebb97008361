/* What is taken from a heap: blocks and sums against a count of their own, by one thread and by four; frees that should not
 * be; what the journal says of it, whole and cut. */
#define _GNU_SOURCE
#include "clients/trace/heap/blocks.h"
#include "server/intake/heaped.h"
#include "server/run/heap.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *heap_new(void)
{
    void *h =
        mmap(NULL, HEAP_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(h != MAP_FAILED);
    blocks_begin(h);
    return h;
}

static const struct heap_sum *sum_of(void *heap, uint64_t site, uint32_t thread)
{
    const struct heap_sum *sums = (const void *)((char *)heap + HEAP_SUMS_AT);
    const struct heap_head *head = heap;
    for (uint32_t i = 1; i < head->sums; i++)
        if (sums[i].site == site && sums[i].thread == thread)
            return &sums[i];
    return NULL;
}

#define MOST 5000u
#define SITES 7u
#define ROUNDS 50000u

struct worker {
    void *heap;
    uint32_t thread;
    uint64_t blocks[SITES], bytes[SITES], freed[SITES], freed_bytes[SITES];
    struct {
        void *block;
        size_t bytes;
        uint32_t site;
    } has[MOST];
};

static void *work(void *argument)
{
    struct worker *w = argument;
    unsigned seed = w->thread;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t k = (uint32_t)rand_r(&seed) % MOST, site = (uint32_t)rand_r(&seed) % SITES;
        struct heap_caller by = {.site = 1000 + site, .thread = w->thread};
        if (w->has[k].block) {
            blocks_given(w->heap, w->has[k].block, &by);
            w->freed[w->has[k].site]++;
            w->freed_bytes[w->has[k].site] += w->has[k].bytes;
            free(w->has[k].block);
            w->has[k].block = NULL;
            continue;
        }
        w->has[k].bytes = (size_t)rand_r(&seed) % 200 + 1;
        w->has[k].site = site;
        w->has[k].block = malloc(w->has[k].bytes);
        blocks_taken(w->heap, w->has[k].block, w->has[k].bytes, w->has[k].bytes + 8, &by);
        w->blocks[site]++;
        w->bytes[site] += w->has[k].bytes;
    }
    return NULL;
}

static void sums_are_as_they_were_counted(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    struct worker *workers = calloc(4, sizeof *workers);
    pthread_t threads[4];
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        workers[i] = (struct worker){.heap = heap, .thread = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(head->unseen, 0);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < SITES; k++) {
            const struct heap_sum *s = sum_of(heap, 1000 + k, i + 1);
            assert_non_null(s);
            assert_int_equal(s->blocks, workers[i].blocks[k]);
            assert_int_equal(s->bytes, workers[i].bytes[k]);
            assert_int_equal(s->usable, workers[i].bytes[k] + 8 * workers[i].blocks[k]);
            assert_int_equal(s->freed, workers[i].freed[k]);
            assert_int_equal(s->freed_bytes, workers[i].freed_bytes[k]);
            assert_int_equal(s->elsewhere, 0);
            assert_true(s->most_bytes >= s->bytes - s->freed_bytes);
        }
    assert_int_equal(head->unseen, 0);
    assert_int_equal(head->unknown, 0);
    assert_int_equal(head->bad, 0);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < MOST; k++)
            free(workers[i].has[k].block);
    free(workers);
    munmap(heap, HEAP_MAP_BYTES);
}

static void *at(uintptr_t address) { return (char *)NULL + address; }

static void frees_are_told_apart(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    const struct heap_bad *bad = (const void *)((char *)heap + HEAP_BAD_AT);
    const struct heap_caller a = {.site = 1, .thread = 1, .event = 5}, b = {.site = 2, .thread = 2};
    (void)state;
    blocks_taken(heap, at(0x1000), 10, 24, &a);
    struct heap_was was = blocks_given(heap, at(0x1000), &b);
    assert_true(was.known);
    assert_int_equal(sum_of(heap, 1, 1)->elsewhere_bytes, 10);
    blocks_put_back(heap, &was, &b); /* as if nothing had been */
    assert_int_equal(sum_of(heap, 1, 1)->elsewhere, 0);
    assert_int_equal(sum_of(heap, 1, 1)->freed, 0);
    assert_int_equal(sum_of(heap, 1, 1)->usable, 24);
    blocks_given(heap, at(0x1000), &b);
    blocks_given(heap, at(0x1000), &a);
    assert_int_equal(head->bad, 1);
    assert_int_equal(bad[0].fault, HEAP_TWICE);
    assert_int_equal(bad[0].before, 2);
    assert_int_equal(bad[0].event, 5);
    blocks_taken(heap, at(0x1000), 10, 10, &a); /* given out again: that is no fault */
    blocks_given(heap, at(0x1000), &a);
    blocks_given(heap, at(0x2000), &a);
    assert_int_equal(head->unknown, 1);
    blocks_given(heap, at(0x2003), &a);
    assert_int_equal(head->bad, 2);
    assert_int_equal(bad[1].fault, HEAP_NO_BLOCK);
    blocks_given(heap, NULL, &b);
    assert_int_equal(sum_of(heap, 2, 2)->nulls, 1);
    blocks_taken(heap, at(0x3000), 10, 10, &a);
    blocks_taken(heap, at(0x3000), 10, 10, &a); /* that it was freed was not seen */
    assert_int_equal(head->unseen, 1);
    assert_int_equal(sum_of(heap, 1, 1)->blocks - sum_of(heap, 1, 1)->freed, 1);
    for (uint32_t i = 0; i < 2 * HEAP_BAD; i++)
        blocks_given(heap, at(0x2003), &a);
    assert_int_equal(head->bad, HEAP_BAD);
    munmap(heap, HEAP_MAP_BYTES);
}

/* More than there is room for: it is said, and nothing else is wrong. */
static void what_is_full_says_so(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    (void)state;
    uint64_t most = HEAP_SHARDS * HEAP_SLOTS + 1000;
    struct heap_caller by = {.thread = 1};
    for (uint64_t i = 1; i <= most; i++) {
        by.site = i;
        blocks_taken(heap, at(i * 16), 1, 1, &by);
    }
    assert_int_equal(head->sums, HEAP_SUMS);
    assert_true(head->unseen >= 1000);
    for (uint64_t i = 1; i <= most; i++)
        blocks_given(heap, at(i * 16), &by);
    const struct heap_sum *sums = (const void *)((char *)heap + HEAP_SUMS_AT);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < HEAP_SUMS; i++) {
        assert_int_equal(sums[i].blocks, sums[i].freed);
        blocks += sums[i].blocks;
    }
    assert_int_equal(blocks + head->unknown, most);
    assert_int_equal(head->bad, 0);
    munmap(heap, HEAP_MAP_BYTES);
}

static uint32_t line(const struct session *session, uint32_t code)
{
    (void)session;
    return code + 100;
}

static void the_journal_is_read(void **state)
{
    struct run *run = run_new("heap@1", 1, NULL);
    const struct used_by by = {.run = run, .process = 3, .line = line};
    struct out body = {0};
    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        put_u64(&body, 10 + i); /* when, unseen, unknown */
    put_u32(&body, 1);
    put_u32(&body, 7);
    put_u32(&body, 2);
    put_u64(&body, 0x4000);
    for (uint64_t i = 0; i < HEAP_FIGURES; i++)
        put_u64(&body, i);
    put_u32(&body, 1);
    put_u32(&body, 0);
    put_u8(&body, HEAP_NO_BLOCK);
    put_u32(&body, 2);
    for (uint64_t i = 0; i < 4; i++)
        put_u64(&body, i);
    for (size_t cut = 0; cut < body.size; cut++) {
        struct in in = in_from(body.data, cut);
        assert_false(heaped_read(&by, &in));
    }
    for (int twice = 0; twice < 2; twice++) {
        struct in in = in_from(body.data, body.size);
        assert_true(heaped_read(&by, &in));
    }
    assert_int_equal(heap_process_count(run), 1);
    assert_int_equal(heap_process_at(run, 0)->unknown, 12);
    assert_int_equal(heap_count(run), 1);
    assert_int_equal(heap_at(run, 0)->thread, 102);
    assert_int_equal(heap_at(run, 0)->most_bytes, HEAP_FIGURES - 1);
    assert_int_equal(heap_wrong_count(run), 1);
    assert_int_equal(heap_wrong_at(run, 0)->before, 3);
    assert_false(heap_add(run, HEAP_SUMS, heap_at(run, 0)));
    out_free(&body);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_as_they_were_counted),
        cmocka_unit_test(frees_are_told_apart),
        cmocka_unit_test(what_is_full_says_so),
        cmocka_unit_test(the_journal_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

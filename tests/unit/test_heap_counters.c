/* Heap counters: blocks and sums against a count of the test's own, by one thread and by four;
 * invalid frees; what the journal records, complete and cut off. */
#define _GNU_SOURCE
#include "clients/libpoet/heap/heap_blocks.h"
#include "server/decode/heap_records.h"
#include "server/run/heap_totals.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *heap_new(void)
{
    void *h = mmap(NULL, HEAP_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(h != MAP_FAILED);
    heap_block_begin(h, HEAP_GROUPS, 1000);
    return h;
}

static const struct heap_sum *sum_of(void *heap, uint32_t node, uint32_t thread)
{
    const struct heap_sum *sums = (const void *)((char *)heap + HEAP_SUMS_AT);
    const struct heap_head *head = heap;
    for (uint32_t i = 1; i < head->sums; i++)
        if (sums[i].node == node && sums[i].thread == thread)
            return &sums[i];
    return NULL;
}

static uint64_t left(const struct heap_sum *s) { return s->blocks - s->freed - s->elsewhere; }

/* ---- random operations by four threads, each with its own count ---- */

#define THREADS 4u
#define MOST 5000u /* blocks that all threads share */
#define NODES 7u
#define ROUNDS 250000u

struct count {
    uint64_t blocks, bytes, freed, freed_bytes, elsewhere, elsewhere_bytes;
};

static struct {
    pthread_mutex_t mutex;
    void *block;
    size_t bytes;
    uint32_t by, node;
} shared[MOST];

struct worker {
    void *heap;
    uint32_t thread, nodes[NODES];
    struct count of[THREADS][NODES]; /* by thread and node that allocated: what this thread did */
};

static void give(struct worker *w, struct heap_thread_cache *mine, uint32_t k)
{
    struct count *c = &w->of[shared[k].by - 1][shared[k].node];
    struct freed_block was;
    assert_true(
        heap_block_remove(w->heap, mine, w->thread, 1, shared[k].block, HEAP_MALLOC, false, &was));
    *(shared[k].by == w->thread ? &c->freed : &c->elsewhere) += 1;
    *(shared[k].by == w->thread ? &c->freed_bytes : &c->elsewhere_bytes) += shared[k].bytes;
    free(shared[k].block);
    shared[k].block = NULL;
}

static void take(struct worker *w, struct heap_thread_cache *mine, uint32_t k, size_t bytes,
                 uint32_t node)
{
    struct heap_caller by = {.thread = w->thread, .node = w->nodes[node], .now_ns = 1000};
    shared[k].block = malloc(bytes);
    shared[k].bytes = bytes;
    shared[k].by = w->thread;
    shared[k].node = node;
    heap_block_add(w->heap, mine, &by, shared[k].block, bytes, bytes + 8, HEAP_MALLOC);
    w->of[w->thread - 1][node].blocks++;
    w->of[w->thread - 1][node].bytes += bytes;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct heap_thread_cache *mine = calloc(1, sizeof *mine);
    unsigned seed = w->thread;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t k = (uint32_t)rand_r(&seed) % MOST;
        size_t bytes = (size_t)rand_r(&seed) % 200 + 1;
        pthread_mutex_lock(&shared[k].mutex);
        if (shared[k].block)
            give(w, mine, k);
        else
            take(w, mine, k, bytes, (uint32_t)rand_r(&seed) % NODES);
        pthread_mutex_unlock(&shared[k].mutex);
    }
    free(mine);
    return NULL;
}

static void compare(void *heap, struct worker *workers, uint32_t by, uint32_t node)
{
    const struct heap_sum *s = sum_of(heap, workers[0].nodes[node], by + 1);
    struct count all = {0};
    for (uint32_t i = 0; i < THREADS; i++) {
        const struct count *c = &workers[i].of[by][node];
        all.blocks += c->blocks;
        all.bytes += c->bytes;
        all.freed += c->freed;
        all.freed_bytes += c->freed_bytes;
        all.elsewhere += c->elsewhere;
        all.elsewhere_bytes += c->elsewhere_bytes;
    }
    assert_non_null(s);
    assert_int_equal(s->blocks, all.blocks);
    assert_int_equal(s->bytes, all.bytes);
    assert_int_equal(s->usable, all.bytes + 8 * all.blocks);
    assert_int_equal(s->freed, all.freed);
    assert_int_equal(s->freed_bytes, all.freed_bytes);
    assert_int_equal(s->elsewhere, all.elsewhere);
    assert_int_equal(s->elsewhere_bytes, all.elsewhere_bytes);
    assert_true(s->most_bytes <= s->bytes);
}

/* Compares the block table, and what the threads report, with the blocks that are still
 * allocated. */
static void compare_blocks(void *heap)
{
    const struct heap_block *blocks = (const void *)((char *)heap + HEAP_BLOCKS_AT);
    const struct heap_thread *threads = (const void *)((char *)heap + HEAP_THREADS_AT);
    const struct heap_head *head = heap;
    uint64_t count = 0, bytes = 0, there = 0, there_bytes = 0;
    int64_t told = head->live, told_blocks = 0;
    for (uint32_t k = 0; k < MOST; k++) {
        there += shared[k].block != NULL;
        there_bytes += shared[k].block ? shared[k].bytes : 0;
    }
    for (size_t i = 0; i < HEAP_BLOCKS; i++)
        if (HEAP_KIND(blocks[i].word) != HEAP_FREED) {
            count++;
            bytes += blocks[i].bytes;
        }
    for (uint32_t i = 0; i < head->threads; i++) {
        told += threads[i].live;
        told_blocks += threads[i].blocks;
    }
    assert_int_equal(count, there);
    assert_int_equal(bytes, there_bytes);
    assert_int_equal(told, there_bytes);
    assert_int_equal(told_blocks, there);
    assert_true(head->most >= told - (int64_t)(THREADS * HEAP_TELL(told)));
}

static void sums_are_as_they_were_counted(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    struct worker *workers = calloc(THREADS, sizeof *workers);
    pthread_t threads[THREADS];
    (void)state;
    for (uint32_t k = 0; k < MOST; k++)
        pthread_mutex_init(&shared[k].mutex, NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].heap = heap;
        workers[i].thread = i + 1;
        for (uint32_t k = 0; k < NODES; k++)
            workers[i].nodes[k] = heap_counter_find_node(heap, HEAP_NODE_WHOLE, 1000 + k);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(head->unseen, 0);
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t k = 0; k < NODES; k++)
            compare(heap, workers, i, k);
    compare_blocks(heap);
    assert_int_equal(head->unknown, 0);
    assert_int_equal(head->bad, 0);
    for (uint32_t k = 0; k < MOST; k++)
        free(shared[k].block);
    free(workers);
    munmap(heap, HEAP_MAP_BYTES);
}

/* ---- single calls ---- */

static void *at(uintptr_t address) { return (char *)NULL + address; }

static const struct heap_caller a = {.thread = 1, .node = 20, .event = 5, .now_ns = 3001000};

static bool given(void *heap, struct heap_thread_cache *mine, uint32_t thread, void *block,
                  struct freed_block *was)
{
    return heap_block_remove(heap, mine, thread, 70 + thread, block, HEAP_MALLOC, true, was);
}

static void frees_are_told_apart(void **state)
{
    void *heap = heap_new();
    struct heap_thread_cache mine = {0}, other = {0};
    struct freed_block was;
    (void)state;
    heap_block_add(heap, &mine, &a, at(0x1000), 10, 24, HEAP_MALLOC);
    assert_true(given(heap, &other, 2, at(0x1000), &was));
    assert_int_equal(was.block.bytes, 10);
    assert_int_equal(was.block.beyond, 14);
    assert_int_equal(was.block.event, 5);
    assert_int_equal(was.block.age_ms, 3);
    assert_int_equal(sum_of(heap, 20, 1)->elsewhere_bytes, 10);
    const struct heap_caller b = {.thread = 2, .node = 21};
    heap_block_restore(heap, &other, &b, &was); /* as if the free had not happened */
    assert_int_equal(sum_of(heap, 20, 1)->elsewhere, 0);
    assert_int_equal(sum_of(heap, 20, 1)->freed, 0);
    assert_int_equal(sum_of(heap, 20, 1)->usable, 24);
    assert_true(given(heap, &other, 2, at(0x1000), &was));
    assert_false(given(heap, &mine, 1, at(0x1000), &was)); /* freed twice */
    assert_false(was.known);
    assert_int_equal(was.before, 72);
    heap_block_add(heap, &mine, &a, at(0x1000), 10, 10, HEAP_NEW); /* allocated again */
    assert_false(given(heap, &mine, 1, at(0x1000), &was)); /* allocated by new, freed by free */
    assert_true(was.known);
    assert_int_equal(was.kind, HEAP_NEW);
    assert_int_equal(left(sum_of(heap, 20, 1)), 0);
    assert_false(given(heap, &mine, 1, at(0x2000), &was)); /* never allocated */
    assert_true(!was.known && !was.before);
    assert_true(heap_block_free_null(heap, &mine, &b));
    assert_false(heap_block_free_null(heap, &mine, &b));
    assert_int_equal(sum_of(heap, 21, 2)->nulls, 2);
    munmap(heap, HEAP_MAP_BYTES);
}

static void what_is_taken_again_was_given_back(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    struct heap_thread_cache mine = {0};
    (void)state;
    heap_block_add(heap, &mine, &a, at(0x3000), 10, 10, HEAP_MALLOC);
    heap_block_add(heap, &mine, &a, at(0x3000), 10, 10, HEAP_MALLOC);
    assert_int_equal(head->unseen, 1);
    assert_int_equal(left(sum_of(heap, 20, 1)), 1);
    munmap(heap, HEAP_MAP_BYTES);
}

static void temporaries_are_those_freed_before_the_next(void **state)
{
    void *heap = heap_new();
    struct heap_thread_cache mine = {0};
    struct freed_block was;
    (void)state;
    heap_block_add(heap, &mine, &a, at(0x3000), 10, 10, HEAP_MALLOC);
    given(heap, &mine, 1, at(0x3000), &was);
    heap_block_add(heap, &mine, &a, at(0x3000), 10, 10, HEAP_MALLOC);
    heap_block_add(heap, &mine, &a, at(0x4000), 10, 10, HEAP_MALLOC);
    given(heap, &mine, 1, at(0x3000), &was);
    given(heap, &mine, 1, at(0x4000), &was);
    assert_int_equal(sum_of(heap, 20, 1)->temporaries, 2);
    munmap(heap, HEAP_MAP_BYTES);
}

/* With one thread, the peak is exact to the byte. */
static void the_most_at_once(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    const struct heap_thread *t = (const void *)((char *)heap + HEAP_THREADS_AT);
    struct heap_thread_cache mine = {0};
    struct freed_block was;
    int64_t now = 0, most = 0;
    (void)state;
    for (uintptr_t i = 1; i <= 3000; i++) {
        heap_block_add(heap, &mine, &a, at(i * 32), i, i, HEAP_MALLOC);
        now += (int64_t)i;
        most = now > most ? now : most;
        if (i % 3 == 0) {
            given(heap, &mine, 1, at((i - 1) * 32), &was);
            now -= (int64_t)i - 1;
        }
    }
    int64_t pending = head->live + t[1].most;
    assert_int_equal(head->live + t[1].live, now);
    assert_int_equal(head->most > pending ? head->most : pending, most);
    munmap(heap, HEAP_MAP_BYTES);
}

static void bad_frees_are_bounded(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    const struct heap_bad *all = (const void *)((char *)heap + HEAP_BAD_AT);
    (void)state;
    for (uint32_t i = 0; i < 2 * HEAP_BAD; i++)
        assert_int_equal(heap_block_add_bad(heap, &(struct heap_bad){.address = i + 1}),
                         i < HEAP_BAD ? i : HEAP_BAD);
    assert_int_equal(head->bad, HEAP_BAD);
    assert_int_equal(all[HEAP_BAD - 1].address, HEAP_BAD);
    assert_int_equal(all[HEAP_BAD - 1].there, 1);
    munmap(heap, HEAP_MAP_BYTES);
}

/* If sums, nodes or blocks exceed the table, this is counted, and the rest stays consistent. */
static void what_is_full_says_so(void **state)
{
    void *heap = heap_new();
    const struct heap_head *head = heap;
    struct heap_thread_cache mine = {0};
    struct freed_block was;
    uint64_t all = 0, still = 0, most = HEAP_SUMS + 1000;
    (void)state;
    /* all addresses are in one page with too small groups */
    for (uint64_t i = 1; i <= most; i++) {
        struct heap_caller by = {.thread = 1,
                                 .node = heap_counter_find_node(heap, HEAP_NODE_WHOLE, i)};
        heap_block_add(heap, &mine, &by, at(0x100000 + i % 2048 * 2), 1, 1, HEAP_MALLOC);
    }
    assert_int_equal(head->sums, HEAP_SUMS);
    assert_true(head->unseen > 0);
    for (uint64_t i = 0; i < 2048; i++)
        still += given(heap, &mine, 1, at(0x100000 + i * 2), &was);
    const struct heap_sum *sums = (const void *)((char *)heap + HEAP_SUMS_AT);
    for (uint32_t i = 0; i < HEAP_SUMS; i++) {
        assert_int_equal(left(&sums[i]), 0);
        all += sums[i].blocks;
    }
    assert_true(all >= HEAP_GROUP && all <= most && still <= HEAP_GROUP * HEAP_TRIES);
    for (uint32_t i = 0; i < 2 * HEAP_NODES; i++)
        heap_counter_find_node(heap, HEAP_NODE_CUT, i);
    assert_int_equal(head->nodes, HEAP_NODES);
    assert_int_equal(heap_counter_find_node(heap, HEAP_NODE_UNKNOWN, 5), HEAP_NODE_OTHER);
    assert_int_equal(heap_counter_find_node(heap, HEAP_NODE_OTHER, 5), HEAP_NODE_OTHER);
    munmap(heap, HEAP_MAP_BYTES);
}

/* With little address space, the table is smaller: each block is within its bounds, or counted as
 * unseen. */
static void a_small_table_keeps_its_bounds(void **state)
{
    size_t bytes = HEAP_BYTES_OF(HEAP_GROUPS_LEAST);
    char *heap =
        mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct heap_head *head = (void *)heap;
    struct heap_thread_cache mine = {0};
    struct freed_block was;
    uint64_t most = 2 * HEAP_GROUPS_LEAST * HEAP_GROUP, found = 0;
    (void)state;
    assert_true(heap != MAP_FAILED);
    assert_int_equal(mprotect(heap + bytes, 4096, PROT_NONE), 0);
    heap_block_begin(heap, HEAP_GROUPS_LEAST, 1000);
    struct heap_caller by = {.thread = 1, .node = heap_counter_find_node(heap, HEAP_NODE_WHOLE, 1)};
    for (uint64_t i = 1; i <= most; i++)
        heap_block_add(heap, &mine, &by, at(i * 32), 1, 1, HEAP_MALLOC);
    for (uint64_t i = 1; i <= most; i++)
        found += given(heap, &mine, 1, at(i * 32), &was);
    assert_true(found > most / 4);
    assert_int_equal(found + head->unseen, most);
    munmap(heap, bytes + 4096);
}

/* ---- the journal ---- */

static uint32_t line(const struct program_session *session, uint32_t code)
{
    (void)session;
    return code + 100;
}

static void put_bad_free(struct encoder *body)
{
    encode_u32(body, 1);
    encode_u32(body, 0);
    encode_u8(body, HEAP_NO_BLOCK);
    encode_u32(body, 2);
    for (uint64_t i = 0; i < 4; i++)
        encode_u64(body, i);
    encode_u32(body, 9);
}

static void read_cut_and_twice(const struct usage_target *by, const struct encoder *body)
{
    for (size_t cut = 0; cut < body->size; cut++) {
        struct decoder in = decoder_init(body->data, cut);
        assert_false(heap_records_decode(by, &in));
    }
    for (int twice = 0; twice < 2; twice++) {
        struct decoder in = decoder_init(body->data, body->size);
        assert_true(heap_records_decode(by, &in));
    }
}

static void put_sums(struct encoder *body)
{
    encode_u8(body, HEAP_RECORD_SUMS);
    /* time, begin, unseen, unknown, folded, peak, time of the peak */
    for (uint64_t i = 0; i < 7; i++)
        encode_u64(body, 10 + i);
    encode_u8(body, 1); /* a malloc of its own */
    encode_u32(body, HEAP_NODE_FIRST);
    encode_u32(body, 2);
    encode_u64(body, 0x4000);
    encode_u32(body, HEAP_NODE_WHOLE);
    encode_u64(body, 0x5000);
    encode_u32(body, HEAP_NODE_FIRST);
    encode_u32(body, 1);
    encode_u32(body, 7);
    encode_u32(body, 2);
    encode_u32(body, HEAP_NODE_FIRST + 1);
    for (uint64_t i = 0; i < HEAP_FIGURES; i++)
        encode_u64(body, i);
    put_bad_free(body);
}

static void the_journal_is_read(void **state)
{
    struct run *run = run_new("heap@1", 1, NULL);
    const struct usage_target by = {.run = run, .process = 3, .line = line};
    struct encoder body = {0};
    uint32_t parent;
    (void)state;
    put_sums(&body);
    read_cut_and_twice(&by, &body);
    assert_int_equal(heap_totals_process_for(run, 3)->most_bytes, 15);
    assert_true(heap_totals_process_for(run, 3)->own_malloc);
    assert_int_equal(heap_totals_count(run), 1);
    assert_int_equal(heap_totals_find_numbered(run, 3, 7)->most_bytes, HEAP_FIGURES - 1);
    assert_int_equal(heap_totals_site(run, 3, heap_totals_at(run, 0)->node, &parent), 0x5000);
    assert_int_equal(heap_totals_site(run, 3, parent, &parent), 0x4000);
    assert_int_equal(parent, HEAP_NODE_WHOLE);
    assert_int_equal(heap_totals_site(run, 3, 5000, &parent), 0);
    assert_int_equal(heap_totals_wrong_at(run, 0)->node, 9);
    assert_false(heap_totals_add_node(run, 3, 20, 1, 20)); /* a node that is its own parent */
    assert_false(heap_totals_add_node(run, 3, HEAP_NODES, 1, 8));
    assert_false(heap_totals_add(run, HEAP_SUMS, heap_totals_at(run, 0)));
    encoder_consume(&body, body.size);
    encode_u8(&body, HEAP_RECORD_BLOCKS);
    encode_u64(&body, 50);
    encode_u8(&body, 1);
    encode_u64(&body, 4); /* number of blocks that are left out */
    encode_u32(&body, 1);
    encode_u64(&body, 0x7000);
    encode_u64(&body, 100);
    encode_u32(&body, 7);
    encode_u32(&body, 8);
    encode_u32(&body, 3);
    encode_u32(&body, 2);
    encode_u8(&body, HEAP_NEW);
    read_cut_and_twice(&by, &body);
    /* those of the second reading replaced them */
    assert_int_equal(heap_totals_block_count(run), 1);
    assert_int_equal(heap_totals_block_at(run, 0)->usable, 108);
    assert_int_equal(heap_totals_process_for(run, 3)->blocks_left, 4);
    encoder_free(&body);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_as_they_were_counted),
        cmocka_unit_test(frees_are_told_apart),
        cmocka_unit_test(what_is_taken_again_was_given_back),
        cmocka_unit_test(temporaries_are_those_freed_before_the_next),
        cmocka_unit_test(the_most_at_once),
        cmocka_unit_test(bad_frees_are_bounded),
        cmocka_unit_test(what_is_full_says_so),
        cmocka_unit_test(a_small_table_keeps_its_bounds),
        cmocka_unit_test(the_journal_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Call records: the ring (server/decode/ring_reader.h), the records that are kept
 * (server/timing/call_entries.h), and the overlap of scopes (server/timing/scope_overlap.h),
 * compared with its definition. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/timing/seq_conc.h"
#include "server/decode/ring_reader.h"
#include "server/timing/call_entries.h"
#include "server/timing/scope_overlap.h"
#include "tests/unit/unit.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- the ring ---- */

struct written {
    int fd;
    struct call_records_head *head;
    struct ring_reader *ring;
    struct tsc_clock ticks;
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void begin(struct written *w)
{
    *w = (struct written){.fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    assert_int_equal(ftruncate(w->fd, (off_t)CALL_RECORDS_MAP_BYTES), 0);
    assert_non_null(ring_reader_add(&w->ring, w->fd, 7)); /* the memory is not sealed */
    assert_int_equal(fcntl(w->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    assert_non_null(ring_reader_add(&w->ring, w->fd, 7)); /* it has no magic number */
    w->head = mmap(NULL, CALL_RECORDS_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
    assert_ptr_not_equal(w->head, MAP_FAILED);
    w->head->magic = CALL_RECORDS_MAGIC;
    w->head->version = CALL_RECORDS_VERSION;
    w->head->clock = QUEUE_CLOCK_NS;
    assert_null(ring_reader_add(&w->ring, w->fd, 7));
}

static void end(struct written *w)
{
    ring_reader_free(w->ring);
    munmap(w->head, CALL_RECORDS_MAP_BYTES);
    close(w->fd);
}

static void put(struct written *w, uint64_t word)
{
    call_records_words(w->head)[w->head->reserved++ % CALL_RECORDS_WORDS] = word;
}

static void takes_what_is_there(void **state)
{
    (void)state;
    struct written w;
    struct encoder out = {0};
    struct call_entries all = {0};
    const char *why;
    struct call_entry_seen seen;
    uint64_t at = now_ns();
    begin(&w);
    assert_false(ring_reader_decode(w.ring, &w.ticks, false, &out));
    put(&w, call_record_word(3, false, at));
    put(&w, call_record_word(4, false, at + 10));
    put(&w, call_record_word(4, true, at + 30));
    put(&w, call_record_word(0, false, 5)); /* five calls were lost */
    put(&w, call_record_word(3, true, at + 25)); /* a time before the previous one */
    put(&w, call_record_word(3, true, at + 40)); /* no call is open */
    assert_true(ring_reader_decode(w.ring, &w.ticks, false, &out));
    assert_int_equal(w.ring->wrong, 1);
    assert_int_equal(w.head->taken, 6);
    assert_true(call_entries_append(&all, 1, 7, out.data, out.size, &why));
    assert_true(
        /* a repeated body adds nothing */
        call_entries_append(&all, 1, 7, out.data, out.size, &why));
    const struct call_entries_thread *t = call_entries_for_thread(&all, 1, 7);
    assert_int_equal(t->begins, 2);
    assert_int_equal(t->lost, 5);
    struct call_entries_walk walk = call_entries_walk(t, 0);
    const struct {
        enum call_record_type is;
        uint32_t context, depth;
        uint64_t time, began;
    } wanted[] = {{CALL_RECORD_BEGINS, 3, 0, 0, 0},
                  {CALL_RECORD_BEGINS, 4, 1, 10, 0},
                  {CALL_RECORD_ENDED, 4, 1, 30, 10},
                  {CALL_RECORD_LOST, 0, 1, 30, 0},
                  {CALL_RECORD_ENDED, 3, 0, 30, 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(call_entries_next(&walk, &seen));
        assert_int_equal(seen.entry.is, wanted[i].is);
        assert_int_equal(seen.entry.context, wanted[i].context);
        assert_int_equal(seen.depth, wanted[i].depth);
        assert_int_equal(seen.entry.time_ns, at + wanted[i].time);
        if (seen.entry.is == CALL_RECORD_ENDED)
            assert_int_equal(seen.began_ns, at + wanted[i].began);
    }
    assert_false(call_entries_next(&walk, &seen));
    call_entries_walk_end(&walk);
    call_entries_free(&all);
    encoder_free(&out);
    end(&w);
}

/* A word that is reserved but not written yet is awaited, until the program cannot write it any
 * more. */
static void waits_for_what_is_being_written(void **state)
{
    (void)state;
    struct written w;
    struct encoder out = {0};
    begin(&w);
    put(&w, 0);
    put(&w, call_record_word(3, false, now_ns()));
    assert_false(ring_reader_decode(w.ring, &w.ticks, false, &out));
    assert_int_equal(w.head->taken, 0);
    assert_true(ring_reader_decode(w.ring, &w.ticks, true, &out));
    assert_true(ring_reader_is_empty(w.ring));
    w.head->reserved += UINT64_MAX / 2; /* an invalid count */
    out.size = 0;
    assert_false(ring_reader_decode(w.ring, &w.ticks, false, &out));
    encoder_free(&out);
    end(&w);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct call_entries all = {0};
    const char *why = NULL;
    static const uint8_t bodies[][12] = {
        {0, 0, 0, 0, 0, 0, 0, 255}, /* an impossible time */
        {1, 0, 0, 0, 0, 0, 0, 0, 3}, /* an unknown kind of record */
        {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* a call of the thread itself */
        {1, 0, 0, 0, 0, 0, 0, 0, 0x80}, /* an unterminated number */
    };
    static const size_t sizes[] = {8, 9, 10, 9};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_false(call_entries_append(&all, 0, 1, bodies[i], sizes[i], &why));
        assert_non_null(why);
    }
    call_entries_free(&all);
}

/* Ends of calls that are too deep to be kept do not end other calls, in whichever block they
 * are. */
static void ends_of_the_deepest_are_their_own(void **state)
{
    (void)state;
    const uint32_t deep = CALL_ENTRIES_DEPTH_MAX + 5;
    struct call_entries all = {0};
    struct call_entry_seen seen;
    struct encoder out = {0};
    const char *why;
    uint64_t last = 1000;
    for (uint32_t half = 0; half < 2; half++) {
        out.size = 0;
        encode_call_records_head(&out, last);
        for (uint32_t i = 0; i < deep; i++)
            encode_call_record(&out, &last,
                               &(struct call_record){half ? CALL_RECORD_ENDED : CALL_RECORD_BEGINS,
                                                     half ? 0 : 1 + i, last + 1, 0});
        assert_true(call_entries_append(&all, 1, 7, out.data, out.size, &why));
    }
    for (uint64_t from = 0; from <= 1000 + deep; from += 1000 + deep) {
        struct call_entries_walk walk =
            call_entries_walk(call_entries_for_thread(&all, 1, 7), from);
        for (uint32_t left = deep; left && call_entries_next(&walk, &seen);) {
            if (seen.entry.is == CALL_RECORD_BEGINS)
                continue;
            uint32_t context = left > CALL_ENTRIES_DEPTH_MAX ? 0 : left;
            assert_int_equal(seen.entry.context, context);
            assert_int_equal(seen.began_ns, context ? 1000 + context : 0);
            assert_int_equal(seen.depth, --left);
        }
        assert_false(call_entries_next(&walk, &seen));
        call_entries_walk_end(&walk);
    }
    encoder_free(&out);
    call_entries_free(&all);
}

/* ---- overlap of scopes ---- */

#define SCOPES 5u
#define THREADS 3u
#define MOMENTS 120u

struct drawn {
    bool open[THREADS][SCOPES][MOMENTS]; /* by moment: open until the next one */
    bool begins[THREADS][SCOPES][MOMENTS];
    uint32_t calls[THREADS][SCOPES][MOMENTS]; /* that begin at the moment */
};

/* Makes a thread with random calls; the scope of context c is 1 + c % (SCOPES - 1). */
static void draw(struct drawn *d, uint32_t thread, struct call_entries *all)
{
    struct encoder out = {0};
    uint32_t stack[8], depth = 0;
    uint64_t last = 1000 + thread;
    const char *why;
    encode_call_records_head(&out, last);
    for (uint64_t now = last; now < 1000 + MOMENTS - 1; now += (uint64_t)(rand() % 4)) {
        bool begins = depth == 0 || (depth < 8 && rand() % 2);
        uint32_t context = begins ? 1 + (uint32_t)rand() % 8 : 0;
        encode_call_record(&out, &last,
                           &(struct call_record){begins ? CALL_RECORD_BEGINS : CALL_RECORD_ENDED,
                                                 context, now, 0});
        if (begins)
            d->calls[thread][1 + context % (SCOPES - 1)][now - 1000]++;
        if (begins)
            stack[depth++] = context;
        else
            depth--;
        for (uint64_t m = now; m < 1000 + MOMENTS; m++)
            for (uint32_t s = 1; s < SCOPES; s++) {
                bool open = false;
                for (uint32_t i = 0; i < depth; i++)
                    open |= 1 + stack[i] % (SCOPES - 1) == s;
                d->open[thread][s][m - 1000] = open;
            }
        if (rand() % 8 == 0) { /* begin another block */
            assert_true(call_entries_append(all, 0, thread + 1, out.data, out.size, &why));
            out.size = 0;
            encode_call_records_head(&out, last);
        }
    }
    assert_true(call_entries_append(all, 0, thread + 1, out.data, out.size, &why));
    encoder_free(&out);
}

struct wanted {
    int64_t elapsed, threads, together;
};

static struct wanted by_definition(const struct drawn *d, uint32_t with, uint32_t scope,
                                   int64_t from, int64_t to)
{
    struct wanted w = {0};
    for (int64_t m = from; m < to; m++) {
        uint32_t open = 0;
        bool together = false;
        for (uint32_t t = 0; t < THREADS; t++) {
            open += d->open[t][scope][m - 1000];
            for (uint32_t u = 0; u < THREADS; u++)
                together |= t != u && d->open[t][scope][m - 1000] && d->open[u][with][m - 1000];
        }
        w.elapsed += open > 0;
        w.threads += open;
        w.together += together;
    }
    return w;
}

static int64_t last_entry(const struct call_entries *all)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct call_entries_thread *t = all->threads[i];
        last = t->blocks[t->count - 1].last_ns > last ? t->blocks[t->count - 1].last_ns : last;
    }
    return (int64_t)last;
}

static void compare(const struct drawn *d, const struct call_entries *all, int64_t from, int64_t to)
{
    uint32_t scope_of[9] = {0};
    for (uint32_t c = 1; c < 9; c++)
        scope_of[c] = 1 + c % (SCOPES - 1);
    int64_t last = last_entry(all), until = to < last ? to : last,
            since = from > 1000 ? from : 1000;
    for (uint32_t with = 1; with < SCOPES; with++) {
        struct scope_overlap o = {.with = with,
                                  .from_ns = from,
                                  .to_ns = to,
                                  .scopes = SCOPES,
                                  .sums = xcalloc(SCOPES, sizeof *o.sums)};
        for (uint32_t i = 0; i < all->count; i++)
            scope_overlap_add(&o, all->threads[i], scope_of, 9);
        for (uint64_t budget = 3; !scope_overlap_step(&o, &budget); budget = 3)
            ;
        for (uint32_t s = 1; s < SCOPES; s++) {
            struct wanted w = by_definition(d, with, s, since, until);
            assert_int_equal(o.sums[s].elapsed_ns, w.elapsed);
            assert_int_equal(o.sums[s].thread_ns, w.threads);
            assert_int_equal(o.sums[s].together_ns, w.together);
        }
        scope_overlap_free(&o);
    }
}

static void overlaps_as_the_definition_says(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 300; round++) {
        struct drawn d = {0};
        struct call_entries all = {0};
        for (uint32_t t = 0; t < THREADS; t++)
            draw(&d, t, &all);
        compare(&d, &all, INT64_MIN, INT64_MAX);
        int64_t from = 1000 + rand() % (int)(MOMENTS / 2);
        compare(&d, &all, from, from + 1 + rand() % (int)(MOMENTS / 2));
        call_entries_free(&all);
    }
}

/* ---- sequential and concurrent calls ---- */

enum { MAIN = 1, A, B, C, D, JOIN, ALL };
#define MS 1000000

struct told {
    uint32_t scope; /* 0: ends the innermost call */
    uint64_t ms;
};

static void tell(struct call_entries *all, uint32_t code, const struct told *told)
{
    struct encoder out = {0};
    uint64_t last = told->ms * MS;
    const char *why;
    encode_call_records_head(&out, last);
    for (; told->scope || told->ms; told++)
        encode_call_record(
            &out, &last,
            &(struct call_record){told->scope ? CALL_RECORD_BEGINS : CALL_RECORD_ENDED, told->scope,
                                  told->ms * MS, 0});
    assert_true(call_entries_append(all, 0, code, out.data, out.size, &why));
    encoder_free(&out);
}

static void is_case_in(const struct seq_conc *c, uint32_t in, uint32_t from, uint32_t to,
                       uint8_t is, uint64_t calls, int64_t thread_ms, int64_t elapsed_ms)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct seq_conc_sums *s = &c->items[i];
        if (s->in != in || s->from != from || s->to != to || s->is != is)
            continue;
        assert_int_equal(s->calls, calls);
        assert_int_equal(s->thread_ns, thread_ms * MS);
        assert_int_equal(s->elapsed_ns, elapsed_ms * MS);
        return;
    }
    assert_int_equal(calls, 0); /* no such row */
}

static void is_case(const struct seq_conc *c, uint32_t from, uint32_t to, uint8_t is,
                    uint64_t calls, int64_t thread_ms, int64_t elapsed_ms)
{
    is_case_in(c, 0, from, to, is, calls, thread_ms, elapsed_ms);
}

/* A takes 10 ms, and B in it 20; then four threads call C, 30 ms each, with D in it, 5 ms; A waits
 * for them, and takes 10 ms more. */
static void cases_are_counted(void **state)
{
    (void)state;
    static const uint32_t scope_of[ALL] = {0, MAIN, A, B, C, D, JOIN};
    static const bool waits[ALL] = {[JOIN] = true};
    static const struct told main_told[] = {{A, 1},  {B, 11}, {0, 31}, {JOIN, 32},
                                            {0, 66}, {0, 76}, {0, 0}},
                             told[] = {{C, 31}, {D, 61}, {0, 66}, {0, 66}, {0, 0}};
    struct call_entries all = {0};
    struct seq_conc c = {.scopes = ALL, .waits = waits};
    tell(&all, 1, main_told);
    for (uint32_t i = 0; i < 4; i++)
        tell(&all, 2 + i, told);
    for (uint32_t i = 0; i < all.count; i++)
        seq_conc_add(&c, all.threads[i], scope_of, ALL, i ? 0 : SEQ_CONC_NO_CALLER, 31 * MS);
    for (uint64_t budget = 2; !seq_conc_step(&c, &budget); budget = 2)
        ;
    is_case(&c, 0, A, 0, 1, 75, 75);
    is_case(&c, 0, A, 1, 0, 0, 0);
    is_case(&c, A, B, 0, 1, 20, 20); /* S-S */
    is_case(&c, A, C, 1, 4, 140, 35); /* S-C */
    is_case(&c, A, 0, 1, 4, 140, 35);
    is_case(&c, C, D, 2, 4, 20, 5); /* C-S */
    is_case(&c, C, D, 3, 0, 0, 0);
    is_case(&c, 0, D, 1, 4, 20, 5);
    seq_conc_free(&c);
    call_entries_free(&all);
}

/* Three threads wait at a barrier, the last one from 30 ms on; each calls C when it resumes. */
static void those_that_a_barrier_releases_together_are_concurrent(void **state)
{
    (void)state;
    static const uint32_t scope_of[ALL] = {0, MAIN, A, B, C, D, JOIN};
    static const bool waits[ALL] = {[JOIN] = true};
    static const struct told told[3][6] = {{{A, 1}, {JOIN, 10}, {0, 31}, {C, 31}, {0, 40}, {0, 0}},
                                           {{A, 1}, {JOIN, 20}, {0, 50}, {C, 50}, {0, 60}, {0, 0}},
                                           {{A, 1}, {JOIN, 30}, {0, 45}, {C, 45}, {0, 55}, {0, 0}}};
    for (unsigned known = 0; known < 2; known++) {
        struct call_entries all = {0};
        struct seq_conc c = {.scopes = ALL, .waits = waits};
        for (uint32_t i = 0; i < 3; i++)
            tell(&all, 1 + i, told[i]);
        for (uint32_t i = 0; i < 3; i++) {
            int64_t *at_ns = xcalloc(1, sizeof *at_ns);
            struct seq_conc_place *places = xcalloc(1, sizeof *places);
            *at_ns = 30 * MS;
            *places = (struct seq_conc_place){0, 48 * MS, i + 1};
            seq_conc_add(&c, all.threads[i], scope_of, ALL, SEQ_CONC_NO_CALLER, 0);
            seq_conc_add_releases(&c, at_ns, known);
            seq_conc_add_places(&c, places, 1);
        }
        for (uint64_t budget = 2; !seq_conc_step(&c, &budget); budget = 2)
            ;
        /* At 31 and 45 ms the others wait, or were released; the call at 50 ms is in no place. */
        is_case_in(&c, 1, 0, C, known, 1, 9, 9);
        is_case_in(&c, 1, 0, C, !known, 0, 0, 0);
        is_case_in(&c, 3, 0, C, 1, 1, 10, 10);
        is_case_in(&c, 0, 0, C, 1, 1, 10, 10);
        is_case_in(&c, 2, 0, C, 1, 0, 0, 0);
        uint64_t same = 0;
        for (size_t i = 0; i < c.count; i++)
            same += c.items[i].to == C && !c.items[i].from ? c.items[i].same : 0;
        assert_int_equal(same, 1); /* the one at 50 ms, while the third thread is in C */
        seq_conc_free(&c);
        call_entries_free(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_there),
        cmocka_unit_test(waits_for_what_is_being_written),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(ends_of_the_deepest_are_their_own),
        cmocka_unit_test(overlaps_as_the_definition_says),
        cmocka_unit_test(cases_are_counted),
        cmocka_unit_test(those_that_a_barrier_releases_together_are_concurrent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Summary trees of states: the shares of each pixel are those of the definition. */
#include "base/alloc.h"
#include "base/spilled_array.h"
#include "server/timing/state_summary_tree.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#define ROWS 5u
#define MOST 4000u

struct change {
    uint32_t row;
    struct summary_state state;
    int64_t ns;
    uint64_t at;
};

static struct change told[MOST];
static unsigned told_count;
static unsigned random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 1103515245 + 12345;
    return (random_state >> 8) % n;
}

static struct summary_state random_state_of(void)
{
    if (random_below(6) == 0)
        return (struct summary_state){0, SUMMARY_TREE_NONE};
    uint8_t code = (uint8_t)random_below(SUMMARY_TREE_STATES);
    return (struct summary_state){code ? random_below(4) : 0, code};
}

/* Adds a change of a random row; sometimes at the same position as the previous one, or with an
 * earlier time. */
static void tell(struct summary_tree *p, int64_t *ns, uint64_t *at)
{
    *at += random_below(4) ? random_below(5) : 0;
    *ns += random_below(9) ? (int64_t)random_below(200) : -(int64_t)random_below(50);
    if (random_below(500) == 0)
        *ns += 1000000;
    told[told_count] = (struct change){1 + random_below(ROWS), random_state_of(), *ns, *at};
    for (unsigned i = told_count; i-- > 0 && told[i].at == *at;)
        if (told[i].row == told[told_count].row)
            told[told_count].ns = told[i].ns; /* members of one point have one time */
    struct change *c = &told[told_count++];
    summary_tree_change(p, c->row, c->state, c->ns, c->at);
}

/* ---- the definition ---- */

/* Gets the state intervals of a row: where each begins, and its state. Returns their number. */
static unsigned stretches(uint32_t row, bool by_time, int64_t *from, struct summary_state *states)
{
    struct summary_state now = {0, SUMMARY_TREE_NONE};
    int64_t ns = INT64_MIN;
    unsigned n = 0;
    for (unsigned i = 0; i < told_count; i++) {
        const struct change *c = &told[i];
        bool last = true; /* the last change at its position */
        for (unsigned k = i + 1; k < told_count && told[k].at == c->at; k++)
            last &= told[k].row != row;
        if (c->row != row || !last || summary_tree_same(c->state, now))
            continue;
        ns = c->ns > ns ? c->ns : ns;
        from[n] = by_time ? ns : (int64_t)c->at;
        states[n++] = now = c->state;
    }
    return n;
}

static void expect(const struct summary_tree *p, uint32_t row, const struct summary_range *r,
                   uint32_t first, uint32_t count)
{
    static int64_t from[MOST + 1];
    static struct summary_state states[MOST];
    struct summary_pixel *pixels = xcalloc(count, sizeof *pixels);
    unsigned n = stretches(row, r->by_time, from, states);
    from[n] = n && from[n - 1] > r->end ? from[n - 1] : r->end;
    summary_tree_add_pixels(p, row, r, first, count, pixels);
    for (uint32_t i = 0; i < count; i++) {
        struct summary_pixel e = {0};
        __extension__ typedef __int128 wide;
        wide span = (wide)r->to - r->from, begin = span * (first + i), end = begin + span;
        for (unsigned k = 0; k < n; k++) {
            wide a = ((wide)from[k] - r->from) * r->pixels;
            wide b = ((wide)from[k + 1] - r->from) * r->pixels;
            a = a < begin ? begin : a;
            b = b > end ? end : b;
            if (b <= a)
                continue;
            if (states[k].code < SUMMARY_TREE_STATES)
                e.part[states[k].code] += (uint64_t)(b - a);
            if (states[k].about && (uint64_t)(b - a) > e.longest) {
                e.longest = (uint64_t)(b - a);
                e.about = states[k].about;
            }
        }
        for (unsigned k = 0; k < SUMMARY_TREE_STATES; k++)
            if (e.part[k] != pixels[i].part[k])
                fail_msg("row %u, %lld to %lld, pixel %u of %u, state %u: %llu, not %llu", row,
                         (long long)r->from, (long long)r->to, first + i, r->pixels, k,
                         (unsigned long long)pixels[i].part[k], (unsigned long long)e.part[k]);
        assert_int_equal(pixels[i].longest, e.longest);
        assert_int_equal(pixels[i].about, e.about);
    }
    free(pixels);
}

static void look(const struct summary_tree *p, int64_t ns, uint64_t at)
{
    bool by_time = random_below(2);
    int64_t all = by_time ? ns + 1 : (int64_t)at + 1;
    struct summary_range r = {.by_time = by_time, .end = all};
    r.from = (int64_t)random_below((unsigned)all + 100) - 50;
    r.to = r.from + 1 + (int64_t)random_below(random_below(2) ? (unsigned)all : 300);
    r.pixels = 1 + random_below(random_below(2) ? 40 : 700);
    uint32_t first = random_below(r.pixels), count = 1 + random_below(r.pixels - first);
    for (uint32_t row = 0; row <= ROWS + 1; row++)
        expect(p, row, &r, first, count);
}

/* ---- tests ---- */

static void every_pixel_is_what_the_definition_says(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 12; run++) {
        struct summary_tree *p = summary_tree_new();
        int64_t ns = 0;
        uint64_t at = 0;
        told_count = 0;
        random_state = run + 1;
        unsigned most = run < 6 ? 40 : 1200;
        while (told_count < most) { /* it is read while it grows */
            tell(p, &ns, &at);
            if (random_below(most / 12) == 0)
                look(p, ns, at);
        }
        for (unsigned i = 0; i < 20; i++)
            look(p, ns, at);
        assert_false(summary_tree_full(p));
        summary_tree_free(p);
    }
}

/* Times of years, and the largest window that can be requested. */
static void great_numbers_do_not_overflow(void **state)
{
    (void)state;
    struct summary_tree *p = summary_tree_new();
    int64_t year = (int64_t)365 * 86400 * 1000000000;
    told_count = 0;
    for (unsigned i = 0; i < 300; i++) {
        told[i] =
            (struct change){1, random_state_of(), i * (year / 5) + i, i * (UINT64_C(1) << 48)};
        summary_tree_change(p, 1, told[i].state, told[i].ns, told[i].at);
        told_count++;
    }
    struct summary_range by_time = {true, -7, 61 * year, 997, 60 * year, false, 0};
    struct summary_range by_order = {false, 5, INT64_C(300) << 48, 100000, INT64_C(300) << 48,
                                     false, 0};
    expect(p, 1, &by_time, 0, 997);
    expect(p, 1, &by_order, 50000, 300);
    summary_tree_free(p);
}

/* Discarded ranges are empty; later ones stay unchanged. */
static void what_is_forgotten_leaves_the_rest_as_it_is(void **state)
{
    (void)state;
    struct summary_tree *p = summary_tree_new();
    uint64_t at = 0;
    for (; at < 60000; at++) {
        summary_tree_change(p, 1, (struct summary_state){0, at % 2}, (int64_t)(10 * at), at);
        summary_tree_change(p, 2, (struct summary_state){0, at / 50 % 2}, (int64_t)(10 * at), at);
        if (at > 3000 && at % 100 == 0)
            summary_tree_discard(p, at - 3000);
    }
    for (int64_t from = 57000; from < 59900; from += 100)
        for (uint32_t row = 1; row <= 2; row++) {
            struct summary_pixel pixel = {0};
            struct summary_range r = {false, from, from + 100, 1, (int64_t)at, false, 0};
            summary_tree_add_pixels(p, row, &r, 0, 1, &pixel);
            assert_int_equal(pixel.part[0], 50);
            assert_int_equal(pixel.part[1], 50);
        }
    struct summary_pixel all = {0};
    struct summary_range r = {false, 0, (int64_t)at, 1, (int64_t)at, false, 0};
    summary_tree_add_pixels(p, 1, &r, 0, 1, &all);
    assert_in_range(all.part[0] + all.part[1], 3000, SPILLED_CHUNK_BYTES > 10000 ? 60000 : 30000);
    summary_tree_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pixel_is_what_the_definition_says),
        cmocka_unit_test(great_numbers_do_not_overflow),
        cmocka_unit_test(what_is_forgotten_leaves_the_rest_as_it_is),
    };
    return cmocka_run_group_tests_name("pyramid", tests, NULL, NULL);
}

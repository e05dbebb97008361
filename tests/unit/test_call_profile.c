/* Sums of calls (server/timing/call_profile.h), compared with a list of all calls. */
#include "base/alloc.h"
#include "server/timing/call_profile.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 7u
#define DEEPEST 60u

/* A thread that makes calls, and the list of its calls. */
struct one_call {
    uint32_t function, caller; /* caller 0: the thread itself */
    int64_t begin, end, inside; /* inside: time in the calls that it made */
    bool outermost;
};

struct calling {
    struct call_context_thread thread;
    uint32_t scopes[4096];
    struct frame {
        uint32_t context, lands, call;
        int64_t began, own, ran;
    } frames[DEEPEST + 1];
    unsigned depth;
    uint32_t open[FUNCTIONS + 1]; /* by function: number of open calls */
    int64_t now;
    struct one_call *calls;
    uint32_t call_count;
};

static uint32_t new_context(struct calling *c, uint32_t parent, uint32_t function)
{
    uint32_t index = (uint32_t)c->thread.count;
    assert_true(index < 4096);
    c->thread.items =
        array_reserve_zeroed(c->thread.items, &c->thread.room, index + 1, sizeof *c->thread.items);
    c->thread.items[index].sums = (struct snapshot_context){
        .index = index, .is = {.parent = parent, .lands = index}, .least_ns = UINT64_MAX};
    c->scopes[index] = function;
    c->thread.count++;
    return index;
}

static void begin(struct calling *c)
{
    memset(c, 0, sizeof *c);
    new_context(c, 0, 0);
    c->frames[0] = (struct frame){0};
    c->depth = 1;
}

static void end(struct calling *c)
{
    free(c->thread.items);
    free(c->calls);
}

static uint32_t context_of(struct calling *c, uint32_t parent, uint32_t function)
{
    for (uint32_t i = 1; i < c->thread.count; i++)
        if (c->thread.items[i].sums.is.parent == parent && c->scopes[i] == function)
            return i;
    uint32_t made = new_context(c, parent, function);
    for (uint32_t up = parent; up; up = c->thread.items[up].sums.is.parent)
        if (c->scopes[up] == function)
            c->thread.items[made].sums.is.lands = up; /* the outermost context remains */
    return made;
}

/* Begins a call by the rule of wire/profile_region.h: a recursive call counts for the context of
 * the outer one. */
static void enter(struct calling *c, uint32_t function, int64_t after)
{
    struct frame *up = &c->frames[c->depth - 1], *f = &c->frames[c->depth++];
    c->now += after;
    up->own += c->now - up->ran;
    uint32_t context = context_of(c, up->lands, function);
    bool outermost = true;
    for (unsigned i = 1; i + 1 < c->depth; i++)
        outermost &= c->scopes[c->frames[i].context] != function;
    struct one_call call = {.function = function,
                            .caller = c->scopes[up->context],
                            .begin = c->now,
                            .outermost = outermost};
    ARRAY_PUSH(c->calls, c->call_count, call);
    *f = (struct frame){.context = context,
                        .lands = c->thread.items[context].sums.is.lands,
                        .call = c->call_count - 1,
                        .began = c->now,
                        .ran = c->now};
    c->thread.items[context].sums.calls++;
    c->open[function]++;
}

static void leave(struct calling *c, int64_t after)
{
    struct frame *f = &c->frames[--c->depth], *up = f - 1;
    struct snapshot_context *sums = &c->thread.items[f->context].sums;
    struct one_call *call = &c->calls[f->call];
    c->now += after;
    f->own += c->now - f->ran;
    up->ran = c->now;
    uint64_t real = (uint64_t)(c->now - f->began);
    sums->own_ns += (uint64_t)f->own;
    sums->ended++;
    if (--c->open[c->scopes[f->context]] == 0)
        sums->real_ns += real;
    sums->least_ns = real < sums->least_ns ? real : sums->least_ns;
    sums->most_ns = real > sums->most_ns ? real : sums->most_ns;
    call->end = c->now;
    if (c->depth > 1)
        c->calls[up->call].inside += call->end - call->begin;
}

static const struct call_sums *function(const struct call_profile *calls, uint32_t scope)
{
    for (size_t i = 0; i < calls->function_count; i++)
        if (calls->functions[i].scope == scope)
            return &calls->functions[i].sums;
    return NULL;
}

static const struct call_sums *arc(const struct call_profile *calls, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < calls->arc_count; i++)
        if (calls->functions[calls->arcs[i].from].scope == from &&
            calls->functions[calls->arcs[i].to].scope == to)
            return &calls->arcs[i].sums;
    return NULL;
}

static void count_arcs(const struct calling *callings, unsigned threads, uint32_t f,
                       uint64_t counts[FUNCTIONS + 1])
{
    memset(counts, 0, (FUNCTIONS + 1) * sizeof *counts);
    for (unsigned t = 0; t < threads; t++)
        for (uint32_t i = 0; i < callings[t].call_count; i++)
            if (callings[t].calls[i].function == f)
                counts[callings[t].calls[i].caller]++;
}

/* ---- checks ---- */

static void check_function(const struct call_profile *calls, const struct calling *callings,
                           unsigned threads, uint32_t f)
{
    uint64_t count = 0, counts[FUNCTIONS + 1];
    int64_t self = 0, total = 0, least = INT64_MAX, most = 0;
    for (unsigned t = 0; t < threads; t++)
        for (uint32_t i = 0; i < callings[t].call_count; i++) {
            const struct one_call *c = &callings[t].calls[i];
            int64_t took = c->end - c->begin;
            if (c->function != f)
                continue;
            count++;
            self += took - c->inside;
            total += c->outermost ? took : 0;
            least = took < least ? took : least;
            most = took > most ? took : most;
        }
    const struct call_sums *sums = function(calls, f);
    assert_int_equal(count, sums ? sums->calls : 0);
    if (!sums)
        return;
    assert_int_equal(self, sums->self_ns);
    assert_int_equal(total, sums->total_ns);
    assert_int_equal(least, sums->least_ns);
    assert_int_equal(most, sums->most_ns);
    count_arcs(callings, threads, f, counts);
    for (uint32_t from = 0; from <= FUNCTIONS; from++) {
        const struct call_sums *of = arc(calls, from, f);
        assert_int_equal(counts[from], of ? of->calls : 0);
    }
}

/* Checks that the cycles are those of the transitive closure of the calls. */
static void check_cycles(const struct call_profile *calls)
{
    bool reach[FUNCTIONS + 1][FUNCTIONS + 1] = {{false}};
    for (uint32_t a = 0; a <= FUNCTIONS; a++)
        for (uint32_t b = 0; b <= FUNCTIONS; b++)
            reach[a][b] = arc(calls, a, b) != NULL;
    for (uint32_t k = 0; k <= FUNCTIONS; k++)
        for (uint32_t a = 0; a <= FUNCTIONS; a++)
            for (uint32_t b = 0; b <= FUNCTIONS; b++)
                reach[a][b] |= reach[a][k] && reach[k][b];
    for (size_t i = 0; i < calls->function_count; i++)
        for (size_t k = 0; k < calls->function_count; k++) {
            const struct call_function *a = &calls->functions[i], *b = &calls->functions[k];
            bool same = reach[a->scope][b->scope] && reach[b->scope][a->scope];
            assert_int_equal(same, a->cycle && a->cycle == b->cycle);
        }
}

/* Checks that the sums of the tree equal those of the functions. */
static void check_tree(const struct call_profile *calls)
{
    struct call_sums all = {0}, tree = {0};
    for (size_t i = 0; i < calls->function_count; i++)
        call_profile_sum(&all, &calls->functions[i].sums);
    for (size_t i = 0; i < calls->node_count; i++) {
        call_profile_sum(&tree, &calls->nodes[i].sums);
        assert_true(i == 0 || calls->nodes[i].parent < i);
    }
    assert_int_equal(all.calls, tree.calls);
    assert_int_equal(all.self_ns, tree.self_ns);
    assert_int_equal(all.total_ns, tree.total_ns);
}

static uint32_t any_function(uint32_t least)
{
    least = least ? least : 1;
    return least + (uint32_t)rand() % (FUNCTIONS + 1 - least);
}

/* ordered: a function calls only itself and later ones, so that each cycle has one member. */
static void run_at_random(struct calling *c, unsigned steps, bool ordered)
{
    begin(c);
    for (unsigned i = 0; i < steps; i++) {
        bool in = c->depth == 1 || (rand() % 2 && c->depth <= 8);
        if (in)
            enter(c, any_function(ordered ? c->scopes[c->frames[c->depth - 1].context] : 0),
                  rand() % 10);
        else
            leave(c, rand() % 10);
    }
    while (c->depth > 1)
        leave(c, 1);
}

static void sums_are_those_of_all_calls(void **state)
{
    static struct calling callings[3];
    (void)state;
    srand(4711);
    for (unsigned round = 0; round < 300; round++) {
        struct call_profile calls = {0};
        unsigned threads = 1 + round % 3;
        for (unsigned t = 0; t < threads; t++) {
            run_at_random(&callings[t], 5 + round % 60, round % 2);
            call_profile_add(&calls, &callings[t].thread, callings[t].scopes);
        }
        call_profile_find_cycles(&calls);
        for (uint32_t f = 1; f <= FUNCTIONS; f++)
            check_function(&calls, callings, threads, f);
        check_cycles(&calls);
        check_tree(&calls);
        call_profile_free(&calls);
        for (unsigned t = 0; t < threads; t++)
            end(&callings[t]);
    }
}

/* Figure 7 of Malony: a recursive function takes no longer than its outermost call. */
static void recursion_is_counted_once(void **state)
{
    static struct calling c;
    struct call_profile calls = {0};
    (void)state;
    begin(&c);
    enter(&c, 1, 0);
    enter(&c, 1, 20);
    leave(&c, 10);
    leave(&c, 0);
    call_profile_add(&calls, &c.thread, c.scopes);
    call_profile_find_cycles(&calls);
    assert_int_equal(function(&calls, 1)->calls, 2);
    assert_int_equal(function(&calls, 1)->total_ns, 30);
    assert_int_equal(function(&calls, 1)->self_ns, 30);
    assert_int_equal(arc(&calls, 1, 1)->calls, 1);
    assert_false(arc(&calls, 1, 1)->total);
    assert_int_equal(calls.cycles, 1);
    call_profile_free(&calls);
    end(&c);
}

/* Two threads, one with a recursive call: three calls, 60 ns. */
static void threads_add_up(void **state)
{
    static struct calling c[2];
    struct call_profile calls = {0};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin(&c[i]);
        enter(&c[i], 1, 0);
        if (i)
            enter(&c[i], 1, 20);
        leave(&c[i], i ? 10 : 30);
        if (i)
            leave(&c[i], 0);
        call_profile_add(&calls, &c[i].thread, c[i].scopes);
    }
    assert_int_equal(function(&calls, 1)->calls, 3);
    assert_int_equal(function(&calls, 1)->total_ns, 60);
    call_profile_free(&calls);
    end(&c[0]);
    end(&c[1]);
}

/* Friedman: the gross time less the overhead of the entry and of each call that was made. */
static void measuring_is_taken_off(void **state)
{
    static struct calling c;
    struct call_profile calls = {0};
    (void)state;
    begin(&c);
    c.thread.head.enter_ps = 2000;
    c.thread.head.exit_ps = 1500;
    enter(&c, 1, 0);
    for (unsigned i = 0; i < 10; i++) {
        enter(&c, 2, 3);
        leave(&c, i == 0 ? 12 : 1);
    }
    leave(&c, 5);
    call_profile_add(&calls, &c.thread, c.scopes);
    assert_int_equal(function(&calls, 1)->self_ns, 35);
    assert_int_equal(call_profile_net(function(&calls, 1)), 35 - 2 - 15);
    assert_int_equal(function(&calls, 2)->self_ns, 21);
    assert_int_equal(call_profile_net(function(&calls, 2)), 1);
    calls.functions[2].sums.self_ns = 19;
    assert_int_equal(call_profile_net(&calls.functions[2].sums), 0);
    struct call_sums all = call_profile_all(&calls);
    assert_int_equal(all.calls, 11);
    call_profile_free(&calls);
    end(&c);
}

/* Samples: those at instructions belong to their function, waits are as ever. */
static void samples_are_those_of_functions(void **state)
{
    static const struct snapshot_context contexts[] = {
        {.index = 0, .own_ns = 1, .concurrent = 0, .is = {0, 0, SCOPE_FUNCTION}},
        {.index = 1, .is = {0, 1, SCOPE_FUNCTION}, .calls = 7, .real_ns = 97},
        {.index = 2, .is = {1, 2, SCOPE_POINT}, .calls = 3, .concurrent = 3, .own_ns = 30},
        {.index = 3, .is = {1, 3, SCOPE_FUNCTION}, .calls = 4, .real_ns = 67},
        {.index = 4, .is = {3, 4, SCOPE_POINT}, .calls = 4, .concurrent = 4, .own_ns = 40},
        {.index = 5,
         .is = {3, 5, SCOPE_WAITED},
         .calls = 2,
         .ended = 2,
         .real_ns = 27,
         .off_ns = 27},
    };
    static const uint32_t scopes[] = {0, 1, 1, 2, 2, 3};
    struct call_context items[6] = {{.type = 0}};
    struct call_context_thread thread = {
        .head.flags = SNAPSHOT_CPU | SNAPSHOT_SAMPLED, .items = items, .count = 6};
    struct call_profile calls = {0};
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        items[i].sums = contexts[i];
        items[i].sums.least_ns = i == 5 ? 10 : UINT64_MAX;
    }
    call_profile_add(&calls, &thread, scopes);
    const struct call_sums *outer = function(&calls, 1), *inner = function(&calls, 2),
                           *wait = function(&calls, 3);
    assert_int_equal(outer->samples, 3);
    assert_int_equal(outer->reached, 7);
    assert_int_equal(outer->self_ns, 30);
    assert_int_equal(outer->total_ns, 97);
    assert_int_equal(outer->calls + inner->calls, 0);
    assert_int_equal(inner->samples, 4);
    assert_int_equal(inner->total_ns, 67);
    assert_false(wait->sampled);
    assert_int_equal(wait->calls, 2);
    assert_int_equal(wait->self_ns, 27);
    assert_int_equal(calls.node_count, 4); /* not of instructions */
    assert_int_equal(calls.functions[0].sums.cpu_ns, 1);
    assert_int_equal(calls.arc_count, 3);
    for (unsigned i = 0; i < 3; i++) /* each function has one caller, which has all of its time */
        assert_int_equal(calls.arcs[i].sums.self_ns,
                         calls.functions[calls.arcs[i].to].sums.self_ns);
    call_profile_free(&calls);
}

static void a_long_chain_is_no_trouble(void **state)
{
    struct call_context_thread thread = {0};
    struct call_profile calls = {0};
    uint32_t n = 100000, *scopes = xcalloc(n, sizeof *scopes);
    (void)state;
    thread.items = xcalloc(n, sizeof *thread.items);
    thread.count = n;
    for (uint32_t i = 0; i < n; i++) {
        thread.items[i].sums =
            (struct snapshot_context){.index = i, .is = {i ? i - 1 : 0, i, 0, 0}, .least_ns = 1};
        scopes[i] = i ? 1 + i % 50000 : 0;
    }
    call_profile_add(&calls, &thread, scopes);
    call_profile_find_cycles(&calls);
    assert_int_equal(calls.cycles, 1);
    assert_int_equal(calls.node_count, n);
    call_profile_free(&calls);
    free(scopes);
    free(thread.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_all_calls),
        cmocka_unit_test(recursion_is_counted_once),
        cmocka_unit_test(threads_add_up),
        cmocka_unit_test(measuring_is_taken_off),
        cmocka_unit_test(samples_are_those_of_functions),
        cmocka_unit_test(a_long_chain_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Measured calls of a thread, compared with a model: a list of the functions that are open. */
#include "clients/libpoet/profile/call_log.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/count_fast_path.h"
#include "clients/libpoet/core/tracer.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- replacements for the rest of libpoet: a clock of the test ---- */

static uint64_t ticks = 1000;
uint64_t tracer_clock_now_in_unit(uint32_t unit) { return ticks; }
uint64_t tracer_clock_now(void) { return ticks; }
void call_log_begin(struct thread_profile *m, const struct profile_region_frame *frame,
                    uint32_t context, uint64_t now)
{
}
void call_log_end(struct thread_profile *m, const struct profile_region_frame *frame,
                  uint32_t context, uint64_t now)
{
}

/* The CPU clock of the test: the thread did not run during `idle` of all ticks. */
static uint64_t idle;
bool cpu_gap_check(struct thread_profile *m, const struct profile_region_frame *innermost)
{
    sum_add(&contexts_of(m)[innermost->context].off, idle - m->off);
    m->off = idle;
    m->last = ticks;
    return true;
}
uint64_t cpu_gap_now(struct thread_profile *m)
{
    cpu_gap_check(m, call_stack_top(m));
    return ticks;
}

#define FUNCTIONS 7u
#define DEEP 64u

static struct thread_profile *begin(void)
{
    struct thread_profile *m = calloc(1, sizeof *m);
    m->room = REGION_FRAMES;
    m->head =
        mmap(NULL, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m->next = 1;
    m->gap = 10;
    m->last = ticks;
    idle = 0;
    atomic_store(&m->head->contexts, 1);
    atomic_store(&m->head->depth, 1);
    contexts_of(m)[0].open = 1;
    frames_of(m)[0] =
        (struct profile_region_frame){.stack = OUTERMOST, .began = ticks, .ran = ticks};
    return m;
}

static void end(struct thread_profile *m)
{
    munmap(m->head, REGION_MAP_BYTES);
    free(m);
}

/* ---- the model ---- */

struct model {
    /* functions, from 1; a counted-only one is replaced by its caller */
    unsigned depth, open[DEEP];
    unsigned function[DEEP];
    uint64_t stack[DEEP];
    char path[DEEP][DEEP * 2]; /* the context that counts each call */
    char lands[DEEP][DEEP * 2]; /* the context below which its calls are counted */
    uint64_t real[FUNCTIONS + 1], own[FUNCTIONS + 1]; /* by function; 0: the thread itself */
    uint64_t off[FUNCTIONS + 1]; /* the part of own in which the thread did not run */
    struct counted {
        char path[DEEP * 2];
        uint64_t calls;
    } counted[4096]; /* one for each call; each_once() merges those of one path */
    unsigned paths;
};

static void pass(struct model *o, uint64_t time)
{
    bool seen[FUNCTIONS + 1] = {false};
    for (unsigned i = 0; i < o->depth; i++)
        if (!seen[o->open[i]]) {
            seen[o->open[i]] = true;
            o->real[o->open[i]] += time;
        }
    o->own[o->depth ? o->open[o->depth - 1] : 0] += time;
    ticks += time;
}

/* Lets the thread sleep for longer than the gap after which its CPU clock is read. */
static void sleep_for(struct model *o, uint64_t time)
{
    pass(o, time);
    idle += time;
    o->off[o->depth ? o->open[o->depth - 1] : 0] += time;
}

static void count(struct model *o, const char *path)
{
    assert_true(o->paths < 4096);
    strcpy(o->counted[o->paths].path, path);
    o->counted[o->paths++].calls = 1;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct counted *)a)->path, ((const struct counted *)b)->path);
}

/* Sorts the items and merges those with the same path; returns the remaining number. */
static unsigned each_once(struct counted *all, unsigned count)
{
    unsigned n = 0;
    qsort(all, count, sizeof *all, by_path);
    for (unsigned i = 0; i < count; i++)
        if (n && strcmp(all[n - 1].path, all[i].path) == 0)
            all[n - 1].calls += all[i].calls;
        else
            all[n++] = all[i];
    return n;
}

static unsigned counted_only; /* a bit mask of functions */

static enum function_measurement pick(uint64_t function)
{
    return counted_only >> (function >> 20) & 1 ? MEASUREMENT_COUNTED : MEASUREMENT_FULL;
}

static uint32_t wanted = WANTED_COUNTS | WANTED_REAL;
static unsigned straight; /* calls that took the fast path of counted-only functions */

/* Do what the hooks do. */
static void enter(struct thread_profile *m, uint64_t function, uint64_t stack)
{
    if (!(wanted & WANTED_REAL) && fast_path_enter(m, function, 0, stack))
        straight++;
    else
        call_stack_function_enter(m, wanted, function, 0, SCOPE_FUNCTION, stack);
}

static void leave(struct thread_profile *m, uint64_t function, uint64_t stack)
{
    if (!fast_path_exit(m, function))
        call_stack_function_exit(m, wanted, function, stack);
}

static void call(struct thread_profile *m, struct model *o, unsigned function)
{
    const char *up = o->depth ? o->lands[o->depth - 1] : "";
    char *path = o->path[o->depth], *lands = o->lands[o->depth];
    bool is_counted = pick((uint64_t)function << 20) == MEASUREMENT_COUNTED;
    snprintf(path, DEEP * 2, "%s/%u", up, function);
    strcpy(lands, is_counted ? up : path);
    char *outer = strstr(up, path + strlen(up));
    if (outer && !is_counted)
        snprintf(lands, DEEP * 2, "%.*s", (int)(outer - up) + 2, up);
    count(o, path);
    o->stack[o->depth] = (o->depth ? o->stack[o->depth - 1] : 1u << 30) - 256;
    o->function[o->depth] = function;
    o->open[o->depth] = !is_counted ? function : o->depth ? o->open[o->depth - 1] : 0;
    o->depth++;
    enter(m, function << 20, o->stack[o->depth - 1]);
}

/* Ends the call at a depth; calls within it have ended without a hook. */
static void finish(struct thread_profile *m, struct model *o, unsigned depth)
{
    o->depth = depth;
    leave(m, (uint64_t)o->function[depth] << 20, o->stack[depth]);
}

/* Gets the paths and counts of the region's contexts; a parent comes before its children. */
static unsigned counted_in(const struct thread_profile *m, struct counted *all)
{
    unsigned n = atomic_load(&m->head->contexts);
    assert_true(n <= 4096);
    all[0] = (struct counted){"", 0};
    for (uint32_t c = 1; c < n; c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        assert_true(is->parent < c);
        int length = snprintf(all[c].path, sizeof all->path, "%s/%u", all[is->parent].path,
                              (unsigned)(is->function >> 20));
        assert_true(length < (int)sizeof all->path);
        all[c].calls = atomic_load(&is->calls);
    }
    memmove(all, all + 1, (n - 1) * sizeof *all); /* without the thread itself */
    return each_once(all, n - 1);
}

static uint64_t calls_at(const struct thread_profile *m, const char *path)
{
    static struct counted all[4096];
    unsigned n = counted_in(m, all);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(all[i].path, path) == 0)
            return all[i].calls;
    return 0;
}

static void compare_counts(struct thread_profile *m, struct model *o)
{
    static struct counted all[4096];
    o->paths = each_once(o->counted, o->paths);
    assert_int_equal(counted_in(m, all), o->paths);
    for (unsigned i = 0; i < o->paths; i++) {
        assert_string_equal(all[i].path, o->counted[i].path);
        assert_int_equal(all[i].calls, o->counted[i].calls);
    }
}

static void compare(struct thread_profile *m, struct model *o)
{
    uint64_t real[FUNCTIONS + 1] = {0}, own[FUNCTIONS + 1] = {0}, off[FUNCTIONS + 1] = {0};
    compare_counts(m, o);
    for (uint32_t c = 1; c < atomic_load(&m->head->contexts); c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        real[is->function >> 20] += is->lands == c ? atomic_load(&is->real) : 0;
        own[is->function >> 20] += atomic_load(&is->own);
        off[is->function >> 20] += atomic_load(&is->off);
        assert_int_equal(atomic_load(&is->calls), atomic_load(&is->ended));
        assert_int_equal(is->scope == SCOPE_COUNTED, counted_only >> (is->function >> 20) & 1);
        if (is->scope != SCOPE_COUNTED)
            assert_true(atomic_load(&is->real_least) <= atomic_load(&is->real_most));
        else
            assert_int_equal(atomic_load(&is->real) | atomic_load(&is->own), 0);
    }
    for (unsigned f = 1; f <= FUNCTIONS; f++) {
        assert_int_equal(real[f], o->real[f]);
        assert_int_equal(own[f], o->own[f] - o->off[f]);
        assert_int_equal(off[f], o->off[f]);
    }
    assert_int_equal(atomic_load(&frames_of(m)[0].own), o->own[0] - o->off[0]);
}

static void one_life(bool unseen)
{
    static struct model o;
    struct thread_profile *m = begin();
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 2000; i++) {
        pass(&o, (uint64_t)rand() % 10);
        if (wanted & WANTED_CPU && rand() % 8 == 0)
            sleep_for(&o, 11 + (uint64_t)rand() % 1000);
        if (o.depth < 30 && rand() % 100 < 55)
            call(m, &o, 1 + (unsigned)rand() % FUNCTIONS);
        else if (o.depth && (!unseen || rand() % 4))
            finish(m, &o, o.depth - 1);
        else if (o.depth) { /* as longjmp() to a function that is open */
            o.depth = 1 + (unsigned)rand() % o.depth;
            call_stack_cut(m, wanted, o.stack[o.depth - 1]);
        }
    }
    while (o.depth)
        finish(m, &o, o.depth - 1);
    call(m, &o, 1); /* adds the time of the thread itself until now */
    finish(m, &o, 0);
    compare(m, &o);
    assert_int_equal(atomic_load(&m->head->mismatched), 0);
    assert_int_equal(atomic_load(&m->head->depth), 1);
    end(m);
}

static void calls_are_what_is_open(void **state)
{
    for (int i = 0; i < 200; i++)
        one_life(i % 2);
}

/* However calls end, running time and the rest are separate, and no time is counted twice. */
static void time_on_the_processor_is_told_apart(void **state)
{
    wanted |= WANTED_CPU;
    for (int i = 0; i < 200; i++)
        one_life(i % 2);
    wanted &= ~WANTED_CPU;
}

/* The time of counted-only functions, and of what they call, belongs to their callers. */
static void calls_may_be_counted_only(void **state)
{
    atomic_store(&tracer.profile.filter, pick);
    for (int i = 0; i < 40; i++) {
        counted_only = (unsigned)rand() & 0xfc;
        one_life(i % 2);
    }
    counted_only = 0;
    atomic_store(&tracer.profile.filter, NULL);
}

/* If timing is switched on and off while calls are open, each call ends as it began: counted or
 * timed. */
static void times_may_be_wanted_now_and_then(void **state)
{
    static struct model o;
    straight = 0;
    for (int life = 0; life < 40; life++) {
        struct thread_profile *m = begin();
        memset(&o, 0, sizeof o);
        for (int i = 0; i < 2000; i++) {
            if (rand() % 50 == 0)
                wanted ^= WANTED_REAL;
            ticks++;
            if (o.depth < 30 && rand() % 100 < 55)
                call(m, &o, 1 + (unsigned)rand() % FUNCTIONS);
            else if (o.depth)
                finish(m, &o, o.depth - 1);
        }
        while (o.depth)
            finish(m, &o, o.depth - 1);
        compare_counts(m, &o);
        for (uint32_t c = 1; c < atomic_load(&m->head->contexts); c++) {
            assert_int_equal(sum_of(&contexts_of(m)[c].calls), sum_of(&contexts_of(m)[c].ended));
            assert_int_equal(contexts_of(m)[c].open, 0);
        }
        for (unsigned i = 1; i < DEEP; i++)
            assert_int_equal(sum_of(&frames_of(m)[i].began), 0);
        assert_int_equal(call_stack_depth(m), 1);
        assert_int_equal(atomic_load(&m->head->mismatched), 0);
        end(m);
    }
    assert_true(straight > 1000);
    wanted = WANTED_COUNTS | WANTED_REAL;
}

#define THROTTLED (WANTED_COUNTS | WANTED_REAL | WANTED_THROTTLE)

static void one(struct thread_profile *m, uint64_t function, uint64_t stack, uint64_t took)
{
    call_stack_function_enter(m, THROTTLED, function, 0, SCOPE_FUNCTION, stack);
    ticks += took;
    call_stack_function_exit(m, THROTTLED, function, stack);
}

/* Calls a function recursively; the throttle may take effect at the innermost call. */
static void thrice(struct thread_profile *m, uint64_t function, uint64_t stack)
{
    for (int i = 0; i < 3; i++) {
        call_stack_function_enter(m, THROTTLED, function, 0, SCOPE_FUNCTION,
                                  stack - 256u * (unsigned)i);
        ticks++;
    }
    for (int i = 3; i-- > 0;)
        call_stack_function_exit(m, THROTTLED, function, stack - 256u * (unsigned)i);
}

static uint64_t calls_of(const struct thread_profile *m, uint64_t function, uint32_t scope)
{
    uint64_t calls = 0;
    for (uint32_t c = 1; c < atomic_load(&m->head->contexts); c++)
        if (contexts_of(m)[c].function == function && contexts_of(m)[c].scope == scope)
            calls += sum_of(&contexts_of(m)[c].calls);
    return calls;
}

/* A function is throttled after 2^17 calls that take less than twice the overhead, which is 10
 * ticks here. */
static void what_is_short_and_often_becomes_counted_only(void **state)
{
    struct thread_profile *m = begin();
    uint64_t top = (uint64_t)1 << 40, outer = 1 << 20, brief = 2 << 20, lengthy = 3 << 20,
             itself = 4 << 20, from = ticks, own = 0;
    m->head->enter_256 = m->head->exit_256 = 5 * 256;
    call_stack_function_enter(m, THROTTLED, outer, 0, SCOPE_FUNCTION, top);
    for (unsigned i = 0; i < 140000; i++) {
        one(m, brief, top - 256, 19);
        one(m, lengthy, top - 256, 20);
        thrice(m, itself, top - 256);
        assert_int_equal(call_stack_depth(m), 2);
    }
    ticks += 3;
    call_stack_function_exit(m, THROTTLED, outer, top);
    assert_int_equal(calls_of(m, brief, SCOPE_FUNCTION), 1 << 17);
    assert_int_equal(calls_of(m, brief, SCOPE_COUNTED), 140000 - (1 << 17));
    assert_int_equal(calls_of(m, lengthy, SCOPE_FUNCTION), 140000);
    assert_true(calls_of(m, itself, SCOPE_COUNTED) > 0);
    assert_int_equal(calls_of(m, itself, SCOPE_COUNTED) + calls_of(m, itself, SCOPE_FUNCTION),
                     3 * 140000);
    for (uint32_t c = 0; c < atomic_load(&m->head->contexts); c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        own += sum_of(&is->own);
        if (is->scope == SCOPE_COUNTED)
            assert_true(sum_of(&is->real) > from && sum_of(&is->real) < ticks);
    }
    assert_int_equal(own, ticks - from);
    assert_int_equal(atomic_load(&m->head->mismatched), 0);
    assert_int_equal(call_stack_depth(m), 1);
    end(m);
}

/* A call with a missed end is ended by the end of an outer call, or by the next call that is
 * higher up the stack. */
static void unseen_ends_come_out(void **state)
{
    static struct model o;
    struct thread_profile *m = begin();
    memset(&o, 0, sizeof o);
    call(m, &o, 1);
    call(m, &o, 2);
    call(m, &o, 3);
    finish(m, &o, 0); /* as after an exception through code without exit hooks */
    call(m, &o, 4);
    call(m, &o, 5);
    o.depth = 1;
    /* at the same depth as the call that ended, not higher: 5 is taken to be still open */
    call(m, &o, 6);
    assert_int_equal(call_stack_depth(m), 1 + 3);
    o.depth = 0;
    call(m, &o, 7); /* at the address of 4: it has ended, with all calls in it */
    assert_int_equal(call_stack_depth(m), 1 + 2);
    call_stack_function_exit(m, WANTED_COUNTS, 99, o.stack[0]);
    assert_int_equal(atomic_load(&m->head->mismatched), 1);
    end(m);
}

static void what_is_too_deep_is_counted(void **state)
{
    struct thread_profile *m = begin();
    uint64_t top = (uint64_t)1 << 40, n = REGION_FRAMES + 1000;
    for (uint64_t i = 0; i < n; i++)
        call_stack_function_enter(m, WANTED_COUNTS, 1 << 20, 0, SCOPE_FUNCTION, top - 256 * i);
    /* one frame is that of the thread itself */
    assert_int_equal(atomic_load(&m->head->deep), 1001);
    for (uint64_t i = n; i-- > 0;)
        call_stack_function_exit(m, WANTED_COUNTS, 1 << 20, top - 256 * i);
    assert_int_equal(calls_at(m, "/1"), 1);
    assert_int_equal(calls_at(m, "/1/1"), n - 1);
    assert_int_equal(call_stack_depth(m), 1);
    assert_int_equal(atomic_load(&m->head->mismatched), 0);
    end(m);
}

/* A function has one context for each call site; recursive calls count for the outer context,
 * wherever both were called from. */
static void a_context_is_of_one_call_site(void **state)
{
    struct thread_profile *m = begin();
    uint64_t top = (uint64_t)1 << 40;
    for (unsigned i = 0; i < 5; i++) {
        call_stack_function_enter(m, WANTED_COUNTS, 1 << 20, i < 2 ? 0x77 : 0x99, SCOPE_FUNCTION,
                                  top);
        call_stack_function_enter(m, WANTED_COUNTS, 1 << 20, 0x55, SCOPE_FUNCTION, top - 256);
        call_stack_function_exit(m, WANTED_COUNTS, 1 << 20, top - 256);
        call_stack_function_exit(m, WANTED_COUNTS, 1 << 20, top);
    }
    assert_int_equal(atomic_load(&m->head->contexts), 5);
    for (uint32_t c = 1; c < 5; c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        assert_int_equal(is->site, is->parent ? 0x55 : c == 1 ? 0x77 : 0x99);
        assert_int_equal(is->lands, is->parent ? is->parent : c);
        assert_int_equal(is->first, is->parent ? c : 1);
        assert_int_equal(sum_of(&is->calls), c < 3 ? 2 : 3);
    }
    end(m);
}

/* If there is no space for more contexts, calls are counted in contexts below a common one, one
 * for each function. */
static void what_finds_no_room_counts_for_its_function(void **state)
{
    struct thread_profile *m = begin();
    static uint64_t made[1024], counted[1024];
    uint64_t top = (uint64_t)1 << 40, n = 0, others = 0;
    /* the contexts of one caller form a list */
    for (uint64_t f = 1; n <= REGION_CONTEXTS; f++, n++) {
        call_stack_function_enter(m, WANTED_COUNTS, f << 20, 0, SCOPE_FUNCTION, top);
        made[f]++;
        for (uint64_t in = 1; in <= 300; in++, n++) {
            call_stack_function_enter(m, WANTED_COUNTS, (f + in) << 20, 0, SCOPE_FUNCTION,
                                      top - 256);
            call_stack_function_exit(m, WANTED_COUNTS, (f + in) << 20, top - 256);
            made[f + in]++;
        }
        call_stack_function_exit(m, WANTED_COUNTS, f << 20, top);
    }
    for (uint32_t c = 1; c < atomic_load(&m->head->contexts); c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        counted[is->function >> 20] += atomic_load(&is->calls);
        others += contexts_of(m)[is->parent].scope == SCOPE_OTHER ? atomic_load(&is->calls) : 0;
    }
    assert_memory_equal(counted, made, sizeof made);
    assert_int_equal(others, atomic_load(&m->head->folded));
    assert_true(others > 0);
    end(m);
}

/* If there is no space for these either, the rest is counted in the common context itself. */
static void what_finds_no_room_at_all_is_other(void **state)
{
    struct thread_profile *m = begin();
    uint64_t top = (uint64_t)1 << 40, n = 0, callers = 0, calls = 0;
    for (uint64_t f = 1; n <= REGION_CONTEXTS + 2000; f++) {
        call_stack_function_enter(m, WANTED_COUNTS, f << 20, 0, SCOPE_FUNCTION, top);
        for (uint64_t in = 0; in < 300; in++, n++) {
            uint64_t callee = (1 << 20) + f * 300 + in;
            call_stack_function_enter(m, WANTED_COUNTS, callee << 20, 0, SCOPE_FUNCTION, top - 256);
            call_stack_function_exit(m, WANTED_COUNTS, callee << 20, top - 256);
        }
        call_stack_function_exit(m, WANTED_COUNTS, f << 20, top);
        callers++;
    }
    for (uint32_t c = 1; c < atomic_load(&m->head->contexts); c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        calls += is->scope == SCOPE_OTHER ? atomic_load(&is->calls) : 0;
        if (is->scope == SCOPE_FUNCTION)
            assert_int_equal(atomic_load(&is->calls), 1);
        n -= is->function >> 20 > 1 << 20;
        callers -= is->function && is->function >> 20 < 1 << 20;
    }
    assert_true(calls > 0);
    assert_int_equal(calls, n + callers);
    end(m);
}

int main(void)
{
    tracer.threads.running = 1;
    srand(7);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_what_is_open),
        cmocka_unit_test(time_on_the_processor_is_told_apart),
        cmocka_unit_test(unseen_ends_come_out),
        cmocka_unit_test(what_is_too_deep_is_counted),
        cmocka_unit_test(a_context_is_of_one_call_site),
        cmocka_unit_test(what_finds_no_room_counts_for_its_function),
        cmocka_unit_test(what_finds_no_room_at_all_is_other),
        cmocka_unit_test(calls_may_be_counted_only),
        cmocka_unit_test(times_may_be_wanted_now_and_then),
        cmocka_unit_test(what_is_short_and_often_becomes_counted_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

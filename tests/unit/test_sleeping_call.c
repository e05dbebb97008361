/* The system call in which a thread sleeps, from texts of /proc (wire/os_usage.h). */
#include "wire/os_usage.h"
#include "wire/program_messages.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static enum sleep_call in(long number, const char *rest, uint64_t *word)
{
    char text[200];
    int size = snprintf(text, sizeof text, "%ld %s", number, rest);
    return asleep_syscall(text, (size_t)size, word);
}

static void calls(void **state)
{
    (void)state;
    uint64_t word;
    assert_int_equal(in(SYS_futex, "0x7f10a0 0x80 0x0 0x0 0x7f1\n", &word), SLEEP_IN_FUTEX);
    assert_int_equal(word, 0x7f10a0);
    assert_int_equal(in(SYS_futex, "0x7f10a0 0x80 0x0 0x7ffe 0x7f1\n", &word),
                     SLEEP_IN_TIMED_FUTEX);
    assert_int_equal(in(SYS_read, "0x3 0x7ffe 0x10\n", &word), SLEEP_IN_READ);
    assert_int_equal(in(SYS_sched_yield, "0x0\n", &word), SLEEP_IN_OTHER);
    assert_int_equal(in(-1, "0x7ffe 0x7f1\n", &word), SLEEP_IN_NOT);
    assert_int_equal(asleep_syscall("running\n", 8, &word), SLEEP_IN_NOT);
    assert_int_equal(asleep_syscall("", 0, &word), SLEEP_IN_NOT);
}

static enum sleep_call by(const char *text) { return asleep_wchan(text, strlen(text)); }

static void functions(void **state)
{
    (void)state;
    assert_int_equal(by("futex_wait_queue"), SLEEP_IN_FUTEX);
    assert_int_equal(by("__futex_wait"), SLEEP_IN_FUTEX);
    assert_int_equal(by("hrtimer_nanosleep"), SLEEP_IN_SLEEP);
    assert_int_equal(by("some_other_function"), SLEEP_IN_OTHER);
    assert_int_equal(by("0"), SLEEP_IN_NOT);
    assert_int_equal(by(""), SLEEP_IN_NOT);
}

static void loader(void **state)
{
    (void)state;
    const char *of = "7f2000-7f3000 rw-p 00039000 fe:00 123 /usr/lib/x86_64-linux-gnu/"
                     "ld-linux-x86-64.so.2\n",
               *c = "7f2000-7f3000 rw-p 00039000 fe:00 123 /usr/lib/libld-1.so\n";
    struct sleep_memory memory;
    assert_true(asleep_memory_of(of, 0x7f2a48, &memory) && memory.loader && !memory.reach);
    assert_true(asleep_memory_of(of, 0x7f2000, &memory) && memory.loader);
    assert_false(asleep_memory_of(of, 0x7f3000, &memory));
    assert_true(asleep_memory_of(c, 0x7f2a48, &memory) && !memory.loader);
    assert_true(asleep_memory_of("7f2000-7f3000 rw-p 00000000 00:00 0\n", 0x7f2a48, &memory) &&
                !memory.loader && !memory.reach);
    assert_false(asleep_memory_of("", 0x7f2a48, &memory));
}

static void shared_memory(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint8_t reach;
    } cases[] = {
        {"7f2000-7f3000 rw-s 00000000 00:01 1042 /dev/zero (deleted)\n", LINE_INHERITED_MEMORY},
        {"7f2000-7f3000 rw-s 00000000 00:01 3 /SYSV00000000 (deleted)\n", LINE_NAMED_MEMORY},
        {"7f2000-7f3000 rw-s 00000000 00:1a 7 /dev/shm/sem.ready\n", LINE_NAMED_MEMORY},
        {"7f2000-7f3000 rw-s 00000000 00:01 9 /memfd:words (deleted)\n", LINE_NAMED_MEMORY},
        {"7f2000-7f3000 rw-p 00000000 00:01 9 /home/s/file\n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sleep_memory memory = {.loader = true};
        assert_true(asleep_memory_of(cases[i].line, 0x7f2a48, &memory));
        assert_int_equal(memory.reach, cases[i].reach);
        assert_false(memory.loader);
    }
}

static void lock_holders(void **state)
{
    (void)state;
    enum { LOCK, COUNT, OWNER, USERS, KIND, WORDS };
    uint32_t held[WORDS] = {2, 1, 4711, 1, 1}, words[WORDS];
    assert_int_equal(asleep_lock_holder((const uint8_t *)held), 4711);
    for (unsigned i = 0; i < WORDS; i++) {
        memcpy(words, held, sizeof words);
        words[i] = 0;
        assert_int_equal(asleep_lock_holder((const uint8_t *)words), i == USERS ? 4711 : 0);
    }
}

static void names(void **state)
{
    (void)state;
    for (unsigned call = SLEEP_IN_NOT + 1; call < SLEEP_IN_CALLS; call++)
        assert_true(*sleep_call_name(call));
    assert_string_equal(sleep_call_name(SLEEP_IN_NOT), "");
    assert_string_equal(sleep_call_name(SLEEP_IN_CALLS), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),         cmocka_unit_test(functions),    cmocka_unit_test(loader),
        cmocka_unit_test(shared_memory), cmocka_unit_test(lock_holders), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#define _GNU_SOURCE
#include "server/eventloop/event_loop.h"

#include "base/clock.h"
#include "wire/testclock.h"
#include "wire/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct loop_turn_piece {
    const char *what;
    uint64_t ns, cpu_ns; /* by the clock; of them this process had a processor */
};

static struct {
    ev_check check;
    ev_prepare prepare;
    uint64_t read_until_ns;
    uint64_t limit_ns; /* 0: not measured */
    struct loop_turn_piece begin, now, most,
        longest; /* now: when it began; longest: of all turns, most: of this one */
} turn;

static struct test_clock loop_turn_test_shift;

__attribute__((constructor)) static void read_shift(void)
{
    loop_turn_test_shift = test_clock_of(getenv(TEST_CLOCK));
}

uint64_t loop_monotonic_ns(void) { return clock_read_ns(CLOCK_MONOTONIC); }

uint64_t loop_clock_ns(void)
{
    return test_clock_shown(&loop_turn_test_shift, loop_monotonic_ns());
}

const char *loop_host_name(void)
{
    static char host[HOST_NAME_MAX + 1];
    gethostname(host, sizeof host - 1);
    return loop_turn_test_shift.host ? loop_turn_test_shift.host : host;
}

struct loop_share loop_share_new(uint64_t ns) { return (struct loop_share){loop_clock_ns() + ns}; }
bool loop_share_left(struct loop_share share) { return loop_clock_ns() < share.end_ns; }
bool loop_turn_may_read(void) { return loop_clock_ns() < turn.read_until_ns; }
void loop_turn_allow_reading(struct loop_share share) { turn.read_until_ns = share.end_ns; }

static struct loop_turn_piece loop_turn_read_clocks(const char *what)
{
    uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    return (struct loop_turn_piece){what, loop_clock_ns(), cpu_ns};
}

void loop_turn_set_activity(const char *what)
{
    if (!turn.limit_ns)
        return;
    struct loop_turn_piece now = loop_turn_read_clocks(what);
    if (turn.now.what && now.cpu_ns - turn.now.cpu_ns > turn.most.cpu_ns)
        turn.most = (struct loop_turn_piece){turn.now.what, now.ns - turn.now.ns,
                                             now.cpu_ns - turn.now.cpu_ns};
    turn.now = now;
}

static void on_begin(struct ev_loop *loop, ev_check *check, int events)
{
    (void)loop, (void)check, (void)events;
    turn.read_until_ns = loop_clock_ns() + LOOP_TURN_READ_NS;
    if (!turn.limit_ns)
        return;
    turn.begin = loop_turn_read_clocks("");
    turn.most = turn.now = (struct loop_turn_piece){0};
    loop_turn_set_activity("its own affairs");
}

static void on_end(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)loop, (void)prepare, (void)events;
    if (!turn.limit_ns || !turn.begin.ns)
        return;
    loop_turn_set_activity(NULL);
    uint64_t cpu = turn.now.cpu_ns - turn.begin.cpu_ns, took = turn.now.ns - turn.begin.ns;
    if (cpu > turn.longest.cpu_ns)
        turn.longest = (struct loop_turn_piece){turn.most.what, took, cpu};
    if (cpu > turn.limit_ns)
        server_log("event loop stalled %llu ms (%llu ms busy, %llu ms in %s)",
                   (unsigned long long)(took / 1000000), (unsigned long long)(cpu / 1000000),
                   (unsigned long long)(turn.most.cpu_ns / 1000000), turn.most.what);
}

void loop_turn_watch(struct ev_loop *loop)
{
    const char *limit = getenv("POET_TEST_WATCHDOG_MS");
    turn.limit_ns = limit ? strtoull(limit, NULL, 10) * 1000000u : 0;
    ev_check_init(&turn.check, on_begin);
    ev_prepare_init(&turn.prepare, on_end);
    ev_set_priority(&turn.check, EV_MAXPRI);
    ev_set_priority(&turn.prepare, EV_MINPRI);
    ev_check_start(loop, &turn.check);
    ev_prepare_start(loop, &turn.prepare);
}

void loop_turn_report(void)
{
    if (turn.limit_ns)
        server_log("longest event loop iteration: %llu ms busy (%s)",
                   (unsigned long long)(turn.longest.cpu_ns / 1000000),
                   turn.longest.what ? turn.longest.what : "nothing");
}

/* ---- log ---- */

void server_log(const char *format, ...)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(stamp, sizeof stamp, "%H:%M:%S", localtime_r(&now, &tm));
    char text[2048];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    text_mask(text); /* names of files and peers are in it */
    fprintf(stderr, "%s poet server: %s\n", stamp, text);
}

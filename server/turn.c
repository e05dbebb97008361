#include "server/turn.h"

#include "server/run.h"

#include <stdlib.h>
#include <time.h>

static struct {
    ev_check check;
    ev_prepare prepare;
    uint64_t number, begin_ns, read_until_ns;
    uint64_t limit_ns; /* 0: nobody wants to know */
    struct piece {
        const char *what;
        uint64_t ns;
    } now, most, longest; /* now.ns: its begin; longest: of all turns, most: of this one */
} turn;

uint64_t turn_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct share share_of(uint64_t ns) { return (struct share){turn_clock_ns() + ns}; }
bool share_left(struct share share) { return turn_clock_ns() < share.end_ns; }
uint64_t turn_number(void) { return turn.number; }
bool turn_may_read(void) { return turn_clock_ns() < turn.read_until_ns; }

void turn_doing(const char *what)
{
    if (!turn.limit_ns)
        return;
    uint64_t now = turn_clock_ns(), took = now - turn.now.ns;
    if (turn.now.what && took > turn.most.ns)
        turn.most = (struct piece){turn.now.what, took};
    turn.now = (struct piece){what, now};
}

static void on_begin(struct ev_loop *loop, ev_check *check, int events)
{
    (void)loop, (void)check, (void)events;
    turn.number++;
    turn.begin_ns = turn_clock_ns();
    turn.read_until_ns = turn.begin_ns + TURN_READ_NS;
    turn.most = turn.now = (struct piece){0};
    turn_doing("its own affairs");
}

static void on_end(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)loop, (void)prepare, (void)events;
    if (!turn.limit_ns || !turn.begin_ns)
        return;
    turn_doing(NULL);
    uint64_t took = turn.now.ns - turn.begin_ns;
    if (took > turn.longest.ns)
        turn.longest = (struct piece){turn.most.what, took};
    if (took > turn.limit_ns)
        log_line("the loop was held %llu ms, %llu of them by %s", (unsigned long long)(took / 1000000),
                 (unsigned long long)(turn.most.ns / 1000000), turn.most.what);
}

void turn_watch(struct ev_loop *loop)
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

void turn_report(void)
{
    if (turn.limit_ns)
        log_line("no turn of the loop took longer than %llu ms (%s)",
                 (unsigned long long)(turn.longest.ns / 1000000),
                 turn.longest.what ? turn.longest.what : "nothing");
}

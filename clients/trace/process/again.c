#define _GNU_SOURCE
#include "clients/trace/process/again.h"

#include "clients/trace/process/entry.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES 1000u
#define PATIENCE_NS 1000000000u

/* (types are asked for where something is told, and no sooner: the first time describes the environment) */
bool again_plays(void) { return poet_next(0, 0, 0) >= 0; }

int again_next(enum event event, const struct stream *s) { return again_ahead(event, s, 0); }

int again_ahead(enum event event, const struct stream *s, unsigned ahead)
{
    return again_plays() ? poet_next(event_type(event), s ? s->key : 0, ahead) : -1;
}

void again_takes(enum event event, const struct stream *s)
{
    if (again_plays())
        poet_takes(event_type(event), s->key);
}

bool again_waits(enum event event, const struct stream *s, bool now)
{
    int is = again_next(event, s);
    return is < 0 ? now : is;
}

size_t again_moves(enum event event, const struct stream *s, poet_line_t line, size_t bytes)
{
    uint32_t got = 0;
    if (again_next(event, s) <= 0)
        return bytes;
    if (poet_asked(event_type(event), &got, NULL) && got && got < bytes)
        bytes = got;
    poet_turn(line, event_type(event));
    return bytes;
}

/* Since when a thread has been told so without anything else. */
static __thread uint64_t nothing_since __attribute__((tls_model("initial-exec")));

bool again_finds_nothing(const struct stream *s)
{
    unsigned tries = 0;
    while (again_tries(again_next(READ, s) == 2, &tries)) {
        /* who wrote is about to tell so */
    }
    if (again_next(READ, s) != 0 || again_next(ENDED, s) != 0) {
        nothing_since = 0;
        return false;
    }
    uint64_t now = now_ns();
    nothing_since = nothing_since ? nothing_since : now;
    return now - nothing_since < PATIENCE_NS;
}

bool again_tries(bool expected, unsigned *tries)
{
    if (!expected || (*tries)++ >= TRIES)
        return false;
    again_rest();
    return true;
}

void again_rest(void)
{
    int saved = errno;
    syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
    errno = saved;
}

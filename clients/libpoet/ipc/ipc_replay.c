#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_replay.h"

#include "clients/libpoet/ipc/ipc_entries.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES 1000u
#define TIMEOUT_NS 1000000000u

/* (types are only requested when something is recorded: the first request describes the
 * environment) */
bool ipc_replay_is_active(void) { return poet_replay_peek(0, 0, 0) >= 0; }

int ipc_replay_next_is(enum ipc_event event, const struct ipc_stream *s)
{
    return ipc_replay_peek(event, s, 0);
}

int ipc_replay_peek(enum ipc_event event, const struct ipc_stream *s, unsigned ahead)
{
    return ipc_replay_is_active() ? poet_replay_peek(event_type(event), s ? s->key : 0, ahead) : -1;
}

void ipc_replay_commit(enum ipc_event event, const struct ipc_stream *s)
{
    if (ipc_replay_is_active())
        poet_replay_commit(event_type(event), s->key);
}

bool ipc_replay_must_wait(enum ipc_event event, const struct ipc_stream *s, bool now)
{
    int is = ipc_replay_next_is(event, s);
    return is < 0 ? now : is;
}

size_t ipc_replay_byte_count(enum ipc_event event, const struct ipc_stream *s, poet_line_t line,
                             size_t bytes)
{
    uint32_t got = 0;
    if (ipc_replay_next_is(event, s) <= 0)
        return bytes;
    if (poet_replay_result(event_type(event), &got, NULL) && got && got < bytes)
        bytes = got;
    poet_replay_wait_turn(line, event_type(event));
    return bytes;
}

/* Since when the thread has been getting this result only. */
static __thread uint64_t nothing_since __attribute__((tls_model("initial-exec")));

bool ipc_replay_finds_nothing(const struct ipc_stream *s)
{
    unsigned tries = 0;
    while (ipc_replay_retry(ipc_replay_next_is(READ, s) == 2, &tries)) {
        /* the writer is about to record it */
    }
    if (ipc_replay_next_is(READ, s) != 0 || ipc_replay_next_is(ENDED, s) != 0) {
        nothing_since = 0;
        return false;
    }
    uint64_t now = now_ns();
    nothing_since = nothing_since ? nothing_since : now;
    return now - nothing_since < TIMEOUT_NS;
}

bool ipc_replay_retry(bool expected, unsigned *tries)
{
    if (!expected || (*tries)++ >= TRIES)
        return false;
    ipc_replay_nap();
    return true;
}

void ipc_replay_nap(void)
{
    int saved = errno;
    syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
    errno = saved;
}

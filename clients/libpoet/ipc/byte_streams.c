#define _GNU_SOURCE
#include "clients/libpoet/ipc/byte_streams.h"

#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/key_mixing.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct ipc_stream stream_map_counters(uint64_t key, bool make)
{
    struct ipc_stream s = {.flags = key ? poet_counter(key_mix(key, 1), make) : NULL};
    if (!s.flags) {
        if (key && make)
            poet_untraced("pipes and sockets: shared memory is full");
        return s;
    }
    s.written = poet_counter(key_mix(key, 2), true);
    s.claimed = poet_counter(key_mix(key, 3), true);
    s.read = poet_counter(key_mix(key, 4), true);
    s.changed = poet_counter(key_mix(key, 5), true);
    s.ends = poet_counter(key_mix(key, 6), true);
    s.event = poet_counter(key_mix(key, 7), true);
    s.life = poet_counter(key_mix(key, 8), true);
    s.begun = poet_counter(key_mix(key, 9), true);
    /* another stream may have had the same name */
    if (s.written && s.claimed && s.read && s.changed && s.ends && s.event && s.life && s.begun)
        s.key = key_mix(key_mix(key, poet_host_id()), LOAD(s.flags) / STREAM_GENERATION);
    else
        poet_untraced("pipes and sockets: shared memory is full");
    return s;
}

struct ipc_stream stream_find(uint64_t key)
{
    struct ipc_stream s = stream_map_counters(key, false);
    if (s.key)
        s.state = LOAD(s.flags) & STREAM_BROKEN    ? STREAM_LOST
                  : LOAD(s.flags) & STREAM_CREATED ? STREAM_FOLLOWED
                                                   : STREAM_UNKNOWN;
    return s;
}

void stream_make(uint64_t key, uint64_t kind)
{
    struct ipc_stream s = stream_map_counters(key, true);
    if (!s.key)
        return;
    STORE(s.written, 0);
    STORE(s.claimed, 0);
    STORE(s.read, 0);
    STORE(s.changed, 0);
    STORE(s.ends, 0);
    STORE(s.event, 0);
    STORE(s.flags,
          (LOAD(s.flags) / STREAM_GENERATION + 1) * STREAM_GENERATION | STREAM_CREATED | kind);
}

/* Several processes may come here at the same time, each with an end of its own. The content is
 * lost once no process has it open: positions then continue behind it. */
void stream_open(uint64_t key, bool empty)
{
    struct ipc_stream s = stream_map_counters(key, true);
    uint64_t none = 0;
    if (!s.key || __atomic_compare_exchange_n(
                      s.flags, &none, STREAM_FIFO | (empty ? STREAM_CREATED : STREAM_BROKEN), false,
                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    uint64_t read = LOAD(s.read), written = LOAD(s.written);
    bool quiet = !(LOAD(s.flags) & 0xffff00u);
    if (empty && quiet && read < written && written == LOAD(s.claimed))
        __atomic_compare_exchange_n(s.read, &read, written, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
}

poet_line_t stream_fifo_line(uint64_t key, const char *path)
{
    struct ipc_stream s = stream_map_counters(key, true);
    return s.key ? ipc_event_line(IPC_OBJECT_FIFO, s.key, path) : 0;
}

void stream_never(uint64_t key)
{
    uint64_t *flags = poet_counter(key_mix(key, 1), true);
    if (flags)
        __atomic_fetch_or(flags, STREAM_BROKEN, __ATOMIC_SEQ_CST);
}

void stream_break(struct ipc_stream *s, const char *why)
{
    uint64_t before = __atomic_fetch_or(s->flags, STREAM_BROKEN, __ATOMIC_SEQ_CST);
    if (!(before & STREAM_BROKEN))
        poet_text("stream no longer traced: %s", why);
    s->state = STREAM_LOST;
}

bool stream_enter(struct ipc_stream *s, uint64_t side)
{
    uint64_t before = __atomic_fetch_add(s->flags, side, __ATOMIC_SEQ_CST);
    if (before / side & 0xff) {
        __atomic_fetch_sub(s->flags, side, __ATOMIC_SEQ_CST);
        stream_break(s, side == STREAM_WRITER ? "concurrent writers" : "concurrent readers");
        return false;
    }
    return true;
}

void stream_leave(struct ipc_stream *s, uint64_t side)
{
    __atomic_fetch_sub(s->flags, side, __ATOMIC_SEQ_CST);
}

poet_line_t stream_line(const struct ipc_stream *s)
{
    uint64_t flags = LOAD(s->flags);
    return ipc_event_line(flags & STREAM_PIPE         ? IPC_OBJECT_PIPE
                          : flags & STREAM_PAIR       ? IPC_OBJECT_SOCKET_PAIR
                          : flags & STREAM_CONNECTION ? IPC_OBJECT_CONNECTION
                          : flags & STREAM_FIFO       ? IPC_OBJECT_FIFO
                                                      : IPC_OBJECT_STREAM,
                          s->key, "");
}

#define SHUT_KEY 5u
#define MOST_SHUT 64u

/* ---- the last write, for threads that poll without reading ---- */

#define LINE_BITS 24

/* Called by the only present writer. What it claims is kept. */
void stream_wrote(const struct ipc_stream *s, poet_event_t event, uint64_t from, size_t bytes)
{
    uint64_t identity[2];
    bool recorded = event.line && poet_identity(event.line, identity);
    STORE(s->event, 0);
    STORE(s->life, recorded ? identity[0] : 0);
    STORE(s->begun, from);
    STORE(s->event, recorded ? event.number << LINE_BITS | event.line : 0);
    STORE(s->written, from + bytes);
}

bool stream_last_write(const struct ipc_stream *s, uint64_t byte, poet_event_t *event)
{
    uint64_t end = LOAD(s->written), is = LOAD(s->event), life = LOAD(s->life),
             begun = LOAD(s->begun);
    if (!is || byte < begun || byte >= end || is != LOAD(s->event) || end != LOAD(s->written))
        return false;
    uint64_t identity[2] = {life, is & ((1u << LINE_BITS) - 1)};
    *event = (poet_event_t){ipc_event_line_remote(identity), is >> LINE_BITS};
    return event->line != 0;
}

/* ---- its end ---- */

void stream_written_by(const struct ipc_stream *s, uint32_t process)
{
    uint64_t ends = LOAD(s->ends);
    while (ends >> 32 != process &&
           !__atomic_compare_exchange_n(s->ends, &ends, (uint64_t)process << 32 | (uint32_t)ends,
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* Records a message to the thread that finds the end, which none can before all writing ends are
 * closed. */
void stream_shut(const struct ipc_stream *s, const void *site)
{
    if (s->state == STREAM_UNKNOWN || !poet_recorded())
        return;
    poet_line_t line = stream_line(s);
    if (!line)
        return;
    ipc_replay_commit(SHUT, s);
    uint64_t ends = __atomic_add_fetch(s->ends, 1, __ATOMIC_SEQ_CST), low = (uint32_t)ends;
    poet_record(&(poet_record_t){.type = event_type(SHUT),
                                 .about = line,
                                 .site = site,
                                 .flags = POET_SEND,
                                 .high = key_mix(s->key, SHUT_KEY),
                                 .low = &low,
                                 .keys = 1});
    if (ends >> 32 == (uint32_t)getpid())
        stream_written_by(s, 0);
}

void stream_left(const struct ipc_stream *s)
{
    if (s->state != STREAM_UNKNOWN)
        __atomic_fetch_or(s->flags, STREAM_LEFT, __ATOMIC_SEQ_CST);
}

/* Every closing that was recorded by now came before it: none of them can still be to come. */
void stream_ended(const struct ipc_stream *s, enum ipc_event found, const void *site)
{
    uint64_t low[MOST_SHUT], ends = LOAD(s->ends), count = (uint32_t)ends;
    size_t keys = count < MOST_SHUT ? (size_t)count : MOST_SHUT;
    unsigned doubt = count == 0 || count > MOST_SHUT || s->state == STREAM_LOST ? POET_DOUBT_STREAM
                     : ends >> 32 || LOAD(s->flags) & STREAM_LEFT               ? POET_DOUBT_THREAD
                                                                                : 0;
    for (size_t i = 0; i < keys; i++)
        low[i] = count - i;
    ipc_replay_commit(found, s);
    poet_record(&(poet_record_t){.type = event_type(found),
                                 .about = stream_line(s),
                                 .site = site,
                                 .flags = (keys ? POET_RECEIVE : 0u) | doubt,
                                 .high = key_mix(s->key, SHUT_KEY),
                                 .low = low,
                                 .keys = keys});
}

/* ---- replay ---- */

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

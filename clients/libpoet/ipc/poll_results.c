/* Calls that report whether a descriptor is readable: the event comes after that of the data. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_tracer.h"

#include "clients/libpoet/ipc/byte_streams.h"
#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/tcp_peers.h"
#include "clients/libpoet/poet.h"

#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

REAL(int, poll, (struct pollfd *, nfds_t, int))
REAL(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))
REAL(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))
REAL(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))

/* The C library's: a runtime may define its own. */
int poll_result_query(struct pollfd *fds, nfds_t count, int timeout)
{
    find_poll();
    return real_poll(fds, count, timeout);
}

static bool poll_result_has_ended(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLRDHUP};
    return poll_result_query(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLRDHUP);
}

#define READY (POLLIN | POLLHUP | POLLRDHUP | POLLRDNORM)
#define TIMEOUT_NS 2000000u
#define LOOKS_AGAIN 50u

/* Atomic writes (pipe(7), PIPE_BUF) do not wait for room once they are there: the writer needs only
 * a processor. */
#define TIMEOUT_WHOLE_NS 100000000u
#define PAUSE_NS 50000

static void poll_result_await_writer(const struct ipc_stream *s, uint64_t from)
{
    uint64_t begin = now_ns(), waited = 0, claimed;
    while (LOAD(s->written) <= from && from < (claimed = LOAD(s->claimed)) &&
           LOAD(s->flags) / STREAM_WRITER & 0xff &&
           waited < (claimed - from <= PIPE_BUF ? TIMEOUT_WHOLE_NS : TIMEOUT_NS)) {
        if (waited < TIMEOUT_NS)
            sched_yield();
        else
            syscall(SYS_nanosleep, &(struct timespec){0, PAUSE_NS}, NULL);
        waited = now_ns() - begin;
    }
}

/* Finds the event that wrote the first byte that is there, if no thread has read since the call
 * began. A writer records it just after writing. */
static bool poll_result_find_write(const struct ipc_stream *s, uint64_t began, poet_event_t *event)
{
    uint64_t from = LOAD(s->read);
    poll_result_await_writer(s, from);
    return s->state == STREAM_FOLLOWED && stream_last_write(s, from, event) &&
           !(LOAD(s->flags) / STREAM_READER & 0xff) && LOAD(s->changed) < began &&
           from == LOAD(s->read) && !(LOAD(s->flags) & STREAM_BROKEN);
}

/* The thread that polled comes after the first write that was not read, if that is known. */
static void poll_result_record_available(const struct ipc_stream *s, uint64_t began,
                                         const void *site)
{
    poet_event_t event;
    unsigned tries = 0;
    if (ipc_replay_next_is(READABLE, s) == 1)
        poet_replay_wait_turn(stream_line(s), event_type(READABLE));
    ipc_replay_commit(READABLE, s);
    int known = poet_replay_peek_after(event_type(READABLE)); /* in a replayed run */
    bool found = known != 0 && poll_result_find_write(s, began, &event);
    while (!found && tries < LOOKS_AGAIN && ipc_replay_retry(known == 1, &tries))
        found = poll_result_find_write(s, began, &event);
    if (found) {
        poet_record(&(poet_record_t){.type = event_type(READABLE),
                                     .about = stream_line(s),
                                     .site = site,
                                     .flags = POET_AFTER,
                                     .high = event.line,
                                     .low = &event.number,
                                     .keys = 1});
        return;
    }
    bool doubtful = LOAD(s->written) <= LOAD(s->read) && LOAD(s->flags) / STREAM_WRITER & 0xff;
    ipc_event_about(READABLE, stream_line(s), doubtful ? POET_DOUBT_STREAM : 0, site);
    poet_untraced("results of poll, select and MSG_PEEK before a stream is read");
}

void stream_polled(int fd, const struct ipc_stream *s, uint64_t began, const void *site)
{
    int there = 0;
    if (ioctl(fd, FIONREAD, &there) != 0)
        return;
    if (there == 0 && poll_result_has_ended(fd))
        stream_ended(s, HANGUP, site);
    else if (there > 0 && s->state == STREAM_FOLLOWED)
        poll_result_record_available(s, began, site);
    else
        poet_untraced("results of poll, select and MSG_PEEK before a stream is read");
}

static void poll_result_fd_ready(int fd, uint64_t began, const void *site)
{
    struct fd_end end = fd_end_find(fd, false);
    if (end.kind == FD_END_STREAM) {
        struct ipc_stream s = stream_find(end.key);
        if (s.state != STREAM_UNKNOWN)
            stream_polled(fd, &s, began, site);
    } else if (end.kind == FD_END_EVENTFD) {
        eventfd_counter_seen(end.key, site);
    } else if (end.kind == FD_END_TCP) {
        struct tcp_peer peer;
        if (tcp_peer_find(fd, &end, &peer))
            tcp_peer_looked(fd, &peer, site);
    }
}

static void poll_result_record_polled(const struct pollfd *fds, nfds_t count, uint64_t began,
                                      const void *site)
{
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].fd >= 0 && fds[i].revents & READY)
            poll_result_fd_ready(fds[i].fd, began, site);
}

/* ---- in a replayed run ---- */

#define HIDDEN_NS 1000000000u /* nothing is hidden for longer */

/* Descriptors of one call with a predicted result: the ready ones are recorded in their order. */
#define FORESEEN_MOST 256u
#define AHEAD_MOST 31u

struct foreseen {
    enum fd_end_kind kind; /* NONE: it is not recorded */
    bool heard; /* the thread's next events report that it was found ready */
};

static struct foreseen poll_result_predict_fd(const struct pollfd *p, unsigned ahead)
{
    struct fd_end end =
        p->fd >= 0 && p->events & READY ? fd_end_find(p->fd, false) : (struct fd_end){0};
    struct foreseen f = {.kind = end.kind};
    if (end.kind == FD_END_EVENTFD)
        f.heard = ipc_replay_peek(SEE, NULL, ahead) == 1;
    if (end.kind == FD_END_TCP)
        f.kind = FD_END_NONE;
    if (end.kind != FD_END_STREAM)
        return f;
    struct ipc_stream s = stream_find(end.key);
    if (s.state == STREAM_FOLLOWED)
        f.heard =
            ipc_replay_peek(READABLE, &s, ahead) == 1 || ipc_replay_peek(HANGUP, &s, ahead) == 1;
    else
        f.kind = FD_END_NONE;
    return f;
}

static void poll_result_predict(const struct pollfd *fds, nfds_t count, struct foreseen *seen)
{
    unsigned ahead = 0;
    for (nfds_t i = 0; i < count; i++) {
        seen[i] = poll_result_predict_fd(&fds[i], ahead);
        ahead += seen[i].heard && ahead < AHEAD_MOST;
    }
}

/* Waits until the descriptors are ready that were found ready in the recorded run. */
static void poll_result_await_found(const struct pollfd *fds, nfds_t count,
                                    const struct foreseen *seen)
{
    for (nfds_t i = 0; i < count; i++)
        if (seen[i].heard)
            poll_result_query(&(struct pollfd){.fd = fds[i].fd, .events = fds[i].events}, 1,
                              HIDDEN_NS / 1000000);
}

/* Hides those that were not found then; returns how many descriptors have nothing else to
 * report. */
static int poll_result_hide(struct pollfd *fds, nfds_t count, const struct foreseen *seen)
{
    int hidden = 0;
    for (nfds_t i = 0; i < count; i++) {
        if (seen[i].kind == FD_END_NONE || seen[i].heard || !(fds[i].revents & READY))
            continue;
        fds[i].revents &= (short)~READY;
        hidden += !fds[i].revents;
    }
    return hidden;
}

/* timeout: in ns; -1: none. */
static int poll_result_replay_poll(struct pollfd *fds, nfds_t count, int64_t timeout,
                                   const sigset_t *mask)
{
    struct timespec wanted = {timeout / 1000000000, timeout % 1000000000};
    struct foreseen seen[FORESEEN_MOST];
    uint64_t begin = now_ns();
    bool steered = count <= FORESEEN_MOST;
    if (steered)
        QUIETLY(poll_result_predict(fds, count, seen); poll_result_await_found(fds, count, seen));
    for (;;) {
        int hidden = 0, n = real_ppoll(fds, count, timeout < 0 ? NULL : &wanted, mask);
        if (n > 0 && steered && now_ns() - begin < HIDDEN_NS)
            QUIETLY(poll_result_predict(fds, count, seen);
                    hidden = poll_result_hide(fds, count, seen));
        if (n <= 0 || n > hidden || (timeout >= 0 && now_ns() - begin >= (uint64_t)timeout))
            return n - hidden;
        ipc_replay_nap();
    }
}

static int64_t poll_result_to_ns(const struct timespec *time)
{
    return !time ? -1 : (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Converts to poll, if there are not too many descriptors. */
static nfds_t poll_result_list_sets(int count, const fd_set *sets[3], struct pollfd *fds)
{
    static const short events[] = {POLLIN, POLLOUT, POLLPRI};
    nfds_t n = 0;
    for (int fd = 0; fd < count; fd++) {
        short wanted = 0;
        for (int i = 0; i < 3; i++)
            wanted |= sets[i] && FD_ISSET(fd, sets[i]) ? events[i] : 0;
        if (wanted && n == FORESEEN_MOST)
            return 0;
        if (wanted)
            fds[n++] = (struct pollfd){.fd = fd, .events = wanted};
    }
    return n;
}

/* Converts poll's results to those of select(2). */
static int poll_result_fill_sets(const struct pollfd *fds, nfds_t n, int count, fd_set *sets[3])
{
    static const short found[] = {POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR,
                                  POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR, POLLPRI};
    fd_set wanted[3];
    int ready_count = 0;
    for (int i = 0; i < 3; i++) {
        if (sets[i])
            wanted[i] = *sets[i];
        for (int fd = 0; sets[i] && fd < count; fd++)
            FD_CLR(fd, sets[i]);
    }
    for (nfds_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++)
            if (sets[i] && FD_ISSET(fds[k].fd, &wanted[i]) && fds[k].revents & found[i]) {
                FD_SET(fds[k].fd, sets[i]);
                ready_count++;
            }
    return ready_count;
}

/* Returns false if there are too many, or one of them is not open. */
static bool poll_result_replay_select(int count, fd_set *sets[3], const struct timespec *timeout,
                                      const sigset_t *mask, int *n)
{
    struct pollfd fds[FORESEEN_MOST];
    nfds_t many =
        count <= FD_SETSIZE
            ? poll_result_list_sets(count, (const fd_set *[3]){sets[0], sets[1], sets[2]}, fds)
            : 0;
    if (!many)
        return false;
    find_ppoll();
    *n = poll_result_replay_poll(fds, many, poll_result_to_ns(timeout), mask);
    for (nfds_t i = 0; i < many; i++)
        if (*n > 0 && fds[i].revents & POLLNVAL)
            return false;
    if (*n >= 0)
        *n = poll_result_fill_sets(fds, many, count, sets);
    return true;
}

static bool poll_result_is_replayed(const void *site)
{
    return ipc_entry_is_traced(site) && ipc_replay_is_active();
}

/* ---- the calls ---- */

static int poll_result_poll(struct pollfd *fds, nfds_t count, int timeout, const void *site)
{
    find_poll();
    uint64_t began = now_ns();
    bool replayed = poll_result_is_replayed(site);
    if (replayed)
        find_ppoll();
    int64_t timeout_ns = timeout < 0 ? -1 : (int64_t)timeout * 1000000;
    int n = replayed ? poll_result_replay_poll(fds, count, timeout_ns, NULL)
                     : real_poll(fds, count, timeout);
    if (n > 0 && ipc_entry_is_traced(site))
        QUIETLY(poll_result_record_polled(fds, count, began, site));
    return n;
}

API int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    return poll_result_poll(fds, count, timeout, SITE);
}

API int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
              const sigset_t *mask)
{
    find_ppoll();
    uint64_t began = now_ns();
    int n = poll_result_is_replayed(SITE)
                ? poll_result_replay_poll(fds, count, poll_result_to_ns(timeout), mask)
                : real_ppoll(fds, count, timeout, mask);
    if (n > 0 && ipc_entry_is_traced(SITE))
        QUIETLY(poll_result_record_polled(fds, count, began, SITE));
    return n;
}

API int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
API int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
    if (room / sizeof *fds < count) /* the same check as in the C library */
        abort();
    return poll_result_poll(fds, count, timeout, SITE);
}

static void poll_result_record_selected(int count, const fd_set *in, uint64_t began,
                                        const void *site)
{
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++)
        if (FD_ISSET(fd, in))
            poll_result_fd_ready(fd, began, site);
}

API int select(int count, fd_set *in, fd_set *out, fd_set *special, struct timeval *timeout)
{
    find_select();
    uint64_t began = now_ns();
    struct timespec wanted = {timeout ? timeout->tv_sec : 0, timeout ? timeout->tv_usec * 1000 : 0};
    int n;
    if (!poll_result_is_replayed(SITE) ||
        !poll_result_replay_select(count, (fd_set *[3]){in, out, special}, timeout ? &wanted : NULL,
                                   NULL, &n))
        n = real_select(count, in, out, special, timeout);
    if (n > 0 && in && ipc_entry_is_traced(SITE))
        QUIETLY(poll_result_record_selected(count, in, began, SITE));
    return n;
}

API int pselect(int count, fd_set *in, fd_set *out, fd_set *special, const struct timespec *timeout,
                const sigset_t *mask)
{
    find_pselect();
    uint64_t began = now_ns();
    int n;
    if (!poll_result_is_replayed(SITE) ||
        !poll_result_replay_select(count, (fd_set *[3]){in, out, special}, timeout, mask, &n))
        n = real_pselect(count, in, out, special, timeout, mask);
    if (n > 0 && in && ipc_entry_is_traced(SITE))
        QUIETLY(poll_result_record_selected(count, in, began, SITE));
    return n;
}

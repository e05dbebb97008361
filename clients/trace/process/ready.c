/* Whether a descriptor can be read, asked without reading: who hears so comes after what can be read. */
#define _GNU_SOURCE
#include "clients/trace/process/ready.h"

#include "clients/trace/poet.h"
#include "clients/trace/process/counts.h"
#include "clients/trace/process/ends.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/events.h"
#include "clients/trace/process/streams.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

REAL(int, poll, (struct pollfd *, nfds_t, int))
REAL(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))
REAL(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))
REAL(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))

/* The C library's: a runtime may define its own. */
int ask_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    find_poll();
    return real_poll(fds, count, timeout);
}

static bool has_ended(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLRDHUP};
    return ask_poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLRDHUP);
}

#define PATIENCE_NS 2000000u

/* The event of who wrote the first byte that is there, if nobody has read since the call began.  Who writes
 * tells it just after. */
static bool find_write(const struct stream *s, uint64_t began, poet_event_t *event)
{
    uint64_t from = LOAD(s->read), begin = now_ns();
    while (LOAD(s->written) <= from && LOAD(s->flags) / STREAM_WRITER & 0xff &&
           now_ns() - begin < PATIENCE_NS)
        sched_yield();
    return s->state == STREAM_FOLLOWED && stream_last_write(s, from, event) &&
           !(LOAD(s->flags) / STREAM_READER & 0xff) && LOAD(s->changed) < began &&
           from == LOAD(s->read) && !(LOAD(s->flags) & STREAM_BROKEN);
}

void stream_looked(int fd, const struct stream *s, uint64_t began, const void *site)
{
    int there = 0;
    poet_event_t event;
    if (ioctl(fd, FIONREAD, &there) != 0)
        return;
    if (there == 0 && has_ended(fd)) {
        stream_ended(s, site);
    } else if (there > 0 && find_write(s, began, &event)) {
        poet_record(&(poet_record_t){.type = event_type(READABLE),
                                     .about = stream_line(s),
                                     .site = site,
                                     .flags = POET_AFTER,
                                     .high = event.line,
                                     .low = &event.number,
                                     .keys = 1});
    } else {
        poet_unseen("what poll, select and MSG_PEEK say of a stream before it is read");
    }
}

static void ready(int fd, uint64_t began, const void *site)
{
    struct end end = end_find(fd, false);
    if (end.kind == END_STREAM) {
        struct stream s = stream_find(end.key);
        if (s.state != STREAM_UNKNOWN)
            stream_looked(fd, &s, began, site);
    } else if (end.kind == END_EVENTFD) {
        count_seen(end.key, site);
    }
}

static void polled(const struct pollfd *fds, nfds_t count, uint64_t began, const void *site)
{
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].fd >= 0 && fds[i].revents & (POLLIN | POLLHUP | POLLRDHUP | POLLRDNORM))
            ready(fds[i].fd, began, site);
}

API int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    find_poll();
    uint64_t began = now_ns();
    int n = real_poll(fds, count, timeout);
    if (n > 0 && looks(SITE))
        QUIETLY(polled(fds, count, began, SITE));
    return n;
}

API int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
              const sigset_t *mask)
{
    find_ppoll();
    uint64_t began = now_ns();
    int n = real_ppoll(fds, count, timeout, mask);
    if (n > 0 && looks(SITE))
        QUIETLY(polled(fds, count, began, SITE));
    return n;
}

API int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
API int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
    find_poll();
    if (room / sizeof *fds < count) /* so does the C library, whose check this is */
        abort();
    uint64_t began = now_ns();
    int n = real_poll(fds, count, timeout);
    if (n > 0 && looks(SITE))
        QUIETLY(polled(fds, count, began, SITE));
    return n;
}

static void selected(int count, const fd_set *in, uint64_t began, const void *site)
{
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++)
        if (FD_ISSET(fd, in))
            ready(fd, began, site);
}

API int select(int count, fd_set *in, fd_set *out, fd_set *special, struct timeval *timeout)
{
    find_select();
    uint64_t began = now_ns();
    int n = real_select(count, in, out, special, timeout);
    if (n > 0 && in && looks(SITE))
        QUIETLY(selected(count, in, began, SITE));
    return n;
}

API int pselect(int count, fd_set *in, fd_set *out, fd_set *special, const struct timespec *timeout,
                const sigset_t *mask)
{
    find_pselect();
    uint64_t began = now_ns();
    int n = real_pselect(count, in, out, special, timeout, mask);
    if (n > 0 && in && looks(SITE))
        QUIETLY(selected(count, in, began, SITE));
    return n;
}

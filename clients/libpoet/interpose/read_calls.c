/* Calls that read or receive bytes from outside. For received messages, the sender's address and
 * control messages are recorded, too; descriptors that a message carries are not: they do not exist
 * in another run. */
#define _GNU_SOURCE
#include "base/likely.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/input_calls.h"

#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#undef read /* libc_calls.h */
#undef pread
#undef recvmsg

static size_t read_call_min(size_t a, size_t b) { return a < b ? a : b; }

/* ---- into one place ---- */

static ssize_t read_call_end_bytes(struct traced_thread *t, struct input *call, ssize_t result,
                                   const void *bytes, size_t room)
{
    input_call_end(t, call, result, bytes, result < 0 ? 0 : read_call_min((size_t)result, room));
    return result;
}

static ssize_t read_call_trace_read(struct traced_thread *t, int fd, void *bytes, size_t size)
{
    struct input call = {.call = INPUT_READ, .asked = size};
    if (!input_call_replay_bytes(t, &call, bytes, size))
        return read_call_end_bytes(t, &call, find_read()(fd, bytes, size), bytes, size);
    external_fd_skip(fd, call.result);
    return read_call_end_bytes(t, &call, (ssize_t)call.result, bytes, size);
}

static ssize_t read_call_trace_pread(struct traced_thread *t, int fd, void *bytes, size_t size,
                                     off64_t at)
{
    struct input call = {.call = INPUT_PREAD, .asked = recorded_input_asked_at(size, (uint64_t)at)};
    bool given = input_call_replay_bytes(t, &call, bytes, size);
    ssize_t result = given ? (ssize_t)call.result : find_pread64()(fd, bytes, size, at);
    return read_call_end_bytes(t, &call, result, bytes, size);
}

static ssize_t read_call_trace_recv(struct traced_thread *t, int fd, void *bytes, size_t size,
                                    int flags)
{
    struct input call = {.call = INPUT_RECV, .asked = size};
    bool given = input_call_replay_bytes(t, &call, bytes, size);
    ssize_t result = given ? (ssize_t)call.result : find_recv()(fd, bytes, size, flags);
    return read_call_end_bytes(t, &call, result, bytes, size);
}

INPUT_EXPORTED ssize_t read(int fd, void *bytes, size_t size)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || !external_fd_is_external(fd))
        return find_read()(fd, bytes, size);
    return read_call_trace_read(t, fd, bytes, size);
}

INPUT_EXPORTED ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || !external_fd_is_external(fd))
        return find_pread()(fd, bytes, size, at);
    return read_call_trace_pread(t, fd, bytes, size, at);
}

INPUT_EXPORTED ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || !external_fd_is_external(fd))
        return find_pread64()(fd, bytes, size, at);
    return read_call_trace_pread(t, fd, bytes, size, at);
}

INPUT_EXPORTED ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || !external_fd_is_external(fd))
        return find_recv()(fd, bytes, size, flags);
    return read_call_trace_recv(t, fd, bytes, size, flags);
}

/* ---- into several ---- */

static size_t read_call_total_bytes(const struct iovec *iov, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; iov && count <= IOV_MAX && i < count; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

/* The requested size is recorded only for a call that succeeds: a failing one may have been given
 * memory that cannot be read. */
static void read_call_set_requested(struct traced_thread *t, struct input *call,
                                    const struct iovec *iov, size_t count)
{
    call->asked = tracer.input.is_replayed && !replayed_input_fails(t)
                      ? read_call_total_bytes(iov, count)
                      : 0;
}

static void read_call_set_requested_after(struct input *call, ssize_t result,
                                          const struct iovec *iov, size_t count)
{
    call->asked = result < 0 ? 0 : read_call_total_bytes(iov, count);
}

static void read_call_scatter(struct replayed_input *g, const struct iovec *iov, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (replayed_input_read(g, iov[i].iov_base, iov[i].iov_len) < iov[i].iov_len)
            return;
}

static ssize_t read_call_trace_readv(struct traced_thread *t, int fd, const struct iovec *iov,
                                     int count)
{
    struct input call = {.call = INPUT_READV};
    struct replayed_input g;
    ssize_t result;
    read_call_set_requested(t, &call, iov, (size_t)count);
    if (input_call_replay(t, &call, &g)) {
        result = (ssize_t)call.result;
        if (result > 0)
            read_call_scatter(&g, iov, (size_t)count);
        external_fd_skip(fd, result);
    } else {
        result = find_readv()(fd, iov, count);
    }
    read_call_set_requested_after(&call, result, iov, (size_t)count);
    struct input_buffers brought = {.iov = iov, .count = result > 0 ? (size_t)count : 0};
    brought.size =
        result > 0 ? read_call_min((size_t)result, read_call_total_bytes(iov, brought.count)) : 0;
    input_call_end_vector(t, &call, result, &brought);
    return result;
}

INPUT_EXPORTED ssize_t readv(int fd, const struct iovec *iov, int count)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || !external_fd_is_external(fd))
        return find_readv()(fd, iov, count);
    return read_call_trace_readv(t, fd, iov, count);
}

/* ---- messages ---- */

/* Fills the buffer as far as there is room, and skips all of it. */
static size_t read_call_fill(struct replayed_input *g, void *to, size_t bytes, size_t room)
{
    size_t most = to ? read_call_min(bytes, room) : 0, done = replayed_input_read(g, to, most);
    replayed_input_read(g, NULL, bytes - most);
    return done;
}

static void read_call_replay_message(struct replayed_input *g, struct msghdr *m)
{
    uint8_t bytes[INPUT_FRONT_BYTES];
    struct input_front front;
    struct decoder in = decoder_init(bytes, replayed_input_read(g, bytes, sizeof bytes));
    if (!decode_input_front(&in, &front))
        front = (struct input_front){0};
    read_call_fill(g, m->msg_name, front.name_bytes, m->msg_namelen);
    if (m->msg_name)
        m->msg_namelen = front.name_size;
    size_t control = read_call_fill(g, m->msg_control, front.control_bytes, m->msg_controllen);
    m->msg_controllen = control;
    m->msg_flags = (int)front.flags | (control < front.control_bytes ? MSG_CTRUNC : 0);
    read_call_scatter(g, m->msg_iov, m->msg_iovlen);
}

/* Returns the size up to the first descriptors, and sets that they were truncated. */
static size_t read_call_kept_control(const struct msghdr *m, uint32_t *flags)
{
    struct msghdr all = *m;
    if (!m->msg_control)
        return 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&all); c; c = CMSG_NXTHDR(&all, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            *flags |= MSG_CTRUNC;
            return (size_t)((uint8_t *)c - (uint8_t *)m->msg_control);
        }
    return m->msg_controllen;
}

static void read_call_end_message(struct traced_thread *t, struct input *call, ssize_t result,
                                  const struct msghdr *m, size_t name_room)
{
    if (result < 0) {
        input_call_end(t, call, result, NULL, 0);
        return;
    }
    uint8_t bytes[INPUT_FRONT_BYTES];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    struct input_front front = {.flags = (uint32_t)m->msg_flags};
    front.name_size = m->msg_name ? m->msg_namelen : 0;
    front.name_bytes = (uint32_t)read_call_min(front.name_size, name_room);
    front.control_bytes = (uint32_t)read_call_kept_control(m, &front.flags);
    encode_input_front(&out, &front);
    struct input_buffers brought = {.front = {{bytes, sizeof bytes},
                                              {m->msg_name, front.name_bytes},
                                              {m->msg_control, front.control_bytes}},
                                    .iov = m->msg_iov,
                                    .count = m->msg_iovlen};
    brought.size = sizeof bytes + front.name_bytes + front.control_bytes +
                   read_call_min((size_t)result, read_call_total_bytes(m->msg_iov, m->msg_iovlen));
    input_call_end_vector(t, call, result, &brought);
}

static ssize_t read_call_receive(enum input_call which, int fd, struct msghdr *m, int flags)
{
    if (which == INPUT_RECVMSG)
        return find_recvmsg()(fd, m, flags);
    return find_recvfrom()(fd, m->msg_iov->iov_base, m->msg_iov->iov_len, flags, m->msg_name,
                           m->msg_name ? &m->msg_namelen : NULL);
}

/* Copies what the program sees of a message that was received in its place. */
static void read_call_copy_message(struct msghdr *m, const struct msghdr *received)
{
    size_t name = read_call_min(received->msg_namelen, sizeof(struct sockaddr_storage));
    if (m->msg_name && m->msg_name != received->msg_name)
        memcpy(m->msg_name, received->msg_name, read_call_min(m->msg_namelen, name));
    if (m->msg_name)
        m->msg_namelen = received->msg_namelen;
    m->msg_controllen = received->msg_controllen;
    m->msg_flags = received->msg_flags;
}

/* If the sender matters, it is requested even if the program does not. */
static ssize_t read_call_trace_message(struct traced_thread *t, enum input_call which, int fd,
                                       struct msghdr *m, int flags)
{
    struct input call = {.call = (uint8_t)which};
    struct sockaddr_storage sender = {0};
    struct msghdr received = *m;
    struct replayed_input g;
    bool by_sender = !external_fd_is_external(fd), given;
    if (by_sender) {
        received.msg_name = &sender;
        received.msg_namelen = sizeof sender;
    }
    size_t name_room = received.msg_namelen;
    read_call_set_requested(t, &call, m->msg_iov, m->msg_iovlen);
    given = input_call_replay(t, &call, &g);
    ssize_t result = given ? (ssize_t)call.result : read_call_receive(which, fd, &received, flags);
    read_call_set_requested_after(&call, result, m->msg_iov, m->msg_iovlen);
    if (given && result >= 0)
        read_call_replay_message(&g, &received);
    if (!given && result >= 0 && by_sender && !external_fd_is_remote_sender(&sender))
        input_call_end_local(t, &call);
    else
        read_call_end_message(t, &call, result, &received, name_room);
    if (result >= 0)
        read_call_copy_message(m, &received);
    return result;
}

static bool read_call_is_external(int fd)
{
    return external_fd_is_external(fd) || external_fd_is_per_sender(fd);
}

static ssize_t read_call_trace_recvfrom(struct traced_thread *t, int fd, const struct iovec *iov,
                                        int flags, struct sockaddr *from, socklen_t *room)
{
    struct msghdr m = {
        .msg_name = from, .msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = 1};
    m.msg_namelen = from ? *room : 0;
    ssize_t result = read_call_trace_message(t, INPUT_RECVFROM, fd, &m, flags);
    if (result >= 0 && from)
        *room = m.msg_namelen;
    return result;
}

INPUT_EXPORTED ssize_t recvfrom(int fd, void *bytes, size_t size, int flags, __SOCKADDR_ARG from,
                                socklen_t *room)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || (from.__sockaddr__ && !room) || !read_call_is_external(fd))
        return find_recvfrom()(fd, bytes, size, flags, from.__sockaddr__, room);
    return read_call_trace_recvfrom(t, fd, &(struct iovec){bytes, size}, flags, from.__sockaddr__,
                                    room);
}

INPUT_EXPORTED ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    __asm__("" : "+r"(m)); /* (it may be NULL, whatever is declared) */
    if (LIKELY(!t) || !m || !read_call_is_external(fd))
        return find_recvmsg()(fd, m, flags);
    return read_call_trace_message(t, INPUT_RECVMSG, fd, m, flags);
}

/* ---- as _FORTIFY_SOURCE calls them ---- */

/* If there is no room, the real call terminates the program. */
INPUT_EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
INPUT_EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || size > room || !external_fd_is_external(fd))
        return find___read_chk()(fd, bytes, size, room);
    return read_call_trace_read(t, fd, bytes, size);
}

INPUT_EXPORTED ssize_t __pread_chk(int fd, void *bytes, size_t size, off_t at, size_t room);
INPUT_EXPORTED ssize_t __pread_chk(int fd, void *bytes, size_t size, off_t at, size_t room)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || size > room || !external_fd_is_external(fd))
        return find___pread_chk()(fd, bytes, size, at, room);
    return read_call_trace_pread(t, fd, bytes, size, at);
}

INPUT_EXPORTED ssize_t __pread64_chk(int fd, void *bytes, size_t size, off64_t at, size_t room);
INPUT_EXPORTED ssize_t __pread64_chk(int fd, void *bytes, size_t size, off64_t at, size_t room)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || size > room || !external_fd_is_external(fd))
        return find___pread64_chk()(fd, bytes, size, at, room);
    return read_call_trace_pread(t, fd, bytes, size, at);
}

INPUT_EXPORTED ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
INPUT_EXPORTED ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || size > room || !external_fd_is_external(fd))
        return find___recv_chk()(fd, bytes, size, room, flags);
    return read_call_trace_recv(t, fd, bytes, size, flags);
}

INPUT_EXPORTED ssize_t __recvfrom_chk(int fd, void *bytes, size_t size, size_t room, int flags,
                                      struct sockaddr *from, socklen_t *from_room);
INPUT_EXPORTED ssize_t __recvfrom_chk(int fd, void *bytes, size_t size, size_t room, int flags,
                                      struct sockaddr *from, socklen_t *from_room)
{
    struct traced_thread *t = INPUT_CALL_THREAD;
    if (LIKELY(!t) || size > room || (from && !from_room) || !read_call_is_external(fd))
        return find___recvfrom_chk()(fd, bytes, size, room, flags, from, from_room);
    return read_call_trace_recvfrom(t, fd, &(struct iovec){bytes, size}, flags, from, from_room);
}

#define _GNU_SOURCE
#include "server/connections/channel.h"

#include "base/alloc.h"
#include "server/transport/tls_channel.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 64

/* ---- a socket ---- */

static void keep_descriptors(struct channel *channel, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (channel->descriptor_count < DESCRIPTORS_MAX)
                ARRAY_PUSH(channel->descriptors, channel->descriptor_count, fd);
            else
                close(fd);
        }
    }
}

/* A message with a descriptor comes alone. */
static ssize_t socket_read(struct channel *channel, void *bytes, size_t size)
{
    char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    struct iovec iov = {bytes, size};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(channel->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n > 0)
        keep_descriptors(channel, &message);
    return n;
}

static ssize_t socket_write(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    struct iovec iov = {(void *)(uintptr_t)bytes, size};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
    }
    return sendmsg(channel->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool socket_has_ended(const struct channel *channel)
{
    struct pollfd p = {.fd = channel->fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

static void socket_close(struct channel *channel) { close(channel->fd); }
static const char *channel_socket_error_text(const struct channel *channel)
{
    return strerror(errno + !channel);
}

struct channel channel_on_socket(int fd)
{
    static const struct channel_kind kind = {socket_read, socket_write, socket_has_ended,
                                             socket_close, channel_socket_error_text};
    return (struct channel){.kind = &kind, .fd = fd};
}

/* ---- TLS ---- */

static ssize_t channel_tls_read(struct channel *channel, void *bytes, size_t size)
{
    return tls_read(channel->tls, bytes, size);
}

static ssize_t channel_tls_write(struct channel *channel, const void *bytes, size_t size,
                                 int descriptor)
{
    (void)descriptor; /* no use to another machine */
    return tls_write(channel->tls, bytes, size);
}

static void channel_tls_close(struct channel *channel)
{
    tls_free(channel->tls);
    close(channel->fd);
}

static const char *channel_tls_error_text(const struct channel *channel)
{
    return tls_error_text(channel->tls);
}

struct channel channel_on_tls(int fd, struct tls *tls)
{
    static const struct channel_kind kind = {channel_tls_read, channel_tls_write, socket_has_ended,
                                             channel_tls_close, channel_tls_error_text};
    return (struct channel){.kind = &kind, .fd = fd, .tls = tls};
}

/* ---- any ---- */

int channel_receive_descriptor(struct channel *channel)
{
    if (!channel->descriptor_count)
        return -1;
    int fd = channel->descriptors[0];
    memmove(channel->descriptors, channel->descriptors + 1,
            --channel->descriptor_count * sizeof *channel->descriptors);
    return fd;
}

void channel_close(struct channel *channel)
{
    for (size_t i = 0; i < channel->descriptor_count; i++)
        close(channel->descriptors[i]);
    free(channel->descriptors);
    channel->kind->close(channel);
}

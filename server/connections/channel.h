/* A channel: transfers bytes to and from the peer, and descriptors where the transport supports
 * them.
 *
 * The table of functions implements the transport: a socket, or TLS over one.  No call blocks. */
#ifndef SERVER_CONNECTIONS_CHANNEL_H
#define SERVER_CONNECTIONS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;

struct channel {
    const struct channel_kind *kind;
    struct tls *tls; /* NULL: a socket */
    int fd;           /* to wait on */
    int *descriptors; /* received, not claimed yet; the oldest first */
    size_t descriptor_count;
};

struct channel_kind {
    /* Returns the number of bytes; 0: the peer has closed; -1 with errno, EAGAIN or EINTR: retry
     * later. */
    ssize_t (*read)(struct channel *channel, void *bytes, size_t size);
    /* Returns the number of bytes sent, with the descriptor (-1: none); -1 with errno as for
     * read. */
    ssize_t (*write)(struct channel *channel, const void *bytes, size_t size, int descriptor);
    bool (*has_ended)(const struct channel *channel); /* though not all that it sent was read */
    void (*close)(struct channel *channel);
    const char *(*why)(const struct channel *channel); /* after EPROTO: returns the reason */
};

/* The channel closes the socket. */
struct channel channel_on_socket(int fd);
struct channel channel_on_tls(int fd, struct tls *tls); /* both; no descriptors come along */
void channel_close(struct channel *channel);
int channel_receive_descriptor(
    struct channel *channel); /* the oldest one, or -1; the caller closes it */

static inline ssize_t channel_read(struct channel *channel, void *bytes, size_t size)
{
    return channel->kind->read(channel, bytes, size);
}

static inline ssize_t channel_write(struct channel *channel, const void *bytes, size_t size,
                                    int descriptor)
{
    return channel->kind->write(channel, bytes, size, descriptor);
}

static inline const char *channel_error_text(const struct channel *channel)
{
    return channel->kind->why(channel);
}

static inline bool channel_has_ended(const struct channel *channel)
{
    return channel->kind->has_ended(channel);
}

#endif

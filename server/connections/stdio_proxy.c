#define _GNU_SOURCE
#include "server/connections/stdio_proxy.h"

#include "server/transport/tls_channel.h"
#include "wire/address.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_BYTES (4 * TLS_RECORD_BYTES)

static bool stdio_proxy_write_all(int fd, const char *data, ssize_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, (size_t)size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= n;
    }
    return true;
}

static bool stdio_proxy_copy_bytes(int from, int to)
{
    static char data[RELAY_BYTES];
    ssize_t n;
    while ((n = read(from, data, sizeof data)) < 0 && errno == EINTR)
        ;
    return n > 0 && stdio_proxy_write_all(to, data, n);
}

void stdio_proxy_run(int fd)
{
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return;
        if (p[1].revents && !stdio_proxy_copy_bytes(fd, STDOUT_FILENO))
            return;
        if (p[0].revents && !stdio_proxy_copy_bytes(STDIN_FILENO, fd))
            return;
    }
}

int stdio_proxy_begin(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        close(pair[1]);
        stdio_proxy_run(pair[0]);
        _exit(0);
    }
    close(pair[0]);
    if (child < 0) {
        close(pair[1]);
        return -1;
    }
    return pair[1];
}

/* ---- a server on another machine ---- */

#define CONNECT_MS 5000

static int remote_proxy_fail(const char *where, const char *why)
{
    fprintf(stderr, "poet server: %s%s%s\n", where, *where ? ": " : "", why);
    return 1;
}

/* A socket that does not block, or -1, and said why. */
static int remote_proxy_connect(const char *where)
{
    struct sockaddr_storage address;
    size_t size;
    struct error error;
    if (!address_resolve(where, &address, &size, &error)) {
        remote_proxy_fail("", error.text);
        return -1;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), e = 0;
    socklen_t e_size = sizeof e;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (fd < 0 ||
        (connect(fd, (struct sockaddr *)&address, (socklen_t)size) < 0 && errno != EINPROGRESS))
        e = errno;
    else if (poll(&p, 1, CONNECT_MS) != 1)
        e = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &e_size);
    if (!e)
        return fd;
    remote_proxy_fail(where, e == ECONNREFUSED
                                 ? "no server is listening; start: poet server --listen"
                                 : strerror(e));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* From there to standard output; 0 the other side has ended, -1 it cannot be spoken with, 1 for now
 * that was all. */
static int remote_proxy_carry_back(struct tls *tls)
{
    static char data[RELAY_BYTES];
    for (;;) {
        ssize_t n = tls_read(tls, data, sizeof data);
        if (n < 0)
            return errno == EAGAIN ? 1 : -1;
        if (n == 0 || !stdio_proxy_write_all(STDOUT_FILENO, data, n))
            return 0;
    }
}

/* By errno. */
static int remote_proxy_fail_with(const struct tls *tls, const char *where)
{
    return remote_proxy_fail(where, errno != EPROTO ? strerror(errno)
                                    : tls_is_authenticated(tls)
                                        ? tls_error_text(tls)
                                        : "key mismatch: the key file must be a copy "
                                          "of the server's (poet key; POET_KEY_FILE)");
}

static int remote_proxy_relay(struct tls *tls, int fd, const char *where)
{
    static char data[RELAY_BYTES];
    ssize_t there = 0, gone = 0; /* bytes on their way */
    for (;;) {
        int back = remote_proxy_carry_back(tls);
        if (back < 0)
            return remote_proxy_fail_with(tls, where);
        if (back == 0)
            return tls_is_authenticated(tls)
                       ? 0
                       : remote_proxy_fail(where, "connection closed by server");
        ssize_t n = 0;
        if (there > gone && tls_is_authenticated(tls))
            n = tls_write(tls, data + gone, (size_t)(there - gone));
        if (n < 0 && errno != EAGAIN)
            return remote_proxy_fail_with(tls, where);
        gone += n > 0 ? n : 0;
        bool full = there > gone;
        struct pollfd p[2] = {{.fd = full ? -1 : STDIN_FILENO, .events = POLLIN},
                              {.fd = fd, .events = POLLIN}};
        if ((full && tls_is_authenticated(tls)) || tls_wants_to_write(tls))
            p[1].events |= POLLOUT;
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return 1;
        if (!p[0].revents)
            continue;
        gone = 0;
        there = read(STDIN_FILENO, data, sizeof data);
        if (there <= 0)
            return 0;
    }
}

int remote_stdio_proxy_run(const char *where)
{
    struct network_key key;
    struct error error;
    signal(SIGPIPE, SIG_IGN);
    if (!endpoint_is_remote(where))
        return remote_proxy_fail(where, "use poet://HOST:PORT");
    if (!network_key_read(NULL, &key, &error))
        return remote_proxy_fail("", error.text);
    int fd = remote_proxy_connect(where);
    struct tls *tls = fd >= 0 ? tls_new(fd, false, &key, &error) : NULL;
    int status = tls       ? remote_proxy_relay(tls, fd, where)
                 : fd >= 0 ? remote_proxy_fail(where, error.text)
                           : 1;
    tls_free(tls);
    if (fd >= 0)
        close(fd);
    return status;
}

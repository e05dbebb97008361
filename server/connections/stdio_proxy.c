/* poet server --stdio: a viewer on another machine, at the other end of standard input and
 * output. */
#define _GNU_SOURCE
#include "server/connections/stdio_proxy.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_BYTES 65536

static bool write_all(int fd, const char *data, ssize_t size)
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
    return n > 0 && write_all(to, data, n);
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

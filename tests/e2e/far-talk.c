/* Talks to itself on another machine; logs the bytes that each call moved for tests/e2e/far-log.py.
 *   far-talk server PORT CONNECTIONS LOG [forks]
 *   far-talk client ADDRESS PORT MESSAGES LOG SEED [stdio|waits FILE] */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int log_fd;
static char connection[64];

static void say(const char *what, long from, long to)
{
    char line[200];
    int n = snprintf(line, sizeof line, "%d %s %s %ld %ld\n", (int)getpid(), connection, what, from,
                     to);
    if (write(log_fd, line, (size_t)n) != n)
        exit(9);
}

static long sent, got;
static void put(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0)
            exit(3);
        say("write", sent, sent + n);
        sent += n, data += n, size -= (size_t)n;
    }
}
static size_t get(int fd, char *data, size_t most)
{
    ssize_t n = recv(fd, data, most, 0);
    if (n < 0)
        exit(4);
    say(n ? "read" : "end", got, got + n);
    got += n;
    return (size_t)n;
}
static unsigned long state;
static unsigned pick(unsigned most)
{
    return (unsigned)((state = state * 6364136223846793005ul + 1442695040888963407ul) >> 33) % most;
}

/* Each message is its length and so many bytes; an answer to each is of half the length. */
static char buffer[200000];
static void get_all(int fd, size_t size)
{
    for (size_t have = 0, n; have < size; have += n)
        if (!(n = get(fd, buffer, 1 + pick((unsigned)(size - have)))))
            exit(5);
}
static void serve(int fd)
{
    unsigned size;
    for (;;) {
        size_t n = get(fd, (char *)&size, sizeof size);
        if (!n)
            break;
        if (n < sizeof size)
            exit(6);
        get_all(fd, size);
        memset(buffer, 'b', size / 2);
        put(fd, buffer, size / 2);
    }
}
static void name(int fd, int server)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    if (server)
        getpeername(fd, (struct sockaddr *)&at, &size);
    else
        getsockname(fd, (struct sockaddr *)&at, &size);
    snprintf(connection, sizeof connection, "%s:%d", inet_ntoa(at.sin_addr), ntohs(at.sin_port));
    sent = got = 0;
}
int main(int argc, char **argv)
{
    int server = strcmp(argv[1], "server") == 0;
    signal(SIGPIPE, SIG_IGN);
    log_fd = open(argv[server ? 4 : 5], O_WRONLY | O_CREAT | O_APPEND, 0666);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((unsigned short)atoi(argv[server ? 2 : 3]))};
    if (server) {
        int connections = atoi(argv[3]), forks = argc > 5 && strcmp(argv[5], "forks") == 0;
        at.sin_addr.s_addr = htonl(INADDR_ANY);
        if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 64))
            return 1;
        for (int i = 0; i < connections; i++) {
            int c = accept(fd, NULL, NULL);
            if (c < 0)
                return 2;
            name(c, 1);
            state = (unsigned long)i + 77;
            if (!forks || fork() == 0) {
                serve(c);
                if (forks)
                    exit(0);
            }
            close(c);
        }
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    at.sin_addr.s_addr = inet_addr(argv[2]);
    state = strtoul(argv[6], NULL, 10);
    for (int tries = 0; connect(fd, (struct sockaddr *)&at, sizeof at); tries++) {
        if (tries == 600)
            return 1;
        usleep(50000);
    }
    name(fd, 0);
    if (argc > 7 && strcmp(argv[7], "stdio") == 0) { /* calls that are not traced */
        unsigned size = 8;
        FILE *f = fdopen(dup(fd), "w");
        put(fd, (char *)&size, sizeof size);
        fputs("unheard.", f);
        fflush(f);
        sent += 8;
        get_all(fd, size / 2);
        fclose(f);
    }
    for (int i = 0; i < atoi(argv[4]); i++) {
        unsigned size = 2 + pick(i % 7 == 6 ? 150000 : 300);
        put(fd, (char *)&size, sizeof size);
        for (unsigned left = size, n; left; left -= n) {
            n = 1 + pick(left);
            memset(buffer, 'a', n);
            put(fd, buffer, n);
        }
        get_all(fd, size / 2);
    }
    if (argc > 8)
        while (access(argv[8], F_OK) != 0)
            usleep(10000);
    shutdown(fd, SHUT_WR);
    while (get(fd, buffer, 100))
        ;
    return 0;
}

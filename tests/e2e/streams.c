/* Nondeterministic input: prints what was read, in which portions, and from which stream first. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 3, TIMES = 40 };
static unsigned seed;

static unsigned random_below(unsigned n) { return (unsigned)rand_r(&seed) % n; }

static void begin_luck(unsigned of)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (unsigned)now.tv_nsec * 7 + of * 7919 + (unsigned)getpid();
}

/* Sizes are the program's own, always the same; when it writes is random. */
static void write_some(int fd, unsigned of)
{
    char text[300];
    begin_luck(of);
    for (unsigned i = 0; i < TIMES; i++) {
        size_t bytes = 1 + (i * 37 + of * 11) % 200;
        memset(text, 'a' + (int)of, bytes);
        if (random_below(3) == 0)
            usleep(random_below(800));
        if (write(fd, text, bytes) != (ssize_t)bytes)
            _exit(1);
    }
    close(fd);
}

static void children(int fds[WRITERS])
{
    for (unsigned i = 0; i < WRITERS; i++) {
        int p[2];
        if (pipe(p))
            exit(1);
        if (fork() == 0) {
            close(p[0]);
            write_some(p[1], i);
            _exit(0);
        }
        close(p[1]);
        fds[i] = p[0];
    }
}

static void reap(void)
{
    while (wait(NULL) > 0) {
    }
}

static void polls(int flags)
{
    int fds[WRITERS];
    char text[512];
    children(fds);
    struct pollfd p[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        p[i] = (struct pollfd){fds[i], POLLIN, 0};
        fcntl(fds[i], F_SETFL, flags);
    }
    for (int left = WRITERS; left;) {
        if (poll(p, WRITERS, -1) < 0)
            exit(1);
        for (int i = 0; i < WRITERS; i++) {
            ssize_t n = 1;
            if (p[i].fd < 0 || !p[i].revents)
                continue;
            do {
                n = read(p[i].fd, text, sizeof text);
                if (n >= 0)
                    printf("%d: %zd\n", i, n);
            } while (n > 0 && flags);
            if (n == 0)
                p[i].fd = -1, left--;
        }
    }
    reap();
}

static void selects(void)
{
    int fds[WRITERS];
    char text[512];
    children(fds);
    for (int left = WRITERS; left;) {
        fd_set in;
        FD_ZERO(&in);
        int most = 0;
        for (int i = 0; i < WRITERS; i++)
            if (fds[i] >= 0) {
                FD_SET(fds[i], &in);
                most = fds[i] > most ? fds[i] : most;
            }
        struct timeval wait = {0, 300};
        int found = select(most + 1, &in, NULL, NULL, &wait);
        for (int i = 0; found > 0 && i < WRITERS; i++) {
            if (fds[i] < 0 || !FD_ISSET(fds[i], &in))
                continue;
            ssize_t n = read(fds[i], text, sizeof text);
            printf("%d: %zd\n", i, n);
            if (n == 0)
                fds[i] = -1, left--;
        }
    }
    reap();
}

static void *writer(void *fd)
{
    write_some(*(int *)fd, 1);
    return NULL;
}

static void pair(void)
{
    int fds[2];
    char text[100];
    ssize_t n;
    pthread_t t;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        exit(1);
    pthread_create(&t, NULL, writer, &fds[1]);
    while ((n = read(fds[0], text, sizeof text)) > 0)
        printf("%zd\n", n);
    pthread_join(t, NULL);
}

/* One that was empty has ended, and the other has bytes, when they are looked at together. */
static void both(void)
{
    int a[2], b[2];
    char text[100];
    if (pipe(a) || pipe(b))
        exit(1);
    fcntl(a[0], F_SETFL, O_NONBLOCK);
    printf("%zd\n", read(a[0], text, sizeof text));
    if (fork() == 0) {
        if (write(b[1], text, 50) != 50)
            _exit(1);
        _exit(0);
    }
    close(a[1]);
    close(b[1]);
    reap();
    struct pollfd p[] = {{a[0], POLLIN, 0}, {b[0], POLLIN, 0}};
    printf("%d\n", poll(p, 2, -1));
    for (int i = 1; i >= 0; i--)
        printf("%d: %zd\n", i, read(p[i].fd, text, sizeof text));
}

static int counter;
static void *adder(void *of)
{
    seed = (unsigned)time(NULL);
    for (int i = 0; i < TIMES; i++) {
        if (i % 3 == 0)
            usleep((unsigned)(i * 13 + *(int *)of) % 300);
        eventfd_write(counter, 1);
    }
    return NULL;
}

static void counts(void)
{
    pthread_t t[2];
    int of[2] = {0, 150};
    counter = eventfd(0, EFD_SEMAPHORE);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, adder, &of[i]);
    for (int i = 0; i < 2 * TIMES; i++) {
        eventfd_t n;
        eventfd_read(counter, &n);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

/* Two programs, each of them this one, with a pipe between them. */
static void programs(char *self)
{
    int p[2];
    if (pipe(p))
        exit(1);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            dup2(p[!i], !i);
            close(p[0]);
            close(p[1]);
            execl(self, self, i ? "read" : "write", (char *)NULL);
            _exit(1);
        }
    close(p[0]);
    close(p[1]);
    reap();
}

static void from_stdin(void)
{
    char text[150];
    ssize_t n;
    while ((n = read(0, text, sizeof text)) > 0)
        printf("%zd\n", n);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (strcmp(how, "poll") == 0)
        polls(0);
    else if (strcmp(how, "again") == 0)
        polls(O_NONBLOCK);
    else if (strcmp(how, "select") == 0)
        selects();
    else if (strcmp(how, "pair") == 0)
        pair();
    else if (strcmp(how, "counts") == 0)
        counts();
    else if (strcmp(how, "both") == 0)
        both();
    else if (strcmp(how, "programs") == 0)
        programs(argv[0]);
    else if (strcmp(how, "write") == 0)
        write_some(1, 2);
    else if (strcmp(how, "read") == 0)
        from_stdin();
    return 0;
}

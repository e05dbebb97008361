#!/bin/bash
# Event loops in poll, select and epoll_wait: a hang if only threads of the program could make a descriptor ready and all of
# them are blocked; nothing is concluded where another process, a timer, a signal or the kernel may.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >loop.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int in[2] = {-1, -1}, self[2];
static const char *with;
static int is(const char *name) { return !strcmp(with, name); }
static void *worker(void *p)
{
    uint64_t one = 1;
    if (is("idle")) { /* a worker that waits for what the loop gives it */
        pthread_mutex_lock(&m);
        for (;;)
            pthread_cond_wait(&never, &m);
    }
    pthread_mutex_lock(&m); /* line 31: it has the lock before it wakes the loop */
    if (write(in[1], &one, sizeof one) < 0)
        return p;
    pthread_mutex_unlock(&m);
    return p;
}
static void on_signal(int sig)
{
    if (write(self[1], &sig, 1) < 0)
        _exit(1);
}
/* What may wake the loop from outside; -1: nothing. */
static int source(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct itimerspec later = {{0, 0}, {1000, 0}};
    sigset_t set;
    int fd = -1, pair[2];
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    if (is("timer"))
        timerfd_settime(fd = timerfd_create(CLOCK_MONOTONIC, 0), 0, &later, 0);
    if (is("signalfd"))
        sigprocmask(SIG_BLOCK, &set, 0), fd = signalfd(-1, &set, 0);
    if (is("inotify"))
        inotify_add_watch(fd = inotify_init(), "empty", IN_CREATE);
    if (is("listen") && (bind(fd = socket(AF_INET, SOCK_STREAM, 0), (void *)&any, sizeof any) || listen(fd, 9)))
        _exit(1);
    if (is("pair") && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        fd = pair[0];
    if (is("shared") && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) { /* with a child that is not traced */
        if (fork() == 0)
            for (;;)
                syscall(SYS_pause);
        close(pair[1]);
        fd = pair[0];
    }
    if (is("stdin"))
        fd = 0;
    if (is("child") && pipe(pair) == 0) { /* a child that is not traced: it makes no traced call */
        if (fork() == 0)
            for (;;)
                syscall(SYS_pause);
        fd = pair[0];
    }
    if (is("handler")) /* the program's own pipe, to which a handler writes */
        signal(SIGUSR1, on_signal), fd = self[0];
    return fd;
}
static int wait_for(const char *how, const int *fds, int timeout_ms)
{
    if (!strcmp(how, "poll")) {
        struct pollfd p[] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
        return poll(p, 2, timeout_ms);
    }
    if (!strcmp(how, "select")) {
        fd_set set;
        struct timeval t = {timeout_ms / 1000, 0};
        FD_ZERO(&set);
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0)
                FD_SET(fds[i], &set);
        return select(64, &set, 0, 0, timeout_ms < 0 ? 0 : &t);
    }
    int e = epoll_create1(0), outer = e;
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            epoll_ctl(e, EPOLL_CTL_ADD, fds[i], &(struct epoll_event){.events = EPOLLIN});
    if (!strcmp(how, "nested"))
        epoll_ctl(outer = epoll_create1(0), EPOLL_CTL_ADD, e, &(struct epoll_event){.events = EPOLLIN});
    return epoll_wait(outer, &(struct epoll_event){0}, 1, timeout_ms);
}
/* loop HOW OBJECT WITH */
int main(int argc, char **argv)
{
    pthread_t t;
    with = argv[argc - 1];
    if (pipe(self) || (!strcmp(argv[2], "pipe") && pipe(in)))
        return 1;
    if (!strcmp(argv[2], "eventfd"))
        in[0] = in[1] = eventfd(0, 0);
    int fds[] = {in[0], source()};
    if (!is("idle"))
        pthread_mutex_lock(&m);
    pthread_create(&t, 0, worker, 0);
    if (is("runs"))
        for (volatile int go = 1; go;)
            if (wait_for(argv[1], fds, 1000000) > 0)
                go = 0;
    wait_for(argv[1], fds, is("timeout") ? 1000000 : -1); // line 113
    return 0;
}
C
cc -g -pthread loop.c -o loop
mkdir empty
mkfifo never && exec 9<>never
# begins HOW OBJECT WITH
begins() {
    poet record -o "$1-$2-$3.poet" -- ./loop "$1" "$2" "$3" <&9 >/dev/null 2>&1 &
    pids="$pids $!"
    names="$names $1-$2-$3"
}
hangs="poll-pipe-nothing poll-eventfd-nothing select-pipe-nothing select-eventfd-nothing epoll-pipe-nothing epoll-eventfd-nothing
    nested-eventfd-nothing epoll-eventfd-idle poll-pipe-pair epoll-eventfd-pair"
sound="epoll-eventfd-timer epoll-pipe-signalfd epoll-eventfd-inotify epoll-pipe-listen poll-pipe-shared poll-pipe-stdin
    epoll-pipe-child epoll-eventfd-handler select-pipe-timeout epoll-pipe-timeout poll-eventfd-timer select-eventfd-listen"
for name in $hangs $sound; do
    begins ${name//-/ }
done
# The call in which the main thread sleeps is known, and its descriptors are then.
asleep() { poet blocked "$1.poet" 2>/dev/null >said; grep -Eq 'T:main(\[[0-9]+\])? .*in (poll|select|epoll_wait) ' said; }
concludes() { poet blocked "$1.poet" 2>/dev/null >said; grep -Eq 'HANG|DEADLOCK|never resume' said; }
can_look() { cat /proc/$(own_processes loop | head -n 1)/syscall >/dev/null 2>&1; }
has_ids() { own_processes loop | sed 's,.*,/proc/&/fdinfo,' | xargs grep -rqs eventfd-id; }
if ! until_true asleep epoll-pipe-nothing || ! can_look || ! has_ids; then
    skip "where threads sleep, and with which descriptors, cannot be read here"
    end_own_processes loop
    done_testing
    exit
fi
for name in $sound; do
    check "$name: the loop sleeps" until_true asleep $name
done
for each in $hangs; do
    check "$each: a hang" until_true concludes $each
    like "$each: of an event loop" "$(cat said)" \
        '^(LIKELY )?HANG: no (remaining|traced) thread can (still )?make ready a descriptor that an event loop waits for'
    like "$each: where it sleeps" "$(cat said)" 'T:main in (poll|select|epoll_wait) '
    is "$each: no lock is said to be abandoned" "$(grep -c 'which has exited' said)" 0
    [ ${each##*-} = nothing ] && like "$each: what would wake it waits for a lock of it" "$(cat said)" 'held by T:main'
    is "$each: it is listed once" "$(grep -c 'T:main .*\(since\|created\)' said)" 1
done
for each in $sound; do
    check "$each: the loop sleeps" asleep $each
    is "$each: nothing is concluded" "$(grep -E 'HANG|DEADLOCK|never resume' said)" ""
done
end_own_processes loop
finished() { poet stat --json "$1.poet" | grep -q '"finished":true'; }
check "a hang is one after the program was killed, too" until_true finished epoll-pipe-nothing
poet blocked epoll-pipe-nothing.poet >said
like "and in the same words" "$(cat said)" 'HANG: no (remaining|traced) thread can (still )?make ready a descriptor'
done_testing

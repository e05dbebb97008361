#!/bin/bash
# Order between processes and threads through kernel objects: eventfds, message queues, file locks, FIFOs,
# Unix sockets, ends of streams, poll; under poet record and with poetcc -trace -processes.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# A mark is a mutex that one thread locks once, which orders nothing.
cat >mark.h <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#define MARK(x) do { static pthread_mutex_t mk_##x = PTHREAD_MUTEX_INITIALIZER; \
    pthread_mutex_lock(&mk_##x), pthread_mutex_unlock(&mk_##x); } while (0)
#define MUST(x) do { if (!(x)) fprintf(stderr, "line %d: %s\n", __LINE__, strerror(errno)), abort(); } while (0)
/* Untraced order, so that a test does not depend on timing: a byte in memory that all share. */
static volatile unsigned char *unseen;
static void *unseen_made(void) { return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }
static void pause_until(int i) { while (!unseen[i]) usleep(1000); }
static void go(int i) { unseen[i] = 1; }
static pid_t waits_in(pid_t child) /* until it sleeps in a system call */
{
    char path[64], text[256] = "", *at;
    for (int i = 0; i < 5000; i++, usleep(1000)) {
        snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
        int fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        text[n > 0 ? n : 0] = 0;
        close(fd);
        if ((at = strrchr(text, ')')) && at[2] == 'S' && i > 20)
            break;
    }
    return child;
}
C
cat >orders.py <<'P'
import json, subprocess, sys
trace, truths = sys.argv[1], sys.argv[2:]
lines, marks = {}, {}
for text in subprocess.run(["poet", "dump", "--json", trace], capture_output=True, text=True).stdout.splitlines():
    f = json.loads(text)
    if "event" in f:
        name = lines.get(f["event"].split(":")[0], "")
        if name.startswith("mk_") and f["type"] == "acquired":
            marks.setdefault(name[3:], f["event"])
    elif "line" in f:
        lines[str(f["line"])] = f["name"] or ""
for truth in truths:
    op = next(c for c in "<|?" if c in truth)
    a, b = truth.split(op)
    if a not in marks or b not in marks:
        print(truth, "no mark")
        continue
    got = subprocess.run(["poet", "order", trace, marks[a], marks[b]], capture_output=True, text=True).stdout.split()[0]
    if got != {"<": "before", "|": "concurrent", "?": "unknown"}[op]:
        print(truth, got)
P
# orders NAME TRUTH...: checks both ways of recording
orders() {
    program=$1
    shift
    cc -g -O1 -I. "$program.c" -o "$program" -pthread -lrt 2>cc.log || cat cc.log
    poetcc -trace -processes -g -O1 -I. "$program.c" -o "$program.t" -pthread -lrt 2>cc.log || cat cc.log
    rm -f "$program".*poet
    check "$program: runs under poet record" timeout 300 poet record -o "$program.r.poet" -- "./$program"
    check "$program: runs with -processes" env POET_OUTPUT="$program.t.poet" timeout 300 "./$program.t"
    for way in r t; do
        check "$program.$way: the trace is sound" sound "$program.$way.poet"
        is "$program.$way: order of $*" "$(python3 orders.py "$program.$way.poet" "$@" 2>&1)" ""
    done
}

# ---- eventfds ----
cat >eventfds.c <<'C'
#include "mark.h"
static int e, s, old, two[2];
static void *first(void *p) { MARK(x); uint64_t n; MUST(read(e, &n, 8) == 8); MARK(b); return p; }
static void *second(void *p) { eventfd_t n; MUST(eventfd_read(s, &n) == 0 && n == 1); MARK(d); return p; }
static void *third(void *p) { struct pollfd f = {two[0], POLLIN, 0}; MUST(poll(&f, 1, -1) == 1); MARK(j); return p; }
int main(void)
{
    pthread_t t[3];
    uint64_t one = 1;
    unseen = unseen_made();
    old = eventfd(0, 0); /* its id is reused for another one */
    MUST(write(old, &one, 8) == 8);
    close(old);
    e = eventfd(0, 0), s = eventfd(0, EFD_SEMAPHORE), two[0] = eventfd(0, EFD_NONBLOCK);
    MUST(read(two[0], &one, 8) < 0 && errno == EAGAIN);
    pthread_create(&t[0], NULL, first, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    pthread_create(&t[2], NULL, third, NULL);
    one = 1;
    MARK(a);
    MUST(write(e, &one, 8) == 8);
    MARK(c);
    MUST(eventfd_write(s, 2) == 0);
    if (fork() == 0) { /* the other unit of the semaphore */
        eventfd_t n;
        MUST(eventfd_read(s, &n) == 0);
        MARK(f);
        _exit(0);
    }
    MARK(i);
    one = ~0ull; /* fails: it orders nothing */
    MUST(write(two[0], &one, 8) < 0 && errno == EINVAL);
    one = 1;
    MUST(write(two[0], &one, 8) == 8);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return wait(NULL) < 0;
}
C
orders eventfds "a<b" "x|a" "c<d" "c<f" "b|c" "b|d" "i<j"
is "a failed write to an eventfd is not recorded" "$(poet dump --json eventfds.r.poet | grep '"type":"added"' | grep -vc '"event":"h')" 4

# ---- the end of a stream ----
cat >ends.c <<'C'
#include "mark.h"
static char b[8];
static void child_of(int *p, void (*does)(int *))
{
    MUST(pipe(p) == 0);
    if (fork() == 0) {
        close(p[0]);
        does(p);
    }
    close(p[1]);
}
static void exits(int *p) { MARK(a); (void)p; exit(0); }
static void exits_at_once(int *p) { MARK(c); (void)p; _exit(0); }
static void closes(int *p) { MARK(e); close(p[1]); MARK(x); pause_until(0); _exit(0); }
static void replaces(int *p) { MARK(g); dup2(p[0] = open("/dev/null", O_RDONLY), p[1]); pause_until(0); _exit(0); }
static void executes(int *p) { MARK(i); fcntl(p[1], F_SETFD, FD_CLOEXEC); execl("/bin/true", "true", (char *)NULL); _exit(1); }
int main(void)
{
    int p[2], s[2];
    unseen = unseen_made();
    child_of(p, exits); MUST(read(p[0], b, 8) == 0); MARK(b);
    child_of(p, exits_at_once); MUST(read(p[0], b, 8) == 0); MARK(d);
    child_of(p, closes); MUST(read(p[0], b, 8) == 0); MARK(f);
    child_of(p, replaces); MUST(read(p[0], b, 8) == 0); MARK(h);
    go(0);
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    if (fork() == 0) {
        close(s[0]);
        MARK(k);
        shutdown(s[1], SHUT_WR);
        MARK(y);
        MUST(read(s[1], b, 8) == 0);
        MARK(n);
        _exit(0);
    }
    close(s[1]);
    MUST(recv(s[0], b, 8, 0) == 0);
    MARK(l);
    MARK(m);
    close(s[0]);
    while (wait(NULL) > 0)
        ;
    return 0;
}
C
orders ends "a<b" "c<d" "e<f" "x|f" "g<h" "k<l" "y|l" "m<n"

# A killed writer closes unseen; what comes after the end of the stream may come after more.
cat >killed.c <<'C'
#include "mark.h"
int main(void)
{
    int p[2];
    char b[8];
    MUST(pipe(p) == 0);
    if (fork() == 0) {
        MUST(write(p[1], "x", 1) == 1);
        MARK(a);
        kill(getpid(), SIGKILL);
    }
    close(p[1]);
    while (read(p[0], b, 8) > 0)
        ;
    MARK(b);
    return wait(NULL) < 0;
}
C
orders killed "a?b"

# A child without an event of its own: what was before its fork may be before the end.
cat >silent.c <<'C'
#include "mark.h"
static int p[2];
static void *forks(void *x)
{
    pause_until(0);
    MARK(a);
    if (fork() == 0) {
        pause_until(1);
        _exit(0);
    }
    go(2);
    return x;
}
int main(void)
{
    pthread_t t;
    char c;
    unseen = unseen_made();
    MUST(pipe(p) == 0);
    pthread_create(&t, NULL, forks, NULL);
    go(0), pause_until(2);
    close(p[1]);
    go(1);
    MUST(read(p[0], &c, 1) == 0);
    MARK(b);
    pthread_join(t, NULL);
    return wait(NULL) < 0;
}
C
orders silent "a?b"

# A failing exec, by several threads: another one closes what the exec would have closed.
cat >fails.c <<'C'
#include "mark.h"
static int p[2], q[2];
static void *executes(void *x)
{
    MARK(a);
    MUST(execl("/does/not/exist", "x", (char *)NULL) < 0);
    go(0);
    return x;
}
int main(void)
{
    pthread_t t;
    char c;
    unseen = unseen_made();
    MUST(pipe2(p, O_CLOEXEC) == 0 && pipe2(q, O_CLOEXEC) == 0);
    pthread_create(&t, NULL, executes, NULL);
    pause_until(0);
    close(p[1]); /* by another thread, which that one is not before */
    MUST(read(p[0], &c, 1) == 0);
    MARK(b);
    pthread_join(t, NULL);
    MUST(execl("/does/not/exist", "x", (char *)NULL) < 0);
    close(q[1]);
    MUST(read(q[0], &c, 1) == 0);
    return 0;
}
C
orders fails "a?b"

# ---- FIFOs, Unix sockets by name ----
cat >named.c <<'C'
#include "mark.h"
static char c;
static void serves(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "a.socket"};
    int l = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(a.sun_path);
    MUST(bind(l, (void *)&a, sizeof a) == 0 && listen(l, 5) == 0);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            int s = socket(AF_UNIX, SOCK_STREAM, 0);
            MUST(connect(s, (void *)&a, sizeof a) == 0);
            if (i == 0) { MARK(c); } else { MARK(d); }
            MUST(write(s, i ? "d" : "c", 1) == 1 && read(s, &c, 1) == 1);
            if (i == 0) { MARK(g); } else { MARK(h); }
            _exit(0);
        }
    int fds[2];
    for (int i = 0; i < 2; i++)
        fds[i] = accept(l, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        MUST(read(fds[i], &c, 1) == 1);
        if (c == 'c') { MARK(e); } else { MARK(f); }
        MUST(write(fds[i], "x", 1) == 1);
    }
}
int main(void)
{
    unlink("a.fifo");
    MUST(mkfifo("a.fifo", 0600) == 0);
    for (int round = 0; round < 2; round++) {
        if (fork() == 0) {
            int w = open("a.fifo", O_WRONLY);
            if (round) { MARK(a); }
            MUST(write(w, "xy", 2) == 2);
            _exit(0);
        }
        int r = open("a.fifo", O_RDONLY); /* in the first round a byte is left behind */
        MUST(read(r, &c, 1) == 1);
        if (round) { MARK(b); }
        wait(NULL);
        close(r);
    }
    serves();
    while (wait(NULL) > 0)
        ;
    return 0;
}
C
orders named "a<b" "c<e" "d<f" "e<g" "f<h" "c|d"

# ---- message queues ----
cat >queues.c <<'C'
#include "mark.h"
static mqd_t q;
static void *sends(void *p) { MARK(c); MUST(mq_send(q, "low", 3, 1) == 0); return p; }
int main(void)
{
    char name[64], b[64];
    unsigned priority;
    pthread_t t;
    struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 64};
    snprintf(name, sizeof name, "/poet-e2e-%d", (int)getpid());
    q = mq_open(name, O_CREAT | O_RDWR, 0600, &a);
    MUST(q >= 0);
    mq_unlink(name);
    pthread_create(&t, NULL, sends, NULL);
    MUST(mq_receive(q, b, 64, &priority) == 3 && priority == 1);
    MARK(d);
    if (fork() == 0) {
        MARK(e);
        MUST(mq_send(q, "first", 5, 3) == 0 && mq_send(q, "second", 6, 9) == 0);
        MARK(x);
        _exit(0);
    }
    wait(NULL);
    if (fork() == 0) { /* the higher priority comes first, whichever thread receives it */
        MUST(mq_receive(q, b, 64, NULL) == 6 && memcmp(b, "second", 6) == 0);
        MARK(f);
        _exit(0);
    }
    wait(NULL);
    MUST(mq_timedreceive(q, b, 64, NULL, &(struct timespec){0, 0}) == 5);
    MARK(g);
    MUST(mq_timedreceive(q, b, 64, NULL, &(struct timespec){0, 0}) < 0 && errno == ETIMEDOUT);
    MUST(mq_send(q, "same", 4, 0) == 0);
    if (fork() == 0) {
        MUST(mq_send(q, "same", 4, 0) == 0);
        _exit(0);
    }
    wait(NULL);
    MUST(mq_receive(q, b, 64, NULL) == 4 && mq_receive(q, b, 64, NULL) == 4);
    return pthread_join(t, NULL);
}
C
orders queues "c<d" "e<f" "e<g"
like "a receive of one of two equal messages has an uncertain order" \
    "$(poet dump --json queues.r.poet | grep '"type":"received"' | grep -c '"relation":"none"')" "^1$"

# ---- file locks ----
cat >locks.c <<'C'
#include "mark.h"
static int file(void) { return open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600); }
static int range(int fd, int command, int type, off_t start, off_t length)
{
    return fcntl(fd, command, &(struct flock){.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length});
}
int main(void)
{
    int f = file();
    unseen = unseen_made();
    MUST(flock(f, LOCK_EX) == 0);
    if (fork() == 0) {
        int g = file();
        MUST(flock(g, LOCK_SH | LOCK_NB) < 0);
        go(0);
        MUST(flock(g, LOCK_SH) == 0);
        MARK(b);
        go(1);
        pause_until(2);
        MARK(c);
        _exit(0); /* the end of a process releases the lock */
    }
    pause_until(0);
    MARK(a);
    MUST(flock(f, LOCK_UN) == 0);
    pause_until(1);
    MUST(flock(f, LOCK_SH) == 0); /* two share it: no order */
    MARK(x);
    go(2);
    MUST(flock(f, LOCK_EX) == 0);
    MARK(d);
    close(f);

    f = file();
    MUST(range(f, F_SETLK, F_WRLCK, 0, 0) == 0);
    if (fork() == 0) {
        f = file();
        MUST(range(f, F_SETLK, F_RDLCK, 0, 0) < 0);
        go(3);
        MUST(range(f, F_SETLKW, F_RDLCK, 0, 0) == 0);
        MARK(f);
        _exit(0);
    }
    pause_until(3);
    MARK(e);
    close(file()); /* any descriptor of the file */
    wait(NULL), wait(NULL);

    if (fork() == 0) {
        MUST(lockf(f, F_LOCK, 0) == 0);
        MARK(g);
        MUST(lockf(f, F_ULOCK, 0) == 0);
        go(4);
        _exit(0);
    }
    pause_until(4);
    MUST(range(f, F_OFD_SETLKW, F_WRLCK, 0, 0) == 0);
    MARK(h);
    wait(NULL);
    if (fork() == 0) { /* a killed process releases the lock without an event */
        f = file();
        MUST(flock(f, LOCK_EX) == 0);
        MARK(k);
        kill(getpid(), SIGKILL);
    }
    wait(NULL);
    MUST(flock(file(), LOCK_EX) == 0);
    MARK(l);
    return 0;
}
C
orders locks "a<b" "c<d" "e<f" "g<h" "k?l"
like "a file lock is named after its file" "$(poet dump --json locks.r.poet | grep '"kind":"filelock"')" '/lock"'

# ---- select, and peeking without reading ----
cat >looks.c <<'C'
#include "mark.h"
static int p[2], s[2];
static void *selects(void *x)
{
    fd_set in;
    FD_ZERO(&in);
    FD_SET(p[0], &in);
    MUST(select(p[0] + 1, &in, NULL, NULL, NULL) == 1);
    MARK(b);
    return x;
}
static void *peeks(void *x)
{
    char c;
    MUST(recv(s[0], &c, 1, MSG_PEEK) == 1);
    MARK(d);
    MUST(recv(s[0], &c, 1, 0) == 1);
    MUST(poll(&(struct pollfd){s[0], POLLIN, 0}, 1, -1) == 1); /* the end */
    MARK(f);
    return x;
}
int main(void)
{
    pthread_t t[2];
    MUST(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    pthread_create(&t[0], NULL, selects, NULL);
    pthread_create(&t[1], NULL, peeks, NULL);
    MARK(a);
    MUST(write(p[1], "x", 1) == 1);
    MARK(c);
    MUST(write(s[1], "x", 1) == 1);
    MARK(e);
    close(s[1]);
    return pthread_join(t[0], NULL) | pthread_join(t[1], NULL);
}
C
orders looks "a<b" "c<d" "e<f"

# ---- streams that are no longer traced: reads from them have an uncertain order ----
cat >lost.c <<'C'
#include "mark.h"
int main(void)
{
    int p[2], q[2];
    char b[64];
    MUST(pipe(p) == 0 && pipe(q) == 0);
    if (fork() == 0) {
        FILE *f = fdopen(p[1], "w");
        MARK(a);
        fputs("unseen", f);
        fflush(f);
        MUST(read(q[0], b, 1) == 1);
        MUST(write(p[1], "x", 1) == 1);
        MARK(x);
        _exit(0);
    }
    MUST(read(p[0], b, 6) == 6);
    MARK(b);
    MUST(write(q[1], "x", 1) == 1);
    MUST(read(p[0], b, 1) == 1);
    MARK(c);
    return wait(NULL) < 0;
}
C
orders lost "a?b" "a?c"

# ---- without -processes: not traced, and reported ----
poetcc -trace -g -O1 -I. eventfds.c -o plain -pthread -lrt
check "without -processes the program runs" env POET_OUTPUT=plain.poet ./plain
until_true finished plain.poet
check "without -processes eventfds are reported as untraced" grep -qa "eventfds (traced with poetcc -trace -processes" plain.poet
check "with -processes eventfds are not reported as untraced" sh -c '! grep -qa "eventfds (traced" eventfds.t.poet'
cat >datagrams.c <<'C'
#include <sys/socket.h>
int main(void) { return socket(AF_UNIX, SOCK_DGRAM, 0) < 0; }
C
poetcc -trace -g datagrams.c -o datagrams
check "a program with datagrams runs with -processes" env POET_OUTPUT=datagrams.poet ./datagrams
until_true finished datagrams.poet
check "datagram sockets are reported as untraced by -processes" \
    grep -qa "sockets (poetcc -trace -processes traces byte streams between programs of one host, but no datagrams)" datagrams.poet
like "poetcc -processes is refused for static programs" "$(poetcc -trace -processes -static -I. eventfds.c -o st 2>&1)" "not supported with -static"
done_testing

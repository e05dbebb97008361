#!/bin/bash
# Bytes between processes under poet record: a read happens after the writes of its bytes and after no others;
# where bytes were not traced no order is claimed.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
check "process.conf is valid" poet check "$root/config/process.conf"

# Every 4 bytes are the serial number of the write that wrote them; the reader prints for each read the
# writes of its bytes.
cat >stream.c <<'C'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#define WRITES 300
static unsigned seed = 7;
static unsigned chance(unsigned n) { return (seed = seed * 1103515245 + 12345) / 65536 % n; }
static int wire[2000];
static void writes(int fd)
{
    for (int i = 0; i < WRITES; i++) {
        int n = 1 + (int)chance(chance(8) ? 40 : 2000), done = 0;
        for (int k = 0; k < n; k++)
            wire[k] = i;
        struct iovec v[2] = {{wire, 4}, {wire + 1, 4 * (size_t)(n - 1)}};
        if (i % 7 == 3)
            done = (int)writev(fd, v, 2);
        for (; done < 4 * n; ) {
            int got = (int)write(fd, (char *)wire + done, 4 * (size_t)n - (size_t)done);
            if (got <= 0)
                exit(1);
            done += got;
        }
        if (chance(5) == 0)
            usleep(chance(300));
    }
    close(fd);
}
static void reads(int fd, const char *log)
{
    static char in[1 << 16];
    FILE *f = fopen(log, "w");
    size_t at = 0; /* position in the stream: a number may arrive in pieces */
    int serial = -1;
    for (;;) {
        ssize_t n = read(fd, in, 1 + chance(chance(4) ? 500 : 60000));
        if (n <= 0)
            break;
        int first = -1, last = -1;
        static unsigned char word[4];
        for (ssize_t i = 0; i < n; i++, at++) {
            word[at % 4] = (unsigned char)in[i];
            if (at % 4 == 0) { /* serial numbers are small: the low byte comes first */
                serial = -1;
            }
            if (at % 4 == 3)
                memcpy(&serial, word, 4);
            if (at % 4 == 3 || i == n - 1)
                last = serial >= 0 ? serial : last;
            if (first < 0 && serial >= 0)
                first = serial;
        }
        fprintf(f, "%d %d %zd\n", first, last, n);
        if (chance(6) == 0)
            usleep(chance(300));
    }
    fclose(f);
}
static void *copies(void *p)
{
    int fd = *(int *)p, n;
    char b[100];
    while ((n = (int)read(fd, b, sizeof b)) > 0)
        if (write(fd, b, (size_t)n) != n)
            break;
    close(fd);
    return NULL;
}
int main(int argc, char **argv)
{
    int fds[2], l;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t z = sizeof a;
    switch (argc > 1 ? argv[1][0] : 'p') {
    case 'p':
        if (pipe(fds))
            return 1;
        break;
    case 's':
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
            return 1;
        break;
    case 't':
        l = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(l, (void *)&a, z) || listen(l, 5) || getsockname(l, (void *)&a, &z))
            return 1;
        if (fork() == 0) {
            fds[1] = socket(AF_INET, SOCK_STREAM, 0);
            if (connect(fds[1], (void *)&a, z))
                exit(1);
            writes(fds[1]);
            exit(0);
        }
        reads(accept(l, NULL, NULL), "log");
        return wait(NULL) < 0;
    case 'c': /* a server with a thread for each client */
        l = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(l, (void *)&a, z) || listen(l, 5) || getsockname(l, (void *)&a, &z))
            return 1;
        for (int i = 0; i < 3; i++)
            if (fork() == 0) {
                int c = socket(AF_INET, SOCK_STREAM, 0);
                char b[8];
                if (connect(c, (void *)&a, z))
                    exit(1);
                for (int k = 0; k < 20; k++)
                    if (send(c, "hello", 5, 0) != 5 || recv(c, b, sizeof b, 0) <= 0)
                        exit(1);
                exit(0);
            }
        pthread_t t[3];
        static int c[3];
        for (int i = 0; i < 3; i++) {
            c[i] = accept(l, NULL, NULL);
            pthread_create(&t[i], NULL, copies, &c[i]);
        }
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
        while (wait(NULL) > 0)
            ;
        return 0;
    case 'm': /* stdio in between, which is not traced */
    case '2': /* two writers */
        if (pipe(fds))
            return 1;
        for (int w = 0; w < (argv[1][0] == '2' ? 2 : 1); w++)
            if (fork() == 0) {
                FILE *f = fdopen(fds[1], "w");
                for (int i = 0; i < 2000; i++)
                    if (argv[1][0] == 'm' && i % 50 == 20)
                        fprintf(f, "unseen "), fflush(f);
                    else if (write(fds[1], "0123456789", 10) != 10)
                        exit(1);
                _exit(0);
            }
        close(fds[1]);
        char b[4096];
        while (read(fds[0], b, 100) > 0)
            ;
        return 0;
    }
    if (fork() == 0) {
        close(fds[0]);
        writes(fds[1]);
        _exit(0);
    }
    close(fds[1]);
    reads(fds[0], "log");
    return wait(NULL) < 0;
}
C
cc -g -O1 stream.c -o stream -pthread 2>cc.log || cat cc.log

# The partners of each read, as serial numbers of writes, against the log.
cat >against.py <<'P'
import json, sys
writes, reads, count = {}, [], 0
for text in sys.stdin:
    f = json.loads(text)
    if "event" in f and f["type"] == "write":
        writes[f["event"]] = len(writes)
    elif "event" in f and f["type"] == "read":
        p = f["partner"]
        reads.append([p] if isinstance(p, str) else p)
log = [tuple(map(int, l.split())) for l in open("log")]
if len(log) != len(reads):
    sys.exit(f"{len(reads)} reads, {len(log)} in the log")
n = wrong = 0
for (first, last, size), partners in zip(log, reads):
    got = sorted(writes[p] for p in partners)
    if got != list(range(got[0], got[-1] + 1)):
        wrong += 1
    n += 1
    # a read may end within a number, which may be that of the next write
    if first >= 0 and (got[0] != first or got[-1] not in (last, last + 1)):
        wrong += 1
        print(f"read {n}: bytes of writes {first} to {last}, the trace says {got[0]} to {got[-1]}")
print(f"{n} reads of {len(writes)} writes, {wrong} wrong")
sys.exit(wrong != 0)
P

for kind in pipe socketpair tcp; do
    rm -f log ./*.poet
    check "$kind: the program runs under poet record" timeout 300 poet record -o "$kind.poet" -- ./stream $kind
    check "$kind: the trace is sound" sound "$kind.poet"
    like "$kind: each read happens after the writes of its bytes" \
        "$(poet dump --json "$kind.poet" | python3 against.py 2>&1)" "reads of 300 writes, 0 wrong"
done

# connect() returns long after the connection was accepted, and read from.
cat >slow.c <<'C'
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
int connect(int fd, const struct sockaddr *to, socklen_t size)
{
    int e = (int)syscall(SYS_connect, fd, to, size);
    usleep(50000);
    return e;
}
C
cc -shared -fPIC slow.c -o libslow.so
cc -g -O1 stream.c -o slow_stream -pthread -L. -Wl,-rpath,"$PWD" -Wl,--no-as-needed -lslow 2>cc.log || cat cc.log
rm -f log
check "slow connect: the program runs under poet record" timeout 300 poet record -o slow.poet -- ./slow_stream tcp
check "slow connect: the trace is sound" sound slow.poet
like "slow connect: each read happens after the writes of its bytes" \
    "$(poet dump --json slow.poet | python3 against.py 2>&1)" "reads of 300 writes, 0 wrong"

check "a server with threads and its clients run under poet record" timeout 300 poet record -o served.poet -- ./stream clients
check "a server and its clients: the run is sound" sound served.poet
is "a server and its clients: every message has its sender" \
    "$(poet dump --json served.poet | grep -c '"type":"read".*"relation":"async"')" \
    "$(poet dump --json served.poet | grep -c '"type":"read"')"
like "a server and its clients: all reads are recorded" "$(poet dump --json served.poet | grep -c '"type":"read"')" "^1[0-9][0-9]$"
is "a server and its clients: threads and processes are lines" "$(poet dump --json served.poet | grep -c '"kind":"thread"')" 7

cat >forked.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
/* The child reads on from a stream that its parent has used. */
int main(void)
{
    int p[2], q[2];
    char b[8];
    if (pipe(p) || pipe(q) || write(p[1], "a", 1) != 1 || read(p[0], b, 8) != 1)
        return 1;
    if (fork() == 0)
        _exit(read(p[0], b, 8) == 1 && write(q[1], b, 1) == 1 ? 0 : 1);
    return !(write(p[1], "b", 1) == 1 && read(q[0], b, 8) == 1 && wait(NULL) > 0);
}
C
cc -g forked.c -o forked
check "a child that reads on from its parent's stream runs" timeout 300 poet record -o forked.poet -- ./forked
check "a child that reads on from its parent's stream: the trace is sound" sound forked.poet
is "a child that reads on from its parent's stream: three messages" "$(poet dump --json forked.poet | grep -c '"type":"read".*"relation":"async"')" 3

# ---- streams with untraced bytes ----
for kind in mixed 2writers; do
    check "$kind: the program with untraced bytes runs" timeout 300 poet record -o "$kind.poet" -- ./stream $kind
    check "$kind: no event is pending" sound "$kind.poet"
    like "$kind: the trace reports that the stream is no longer traced" "$(poet dump --json "$kind.poet")" "stream no longer traced"
done
printf 'a\nb\n' | timeout 300 poet record -o outside.poet -- "$(python3 -c 'import sys; print(sys.executable)')" -c '
import sys, os
os.write(1, os.read(0, 100))' >out
is "streams from and to the outside pass through" "$(cat out)" "a
b"
is "reads and writes of outside streams are not recorded" "$(poet dump --json outside.poet | grep -c '"type":"\(write\|read\)"')" 0

# ---- installed programs ----
timeout 300 poet record -o shell.poet -- sh -c 'head -c 300000 /dev/urandom | cat | dd bs=1000 2>/dev/null | wc -c' >out
is "a shell pipeline prints its result" "$(cat out)" 300000
check "a shell pipeline: the trace is sound" sound shell.poet
timeout 300 poet record --without process -o without.poet -- ./stream pipe
like "poet record --without an unknown library is refused" "$(poet record --without nothing -- true 2>&1)" "no libpoet-nothing.so"
is "poet record --without process records no writes" "$(poet dump --json without.poet | grep -c '"type":"write"')" 0
done_testing

#!/bin/bash
# Processes that wait for each other at message queues, TCP connections, named Unix sockets and FIFOs: the cycle that poet blocked
# and poet report name, live and after the end, and nothing of processes that can continue. A queue or FIFO that an
# untraced process could open by its name makes it likely, not certain.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >cross.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char many[1 << 22]; /* more than sockets buffer */
static const char *how;
static int fixed, busy;

static mqd_t queues[2];
static void open_queues(int unlinked)
{
    static const char *const words[] = {"jobs", "results"};
    struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 8};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "/poet-%s-%d-%s", how, getpid(), words[i]);
        queues[i] = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
        if (unlinked)
            mq_unlink(name);
    }
}
/* In a correct program the child has something else to do. */
static void other_work(int child)
{
    while (busy && child)
        sigsuspend(&(sigset_t){0});
}
static void receives(int child)
{
    char text[8];
    other_work(child);
    if (fixed && child)
        mq_send(queues[0], "first", 6, 0);
    mq_receive(queues[child], text, sizeof text, NULL); // both receive
    if (!child)
        mq_send(queues[1], "answer", 7, 0);
}
static void sends(int child)
{
    char text[8];
    other_work(child);
    for (int i = 0; i < 4; i++) {
        mq_send(queues[child], "job", 4, 0); // both send
        if (fixed)
            mq_receive(queues[!child], text, sizeof text, NULL);
    }
}
static void times_out(int child)
{
    char text[8];
    struct timespec until = {time(NULL) + 1000000, 0};
    mq_timedreceive(queues[child], text, sizeof text, NULL, &until); // both have a timeout
}
static int listener;
static union {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
} at;
static socklen_t at_size;
static void listens(int local)
{
    at.in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at_size = sizeof at.in;
    if (local) {
        at.un = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "socket"};
        at_size = sizeof at.un;
        unlink("socket");
    }
    listener = socket(at.any.sa_family, SOCK_STREAM, 0);
    bind(listener, &at.any, at_size);
    listen(listener, 1);
    if (!local)
        getsockname(listener, &at.any, &at_size);
}
static void talks(int child, int writes)
{
    int s = child ? accept(listener, NULL, NULL) : socket(at.any.sa_family, SOCK_STREAM, 0);
    char c = 0;
    if (!child)
        connect(s, &at.any, at_size);
    close(listener);
    other_work(child);
    if (!strcmp(how, "timeout"))
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1000000, 0}, sizeof(struct timeval));
    if (fixed && child)
        send(s, &c, 1, 0);
    if (writes && !fixed)
        send(s, many, sizeof many, 0); // both write
    else
        recv(s, &c, 1, 0); // both read a connection
    if (fixed && !child)
        send(s, &c, 1, 0);
}
static void uses_fifos(int child)
{
    char c;
    int to = open("requests", O_RDWR), from = open("replies", O_RDWR);
    other_work(child);
    if (fixed && child && write(from, "r", 1) != 1)
        _exit(1);
    if (read(child ? to : from, &c, 1) != 1) // both read one
        _exit(1);
    if (!child && write(to, "q", 1) != 1)
        _exit(1);
}
int main(int argc, char **argv)
{
    how = argv[1];
    fixed = argc == 3 && !strcmp(argv[2], "fixed");
    busy = argc == 3 && !strcmp(argv[2], "busy");
    int local = !strcmp(how, "unix"), tcp = !strcmp(how, "tcp") || !strcmp(how, "timeout"), fifos = !strcmp(how, "fifo");
    if (local || tcp)
        listens(local);
    else if (fifos)
        mkfifo("requests", 0600), mkfifo("replies", 0600);
    else
        open_queues(strcmp(how, "named") != 0);
    int child = fork() == 0;
    if (local || tcp)
        talks(child, local);
    else if (fifos)
        uses_fifos(child);
    else if (!strcmp(how, "full"))
        sends(child);
    else if (!strcmp(how, "until"))
        times_out(child);
    else
        receives(child);
    return child ? 0 : wait(NULL) < 0;
}
C
cc -g cross.c -o cross-record
poetcc -trace -processes -g cross.c -o cross-traced

at() { echo "cross.c:$(grep -n "// $1" cross.c | cut -d: -f1)"; }
run() { # run PROGRAM HOW [WAY]
    case $1 in
    *-record) poet record -o "$1-$2$3.poet" -- "./$1" "$2" $3 ;;
    *) POET_OUTPUT=$1-$2$3.poet "./$1" "$2" $3 ;;
    esac
}
has() { # has COMMAND FILE PATTERN...
    local command=$1 file=$2 pattern
    shift 2
    poet $command "$file" >said 2>/dev/null
    for pattern; do grep -Eq -- "$pattern" said || return 1; done
}
both() { has blocked "$1" && [ "$(grep -Ec "^T:.* at $2" said)" = 2 ]; } # FILE PLACE
# hangs HOW PATTERN...: in both ways, live and after the end
hangs() {
    local how=$1 program file process
    shift
    for program in cross-record cross-traced; do
        file=$program-$how.poet
        run $program "$how" >/dev/null 2>&1 &
        pids="$pids $!"
        check "$program $how: the cycle, live" until_true has blocked "$file" "$@" || cat said
        for process in $(own_processes $program); do stop_process $process; done
        kill -KILL $(own_processes $program) 2>/dev/null
        until_true finished "$file"
        check "$program $how: the cycle, after the end" has blocked "$file" "$@" || cat said
        run $program "$how" fixed >/dev/null 2>&1
        is "$program $how, corrected: the program ends" "$?" 0
        until_true finished "$program-${how}fixed.poet"
        is "$program $how, corrected: no hang" "$(poet blocked "$program-${how}fixed.poet" | grep -E 'HANG|DEADLOCK|never')" ""
    done
}
child='T:main\[[0-9]+\]'
hangs receive '^DEADLOCK: 2 threads wait for each other' "^    T:main waits for bytes from Q:/poet-receive-[0-9]+-jobs, which only $child can write" \
    "^    $child waits for bytes from Q:/poet-receive-[0-9]+-results, which only T:main can write" "^T:main waits for bytes from Q:.* at $(at 'both receive')"
like "receive: the report names the cycle" "$(poet report cross-record-receive.poet 2>/dev/null)" '^  DEADLOCK: 2 threads wait for each other'
like "receive: so does the report of findings" "$(poet blocked --format gcc cross-record-receive.poet 2>/dev/null)" \
    "^$(at 'both receive'):? error: .*DEADLOCK: 2 threads wait for each other"
hangs full '^DEADLOCK: 2 threads wait for each other' "^    T:main waits for buffer space in Q:/poet-full-[0-9]+-jobs, which only $child can read" \
    "^    $child waits for buffer space in Q:/poet-full-[0-9]+-results, which only T:main can read"
hangs named '^LIKELY DEADLOCK: 2 threads wait for each other' "^    T:main waits for bytes from Q:/poet-named-[0-9]+-jobs, which only $child can write" \
    '^    uncertain: processes that are not traced could open it by its name'
like "named: the report says that it is likely" "$(poet report cross-record-named.poet 2>/dev/null)" '^  LIKELY HANG: 2 threads will likely never resume'
hangs tcp '^DEADLOCK: 2 threads wait for each other' "^    T:main waits for bytes from S:connection(#2)?, which only $child can write" \
    "^    $child waits for bytes from S:connection(#2)?, which only T:main can write" "^$child waits for bytes from S:connection(#2)? at $(at "both read a connection")"
hangs unix '^DEADLOCK: 2 threads wait for each other' "^    T:main waits for buffer space in S:connection(#2)?, which only $child can read" \
    "^    $child waits for buffer space in S:connection(#2)?, which only T:main can read"
hangs fifo '^LIKELY DEADLOCK: 2 threads wait for each other' "^    T:main waits for bytes from S:fifo(#2)?, which only $child can write" \
    '^    uncertain: processes that are not traced could open it by its name'
rm -f /dev/mqueue/poet-named-* 2>/dev/null

# waits HOW WAY COUNT PLACE: so many threads wait there, and nothing is concluded
waits() {
    run cross-record "$1" $2 >/dev/null 2>&1 &
    pids="$pids $!"
    arrived() { has blocked "cross-record-$1$2.poet" && [ "$(grep -Ec "^T:.* at $4" said)" = "$3" ]; }
    check "$1 $2: what waits" until_true arrived "$@" || cat said
    is "$1 $2: nothing is concluded" "$(grep -E 'HANG|DEADLOCK|never' said)" ""
    end_own_processes cross-record
}
waits receive busy 1 "$(at 'both receive')"
waits full busy 1 "$(at 'both send')"
waits named busy 1 "$(at 'both receive')"
waits tcp busy 1 "$(at "both read a connection")"
waits unix busy 1 "$(at 'both write')"
waits fifo busy 1 "$(at 'both read one')"
waits until "" 2 "$(at 'both have a timeout')"
waits timeout "" 2 "$(at "both read a connection")"
end_own_processes cross-record
done_testing

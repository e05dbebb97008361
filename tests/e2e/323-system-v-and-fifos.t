#!/bin/bash
# Waits at System V semaphores and message queues, and at the opening of FIFOs: what poet blocked says of them, with the state of the object
# and the thread that could end the wait, and nothing of programs that can continue. Order of the units and messages.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >sysv.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static int fixed, busy, set, to[2], back[2], requests, replies;
static void change(unsigned short number, short by)
{
    struct sembuf op = {.sem_num = number, .sem_op = by};
    semop(set, &op, 1);
}
static void meet(int child)
{
    char c = 0;
    if (write(child ? back[1] : to[1], &c, 1) != 1 || read(child ? to[0] : back[0], &c, 1) != 1)
        _exit(1);
}
static void other_work(int child)
{
    while (busy && child)
        sigsuspend(&(sigset_t){0});
}
static void transfers(int child)
{
    int first = child && !fixed;
    struct sembuf take = {.sem_num = (unsigned short)first, .sem_op = -1};
    semop(set, &take, 1); // acquires the first
    if (!fixed)
        meet(child);
    other_work(child);
    take.sem_num = (unsigned short)!first;
    semop(set, &take, 1); // requests the second
    change((unsigned short)!first, 1);
    change((unsigned short)first, 1);
}
static void awaits_zero(int child)
{
    struct sembuf zero = {.sem_num = 0, .sem_op = 0}, take = {.sem_num = 1, .sem_op = -2};
    other_work(child);
    if (fixed && child)
        change(0, -1);
    if (fixed && !child)
        change(1, 1);
    semop(set, child ? &zero : &take, 1); // both wait
}
struct message { long type, value; };
static void serves(void)
{
    struct message m;
    for (;;) {
        other_work(1);
        if (msgrcv(requests, &m, sizeof m.value, 0, 0) < 0) // the server receives
            _exit(1);
        if (m.value < 0)
            _exit(0);
        if (fixed)
            m.type = m.value;
        msgsnd(replies, &m, sizeof m.value, 0);
    }
}
static void calls(long value)
{
    struct message m = {1, value};
    msgsnd(requests, &m, sizeof m.value, 0);
    msgrcv(replies, &m, sizeof m.value, value, 0); // the client receives
}
static void asks(void)
{
    struct message end = {1, -1};
    calls(1);
    calls(2);
    msgsnd(requests, &end, sizeof end.value, 0);
}
static void opens(int child)
{
    char c = 0;
    int in = -1, out = -1;
    other_work(child);
    if (child && fixed)
        in = open("requests", O_RDONLY);
    out = open(child ? "replies" : "requests", O_WRONLY); // opens one
    if (in < 0)
        in = open(child ? "requests" : "replies", O_RDONLY);
    if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
        _exit(1);
}
int main(int argc, char **argv)
{
    const char *how = argv[1];
    fixed = argc == 3 && !strcmp(argv[2], "fixed");
    busy = argc == 3 && !strcmp(argv[2], "busy");
    if (pipe(to) || pipe(back))
        return 1;
    set = semget(IPC_PRIVATE, 2, 0600);
    requests = msgget(IPC_PRIVATE, 0600);
    replies = msgget(IPC_PRIVATE, 0600);
    change(0, 1);
    change(1, 1);
    if (!fixed) {
        FILE *kept = fopen("kept", "a"); /* the test removes them */
        fprintf(kept, "-s %d -q %d -q %d\n", set, requests, replies);
        fclose(kept);
    }
    mkfifo("requests", 0600);
    mkfifo("replies", 0600);
    int child = fork() == 0;
    if (!strcmp(how, "semaphores"))
        transfers(child);
    else if (!strcmp(how, "zero"))
        awaits_zero(child);
    else if (!strcmp(how, "messages"))
        child ? serves() : asks();
    else
        opens(child);
    if (child)
        _exit(0);
    wait(NULL);
    msgctl(requests, IPC_RMID, NULL);
    msgctl(replies, IPC_RMID, NULL);
    return semctl(set, 0, IPC_RMID);
}
C
cc -g sysv.c -o sysv-record
poetcc -trace -processes -g sysv.c -o sysv-traced
at() { echo "sysv.c:$(grep -n "// $1" sysv.c | cut -d: -f1)"; }
run() { # run PROGRAM HOW [WAY]
    case $1 in
    *-record) poet record -o "$1-$2$3.poet" -- "./$1" "$2" $3 ;;
    *) POET_OUTPUT=$1-$2$3.poet "./$1" "$2" $3 ;;
    esac
}
says() { # says FILE PATTERN...
    local file=$1 pattern
    shift
    poet blocked "$file" >said 2>/dev/null
    for pattern; do grep -Eq -- "$pattern" said || return 1; done
}
# hangs HOW PATTERN...: in both ways, live and after the end
hangs() {
    local how=$1 program file
    shift
    for program in sysv-record sysv-traced; do
        file=$program-$how.poet
        run $program "$how" >/dev/null 2>&1 &
        pids="$pids $!"
        check "$program $how: what keeps the threads waiting" until_true says "$file" "$@" || cat said
        kill -KILL $(own_processes $program) 2>/dev/null
        until_true finished "$file"
        check "$program $how: after the end" says "$file" "$@"
        run $program "$how" fixed >/dev/null 2>&1
        is "$program $how, corrected: the program ends" "$?" 0
        until_true finished "$program-${how}fixed.poet"
        is "$program $how, corrected: no hang" "$(poet blocked "$program-${how}fixed.poet" | grep -E 'HANG|DEADLOCK|never')" ""
        check "$program $how, corrected: the trace is sound" sound "$program-${how}fixed.poet"
    done
}
# waits HOW PATTERN: a thread waits so, while the other one has something else to do
waits() {
    run sysv-record "$1" busy >/dev/null 2>&1 &
    pids="$pids $!"
    check "$1, busy: what waits" until_true says "sysv-record-$1busy.poet" "$2" || cat said
    is "$1, busy: nothing is concluded" "$(grep -E 'HANG|DEADLOCK|never' said)" ""
    end_own_processes sysv-record
}
child='T:main\[[0-9]+\]'
doubt='    uncertain: processes that are not traced could open it by its name'
hangs semaphores '^LIKELY DEADLOCK: 2 threads wait for each other' "^$doubt" \
    "^    T:main waits for Sem:semaphore 1 of set [0-9]+, last unit acquired by $child, which has not posted it" \
    "^    $child waits for Sem:semaphore 0 of set [0-9]+, last unit acquired by T:main, which has not posted it" \
    "^T:main waits for units of Sem:semaphore 1 of set [0-9]+ at $(at 'requests the second')" '^    when the wait began: value 0, 1 needed' \
    "^    last unit acquired by $child, which has not posted it, acquired at $(at 'acquires the first')"
hangs zero '^LIKELY HANG: no traced thread can still wake the waiters of Sem:semaphore 1 of set' \
    "^T:main waits for units of Sem:semaphore 1 of set [0-9]+ at $(at 'both wait')" '^    when the wait began: value 1, 2 needed' \
    "^$child waits for zero of Sem:semaphore 0 of set [0-9]+ at $(at 'both wait')" '^    when the wait began: value 1, 0 needed'
hangs messages '^LIKELY DEADLOCK: 2 threads wait for each other' "^$doubt" \
    "^    T:main waits for bytes from Q:System V queue [0-9]+, which only $child can write" \
    "^T:main waits for bytes from Q:System V queue [0-9]+ at $(at 'the client receives')" '^    when the wait began: [01] messages?, one of type 2 needed' \
    "^$child waits for bytes from Q:System V queue [0-9]+ at $(at 'the server receives')"
hangs fifos '^LIKELY DEADLOCK: 2 threads wait for each other' "^$doubt" "^    T:main waits for a reader of S:requests, which only $child can read" \
    "^    $child waits for a reader of S:replies, which only T:main can read" "^T:main waits for a reader of S:requests at $(at 'opens one')"
waits semaphores '^T:main waits for units of Sem:'
waits zero '^T:main waits for units of Sem:'
waits messages '^T:main waits for bytes from Q:System V'
waits fifos '^T:main waits for a reader of S:requests'

# A unit that was added, and a message that was sent, are before those that take them.
messages() { poet dump --json sysv-record-messagesfixed.poet | json 'map(select(.type == "received" and .partner and .uncertain == null)) | length'; }
check "messages are received from the thread that sent them" [ "$(messages)" = 5 ]
xargs -n 6 ipcrm <kept 2>/dev/null
done_testing

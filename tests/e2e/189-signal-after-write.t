#!/bin/bash
# A signal sent in response to a write to a pipe or message queue: its handler may run before the writing call has
# returned, and is nevertheless ordered after the write, through the reader and its kill.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >answered.c <<'C'
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define ROUNDS 100
static volatile sig_atomic_t answered;
static int ends[2];
static mqd_t queue = (mqd_t)-1;
static void on(int number) { answered = number; }
static int ask(int round)
{
    char text[16];
    if (queue == (mqd_t)-1)
        return write(ends[1], "abc", 3) == 3;
    return mq_send(queue, text, (size_t)snprintf(text, sizeof text, "%d", round), 0) == 0;
}
static int hear(void)
{
    char text[64];
    return queue == (mqd_t)-1 ? read(ends[0], text, 3) == 3 : mq_receive(queue, text, sizeof text, 0) > 0;
}
int main(int argc, char **argv)
{
    struct mq_attr few = {.mq_maxmsg = 4, .mq_msgsize = 64};
    if (pipe(ends) != 0)
        return 1;
    if (argc > 1) {
        queue = mq_open(argv[1], O_RDWR | O_CREAT, 0600, &few);
        if (queue == (mqd_t)-1)
            return 77;
        mq_unlink(argv[1]);
    }
    signal(SIGUSR1, on);
    pid_t child = fork();
    for (int i = 0; i < ROUNDS && child == 0; i++) {
        answered = 0;
        if (!ask(i))
            _exit(1);
        while (!answered)
            sched_yield();
    }
    if (child == 0)
        _exit(0);
    for (int i = 0; i < ROUNDS; i++) {
        if (!hear())
            return 1;
        kill(child, SIGUSR1);
    }
    return wait(0) != child;
}
C
# For each handler: the kill that it comes from, the last read of that thread, and the write that the read took from.
cat >chains.py <<'P'
import json, sys
events, last, previous = {}, {}, {}
for line in sys.stdin:
    e = json.loads(line)
    if "event" not in e:
        continue
    events[e["event"]] = e
    previous[e["event"]] = last.get(e["thread"])
    last[e["thread"]] = e["event"]
right = wrong = kills = 0
for e in events.values():
    kills += e["type"] == "signal_sent"
    if e["type"] != "handler" or not e["partner"]:
        continue
    taken = events[previous[e["partner"]]]
    given = events[taken["partner"]]
    number = lambda at: int(at["event"].split(":")[1])
    good = given["type"] in ("write", "sent") and given["thread"] == e["thread"] and number(given) < number(e)
    right, wrong = right + good, wrong + (not good)
# (a handler that comes while its thread is recording is not recorded, and counted)
print("wrong", wrong, "right", right > kills * 0.8)
P
poetcc -trace -processes -g answered.c -o answered -lrt
look() { # look NAME FILE
    check "$1: the trace passes poet check" sound "$2"
    is "$1: each handler is ordered after the write that its signal answers" "$(poet dump --json "$2" | python3 chains.py)" "wrong 0 right True"
}
POET_OUTPUT=pipe.poet ./answered
is "pipe: the program exits with status 0" $? 0
look "pipe" pipe.poet
is "pipe: the trace has 100 write events" "$(poet dump pipe.poet | awk '$3 == "write"' | wc -l)" 100
POET_OUTPUT=queue.poet ./answered /poet-answered-$$
status=$?
if [ $status = 77 ]; then
    skip "message queues are not available"
else
    is "message queue: the program exits with status 0" $status 0
    look "message queue" queue.poet
fi
done_testing

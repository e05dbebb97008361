#!/bin/bash
# poet record --with-input: replay supplies the recorded input, time and random numbers; without recorded input a
# replay reads live input.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >in.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void all_of(int fd, volatile size_t most)
{
    static char b[10000];
    for (ssize_t n; (n = read(fd, b, most)) > 0;) {
        printf("%zd ", n);
        fwrite(b, (size_t)n, 1, stdout);
    }
}
int main(int argc, char **argv)
{
    struct timespec ts;
    struct timeval tv;
    unsigned long long r;
    int fd = open(argv[1], O_RDONLY);
    all_of(fd, 10000);
    all_of(0, 100);
    pthread_mutex_lock(&m);
    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    printf("%d %ld\n", rand(), (long)time(NULL));
    pthread_mutex_unlock(&m);
    clock_gettime(CLOCK_MONOTONIC, &ts);
    gettimeofday(&tv, NULL);
    if (getrandom(&r, sizeof r, 0) != sizeof r) return 1;
    printf("%ld.%09ld %ld.%06ld %llx\n", (long)ts.tv_sec, ts.tv_nsec, (long)tv.tv_sec, (long)tv.tv_usec, r);
    return 0;
}
C
gcc -g in.c -o plain -pthread || exit 1
poetcc -trace -g in.c -o traced || exit 1
poetcc -trace -g -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 in.c -o checked || exit 1
is "the program checked uses __read_chk" "$(nm -D checked | grep -c " U __read_chk")" 1
record() { # record FILE PROGRAM COMMAND...: what it prints goes to `first`
    rm -f "$1"
    seq 9000 >file
    ./plain file </dev/null | head -n 9000 >wanted
    (echo one; echo two) | "${@:3}" "./$2" file >first
    until_true finished "$1"
    echo other >file
}
replay() { # replay FILE: to `second`, with nothing to read
    rm -f again.poet
    timeout 60 poet replay "$1" -o again.poet </dev/null >second 2>said
    status=$?
    until_true finished again.poet
    return $status
}

for program in plain traced checked; do
    record in.poet $program poet record --with-input -o in.poet
    is "$program: a recorded program reads the same input as without Poet" "$(head -n 9000 first | cmp - wanted)" ""
    # (6 calls on the file; on the pipe one or two, and the end of file; 6 others)
    like "$program: poet stat shows the number of recorded input calls" "$(poet stat in.poet)" '^recorded input +1[3-6] calls$'
    is "$program: replay exits with status 0" "$(replay in.poet; echo $?)" 0
    check "$program: the output of the replay is that of the recorded run" cmp first second
    like "$program: replay reports no divergence" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
    like "$program: the trace of the replay contains the recorded input" "$(poet stat again.poet)" '^recorded input +1[3-6] calls$'
    mv again.poet twice.poet
    replay twice.poet
    check "$program: the trace of a replay can be replayed itself" cmp first second
    check "$program: the trace passes poet check" poet check in.poet
done

POET_INPUT=1 record in.poet traced env POET_OUTPUT=in.poet
replay in.poet
check "POET_INPUT=1 records the input of a program built with poetcc" cmp first second
is "poet stat --json shows the number of recorded input calls" "$(poet stat --json in.poet | python3 -c 'import json,sys; i=json.load(sys.stdin)["input"]; print(i["calls"] > 12, i["incomplete_threads"], i["in_signal_handlers"])')" "True 0 0"

for environment in POET_INPUT= POET_INPUT=0; do
    record in.poet traced env POET_OUTPUT=in.poet $environment
    is "$environment: no input is recorded" "$(poet stat in.poet | grep -c '^recorded input')" 0
done
is "a replay without recorded input reads live input" "$(replay in.poet; echo "$? $(head -n 1 second)")" "0 6 other"
is "no input files remain in the directory of the sockets" "$(ls "$XDG_RUNTIME_DIR"/poet* -d 2>/dev/null | grep -c input; find "$XDG_RUNTIME_DIR" -name '*.input' | wc -l)" "0
0"
# ---- under the debugger ----
if command -v gdb >/dev/null; then
    cat >brief.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    char bytes[8] = "";
    long n = read(0, bytes, 7);
    pthread_mutex_lock(&m);
    printf("read %ld: %s at %ld.\n", n, bytes, (long)time(0));
    pthread_mutex_unlock(&m);
    return 0;
}
C
    poetcc -trace -g brief.c -o brief
    echo hello | POET_INPUT=1 POET_OUTPUT=brief.poet POET_QUIET=1 ./brief >first
    until_true finished brief.poet
    timeout 60 poet debug brief.poet 1:3 --batch -x 'poet continue' </dev/null >debugged 2>&1
    is "under gdb a replay supplies the recorded input and time" "$(grep -A1 '^read' debugged | head -n 2)" "$(cat first)"
else
    skip "gdb is not installed"
fi
done_testing

#!/bin/bash
# Recorded input in special cases: failed calls, signal handlers, threads, child processes, truncated recordings,
# divergences, static programs.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >edge.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void on(int sig) { char b; time(0); if (read(-1, &b, 1) == 0) abort(); }
static long now(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_nsec; }
static void *work(void *p) { long *to = p; for (int i = 0; i < 100; i++) to[i] = now() ^ rand(); return 0; }
static void is_read(int fd, size_t size) { char b[64]; ssize_t n = read(fd, b, size); printf("%zd %s %.*s\n", n, n < 0 ? strerror(errno) : "", n > 0 ? (int)n : 0, b); }
static int parent(void)
{
    srand((unsigned)now());
    printf("parent %d\n", rand());
    fflush(stdout);
    if (!fork()) {
        printf("child %d %ld\n", rand(), now());
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    printf("parent %d %ld\n", rand(), now());
    return 0;
}
int main(int argc, char **argv)
{
    char *what = argv[1];
    int fd = open(argv[2], O_RDONLY);
    if (!strcmp(what, "handler")) {
        signal(SIGUSR1, on);
        raise(SIGUSR1);
        printf("%ld\n", now());
    } else if (!strcmp(what, "threads")) {
        static long of[4][100];
        pthread_t t[4];
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, of[i]);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
        for (int i = 0; i < 400; i++) printf("%ld\n", of[i / 100][i % 100]);
    } else if (!strcmp(what, "fork")) {
        return parent();
    } else if (!strcmp(what, "own")) { /* input that the program writes for itself is not recorded: it is read each time */
        int p[2], s[2];
        char b[100];
        if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, s)) return 1;
        for (int i = 0; i < 3; i++) {
            sprintf(b, "%d", (int)getpid());
            if (write(p[1], b, strlen(b) + 1) < 0 || write(s[1], b, strlen(b) + 1) < 0) return 1;
            ssize_t n = read(p[0], b, sizeof b), k = recv(s[0], b, sizeof b, 0);
            printf("%d %d\n", n == k, atoi(b) == getpid());
        }
    } else if (!strcmp(what, "error")) {
        is_read(open("/", O_RDONLY), 4);
        is_read(open("/dev/null", O_WRONLY), 4);
        is_read(-1, 4);
        errno = 7;
        now();
        printf("%d\n", errno);
    } else if (!strcmp(what, "differ")) {
        is_read(fd, 4);
        is_read(fd, getenv("OTHER") ? 5 : 4);
        is_read(fd, 4);
    } else if (!strcmp(what, "more")) {
        for (int i = 0; i < 3; i++) is_read(fd, 4);
        if (getenv("OTHER")) is_read(fd, 4);
    } else if (!strcmp(what, "much")) {
        static char b[1 << 20];
        size_t got = 0;
        fd = open("/dev/zero", O_RDONLY);
        for (int i = 0; i < 300; i++) got += (size_t)read(fd, b, sizeof b);
        printf("%zu\n", got);
        fflush(stdout);
        if (!fork()) {
            now();
            _exit(0);
        }
        wait(0);
    }
    return 0;
}
C
gcc -g edge.c -o plain -pthread || exit 1
poetcc -trace -g edge.c -o traced || exit 1
record() { # record PROGRAM WHAT
    rm -f in.poet
    printf abcdefghijklmnopqrst >file
    # (a program built with poetcc is replayed without the wrappers of pipes)
    poet record --with-input $([ "$1" = plain ] || echo --without process) -o in.poet "./$1" "$2" file >first
    until_true finished in.poet
    printf ABCDEFGHIJKLMNOPQRST >file
}
replay() {
    rm -f again.poet
    timeout 60 env "$@" poet replay in.poet -o again.poet >second 2>said
    status=$?
    until_true finished again.poet
    return $status
}
for program in plain traced; do
    for what in handler threads fork own error; do
        record $program $what
        is "$program: $what: replay exits with status 0 and prints the recorded output" "$(replay; echo $? "$(cmp first second)")" "0 "
    done
    like "$program: own: no event is lost" "$(poet stat in.poet)" '^lost +0$'
    record $program own
    is "$program: own: input that the program wrote itself is not recorded" "$(cat second | wc -l) $(poet stat in.poet | grep -c '^recorded input')" "4 0"
    record $program error
    is "$program: errno of a failed read is that of the recorded run" "$(cat first)" "-1 Is a directory 
-1 Bad file descriptor 
-1 Bad file descriptor 
7"
    record $program handler
    like "$program: poet stat counts the excluded calls in signal handlers" "$(poet stat in.poet)" '^recorded input +1 call; excludes 2 in signal handlers$'
    replay
    like "$program: replay reports the input calls in signal handlers that were not recorded" "$(cat said)" '^poet replay: input of 2 calls in signal handlers was not recorded; live input is used$'

    record $program differ
    is "$program: without a divergence replay supplies the recorded input" "$(replay; cat second)" "4  abcd
4  efgh
4  ijkl"
    is "$program: after a divergence replay reads on from the current file offset" "$(replay OTHER=1; echo $?; cat second)" "1
4  abcd
5  EFGHI
4  JKLM"
    like "$program: replay reports the diverging call" "$(cat said)" '^poet replay: divergence: T:main called read \(5\), recorded was read \(4\), before '
    record $program more
    is "$program: after the end of the recording replay reads live input" "$(replay OTHER=1; tail -n 2 second)" "4  ijkl
4  MNOP"
done

# ---- more input than is recorded ----
record traced much
is "a program that reads more than 256 MB of input is not limited" "$(cat first)" 314572800
like "poet stat reports incomplete recorded input, a child process included" "$(poet stat in.poet)" '^recorded input +2[0-9][0-9] calls; incomplete for 2 threads$'
is "replay supplies input as far as it was recorded" "$(replay; echo $?; cat second)" "0
314572800"
like "replay reports that the rest is live input" "$(cat said)" '^poet replay: input of 2 threads was recorded only in part; the rest is live input$'

# ---- static programs, and one that defines functions of these names itself ----
if poetcc -trace -static -g edge.c -o fixed 2>/dev/null; then
    for what in threads fork own error differ; do
        rm -f in.poet
        printf abcdefghijklmnopqrst >file
        POET_INPUT=1 POET_OUTPUT=in.poet ./fixed $what file >first
        until_true finished in.poet
        printf ABCDEFGHIJKLMNOPQRST >file
        is "static: $what: replay exits with status 0 and prints the recorded output" "$(replay; echo $? "$(cmp first second)")" "0 "
    done
    is "static: after a divergence replay reads on from the current file offset" "$(replay OTHER=1; echo $?; cat second)" "1
4  abcd
5  EFGHI
4  JKLM"
    cat >words.c <<'C'
#include <stdio.h>
double rand(double a, double b) { return a * b; }
int time = 7;
C
    cat >uses.c <<'C'
int printf(const char *, ...);
double rand(double, double);
extern int time;
int main(void) { return printf("%g %d\n", rand(2.5, 4), time) < 0; }
C
    poetcc -trace -static -w words.c uses.c -o words
    is "static: functions that the program defines itself are not intercepted" "$(POET_INPUT=1 POET_OUTPUT=words.poet ./words)" "10 7"
else
    skip "the static C library is not installed"
fi

# ---- a file that is not a recording ----
is "an unreadable recording of input is reported, and the program runs" \
    "$(record traced more; printf nonsense >bad; rm -f in2.poet; POET_REPLAY=bad POET_REPLAY_INPUT=bad POET_OUTPUT=in2.poet ./traced more file 2>/dev/null | head -n 1)" "4  ABCD"
done_testing

#!/bin/bash
# Recorded input of further calls: readv, pread, recvmsg with senders, other clocks and random numbers, the
# checked variants of the compiler, and static programs.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >more.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifndef FIXED
#define FIXED 0
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char b[20000], c[100], d[3], ctl[200];
static volatile size_t most = 100;
static void say(const char *what, ssize_t n)
{
    printf("%s %zd %s ", what, n, n < 0 ? strerror(errno) : "");
    if (n > 0) fwrite(b, (size_t)n < sizeof b ? (size_t)n : sizeof b, 1, stdout);
    puts("");
}
static ssize_t three(int fd, size_t first)
{
    struct iovec v[4] = {{b, first}, {d, sizeof d}, {NULL, 0}, {c, sizeof c}};
    memset(c, 0, sizeof c);
    memset(d, 0, sizeof d);
    errno = 0;
    ssize_t n = readv(fd, v, 4);
    printf("%zd %s %.*s|%.*s|%.*s\n", n, strerror(errno), (int)first, b, (int)sizeof d, d, (int)sizeof c, c);
    memset(b, 0, sizeof b);
    return n;
}
static int reads(const char *name)
{
    int fd = open(name, O_RDONLY);
    size_t other = getenv("OTHER") != NULL;
    char one[1];
    three(fd, 7 + other);
    three(fd, 9000); /* in several parts */
    while (three(fd, 15000) > 0) {}
    say("pread", pread(fd, b, most, 5));
    say("pread64", pread64(fd, b, most, 6));
    say("behind it", pread(fd, b, most, 1 << 30));
    say("of a directory", pread(open("/", O_RDONLY), b, most, 0));
    say("of a pipe", pread(0, b, most, 0));
    say("none", readv(fd, (struct iovec[]){{b, most}}, -1));
    three(0, 2);
    three(0, 2);
    printf("%ld %zd", (long)lseek(fd, 0, SEEK_CUR), pread(fd, one, 1, 0));
    printf(" %c\n", one[0]);
    return 0;
}
static int differs(const char *name)
{
    int fd = open(name, O_RDONLY);
    const char *other = getenv("OTHER") ? getenv("OTHER") : "";
    three(fd, 4);
    say("pread", pread(fd, b, *other == 'l' ? most - 1 : most, *other == 'a' ? 3 : 2));
    three(fd, *other == 'v' ? 5 : 4);
    return 0;
}
static int numbers(void)
{
    struct timespec ts = {0};
    struct tms tms;
    struct rusage used;
    unsigned long long r[3];
    srandom((unsigned)getpid());
    printf("%ld %d %ld\n", random(), rand(), random());
#if !FIXED
    srand48(getpid());
    for (int i = 0; i < 9; i++) printf("%ld %ld %.17g\n", lrand48(), mrand48(), drand48());
#endif
    printf("%d\n", getentropy(r, sizeof r));
    printf("%llx %llx %llx\n", r[0], r[1], r[2]);
    printf("%d", getentropy(b, 1000));
    printf(" %s\n", strerror(errno));
#if __GLIBC_PREREQ(2, 36)
    arc4random_buf(r, sizeof r);
    printf("%u %u %llx %llx %llx\n", arc4random(), arc4random_uniform(1000000), r[0], r[1], r[2]);
#endif
    printf("%d", timespec_get(&ts, TIME_UTC));
    printf(" %ld.%09ld %d\n", (long)ts.tv_sec, ts.tv_nsec, timespec_get(&ts, 77));
    for (volatile int i = getpid() % 10000 * 100; i > 0; i--) {}
    printf("%ld\n", (long)clock());
    printf("%ld", (long)times(&tms));
    printf(" %ld %ld %d\n", (long)tms.tms_utime, (long)tms.tms_stime, times(NULL) > 0);
    printf("%d", getrusage(RUSAGE_SELF, &used));
    printf(" %ld %ld\n", (long)used.ru_utime.tv_usec, used.ru_minflt);
    printf("%d", getrusage(77, &used));
    printf(" %s\n", strerror(errno));
    return 0;
}
static void message(size_t room, socklen_t name_room, size_t control_room, int flags)
{
    struct sockaddr_in from = {0};
    struct iovec v[2] = {{d, sizeof d}, {b, room}};
    struct msghdr h = {&from, name_room, v, 2, ctl, control_room, 0};
    errno = 0;
    memset(b, 0, sizeof b);
    ssize_t n = recvmsg(0, &h, flags);
    printf("%zd %s %.*s %s %d/%d %u control %zu flags %x", n, strerror(errno), (int)sizeof d, d, b, (int)from.sin_family,
           ntohs(from.sin_port), (unsigned)h.msg_namelen, (size_t)h.msg_controllen, (unsigned)h.msg_flags);
    for (struct cmsghdr *k = CMSG_FIRSTHDR(&h); n >= 0 && k; k = CMSG_NXTHDR(&h, k)) {
        struct timeval tv;
        memcpy(&tv, CMSG_DATA(k), sizeof tv);
        printf(" %d:%d %ld.%06ld", k->cmsg_level, k->cmsg_type, (long)tv.tv_sec, (long)tv.tv_usec);
    }
    puts("");
}
static void from(size_t size, socklen_t room, int flags)
{
    struct sockaddr_in from = {0};
    socklen_t is = room;
    errno = 0;
    memset(b, 0, sizeof b);
    ssize_t n = recvfrom(0, b, size, flags, room ? (void *)&from : NULL, room ? &is : NULL);
    printf("%zd %s %s %d/%d %u\n", n, strerror(errno), b, (int)from.sin_family, ntohs(from.sin_port), (unsigned)is);
}
static int messages(void) /* standard input has eight of them */
{
    int on = 1;
    from(most, sizeof(struct sockaddr_in), MSG_PEEK);
    from(getenv("OTHER") ? most - 1 : most, sizeof(struct sockaddr_in), 0);
    from(most, 4, 0); /* a buffer too small for the sender's address */
    from(most, 0, 0);
    from(4, 0, MSG_TRUNC); /* more than the buffer holds */
    message(most, sizeof(struct sockaddr_in), 0, 0);
    setsockopt(0, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on);
    message(most, sizeof(struct sockaddr_in), sizeof ctl, 0);
    message(most, 0, 5, 0); /* nor a buffer for its timestamp */
    message(2, 0, 0, 0);
    from(most, sizeof(struct sockaddr_in), MSG_DONTWAIT);
    message(most, sizeof(struct sockaddr_in), sizeof ctl, MSG_DONTWAIT);
    return 0;
}
static int datagrams(const char *elsewhere) /* any process may send them: it does so itself */
{
    struct sockaddr_in at = {.sin_family = AF_INET}, from;
    socklen_t size = sizeof at;
    int in = socket(AF_INET, SOCK_DGRAM, 0);
    bind(in, (void *)&at, sizeof at);
    getsockname(in, (void *)&at, &size);
    for (int i = 0; i < 6; i++) {
        int out = socket(AF_INET, SOCK_DGRAM, 0);
        char text[50];
        at.sin_addr.s_addr = inet_addr(i % 2 ? elsewhere : "127.0.0.1");
        snprintf(text, sizeof text, "%d is %d", (int)getpid(), i);
        if (i % 2 == 0 || getenv("ELSE")) sendto(out, text, strlen(text) + 1, 0, (void *)&at, sizeof at);
        struct iovec v = {b, most};
        struct msghdr h = {&from, sizeof from, &v, 1};
        ssize_t n;
        size = sizeof from;
        memset(&from, 0, sizeof from);
        if (i < 2) n = recvfrom(in, b, most, 0, NULL, NULL);
        else if (i < 4) n = recvfrom(in, b, most, 0, (void *)&from, &size);
        else n = recvmsg(in, &h, 0);
        if (i % 2) printf("%zd %s %s %d %u\n", n, b, inet_ntoa(from.sin_addr), ntohs(from.sin_port), (unsigned)size);
        else printf("%d %d %s %u\n", n == (ssize_t)strlen(text) + 1, !strcmp(b, text), inet_ntoa(from.sin_addr), (unsigned)size);
    }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return !strcmp(argv[1], "reads") ? reads(argv[2])
         : !strcmp(argv[1], "differs") ? differs(argv[2])
         : !strcmp(argv[1], "numbers") ? numbers()
         : !strcmp(argv[1], "datagrams") ? datagrams(argv[2])
                                       : messages();
}
C
cat >giver.py <<'PY'
# giver.py WORD PROGRAM...: runs it with a socket as its standard input, in which messages of two senders lie
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
senders = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for sender in senders:
    sender.bind(("127.0.0.1", 0))
for i in range(8):
    senders[i % 2].sendto(f"{sys.argv[1]} number {i} ".encode() + b"." * i, s.getsockname())
os.dup2(s.fileno(), 0)
os.execvp(sys.argv[2], sys.argv[2:])
PY
gcc -w -g more.c -o plain -pthread || exit 1
poetcc -trace -w -g more.c -o traced || exit 1
poetcc -trace -w -g -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 more.c -o checked || exit 1
is "the program checked uses the _chk functions" "$(nm -D checked | grep -o 'U __\(pread\|pread64\|recvfrom\)_chk' | sort | xargs)" "U __pread64_chk U __pread_chk U __recvfrom_chk"
programs="plain traced checked"
if poetcc -trace -static -w -g -DFIXED=1 more.c -o fixed 2>/dev/null; then
    poetcc -trace -static -w -g -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -DFIXED=1 more.c -o fixed-checked || exit 1
    programs="$programs fixed fixed-checked"
else
    skip "the static C library is not installed"
fi
elsewhere=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m 1 '^[0-9.]*$')
[ "$elsewhere" ] || skip "this machine has only loopback addresses"

# (a program built with poetcc is replayed without the wrappers of pipes)
input() { # input WHAT WORD COMMAND...: runs it with that input
    case $1 in
    messages) python3 giver.py "${@:2}" ;;
    *) (printf "$2 %s" one; sleep 0.1; printf two) | "${@:3}" ;;
    esac
}
record() { # record PROGRAM WHAT [ARGUMENT]
    rm -f in.poet
    seq -s ' ' 9000 >file
    case $1 in
    plain) input $2 abc poet record --with-input -o in.poet ./plain $2 ${3-file} >first ;;
    *) input $2 abc env POET_INPUT=1 POET_OUTPUT=in.poet ./$1 $2 ${3-file} >first ;;
    esac
    until_true finished in.poet
    seq -s - 9000 >file
}
replay() { # replay WHAT [SETTING]: with other live input
    rm -f again.poet
    input $1 else timeout 60 env ${2:-A=} poet replay in.poet -o again.poet >second 2>said
    status=$?
    until_true finished again.poet
    return $status
}
for program in $programs; do
    for what in reads numbers messages; do
        record $program $what
        is "$program: $what: replay exits with status 0" "$(replay $what; echo $?)" 0
        check "$program: $what: the output of the replay is that of the recorded run" cmp first second
        like "$program: $what: replay reports no divergence" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
        like "$program: $what: the trace of the replay contains the recorded input" "$(poet stat again.poet | grep '^recorded input')" "$(poet stat in.poet | grep '^recorded input')"
        check "$program: $what: the trace passes poet check" poet check in.poet
        mv again.poet twice.poet && mv twice.poet in.poet
        replay $what
        check "$program: $what: the trace of a replay can be replayed itself" cmp first second
    done
    record $program messages
    like "$program: errno of failed calls is that of the recorded run" "$(tail -n 2 first)" '^-1 Resource temporarily unavailable  0/0 16$'
    is "$program: without recorded input the program reads live input" \
        "$(env -u POET_INPUT python3 giver.py else ./$program messages | grep -c '^[0-9].*el')" 9
    if [ "$elsewhere" ]; then
        ELSE=1 record $program datagrams $elsewhere
        like "$program: datagrams from other hosts are recorded input" "$(poet stat in.poet)" '^recorded input +3 calls$'
        is "$program: replay supplies recorded datagrams, and receives those of the replayed program itself" "$(replay datagrams; echo $?; diff first second)" 0
        like "$program: datagrams of the replayed program come from its own socket" "$(grep -c '^1 1' second)$(tail -n 1 second)" "^3[0-9]* [0-9]* is 5 $elsewhere "
        is "$program: the trace of a replay with datagrams can be replayed itself" "$(mv again.poet in.poet; replay datagrams; echo $?; diff first second)" 0
    fi
    # ---- divergences ----
    record $program differs
    for other in "length pread.(99).pread.(100)" "at pread.(3).pread.(2)" "vector readv.(108).readv.(107)"; do
        set -- $other
        is "$program: $1: another argument is a divergence" "$(replay differs OTHER=$1; echo $?)" 1
        like "$program: $1: replay reports the diverging call" "$(cat said)" "^poet replay: divergence: T:main called $(echo "$2" | sed 's/)\./), recorded was /; s/\./ /g; s/[()]/\\&/g')"
    done
    record $program messages
    is "$program: a datagram of another length is a divergence" "$(replay messages OTHER=1; echo $?)" 1
    like "$program: a datagram of another length: replay reports the diverging call" "$(cat said)" '^poet replay: divergence: T:main called recvfrom \(99\), recorded was recvfrom \(100\)'
done

# ---- failing calls fail as without Poet, and received descriptors are not reproduced ----
cat >odd.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/times.h>
#include <sys/resource.h>
#include <fcntl.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char b[100], ctl[200];
static void say(const char *w, long n) { int e = errno; printf("%s %ld %s\n", w, n, n < 0 ? strerror(e) : ""); errno = 0; }
int main(int argc, char **argv)
{
    pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
    volatile int zero = 0;
    void *bad = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec v = {b, sizeof b}, badv = {bad, 10};
    struct msghdr h = {0, 0, &v, 1, ctl, sizeof ctl, 0};
    ssize_t n = recvmsg(0, &h, 0);
    say("recvmsg", n);
    printf("%.*s flags %x control %zu\n", (int)n, b, h.msg_flags, h.msg_controllen);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) printf("%d:%d\n", c->cmsg_level, c->cmsg_type);
    n = recvmsg(0, &(struct msghdr){0, 0, &v, 1, bad, 0, 0}, 0);
    say("no control", n);
    say("recvmsg with bad iov", recvmsg(0, &(struct msghdr){0, 0, bad, 1, 0, 0, 0}, MSG_DONTWAIT));
    say("bad base", recvmsg(0, &(struct msghdr){0, 0, &badv, 1, 0, 0, 0}, MSG_DONTWAIT));
    say("none", recvmsg(0, &(struct msghdr){0, 0, bad, 0, 0, 0, 0}, MSG_DONTWAIT));
    say("many", recvmsg(0, &(struct msghdr){0, 0, bad, 5000, 0, 0, 0}, MSG_DONTWAIT));
    say("recvfrom without room", recvfrom(0, b, 10, MSG_DONTWAIT, (void *)ctl, (void *)(long)zero));
    say("recvfrom bad bytes", recvfrom(0, bad, 10, MSG_DONTWAIT, 0, 0));
    int fd = open(argv[1], O_RDONLY);
    say("readv NULL", readv(fd, (void *)(long)zero, 2));
    say("readv bad", readv(fd, bad, 2));
    say("readv bad base", readv(fd, &badv, 1));
    say("readv none", readv(fd, bad, 0));
    say("readv many", readv(fd, bad, 5000));
    say("readv fewer", readv(fd, bad, -3));
    say("pread", pread(fd, b, 10, -1));
    say("pread bad", pread(fd, bad, 10, 0));
    say("readv of what is only written", readv(open("/dev/null", O_WRONLY), bad, 2));
    say("times", times((void *)(long)zero) > 0);
    say("getrusage", getrusage(99, (void *)b));
    struct iovec one[1024];
    static char many[1024];
    for (int i = 0; i < 1024; i++) one[i] = (struct iovec){many + i, 1};
    say("1024 of one byte", readv(fd, one, 1024));
    unsigned sum = 0; for (int i = 0; i < 1024; i++) sum = sum * 31 + (unsigned char)many[i];
    printf("%u\n", sum);
    return 0;
}
C
cat >passing.py <<'PY'
# passing.py WORD PROGRAM...: runs it with a socket as its standard input, in which a descriptor and messages lie
import os, socket, sys, array
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
os.set_inheritable(a.fileno(), True)
r, w = os.pipe()
b.sendmsg([sys.argv[1].encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [r]))])
b.send(b"second " + sys.argv[1].encode())
for i in range(9): b.send(b"x" * (i + 3))
os.dup2(a.fileno(), 0)
os.set_inheritable(b.fileno(), True)
os.execvp(sys.argv[2], sys.argv[2:])
PY
gcc -w -g odd.c -o plain -pthread
poetcc -trace -w -g odd.c -o traced
poetcc -trace -w -static -g odd.c -o fixed 2>/dev/null
seq 2000 >file
python3 passing.py abc ./plain file >bare
for program in $(echo "$programs" | sed 's/ checked//; s/ fixed-checked//'); do
    rm -f in.poet again.poet
    case $program in
    plain) python3 passing.py abc poet record --without process --with-input -o in.poet ./plain file >first ;;
    *) POET_INPUT=1 POET_OUTPUT=in.poet python3 passing.py abc ./$program file >first ;;
    esac
    until_true finished in.poet
    check "$program: unusual calls give the same results as without Poet" cmp bare first
    is "$program: unusual calls: replay exits with status 0" "$(timeout 60 python3 passing.py else poet replay in.poet -o again.poet >second 2>said; echo $?)" 0
    is "$program: unusual calls: a received file descriptor is cut off in replay" "$(diff first second)" "2,3c2
< abc flags 0 control 24
< 1:1
---
> abc flags $(printf %x 8) control 0"
done

# ---- input read through stdio is not recorded, and that is reported ----
cat >stdio.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    char line[100];
    pthread_mutex_lock(&m);
    printf("%ld %s", (long)time(0), fgets(line, sizeof line, stdin) ? line : "nothing");
    pthread_mutex_unlock(&m);
    return 0;
}
C
gcc -w -g stdio.c -o plain -pthread
poetcc -trace -w -g stdio.c -o traced
poetcc -trace -w -static -g stdio.c -o fixed 2>/dev/null
for program in $(echo "$programs" | sed 's/ checked//; s/ fixed-checked//'); do
    record $program read
    is "$program: poet stat reports excluded stdio input" "$(poet stat in.poet | grep '^recorded input')" "recorded input  1 call; excludes stdio"
    is "$program: poet stat --json reports stdio input" "$(poet stat --json in.poet | python3 -c 'import json,sys; print(json.load(sys.stdin)["input"]["stdio"])')" True
    is "$program: replay of a program that uses stdio reads live input" "$(replay read; echo $? $(cat second))" "0 $(sed 's/abc/else/' first)"
    like "$program: replay reports that stdio input was not recorded" "$(cat said)" "^poet replay: stdio input was not recorded; live input is used$"
done
done_testing

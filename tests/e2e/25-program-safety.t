#!/bin/bash
# A program's own signals, small stacks, closed and reused descriptors, limits, system call filters and
# functions work while libpoet is in the process.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

# libpoet again, with room for few objects, and the stack use of its functions.
make -s -C "$root" B="$work/few" CC="${CC:-cc}" OPTIMISE=-O2 CFLAGS="-DOBJECTS_MAX=16u -fstack-usage" \
    "$work/few/lib/libpoet.so" "$work/few/lib/poet/libpoet-process.so" >make.log 2>&1 &
few=$!

# ---- signal handlers ----
cat >step.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
/* A handler that posts a semaphore after every instruction of the calls between step() and stop(). */
static sem_t s, other;
static long posts;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, fresh[8];
static void handler(int n) { (void)n; posts += sem_post(&s) == 0; }
static void *apart(void *a)
{
    static pthread_mutex_t its = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&its), pthread_mutex_unlock(&its);
    return a;
}
static void step(void) { __asm__ volatile("pushf; orl $0x100, (%%rsp); popf" ::: "memory", "cc"); }
static void stop(void) { __asm__ volatile("pushf; andl $~0x100, (%%rsp); popf" ::: "memory", "cc"); }
int main(int argc, char **argv)
{
    const char *what = argv[1];
    (void)argc;
    sem_init(&s, 0, 0);
    for (int i = 0; i < 8; i++)
        fresh[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    sigaction(SIGTRAP, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_NODEFER}, NULL);
    sem_init(&other, 0, 0);
    pthread_t t;
    pthread_create(&t, NULL, apart, NULL);
    sem_post(&s), sem_wait(&s);
    if (!strcmp(what, "lock"))
        for (int i = 0; i < 8; i++) {
            step();
            pthread_mutex_lock(&m), pthread_mutex_lock(&fresh[i]);
            pthread_mutex_unlock(&fresh[i]), pthread_mutex_unlock(&m);
            stop();
        }
    else if (!strcmp(what, "semaphore"))
        for (int i = 0; i < 8; i++) {
            step();
            sem_post(&other), sem_wait(&other), sem_trywait(&other);
            stop();
        }
    else if (!strcmp(what, "tasks"))
        for (int i = 0; i < 8; i++) {
            step();
            poet_line_t line = poet_task("fiber", "f", NULL);
            poet_task_release(line);
            stop();
        }
    else
        for (int i = 0; i < 2; i++) {
            step();
            poet_annotate(poet_text("text %d", i), "note %d", i);
            stop();
        }
    int left;
    pthread_join(t, NULL);
    sem_getvalue(&s, &left);
    printf("%s\n", left == posts && posts > 100 ? "adds up" : "wrong");
    return 0;
}
C
start_server -q -o runs/
if [ "$(uname -m)" = x86_64 ]; then
    poetcc -trace -g -O2 step.c -o step
    for what in lock semaphore tasks text; do
        POET_QUEUE_KIB=16 timeout 300 ./step $what >out 2>&1
        is "a handler at every instruction: $what: the program's result is correct" "$(cat out)" "adds up"
        check "a handler at every instruction: $what: the trace is sound" sound latest
    done
    like "events of a handler that interrupts recording are counted as untraced" "$(figure latest untraced)" '^[1-9]'
    thread=$(poet dump --json latest | json '[.[] | select(.kind == "thread").line | numbers][-1]')
    like "events after an untraced handler have an unknown order" "$(poet order --json latest 1:9 "$thread:2")" \
        '"order":"unknown","reasons":\["calls in a signal handler were not recorded"\]'
else
    skip "single-stepping is implemented for x86-64 only"
fi

# ---- dropped events are reported ----
cat >losing.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
/* Threads drop events and exit; the program runs on, slowly, until its input ends. */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long pairs;
static void *work(void *a)
{
    for (int i = 0; i < 1000; i++)
        pthread_mutex_lock(&m), pairs++, pthread_mutex_unlock(&m);
    return a;
}
int main(void)
{
    char c;
    pthread_t t[4];
    if (read(0, &c, 1) != 1)
        return 1;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    puts("gone"), fflush(stdout);
    if (read(0, &c, 1) != 1)
        return 1;
    for (;;) {
        pthread_mutex_lock(&m), pairs++, pthread_mutex_unlock(&m);
        usleep(1000);
        if (access("end", F_OK) == 0)
            break;
    }
    printf("%ld\n", 5 * pairs);
    return 0;
}
C
poetcc -trace -g losing.c -o losing
mkfifo in
POET_QUEUE_KIB=16 POET_MAX_STALL_MS=1 ./losing <in >out 2>&1 & program=$!
exec 7>in
until_true sh -c 'poet stat latest | grep losing'
stop_process $server
echo -n x >&7
until_true grep -q gone out
kill -CONT $server
echo -n x >&7
grows() { [ "$(figure latest lost)" -gt 0 ] && [ "$(figure latest pending)" = 0 ] && [ "$(figure latest events)" -gt 300 ]; }
check "events that ended threads dropped are reported while the program runs" until_true grows
touch end
exec 7>&-
wait $program
until_true finished latest
told=$(($(figure latest events) + $(figure latest lost)))
# main: start, 4 create, 4 join, 4 joined, 4 close (+ its own end and close); each thread: start, end
is "recorded and lost events add up to what the program did" $((told - $(tail -n 1 out))) $((1 + 16 + 2 + 8))
rm -f end

cat >slow.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    puts("ready"), fflush(stdout);
    while (access("end", F_OK) != 0) {
        usleep(50000);
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    }
    return 0;
}
C
poetcc -trace -g slow.c -o slow
./slow >out 2>err & program=$!
until_true grep -q ready out
kill -KILL "$server"; wait "$server" 2>/dev/null
check "a program that records little notices that its server has exited" until_true grep -q 'lost connection to server' err
start_server -q -o runs/
check "a program that records little reconnects to a new server" until_true grep -q 'reconnected to a server' err
touch end; wait $program; rm -f end
until_true finished latest
like "the second trace reports the events lost with the first server" "$(poet dump latest)" 'earlier events lost when the server exited'

cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
int main(void)
{
    pthread_mutex_t *m = calloc(100, sizeof *m);
    for (int i = 0; i < 100; i++)
        pthread_mutex_lock(&m[i]), pthread_mutex_unlock(&m[i]);
    return 0;
}
C
poetcc -trace -g many.c -o many
wait $few
LD_LIBRARY_PATH="$work/few/lib" ./many
until_true finished latest
is "locks and unlocks of objects beyond the limit are counted as untraced" "$(figure latest untraced)" 170

# ---- little stack ----
cat >small.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    int status = 0;
    if (!strcmp(a, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
            _exit(0);
        }
        waitpid(child, &status, 0);
    } else if (!strcmp(a, "again")) {
        puts("ready"), fflush(stdout);
        while (access("end", F_OK) != 0) {
            usleep(10000);
            pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
        }
    } else {
        pthread_mutexattr_t shared;
        char name[40]; /* several runs of this test do not share a name */
        snprintf(name, sizeof name, "/poet-test-%d", (int)getpid());
        sem_t *s = sem_open(name, 64, 0600, 1);
        sem_wait(s), sem_post(s), sem_close(s), sem_unlink(name);
        pthread_mutexattr_init(&shared);
        pthread_setname_np(pthread_self(), "small");
        poet_annotate(poet_text("%0999d", 1), "%0999d", 2);
        poet_task_switch(poet_task("fiber", "f", NULL));
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    }
    printf("%d\n", status);
    return a;
}
int main(int argc, char **argv)
{
    pthread_attr_t small;
    pthread_t t;
    (void)argc;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_create(&t, &small, work, argv[1]);
    pthread_join(t, NULL);
    return 0;
}
C
poetcc -trace -g small.c -o small
for what in fork calls; do
    ./small $what >out 2>&1
    is "a thread with 16 KB of stack is traced: $what" "$(cat out)" 0
done
cat >bytes.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
/* A thread with 16 KB of stack, on which a signal handler, too, moves bytes between descriptors. */
static int own[2];
static volatile int handled, wrong;
static void handler(int s)
{
    char c = (char)s;
    wrong += write(own[1], &c, 1) != 1 || read(own[0], &c, 1) != 1 || c != (char)s;
    handled++;
}
static void *work(void *a)
{
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigset_t alarm;
    sigemptyset(&alarm), sigaddset(&alarm, SIGALRM);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    for (int i = 0; i < 200 || handled < 20; i++) {
        int p[2], s[2], e = eventfd(1, 0), file = open("bytes.c", O_RDWR);
        struct flock range = {.l_type = F_WRLCK, .l_len = 1};
        char b[8] = "abcdefg";
        uint64_t n;
        wrong += pipe(p) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0;
        struct pollfd ready = {.fd = p[0], .events = POLLIN};
        wrong += write(p[1], b, 8) != 8 || poll(&ready, 1, 0) < 0 || read(p[0], b, 8) != 8 || write(s[0], b, 8) != 8 ||
                 read(s[1], b, 8) != 8 || read(e, &n, 8) != 8;
        while (flock(file, LOCK_EX) != 0) /* interrupted */
            ;
        wrong += flock(file, LOCK_UN) != 0 || fcntl(file, F_SETLK, &range) != 0;
        close(p[0]), close(p[1]), close(s[0]), close(s[1]), close(e), close(file);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    return a;
}
int main(void)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
    pthread_attr_t small;
    pthread_t t;
    sigset_t alarm;
    sigemptyset(&alarm), sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    sigaction(SIGALRM, &act, NULL);
    if (pipe(own) != 0)
        return 1;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_create(&t, &small, work, NULL);
    pthread_join(t, NULL);
    printf("%d wrong\n", wrong);
    return 0;
}
C
sed -i 's/#include <stdio.h>/&\n#include <stdint.h>/' bytes.c
poetcc -trace -processes -g bytes.c -o bytes
./bytes >out 2>&1
is "descriptor calls in a signal handler on 16 KB of stack work" "$(cat out)" "0 wrong"
check "the run with descriptor calls in a signal handler finishes" until_true finished latest
is "the run with descriptor calls in a signal handler has no inconsistent event" "$(figure latest inconsistent pending)" "0 0"
./small again >out 2>err & program=$!
until_true grep -q ready out
kill -KILL "$server"; wait "$server" 2>/dev/null
until_true grep -q 'lost connection to server' err
start_server -q -o runs/
until_true grep -q 'reconnected to a server' err
touch end; wait $program
is "a thread with 16 KB of stack is traced after reconnection" "$(tail -n 1 out)" 0
rm -f end
if ls few/pic/clients/*/*.su >/dev/null 2>&1; then
    is "no function of libpoet uses more than 1.2 KB of stack" "$(awk '$2 > 1200' few/pic/clients/*/*.su few/pic/wire/*.su)" ""
else
    skip "the compiler does not report the stack use of functions"
fi

# ---- descriptors, limits, system call filters ----
cat >one.c <<'C'
#include <pthread.h>
#include <unistd.h>
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return fcntl(0, 1) < 0 ? 0 : 0;
}
C
sed -i 's/#include <unistd.h>/#include <fcntl.h>\n&/' one.c
poetcc -trace -g one.c -o one
has_eight() { finished one.poet && [ "$(figure one.poet events)" = 8 ]; } # start, a pair of 5, end, close
own_server() { # own_server NAME COMMAND: runs it in a shell of its own
    rm -f one.poet
    (export POET_OUTPUT=one.poet; eval "$2") >out 2>&1
    check "$1" until_true has_eight
}
own_server "standard input closed" './one <&-'
own_server "standard output closed" './one >&-'
own_server "standard error closed" './one 2>&-'
own_server "all three closed" './one <&- >&- 2>&-'
own_server "a file size limit of the program does not apply to the server" 'ulimit -S -f 1; ./one'

cat >refuse.c <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog p = {4, f};
    (void)argc;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
        return 77;
    execv(argv[1], argv + 1);
    return 9;
}
C
poetcc refuse.c -o refuse
if ./refuse /bin/true; then
    own_server "without shared memory the queue is sent" './refuse ./one'
else
    skip "seccomp is not available"
fi

cat >reuse.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    close(2);
    int fd = open("data", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    puts("ready"), fflush(stdout);
    while (access("end", F_OK) != 0) {
        usleep(10000);
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    }
    return write(fd, "data\n", 5) == 5 && fd == 2 ? 0 : 1;
}
C
poetcc -trace -g reuse.c -o reuse
./reuse >out 2>/dev/null & program=$!
until_true grep -q ready out
kill -KILL "$server"; wait "$server" 2>/dev/null
start_server -q -o new/
until_true sh -c 'ls new/reuse-*.poet'
touch end; wait $program; rm -f end
is "messages of libpoet are not written to a file that has descriptor 2" "$(cat data)" data

# ---- system calls that the program forbids itself ----
cat >forbids.c <<'C'
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void some(void)
{
    for (int i = 0; i < 5000; i++)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
}
static void *other(void *a) { some(); return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    some();
    if (!strcmp(argv[1], "counter"))
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    else if (!strcmp(argv[1], "counter-syscall"))
        syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    else if (!strcmp(argv[1], "strict"))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    else
        syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0);
    some();
    if (argv[1][0] == 's') {
        ssize_t n = write(1, "fine\n", 5);
        syscall(SYS_exit, n != 5);
    }
    pthread_create(&t, NULL, other, NULL);
    pthread_join(t, NULL);
    (void)argc;
    return write(1, "fine\n", 5) != 5;
}
C
poetcc -trace -processes -g forbids.c -o forbids
cc forbids.c -o forbids.plain
for way in counter counter-syscall strict strict-syscall; do
    ./forbids.plain $way >want 2>&1 || { skip "$way: not supported by this kernel"; continue; }
    ./forbids $way >out 2>&1
    is "$way: the program runs to its end" "$? $(cat out)" "0 $(cat want)"
    check "$way: the trace is sound" sound latest
    case $way in
    counter*) is "$way: every event is recorded" "$(figure latest events)" 75009 ;; # main, 2 * 5000 pairs of 5; the other, 5000
    *) check "$way: a thread that is not traced to its end is reported" \
        until_true sh -c 'grep -qa "restricts its system calls" "$(ls -t */forbids-*.poet | head -n 1)"' ;;
    esac
done

# ---- functions that the program defines itself ----
cat >mine.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *a) { (void)f, (void)a; abort(); }
int poll(struct pollfd *p, nfds_t n, int ms) { (void)p, (void)n, (void)ms; abort(); }
int pthread_setcancelstate(int state, int *old) { (void)state, (void)old; abort(); }
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return 0;
}
C
poetcc -trace -g mine.c -o mine
check "a program that defines functions of the C library runs" ./mine
check "a program that defines functions of the C library is traced" sound latest
rm -f one.poet
check "a program that defines functions of the C library runs under poet record" poet record -o one.poet -- ./mine

cat >long.c <<'C'
#include <poet.h>
#include <string.h>
int main(void)
{
    static char text[9000];
    for (int i = 4080; i < 4100; i++) {
        memset(text, 'a', sizeof text - 1);
        memcpy(text + i, "\xf0\x9f\x98\x80", 4);
        poet_annotate(poet_text("%s", text), "%s", text);
        poet_line("kind", text, NULL, 0);
    }
    return 0;
}
C
poetcc -trace -g long.c -o long
./long
until_true finished latest
check "annotations are truncated between characters" sh -c 'poet dump --json latest | iconv -f UTF-8 -t UTF-8 | grep -q aaaa'

# ---- real-time threads, beside others on their CPU ----
cat >urgent.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>
/* One processor: a real-time thread, and others that it keeps from running, create threads and lock a file. */
static _Atomic int stop;
static int made;
static void *one(void *a) { return a; }
static void round_of(int fd)
{
    pthread_t t;
    if (pthread_create(&t, NULL, one, NULL) == 0)
        pthread_join(t, NULL);
    flock(fd, LOCK_SH | LOCK_NB), flock(fd, LOCK_UN);
}
static void *usual(void *a)
{
    int fd = open("urgent.c", O_RDONLY);
    while (!stop)
        round_of(fd);
    close(fd);
    return a;
}
static void *urgent(void *a)
{
    struct sched_param most = {.sched_priority = 50};
    int fd = open("urgent.c", O_RDONLY);
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &most) != 0)
        return NULL;
    for (; made < 300; made++)
        usleep(700), round_of(fd);
    close(fd);
    return a;
}
int main(void)
{
    pthread_t t[8], u;
    cpu_set_t cpus;
    void *result;
    CPU_ZERO(&cpus);
    CPU_SET(sched_getcpu(), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, usual, NULL);
    pthread_create(&u, NULL, urgent, &u);
    pthread_join(u, &result);
    stop = 1;
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", made);
    return result ? 0 : 77;
}
C
sed -i 's/#include <pthread.h>/#include <fcntl.h>\n&/' urgent.c
poetcc -trace -processes -g urgent.c -o urgent
timeout 300 ./urgent >out 2>err
case $? in
77) skip "real-time threads are not permitted here" ;;
*) is "a real-time thread never waits for threads that it keeps from running" "$(cat out)" 300 ;;
esac
check "the run with a real-time thread finishes" until_true finished latest

# ---- allocation failures, from any call of libpoet on ----
cat >without.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Replaces the C library's allocator: calls of libpoet fail from the number on that REFUSE
 * gives. */
static _Atomic int calls;
static __thread int asking;
static int refused(const void *from)
{
    Dl_info info;
    if (asking)
        return 0;
    asking = 1;
    int ours = dladdr(from, &info) && strstr(info.dli_fname, "libpoet");
    asking = 0;
    const char *first = ours ? getenv("REFUSE") : NULL;
    return ours && ++calls >= (first ? atoi(first) : 1000000) ? (errno = ENOMEM) : 0;
}
#define FROM __builtin_return_address(0)
static long asked(long r) { return r < 0 && r > -4096 ? (errno = (int)-r, -1) : r; }
static long call(long n, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return asked(n);
}
static void *own_mmap(void *p, size_t n, int prot, int flags, int fd, off_t o)
{
    return refused(FROM) ? MAP_FAILED : (void *)call(SYS_mmap, (long)p, (long)n, prot, flags, fd, o);
}
static void *own_mremap(void *p, size_t before, size_t n, int flags, void *to)
{
    return refused(FROM) ? MAP_FAILED : (void *)call(SYS_mremap, (long)p, (long)before, (long)n, flags, (long)to, 0);
}
static int own_memfd(const char *name, unsigned flags)
{
    return refused(FROM) ? -1 : (int)call(SYS_memfd_create, (long)name, flags, 0, 0, 0, 0);
}
static int own_ftruncate(int fd, off_t n)
{
    return refused(FROM) ? -1 : (int)call(SYS_ftruncate, fd, n, 0, 0, 0, 0);
}
static void replace(const char *name, void *with)
{
    unsigned char *at = dlsym(RTLD_NEXT, name), jump[] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3};
    memcpy(jump + 2, &with, sizeof with);
    char *page = (char *)((unsigned long)at & -4096L);
    call(SYS_mprotect, (long)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0);
    memcpy(at, jump, sizeof jump);
    call(SYS_mprotect, (long)page, 8192, PROT_READ | PROT_EXEC, 0, 0, 0);
}
__attribute__((constructor)) static void begin(void)
{
    replace("mmap", own_mmap), replace("mremap", own_mremap);
    replace("memfd_create", own_memfd), replace("ftruncate", own_ftruncate);
}
int calls_for_memory(void) { return calls; }
C
cat >needs.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int calls_for_memory(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, many[3000];
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all;
static int turn, sum;
static void *work(void *a)
{
    pthread_barrier_wait(&all); /* no queue is reused by a thread that starts later */
    for (int i = 0; i < 1000; i++)
        pthread_mutex_lock(&many[3 * i + (long)a]), pthread_mutex_unlock(&many[3 * i + (long)a]);
    pthread_mutex_lock(&m), sum += 1000, turn++, pthread_cond_broadcast(&c), pthread_mutex_unlock(&m);
    return NULL;
}
int main(void)
{
    pthread_t t[3];
    int status = 0;
    pthread_barrier_init(&all, NULL, 3);
    for (int i = 0; i < 3000; i++)
        pthread_mutex_init(&many[i], NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    pthread_mutex_lock(&m);
    while (turn < 3)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&m), sum++, pthread_mutex_unlock(&m);
        exit(sum == 3001 ? 7 : 1);
    }
    waitpid(child, &status, 0);
    fprintf(stderr, "%d calls\n", calls_for_memory());
    printf("%d %d\n", sum, WEXITSTATUS(status));
    return 0;
}
C
cc -shared -fPIC without.c -o libwithout.so -ldl
cc -g needs.c -o needs -L. -lwithout -Wl,-rpath,"$PWD" -pthread
export POET_QUEUE_KIB=256 # no queue grows: the calls are the same each time
poet record -- ./needs >out 2>err
until_true finished latest
calls=$(sed -n 's/ calls$//p' err) wrong= untold=
like "a program makes libpoet allocate memory" "$(cat out) $calls" '^3000 7 [1-9][0-9]'
for i in $(seq "$calls"); do
    REFUSE=$i timeout 300 poet record -- ./needs >out 2>err
    [ "$? $(cat out)" = "0 3000 7" ] || wrong="$wrong $i: $(cat out err);"
    until_true finished latest
    grep -q '^poet: ' err || poet stat latest | grep -qE '^(not traced|untraced calls +[1-9])' || untold="$untold $i"
done
is "allocation failures from any call on: the program runs on" "$wrong" ""
is "allocation failures from any call on are reported" "$untold" ""
unset POET_QUEUE_KIB
wrong=
for i in $(seq "$((calls / 2))" "$((calls + 6))"); do
    REFUSE=$i timeout 300 poet record -- ./needs >out 2>err
    [ "$? $(cat out)" = "0 3000 7" ] || wrong="$wrong $i: $(cat out err);"
done
is "a queue that cannot grow does not end the program" "$wrong" ""

# ---- other users' servers, and environment variables of setuid programs ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    open=$(mktemp -d "${TMPDIR:-/tmp}/poet-e2e.XXXXXX")
    chmod 777 "$open"
    printf '#!/bin/sh\ntouch %s/ran\n' "$open" >"$open/evil"
    chmod 755 "$open/evil"
    poetcc -trace one.c -o "$open/trusted"
    chmod 4755 "$open/trusted"
    (cd "$open" && setpriv --reuid 65534 --clear-groups env -u POET_SERVER POET_SERVER_PROGRAM="$open/evil" \
        POET_OUTPUT="$open/written.poet" XDG_RUNTIME_DIR="$open" PATH="$open:$PATH" ./trusted) >out 2>&1
    is "a setuid program ignores the variables and writes no file" "$(cat out; ls "$open")" "$(printf 'evil\ntrusted')"
    setpriv --reuid 65534 --clear-groups env HOME="$open" "$B/libexec/poet/poet-server" -q -o "$open/" \
        -l "unix:$open/socket" 2>/dev/null & other=$!
    pids="$pids $other"
    listens() { grep -q " 00010000 .*$open/socket" /proc/net/unix; } # the socket file exists before the server listens
    until_true listens
    like "a program refuses another user's server" "$(POET_SERVER=unix:$open/socket ./one 2>&1)" \
        "^poet: unix:$open/socket: the server is owned by another user \(65534\): not used; run both as the same user: tracing disabled$"
    like "a command refuses another user's server" "$(poet runs "unix:$open/socket" 2>&1)" "owned by another user"
    kill $other
    rm -rf "$open"
else
    skip "only root can become another user"
fi

# ---- compilers ----
echo 'int main(void) { return 0; }' >empty.c
like "poetcc -trace -m32 is refused with the reason" "$(poetcc -trace -m32 empty.c 2>&1)" '^poetcc: -trace: this libpoet is for 64-bit programs'
if command -v musl-gcc >/dev/null; then
    like "poetcc -trace with another C library is refused with the reason" "$(CC=musl-gcc poetcc -trace empty.c 2>&1)" '^poetcc: -trace: musl-gcc does not use glibc'
else
    skip "musl-gcc is not installed"
fi
stop_server
done_testing

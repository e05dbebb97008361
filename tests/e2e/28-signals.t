#!/bin/bash
# Order by cancellation, by signals, and between processes that create, exec and wait for each other.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
# before FILE A... -- B...: each text of a chain is before the next one; checks all chains of a file at once
before() {
    file=$1
    shift
    poet dump "$file" --json | sed -n 's/.*"event":"\([^"]*\)".*"annotations":\["\([^"]*\)"\].*/\1 \2/p' >texts
    : >pairs
    : >wanted
    first=
    for next; do
        if [ "$next" = -- ]; then
            first=
            continue
        fi
        at=$(sed -n "s/ $next\$//p" texts | head -n 1)
        [ -z "$first" ] || { echo "$from ${at:-0:0}" >>pairs; echo "$first, $next" >>wanted; }
        first=$next from=${at:-0:0}
    done
    is "$file: the order is that of the program" "$(poet order "$file" - <pairs | paste -d' ' - wanted)" \
        "$(sed 's/^/before /' wanted)"
}
# same NAME [ARG...]: traced both ways the program prints its untraced output
same() {
    program=$1
    shift
    POET_SERVER=none ./"$program" "$@" >want 2>&1
    echo "rc $?" >>want
    rm -f t*.poet r*.poet
    POET_QUIET=1 POET_OUTPUT=t.poet ./"$program" "$@" >got 2>&1
    echo "rc $?" >>got
    is "$program: the results are those of an untraced run" "$(cat got)" "$(cat want)"
    check "$program: the trace is sound" sound t.poet
    POET_QUIET=1 poet record -o r.poet -- ./"$program.plain" "$@" >got 2>&1
    echo "rc $?" >>got
    is "$program under poet record: the results are those of an untraced run" "$(cat got)" "$(cat want)"
    check "$program under poet record: the trace is sound" sound r.poet
}
build() { # build NAME [ARG...]
    poetcc -trace -w -g "$@" -o "${1%.*}" -lrt &&
        gcc -w -g -I"$B/include" "$@" -o "${1%.*}.plain" -L"$B/lib" -lpoet -Wl,-rpath,"$B/lib" -pthread -lrt
}

# ---- cancellation ----
cat >cancels.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, done = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, up;
static const char *now;
static void cleanup(void *a) { poet_text("cleans-up-%s", now); if (a) pthread_mutex_unlock(a); }
static void outer(void *a) { poet_text("cleans-up-after-%s", now); }
static void *work(void *a)
{
    static volatile int loop = 1;
    jmp_buf env;
    pthread_cleanup_push(outer, NULL);
    if (!setjmp(env)) longjmp(env, 1);
    pthread_cleanup_push(cleanup, a);
    pthread_setcanceltype(*now == 'l' ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL);
    if (a) pthread_mutex_lock(a);
    sem_post(&up);
    switch (*now) {
    case 'c': for (;;) pthread_cond_wait(&c, a);
    case 's': sem_wait(&s); break;
    case 'p': pause(); break;
    case 'l': while (loop); break;
    case 't': for (;;) { pthread_testcancel(); usleep(1000); } break;
    case 'e': pthread_exit((void *)3);
    }
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}
int main(void)
{
    const char *const ways[] = {"condition", "semaphore", "pause", "loop", "testing", "exit"};
    sem_init(&s, 0, 0), sem_init(&up, 0, 0);
    for (int i = 0; i < 6; i++) {
        pthread_t t;
        void *result;
        now = ways[i];
        pthread_create(&t, NULL, work, i ? NULL : &m);
        sem_wait(&up);
        poet_text("cancels-%s", now);
        if (i < 5) pthread_cancel(t);
        pthread_join(t, &result);
        poet_text("joined-%s", now);
        printf("%s %d\n", now, result == PTHREAD_CANCELED ? -1 : (int)(long)result);
    }
    return 0;
}
C
build cancels.c
same cancels
for file in t.poet r.poet; do
    before $file $(for way in condition semaphore pause loop testing; do
        echo "cancels-$way cleans-up-$way cleans-up-after-$way joined-$way --"
    done)
    is "pthread_exit is not recorded as a cancellation" "$(poet dump $file --json | grep -c '"type":"cancelled"')" 5
done
cat >throws.cc <<'C'
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
static sem_t up;
struct guard { ~guard() { poet_text("destructor"); } };
static void *work(void *a)
{
    guard g;
    try { throw 1; } catch (int) { }
    sem_post(&up);
    for (;;) pause();
}
int main()
{
    pthread_t t;
    sem_init(&up, 0, 0);
    pthread_create(&t, NULL, work, NULL);
    sem_wait(&up);
    poet_text("cancels");
    pthread_cancel(t);
    pthread_join(t, NULL);
    puts("done");
}
C
poetcc++ -trace -w throws.cc -o throws
POET_QUIET=1 POET_OUTPUT=c.poet ./throws >got
is "a canceled C++ thread exits" "$(cat got)" done
check "a canceled C++ thread: the trace is sound" sound c.poet
before c.poet cancels destructor

# ---- signals ----
cat >signals.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t handled, up;
static volatile int code, value, mine, count;
static void plain(int sig) { poet_text("plain %d", sig == SIGUSR1); count++; sem_post(&handled); }
static void full(int sig, siginfo_t *i, void *context)
{
    code = i->si_code, value = i->si_value.sival_int, mine = i->si_pid == getpid() && i->si_uid == getuid();
    poet_text("full %d", value);
    errno = 77;
    sem_post(&handled);
}
static volatile int tids[2];
static int T = 0, U = 1;
static void asleep(int *which) /* until that thread blocks in its own call, not in one of those that record it */
{
    char path[64];
    while (!tids[*which]) usleep(1000);
    for (sprintf(path, "/proc/self/task/%d/syscall", tids[*which]);; usleep(1000)) {
        long call = -1;
        char *about = NULL;
        FILE *f = fopen(path, "r");
        int n = f ? fscanf(f, "%ld %p", &call, (void **)&about) : 0;
        if (f) fclose(f);
        if (n == 2 && (*which == U ? call == SYS_rt_sigtimedwait
                                   : call == SYS_futex && about >= (char *)&up && about < (char *)(&up + 1)))
            return;
    }
}
static void *waits(void *a) { tids[T] = gettid(); while (sem_wait(&up)) ; return a; }
static void *awaits(void *a)
{
    int sig;
    siginfo_t info;
    tids[U] = gettid();
    sigwait(a, &sig);
    poet_text("awaited %d", sig == SIGHUP);
    sem_post(&handled);
    sigwaitinfo(a, &info);
    poet_text("awaited info");
    printf("%d %d %d %d\n", info.si_signo == SIGHUP, info.si_code, info.si_pid == getpid(), info.si_value.sival_int);
    sigtimedwait(a, &info, &(struct timespec){1000, 0});
    printf("%d %d %d\n", info.si_signo == SIGWINCH, info.si_code, info.si_value.sival_int);
    printf("%d", sigtimedwait(a, &info, &(struct timespec){0, 1000}));
    printf(" %d\n", errno == EAGAIN);
    return NULL;
}
static void own(void) { while (sem_wait(&handled)) ; }
int main(void)
{
    struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART}, old;
    sigset_t set;
    pthread_t t, u;
    sem_init(&handled, 0, 0), sem_init(&up, 0, 0);
    printf("%d ", signal(SIGUSR1, plain) == SIG_DFL);
    printf("%d\n", signal(SIGUSR1, plain) == plain);
    sa.sa_sigaction = full;
    sigaction(SIGUSR2, &sa, NULL);
    sigaction(SIGUSR2, NULL, &old);
    printf("%d %x\n", old.sa_sigaction == full, old.sa_flags & (SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_RESETHAND));
    sigaction(SIGUSR1, NULL, &old);
    printf("%d %x %d\n", old.sa_handler == plain, old.sa_flags & (SA_SIGINFO | SA_RESTART), sigismember(&old.sa_mask, SIGUSR1));
    sigemptyset(&set), sigaddset(&set, SIGHUP), sigaddset(&set, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, waits, NULL);
    pthread_create(&u, NULL, awaits, &set);
    asleep(&T), asleep(&U), poet_text("sends plain"), pthread_kill(t, SIGUSR1), own();
    poet_text("sends full"), kill(getpid(), SIGUSR2), own();
    printf("%d %d %d\n", code == SI_USER, value, mine);
    asleep(&T), poet_text("sends to a thread"), pthread_kill(t, SIGUSR2), own();
    printf("%d %d %d\n", code == SI_TKILL, value, mine);
    poet_text("queues"), sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 42}), own();
    printf("%d %d %d\n", code == SI_QUEUE, value, mine);
    errno = 0, raise(SIGUSR2), own();
    printf("%d\n", code == SI_TKILL);
    asleep(&U), poet_text("wakes"), pthread_kill(u, SIGHUP), own();
    asleep(&U), poet_text("wakes again"), kill(getpid(), SIGHUP);
    sigqueue(getpid(), SIGWINCH, (union sigval){.sival_int = 43});
    pthread_join(u, NULL);
    sem_post(&up);
    pthread_join(t, NULL);
    sa.sa_handler = plain, sa.sa_flags = SA_RESETHAND;
    sigaction(SIGUSR1, &sa, NULL), raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    printf("%d %d %d\n", count, old.sa_handler == SIG_DFL, kill(getpid(), 0));
    errno = 0;
    printf("%d %d", kill(getpid(), 1000), errno == EINVAL);
    printf(" %d\n", kill(2147483647, SIGUSR1));
    fflush(stdout);
    if (fork() == 0) raise(SIGUSR1);
    int status;
    wait(&status);
    printf("%d\n", WTERMSIG(status) == SIGUSR1);
    return 0;
}
C
build signals.c
same signals
for file in t.poet r.poet; do
    before $file "sends plain" "plain 1" "sends full" "full 0" "sends to a thread" -- \
        queues "full 42" wakes "awaited 1" "wakes again" "awaited info"
done

cat >storm.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, wrong;
static sem_t s;
static void handler(int sig) { int e = errno; sem_post(&s); if (errno != e) wrong++; }
static void *locks(void *a)
{
    while (!stop) { errno = 55; pthread_mutex_lock(&m); pthread_mutex_unlock(&m); if (errno != 55) wrong++; }
    return a;
}
int main(void)
{
    pthread_t t[2];
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL);
    sem_init(&s, 0, 0);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, locks, NULL);
    for (int i = 0; i < 10000; i++) pthread_kill(t[i % 2], SIGUSR1);
    while (sem_wait(&s)) ;
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    printf("%d\n", wrong);
    return 0;
}
C
build storm.c
same storm

# Names of system calls that some programs define themselves.
cat >words.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int wait(int *s) { pthread_mutex_lock(&m); return ++*s; }
static int signal(int *s) { pthread_mutex_unlock(&m); return --*s; }
int kill = 3;
static int system(void) { return kill; }
static int raise(int n) { return n + 1; }
int main(void) { int s = 0; printf("%d", wait(&s)); printf(" %d %d %d\n", signal(&s), system(), raise(4)); return 0; }
C
POET_QUIET=1 check "a program with functions called wait and signal compiles with -trace" poetcc -trace -w -fno-builtin words.c -o words
is "a program with functions called wait and signal prints its result" "$(POET_QUIET=1 POET_OUTPUT=w.poet ./words)" "1 0 3 5"

# ---- processes ----
cat >kids.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int use(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 1; }
static void *loop(void *a) { while (use()) usleep(1000); return a; }
static int reap(pid_t p) { int status = 0; waitpid(p, &status, 0); return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }
#define CHILD if (!(p = fork()))
int main(int n, char **v)
{
    siginfo_t info;
    pthread_t t;
    pid_t p;
    if (n > 1) { poet_text("is %s", v[1]); return 5; }
    poet_text("forks"); CHILD { poet_text("forked"); _exit(2); }
    printf("%d\n", reap(p)); poet_text("reaped");
    CHILD { use(); kill(getpid(), SIGKILL); }
    printf("%d\n", reap(p));
    CHILD { pthread_create(&t, 0, loop, 0); usleep(20000); exit(3); }
    printf("%d\n", reap(p));
    poet_text("execs"); CHILD execl("/proc/self/exe", "kids", "executed", (char *)0);
    printf("%d\n", reap(p)); poet_text("reaped executed");
    CHILD { poet_text("became"); execv("/proc/self/exe", (char *[]){"kids", "another", 0}); }
    printf("%d\n", reap(p)); poet_text("reaped another");
    poet_text("vforks"); if (!(p = vfork())) { execl("/proc/self/exe", "kids", "vforked", (char *)0); _exit(1); }
    printf("%d\n", reap(p)); poet_text("reaped vforked");
    poet_text("spawns"); posix_spawn(&p, "/proc/self/exe", 0, 0, (char *[]){"kids", "spawned", 0}, environ);
    printf("%d\n", reap(p)); poet_text("reaped spawned");
    CHILD { execlp("true", "true", (char *)0); _exit(1); }
    printf("%d\n", reap(p));
    CHILD { use(); execl("/nowhere", "x", (char *)0); poet_text("stays"); _exit(7); }
    printf("%d\n", reap(p)); poet_text("reaped the one that stays");
    CHILD { poet_text("ends"); _exit(9); }
    waitid(P_PID, p, &info, WEXITED | WNOWAIT), poet_text("looks");
    printf("%d", info.si_status), info.si_status = 0;
    waitid(P_PID, p, &info, WEXITED), poet_text("takes");
    printf(" %d %d\n", info.si_status, reap(p));
    if (!(p = _Fork())) { poet_text("plainly forked"); _exit(8); }
    printf("%d\n", reap(p)); poet_text("reaped plainly");
    printf("%d\n", WEXITSTATUS(system("exit 4")));
    return 6;
}
C
build kids.c
same kids
for file in t.poet r.poet; do
    before $file forks forked reaped -- \
        execs "is executed" "reaped executed" -- \
        became "is another" "reaped another" -- \
        vforks "is vforked" "reaped vforked" -- \
        spawns "is spawned" "reaped spawned" -- \
        stays "reaped the one that stays" -- \
        ends looks takes -- \
        "plainly forked" "reaped plainly"
done

# A signal to another process of the run, and the last one that a process gets.
cat >told.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int got, code;
static pid_t from;
static void handler(int sig, siginfo_t *i, void *c) { poet_text("told"); got++, code = i->si_code, from = i->si_pid; }
static void child_ended(int sig) { poet_text("hears"); }
int main(void)
{
    sigset_t set, none;
    int fd[2], status;
    char c;
    sigemptyset(&none), sigemptyset(&set), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
    signal(SIGCHLD, child_ended);
    if (pipe(fd)) return 1;
    pid_t p = fork();
    if (p == 0) {
        poet_text("listens");
        if (write(fd[1], "x", 1) != 1) return 2;
        while (!got) sigsuspend(&none);
        poet_text("leaves");
        return code == SI_USER && from == getppid() ? 0 : 3;
    }
    if (read(fd[0], &c, 1) != 1) return 4;
    poet_text("tells");
    kill(p, SIGUSR1);
    sigsuspend(&none);
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
C
build told.c
same told
for file in t.poet r.poet; do before $file tells told leaves hears; done
done_testing

#!/bin/bash
# Tracing follows a process across fork and exec, and reconnects to a new server after the old one has exited.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >forks.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a) { for (int i = 0; i < 5; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } return a; }
static void child(int i)
{
    pthread_t t;
    int status;
    if (i == 3) _exit(40); /* makes no traced call */
    poet_text("child %d", i);
    pthread_mutex_unlock(&held); /* was locked by the parent before the fork */
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    if (i == 2 && fork() == 0) { work(NULL); _exit(5); }
    if (i == 2) { wait(&status); if (WEXITSTATUS(status) != 5) _exit(99); execl("./traced", "traced", "x", NULL); }
    if (i == 1) exit(41);
    _exit(42);
}
int main(int argc, char **argv)
{
    pthread_t t;
    int status, sum = 0;
    if (argc > 1) { work(NULL); return 43; }
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    pthread_mutex_lock(&held);
    for (int i = 0; i < 4; i++) if (fork() == 0) child(i);
    while (wait(&status) > 0) sum += WEXITSTATUS(status);
    pthread_mutex_unlock(&held);
    printf("%d\n", sum);
    return argv == NULL;
}
C
gcc -w -I"$B/include" -DPLAIN forks.c -o plain -pthread -L"$B/lib" -lpoet -Wl,-rpath,"$B/lib"
poetcc -trace -w forks.c -o traced
start_server -o f/ -q
POET_SERVER=none ./plain >want
./traced >got 2>err
is "fork and exec: the results are those of an untraced run" "$(cat got err)" "$(cat want)"
check "fork and exec: the trace is sound" sound latest
is "fork and exec: the six processes with events are listed, the one without is not" "$(poet stat latest | grep -c ^program)" 6
is "fork and exec: each is a message to the new process or program" \
    "$(poet dump latest --json | grep '"type":"start"' | grep -c '"relation":"async"')" 5
first=$(poet dump latest --json | sed -n 's/.*"event":"\([^"]*\)","type":"fork".*/\1/p' | head -n 1)
note=$(poet dump latest --json | sed -n 's/.*"event":"\([^"]*\)","type":"note".*child 0.*/\1/p')
is "fork: events of the child come after the fork" "$(poet order latest "$first" "$note")" before
stop_server

cat >leaving.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        if (i == 100 && fork() == 0) pthread_exit(NULL);
    }
    int status;
    wait(&status);
    return status;
}
C
poetcc -trace -w leaving.c -o leaving
start_server -o le/ -q
check "a child exits its only thread" ./leaving
until_true finished latest
is "after a child exited its only thread the parent is traced to its end" "$(poet dump latest | grep -c " lock ")" 500
check "after a child exited its only thread the trace is sound" sound latest
stop_server

cat >forking.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* Forks while other threads lock, make objects and exit: no child may ever hang. */
static volatile int stop;
static void *locks(void *a)
{
    for (int i = 1; !stop; i++) {
        if (i % 100 == 0) usleep(2000); /* slows the thread down */
        pthread_mutex_t *m = malloc(sizeof *m);
        pthread_mutex_init(m, NULL);
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
        pthread_mutex_destroy(m);
        free(m);
    }
    return a;
}
static void *one(void *a) { return a; }
static void *threads(void *a)
{
    pthread_t t;
    for (int i = 1; !stop; i++) {
        if (i % 20 == 0) usleep(2000);
        pthread_create(&t, NULL, one, NULL); pthread_join(t, NULL);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int bad = 0;
    pthread_create(&t[0], NULL, locks, NULL);
    pthread_create(&t[1], NULL, threads, NULL);
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(200);
            pthread_mutex_lock(&m);
            pthread_mutex_unlock(&m);
            pthread_create(&t[0], NULL, one, NULL);
            pthread_join(t[0], NULL);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    printf("%d\n", bad);
    return 0;
}
C
poetcc -trace -w forking.c -o forking
start_server -o g/ -q
is "200 forks of a busy program: no child hangs" "$(timeout 500 ./forking)" 0
check "200 forks of a busy program: the trace is sound" sound latest
is "200 forks of a busy program: each child is in the trace" "$(poet stat latest | grep -c ^program)" 201
stop_server

# Objects in shared memory and named semaphores: one line for all processes.
cat >shm.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct shared { pthread_mutex_t m; pthread_rwlock_t rw; sem_t s; int n; };
int main(int argc, char **argv)
{
    struct shared *x = mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_rwlockattr_t ra; pthread_rwlockattr_init(&ra); pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&x->m, &a); pthread_rwlock_init(&x->rw, &ra); sem_init(&x->s, 1, 0);
    char name[40]; /* several runs of this test do not share a name */
    snprintf(name, sizeof name, "/poet-test-%d", (int)getpid());
    sem_t *named = sem_open(name, O_CREAT, 0600, 0);
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            for (int k = 0; k < 50; k++) {
                pthread_mutex_lock(&x->m); x->n++; pthread_mutex_unlock(&x->m);
                pthread_rwlock_rdlock(&x->rw); pthread_rwlock_unlock(&x->rw);
            }
            sem_post(&x->s); sem_post(named);
            _exit(0);
        }
    for (int i = 0; i < 3; i++) { sem_wait(&x->s); sem_wait(named); }
    while (wait(NULL) > 0) ;
    pthread_mutex_lock(&x->m); printf("%d\n", x->n); pthread_mutex_unlock(&x->m);
    sem_close(named); sem_unlink(name);
    return 0;
}
C
poetcc -trace -w shm.c -o shm
start_server -o s/ -q
for i in 1 2 3 4 5; do is "four processes with objects in shared memory, run $i" "$(./shm)" 150; done
for n in 1 2 3 4 5; do check "trace $n is sound" sound "unix:$XDG_RUNTIME_DIR/poet.sock#$n"; done
is "shared objects: each is one line" "$(poet dump latest --json | grep '"hidden":false' | grep -oE '"kind":"(mutex|rwlock|semaphore)"' | sort | uniq -c | awk '{ print $1 $2 }' | xargs)" \
    '1kind:mutex 1kind:rwlock 2kind:semaphore'
is "shared objects: the line has the events of all processes" "$(poet dump latest --json | grep -c '"event":"2:[0-9]*"')" 302
last=$(poet dump latest --json | sed -n 's/.*"event":"\(2:[0-9]*\)".*/\1/p' | tail -n 1)
is "shared objects: a critical section of one process is before the next one of another" "$(poet order latest 2:1 "$last")" before
stop_server

# Where no memory can be shared, libpoet sends its queues through the socket.
cc -shared -fPIC -Wl,-z,initfirst "$root/tests/e2e/unshared.c" -o unshared.so
sent() { LD_PRELOAD="$work/unshared.so" "$@"; }
start_server -o t/ -q
sent ./traced >got 2>err
is "without shared memory the results are those of an untraced run" "$(cat got err)" "$(cat want)"
check "without shared memory the trace is sound" sound latest
is "without shared memory every process is in the trace" "$(poet stat latest | grep -c ^program)" 6
is "without shared memory no process is truncated" "$(figure latest truncated_programs)" 0
cat >killed.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    for (int i = 0; i < 20000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    kill(getpid(), SIGKILL);
}
C
poetcc -trace -w killed.c -o killed
{ sent ./killed; } 2>/dev/null
check "without shared memory: the run of a killed program finishes" until_true finished latest
is "without shared memory: a killed program leaves no inconsistent or pending event" "$(figure latest inconsistent pending)" "0 0"
check "without shared memory: a killed program loses at most its last queue" test "$(figure latest events)" -gt 80000
is "without shared memory: poet stat reports the killed program as truncated" "$(figure latest truncated_programs) $(poet stat latest | grep -c '^truncated  *1 program')" "1 1"
cat >leaves.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void work(int n) { while (n--) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } }
static void handler(int s) { (void)s; _exit(0); }
static pthread_barrier_t there;
static void *hang(void *a) { pthread_barrier_wait(&there); pause(); return a; }
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    work(20000);
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "handler")) { signal(SIGTERM, handler); raise(SIGTERM); }
    if (!strcmp(how, "exec")) execl("/bin/true", "true", (char *)0);
    if (!strcmp(how, "noexec")) { execl("/nowhere", "nowhere", (char *)0); work(20000); raise(SIGKILL); }
    if (!strcmp(how, "exec-threads")) {
        pthread_t t;
        pthread_barrier_init(&there, 0, 2);
        pthread_create(&t, 0, hang, 0);
        pthread_barrier_wait(&there);
        execl("/bin/true", "true", (char *)0);
    }
    return 0;
}
C
poetcc -trace -w leaves.c -o leaves
for way in "exit 0 80001" "_exit 0 80001" "handler 0 80001" "exec 0 80001" "noexec 1 1" "exec-threads 1 80001"; do
    set -- $way
    { POET_RUN="$1" sent ./leaves "$1"; } 2>/dev/null
    run="unix:$XDG_RUNTIME_DIR/poet.sock#$1"
    until_true finished "$run"
    is "exit by $1: poet stat tells whether the program is truncated" "$(figure "$run" truncated_programs)" "$2"
    check "exit by $1: the events before it are recorded" test "$(figure "$run" events)" -ge "$3"
done
stop_server
is "the trace files have the same numbers of truncated programs" "$(for f in t/*.poet; do figure "$f" truncated_programs; echo; done | sort -n | paste -sd' ')" "0 0 0 0 0 1 1 1"

cat >long.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int stop;
static void *work(void *a) { while (!stop) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); usleep(1000); } return a; }
static void *waiter(void *a) { pthread_mutex_lock(&m); while (!stop) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return a; }
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    pthread_create(&t[2], NULL, waiter, NULL);
    getchar();
    pthread_mutex_lock(&m); stop = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    puts("done");
    return 0;
}
C
poetcc -trace -w long.c -o long
mkfifo in
start_server -o l/ -q
./long <in >out 2>err & program=$!
pids="$pids $program"
exec 5>in
grows() { [ "$(figure latest events)" -gt "${1:-100}" ]; }
until_true grows
kill -KILL "$server"
wait "$server" 2>/dev/null
start_server -o m/ -q
again() { [ "$(figure m/*.poet events)" -gt 100 ]; }
check "a program finds a new server after its server was killed" until_true again
echo >&5
exec 5>&-
wait $program
is "after a change of server the program ends normally" "$? $(cat out)" "0 done"
like "after a change of server the program prints one notice" "$(cat err)" "reconnected to a server"
check "after a change of server the second trace is sound" sound latest
is "after a change of server the second trace has all threads" "$(poet dump latest --json | grep -c '"kind":"thread"')" 4
check "after a change of server the first trace is valid up to the kill" poet check l/*.poet
stop_server
done_testing

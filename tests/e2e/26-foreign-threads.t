#!/bin/bash
# Threads, environments and runtimes that other libraries made: their order is recorded, or reported as untraced.
# Runs in make check-all only.
home=$HOME # rustc may be installed there
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# mark FILE NAME: the one critical section of the mutex of that name; marks order nothing
mark() {
    poet dump --json "$1" | awk -F'"' -v name="$2" '
        $2 == "line" && index($0, "\"name\":\"" name "\"") { line = substr($3, 2) + 0 }
        line && $2 == "event" && $8 == "acquired" && index($4, line ":") == 1 { print $4; exit }'
}
order() { poet order "$1" "$(mark "$1" "$2")" "$(mark "$1" "$3")" 2>/dev/null; }
said() { grep -aq -- "$2" "$1"; } # annotations stand in the file as they are
cat >marks.h <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define DECLARE(x) pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER
#define MARK(x) (pthread_mutex_lock(&x), pthread_mutex_unlock(&x))
C
# both NAME FLAG...: builds NAME.c with -trace and for poet record; traces into NAME.t.poet, NAME.r.poet
both() {
    local it=$1
    shift
    poetcc -trace -g -O1 "$it.c" -o "$it.t" "$@" && cc -g -O1 "$it.c" -o "$it.r" "$@" -pthread &&
        POET_OUTPUT="$it.t.poet" "./$it.t" >"$it.t.out" && poet record -o "$it.r.poet" -- "./$it.r" >"$it.r.out"
}
modes() { # modes WHAT COMMAND FILE ARG...: checks both traces
    local what=$1 command=$2 it=$3
    shift 3
    for m in t r; do check "$what ($m)" "$command" "$it.$m.poet" "$@"; done
}
is_order() { [ "$(order "$1" "$2" "$3")" = "$4" ] || { echo "$2 is $(order "$1" "$2" "$3") $3"; return 1; }; }

# ---- a child that cleared its environment ----
cat >cleared.c <<'C'
#include "marks.h"
DECLARE(before_fork); DECLARE(in_child);
int main(void)
{
    MARK(before_fork);
    clearenv();
    pid_t child = fork();
    if (!child) {
        MARK(in_child);
        return 0;
    }
    return waitpid(child, 0, 0) != child;
}
C
both cleared
modes "a child with a cleared environment is in its parent's run" sound cleared
modes "a child with a cleared environment comes after its fork" is_order cleared before_fork in_child before

# ---- bash, which defines getenv and setenv itself ----
poet record -o script.poet -- bash -c 'seq 1 5 | sort -rn; env | grep -c POET_OUTPUT; echo end' >script.out 2>script.err
is "bash: a script prints its output" "$(tr '\n' ' ' <script.out)" "5 4 3 2 1 0 end "
is "bash: no message on standard error" "$(cat script.err)" ""
check "bash: the trace is sound" sound script.poet
like "bash: the programs that it starts are in the trace" "$(poet stat script.poet | tr '\n' ' ')" "/seq.*/sort|/sort.*/seq"
like "bash: the trace server is not in the trace" "$(poet stat script.poet | grep -c poet-server)" "^0$"
(unset POET_QUIET; poet record -- bash -c 'seq 1 5 | sort -rn' 2>own.err >own.out)
like "bash: without -o one notice names the trace file" "$(cat own.err)" "^poet: no server running; recording to bash\.[0-9]*\.poet"
check "bash: without -o the trace is sound" sound "$(trace_of bash)"
is "bash: without -o one trace has all programs" "$(ls ./*.[0-9]*.poet | wc -l):$(poet stat "$(trace_of bash)" | grep -c '^program')" 1:3
rm -f ./*.[0-9]*.poet
start_server -q -o served.poet
poet record -- bash -c 'seq 1 5 | sort -rn' >/dev/null
check "bash: with a running server the trace is sound" sound served.poet
is "bash: with a running server the trace has all three programs" "$(poet stat served.poet | grep -c '^program')" 3
stop_server

# ---- threads that a library creates ----
cat >pool.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct job { void (*f)(void *); void *a; };
static void *go(void *p) { struct job j = *(struct job *)p; free(p); j.f(j.a); return 0; }
static void *outer(void *p) { pthread_t t; pthread_create(&t, 0, go, p); pthread_join(t, 0); return 0; }
static struct job *job(void (*f)(void *), void *a)
{ struct job *j = malloc(sizeof *j); j->f = f; j->a = a; return j; }
unsigned long pool_run(void (*f)(void *), void *a) { pthread_t t; pthread_create(&t, 0, go, job(f, a)); return t; }
unsigned long pool_nested(void (*f)(void *), void *a)
{ pthread_t t; pthread_create(&t, 0, outer, job(f, a)); return t; }
void pool_detached(void (*f)(void *), void *a)
{ pthread_t t; pthread_create(&t, 0, go, job(f, a)); pthread_detach(t); }
void pool_wait(unsigned long t) { pthread_join(t, 0); }
void pool_lock(pthread_mutex_t *m) { pthread_mutex_lock(m); }
C
cat >pool.h <<'C'
unsigned long pool_run(void (*)(void *), void *), pool_nested(void (*)(void *), void *);
void pool_detached(void (*)(void *), void *), pool_wait(unsigned long), pool_lock(pthread_mutex_t *);
C
cc -shared -fPIC -g pool.c -o libpool.so -pthread
pool="-L. -Wl,-rpath,$work -lpool"

cat >callback.c <<'C'
#include "marks.h"
#include "pool.h"
DECLARE(before_run); DECLARE(in_first); DECLARE(in_second); DECLARE(after_wait); DECLARE(in_nested); DECLARE(m);
static sem_t given;
static void first(void *x) { pthread_mutex_lock(&m); MARK(in_first); sem_post(&given); pthread_mutex_unlock(&m); (void)x; }
static void second(void *x) { sem_wait(&given); pthread_mutex_lock(&m); MARK(in_second); pthread_mutex_unlock(&m); (void)x; }
static void nested(void *x) { MARK(in_nested); (void)x; }
static void nothing(void *x) { (void)x; }
int main(void)
{
    sem_init(&given, 0, 0);
    MARK(before_run);
    unsigned long a = pool_run(first, 0), b = pool_run(second, 0), c = pool_nested(nested, 0);
    for (int i = 0; i < 300; i++)
        i % 2 ? pool_detached(nothing, 0) : pool_wait(pool_run(nothing, 0));
    pool_wait(a), pool_wait(b), pool_wait(c);
    MARK(after_wait);
    puts("done");
    return 0;
}
C
both callback $pool
modes "threads of a library: the trace is sound" sound callback
modes "threads of a library: a lock and a semaphore order them" is_order callback in_first in_second before
modes "threads of a library: their events are after their creation" is_order callback before_run in_first before
modes "threads of a library: one created by another is after its creation" is_order callback before_run in_nested before
modes "threads of a library: the joining thread is after them" is_order callback in_second after_wait before
modes "threads of a library: one joined by another thread is concurrent" is_order callback in_nested in_first concurrent
modes "threads of a library: work that the library passes on is reported" said callback "work passed to threads of libpool.so"
tasks() { poet dump --json "$1" | grep -c '"kind":"thread"'; }
is "threads of a library: those without an event of the program have no line" "$(tasks callback.t.poet):$(tasks callback.r.poet)" 4:4
ends() { poet dump --json "$1" | grep -c '"type":"exit"'; }
is "threads of a library: the others exit" "$(ends callback.t.poet):$(ends callback.r.poet)" 4:4

if poetcc -trace -g -fsanitize=address callback.c -o callback.asan $pool 2>/dev/null; then
    is "threads of a library: AddressSanitizer reports nothing" "$(POET_OUTPUT=asan.poet ./callback.asan 2>&1)" "done"
    check "threads of a library: the trace under AddressSanitizer is sound" sound asan.poet
    is "threads of a library: under AddressSanitizer four threads" "$(tasks asan.poet)" 4
else
    skip "AddressSanitizer is not available"
fi

# A thread that makes calls only in its destructor of thread-specific data, and one that forks.
cat >late.c <<'C'
#include "marks.h"
#include "pool.h"
DECLARE(in_destructor); DECLARE(after_wait); DECLARE(in_child); DECLARE(before_fork);
static pthread_key_t key;
static void destroy(void *x) { (void)x; MARK(in_destructor); }
static void use(void *x) { (void)x; pthread_setspecific(key, &key); }
static void split(void *x)
{
    (void)x;
    MARK(before_fork);
    pid_t child = fork();
    if (!child) { MARK(in_child); exit(0); }
    waitpid(child, 0, 0);
}
int main(void)
{
    pthread_key_create(&key, destroy);
    pool_wait(pool_run(use, 0));
    MARK(after_wait);
    pool_wait(pool_run(split, 0));
    return 0;
}
C
both late $pool
modes "a call in a destructor of thread-specific data is recorded" sound late
modes "a call in a destructor of thread-specific data is before the join" is_order late in_destructor after_wait before
modes "a fork in a destructor of thread-specific data is followed" is_order late before_fork in_child before

# Threads that the C library creates itself: their creation is not traced.
cat >timer.c <<'C'
#include "marks.h"
DECLARE(before_timer); DECLARE(in_timer); DECLARE(after_wait);
static sem_t rung;
static void ring(union sigval v) { (void)v; MARK(in_timer); sem_post(&rung); }
int main(void)
{
    sem_init(&rung, 0, 0);
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    struct itimerspec soon = {.it_value = {0, 1000000}};
    timer_t t;
    MARK(before_timer);
    if (timer_create(CLOCK_MONOTONIC, &e, &t))
        return 1;
    timer_settime(t, 0, &soon, 0);
    sem_wait(&rung);
    MARK(after_wait);
    return 0;
}
C
both timer -lrt
modes "a timer's thread has a line" sound timer
modes "a post of a timer's thread is before the wait it ended" is_order timer in_timer after_wait before

modes "events before an untraced creation have an unknown order" is_order timer before_timer in_timer unknown

# ---- a mutex that a library locks and the program unlocks, or waits with ----
cat >mixed.c <<'C'
#include "marks.h"
#include "pool.h"
DECLARE(first); DECLARE(second); DECLARE(third); DECLARE(m);
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn;
static void *next(void *x)
{
    pthread_mutex_lock(&m);
    MARK(second);
    turn = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return x;
}
int main(void)
{
    pthread_t t;
    pool_lock(&m);
    pthread_create(&t, 0, next, 0);
    MARK(first);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    turn = 0;
    pool_lock(&m);
    pthread_create(&t, 0, next, 0);
    while (!turn)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    MARK(third);
    pthread_join(t, 0);
    return 0;
}
C
both mixed $pool
modes "a lock locked by a library and unlocked by the program: the trace is sound" sound mixed
modes "a lock locked by a library orders the critical sections" is_order mixed first second before
modes "a lock locked by a library orders a wait on a condition variable" is_order mixed second third before

# ---- languages and libraries with untraced synchronization ----
cat >parallel.c <<'C'
#include "marks.h"
DECLARE(m);
int main(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 30; i++) {
        pthread_mutex_lock(&m);
        sum += i;
        pthread_mutex_unlock(&m);
    }
    printf("%d\n", sum);
    return 0;
}
C
if both parallel -fopenmp 2>/dev/null; then
    modes "OpenMP: the trace is sound" sound parallel
    is "OpenMP: the result is that of an untraced run" "$(cat parallel.t.out parallel.r.out | sort -u)" 435
    silent() { ! said "$1" "OpenMP (lib[gi]*omp"; }
    modes "OpenMP: regions are traced" said parallel region_end
    modes "OpenMP: it is not reported as untraced" silent parallel
    visits() { poet dump --json "$1" | grep -c '"type":"acquired"'; }
    is "OpenMP: mutexes that its threads lock are recorded" "$(visits parallel.t.poet):$(visits parallel.r.poet)" 30:30
else
    skip "the compiler does not support OpenMP"
fi
if command -v rustc >/dev/null; then
    cat >rust.rs <<'R'
use std::sync::{Arc, Mutex}; use std::thread;
fn main() {
    let sum = Arc::new(Mutex::new(0));
    let all: Vec<_> = (0..3).map(|i| { let s = sum.clone(); thread::spawn(move || *s.lock().unwrap() += i) }).collect();
    for t in all { t.join().unwrap(); }
    println!("{}", *sum.lock().unwrap());
}
R
    HOME=$home rustc -O rust.rs -o rust 2>rust.err && strip -s -R .comment rust
    (unset POET_QUIET; poet record -o rust.poet -- ./rust >rust.out 2>rust.err)
    is "Rust: a program prints its result" "$(cat rust.out)" 3
    is "Rust: one line of warning" "$(grep -c 'poet: Rust program: ' rust.err):$(wc -l <rust.err)" 1:2
    check "Rust: the trace is sound" sound rust.poet
    check "Rust: the reason is recorded" said rust.poet 'Rust (rust)'
else
    skip "rustc is not installed"
fi
if command -v xz >/dev/null; then
    head -c 400000 /dev/urandom >noise
    poet record -o xz.poet -- xz -T4 -c --block-size=50000 noise >noise.xz
    check "xz: the bytes are those of an untraced run" eval 'xz -dc noise.xz | cmp - noise'
    until_true finished xz.poet
    check "xz: threads of its library are reported as untraced" \
        said xz.poet "poet record --libraries"
else
    skip "xz is not installed"
fi
cat >untouched.c <<'C'
int main(void) { return 0; }
C
poetcc -trace untouched.c -o untouched
like "a program without an event gets that notice" "$(unset POET_QUIET; ./untouched 2>&1)" \
    "no events recorded: no object file built with -trace calls a traced function; build with: poetcc"

# ---- thread pools of well-known libraries ----
cat >glib.c <<'C'
#include "marks.h"
#include <glib.h>
DECLARE(m);
static int sum;
static void work(gpointer n, gpointer x) { (void)x; pthread_mutex_lock(&m); sum += GPOINTER_TO_INT(n); pthread_mutex_unlock(&m); }
int main(void)
{
    GThreadPool *pool = g_thread_pool_new(work, NULL, 3, TRUE, NULL);
    for (int i = 1; i <= 20; i++)
        g_thread_pool_push(pool, GINT_TO_POINTER(i), NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
    printf("%d\n", sum);
    return 0;
}
C
cat >uv.c <<'C'
#include "marks.h"
#include <uv.h>
DECLARE(m);
static int sum;
static void work(uv_work_t *w) { pthread_mutex_lock(&m); sum += *(int *)w->data; pthread_mutex_unlock(&m); }
static void done(uv_work_t *w, int status) { (void)w; (void)status; }
int main(void)
{
    static uv_work_t w[20];
    static int n[20];
    for (int i = 0; i < 20; i++) {
        w[i].data = &n[i], n[i] = i + 1;
        uv_queue_work(uv_default_loop(), &w[i], work, done);
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    printf("%d\n", sum);
    return 0;
}
C
for p in glib:glib-2.0 uv:libuv; do
    it=${p%:*} package=${p#*:}
    pkg-config --exists "$package" 2>/dev/null || { skip "$package is not installed"; continue; }
    both "$it" $(pkg-config --cflags --libs "$package")
    modes "$it: sound" sound "$it"
    is "$it: the result is that of an untraced run" "$(cat "$it.t.out" "$it.r.out" | sort -u)" 210
    is "$it: every critical section is recorded" "$(for m in t r; do poet dump --json "$it.$m.poet" | grep -c '"type":"acquired"'; done | sort -u)" 20
done

# ---- nginx overwrites its environment, and forks ----
if command -v nginx >/dev/null; then
    mkdir -p ng/logs
    cat >ng/nginx.conf <<C
daemon off; worker_processes 2; pid $work/ng/pid; error_log $work/ng/logs/error.log;
events { worker_connections 64; }
http { access_log off; client_body_temp_path ng/1; proxy_temp_path ng/2; fastcgi_temp_path ng/3; uwsgi_temp_path ng/4;
  scgi_temp_path ng/5; server { listen unix:$work/ng/socket; root $work; } }
C
    [ "$(id -u)" = 0 ] && sed -i "1s/^/user root; /" ng/nginx.conf
    poet record -o nginx.poet -- nginx -p "$work/" -c "$work/ng/nginx.conf" 2>ng/err & nginx=$!
    pids="$pids $nginx"
    listens() { grep -q " 00010000 .* $work/ng/socket\$" /proc/net/unix; } # the socket file exists before the server listens
    until_true listens
    all_begun() { [ "$(poet stat nginx.poet | grep -c '^program')" = 3 ]; }
    until_true all_begun
    for i in 1 2 3 4 5 6; do
        python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect("ng/socket"); s.sendall(b"GET /marks.h HTTP/1.0\r\n\r\n")
data = b""
while True:
    more = s.recv(65536)
    if not more: break
    data += more
sys.stdout.buffer.write(data.split(b"\r\n\r\n", 1)[1])' | cmp -s - marks.h && served=$((${served:-0} + 1))
    done
    is "nginx answers six requests" "$served" 6
    kill -TERM $nginx
    wait $nginx
    is "nginx exits with 0" $? 0
    check "nginx: master and workers are in one sound trace" sound nginx.poet
    is "nginx: the trace has three processes" "$(ls nginx*.poet):$(poet stat nginx.poet | grep -c '^program')" nginx.poet:3
else
    skip "nginx is not installed"
fi

# ---- poet.h for interposed runtimes: call sites are those of the program ----
mkdir -p conf
export POET_CONFIG="$work/conf"
cat >conf/fibres.conf <<'C'
name = "fibres"; title = "fibres"; version = 1;
line_types = ( { name = "fibre"; letter = "F"; title = "fibre"; color = "#1b4f8f"; },
          { name = "gate"; letter = "G"; title = "gate"; color = "#7a3c00"; } );
events = (
    { name = "goes_in"; verb = "goes into"; shape = "circle"; filled = true; color = "#7a3c00"; relation = "sync";
      partner = "is_entered"; arrow = "to-partner"; thread_state = "left"; },
    { name = "is_entered"; verb = "is entered by"; shape = "circle"; filled = true; color = "#7a3c00"; relation = "sync";
      partner = "goes_in"; arrow = "from-partner"; thread_state = "running"; },
    { name = "is_left"; verb = "is left by"; shape = "circle"; filled = true; color = "#7a3c00"; relation = "sync";
      partner = "is_back"; arrow = "to-partner"; thread_state = "left"; },
    { name = "is_back"; verb = "is back from"; shape = "circle"; filled = true; color = "#7a3c00"; relation = "sync";
      partner = "is_left"; arrow = "from-partner"; thread_state = "running"; }
);
C
cat >adapter.c <<'C'
#include <poet.h>
POET_RUNTIME("fibres");
#define CALLER ((char *)__builtin_return_address(0) - 1)
static poet_type_t type(const char *name) { return poet_type(name, 0); }
poet_line_t fibre_new(const char *name) { return poet_task_at("fibre", name, 0, CALLER); }
poet_line_t gate_new(poet_line_t self)
{
    poet_task_switch(self);
    poet_line_t gate = poet_line_at("gate", 0, 0, 0, CALLER);
    poet_task_switch(0);
    return gate;
}
void fibre_enter(poet_line_t self, poet_line_t gate)
{
    poet_task_switch(self);
    poet_enter_at(gate, type("goes_in"), type("is_entered"), CALLER);
    poet_task_switch(0);
}
void fibre_leave(poet_line_t self, poet_line_t gate)
{
    poet_task_switch(self);
    poet_leave_at(gate, type("is_left"), type("is_back"), CALLER);
    poet_task_switch(0);
}
void fibre_touch(poet_line_t self, poet_line_t gate)
{
    poet_task_switch(self);
    poet_pair_at(self, type("goes_in"), gate, type("is_entered"), 0, CALLER);
    poet_pair_at(self, type("is_back"), gate, type("is_left"), 0, CALLER);
    poet_task_switch(0);
}
C
cat >fibres.c <<'C'
unsigned fibre_new(const char *), gate_new(unsigned);
void fibre_enter(unsigned, unsigned), fibre_leave(unsigned, unsigned), fibre_touch(unsigned, unsigned);
int main(void)
{
    unsigned a = fibre_new("a"), b = fibre_new("b");
    unsigned gate = gate_new(a);
    fibre_enter(a, gate); /* line 7 */
    fibre_leave(a, gate);
    fibre_touch(b, gate); /* line 9 */
    return 0;
}
C
cc -c -g -O1 -Wall -Wextra -Werror -I"$B/include" adapter.c && poetcc -trace -g -O1 fibres.c adapter.o -o fibres
POET_OUTPUT=fibres.poet ./fibres
check "an adapter of a runtime: the trace is sound" sound fibres.poet
sites() { poet dump --json fibres.poet | json ".[] | select(.type == \"$1\") | .site" | tr '\n' ' '; }
is "poet_enter_at and poet_pair_at record the program's call site" "$(sites goes_in)" "fibres.c:7 fibres.c:9 "
is "poet_leave_at records the program's call site" "$(sites is_back)" "fibres.c:8 fibres.c:9 "
like "a line without a name is named after the source line of its creation" "$(poet dump --json fibres.poet)" '"kind":"gate".*"name":"fibres.c:6"'
is "each task has a line of its own" "$(poet dump --json fibres.poet | grep -c '"kind":"fibre"')" 2
done_testing

#!/bin/bash
# libpoet has no data race and no memory error under ThreadSanitizer and AddressSanitizer: it is linked into
# the program, so that the sanitizer sees the calls of both.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >mix.c <<'C'
#include <errno.h>
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t m[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER}, rec;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int turn;
static void *nothing(void *a) { return a; }
static void *work(void *a)
{
    unsigned r = (unsigned)(long)a * 7919;
    for (int i = 0; i < 1000; i++) {
        r = r * 1103515245 + 12345;
        int k = r >> 16 & 3;
        switch (r >> 20 & 7) {
        case 0: if (!pthread_mutex_trylock(&m[k])) pthread_mutex_unlock(&m[k]); break;
        case 1: if (k < 3) { pthread_mutex_lock(&m[k]); pthread_mutex_lock(&m[k + 1]); pthread_mutex_unlock(&m[k]); pthread_mutex_unlock(&m[k + 1]); } break;
        case 2: pthread_mutex_lock(&rec); pthread_mutex_lock(&rec); if (i % 50 == 0) poet_text("in %d", i); pthread_mutex_unlock(&rec); pthread_mutex_unlock(&rec); break;
        case 3: {
            struct timespec t;
            clock_gettime(CLOCK_REALTIME, &t);
            if ((t.tv_nsec += 20000) > 999999999) { t.tv_sec++; t.tv_nsec -= 1000000000; }
            pthread_mutex_lock(&m[0]); turn++;
            if (i % 10 == 0) pthread_cond_timedwait(&c, &m[0], &t);
            pthread_cond_signal(&c); pthread_mutex_unlock(&m[0]); break; }
        case 4: sem_wait(&s); sem_post(&s); break;
        case 5: if (i % 100 == 0) { pthread_t t; if (!pthread_create(&t, 0, nothing, 0)) { if (k) pthread_join(t, 0); else pthread_detach(t); } } break;
        case 6: if (i % 50 == 0) { pthread_mutex_lock(&m[3]); poet_trace_off(); pthread_mutex_unlock(&m[3]); pthread_mutex_lock(&m[k]); pthread_mutex_unlock(&m[k]); poet_trace_on(); } break;
        default: pthread_mutex_lock(&m[k]); pthread_mutex_unlock(&m[k]);
        }
    }
    return a;
}
int main(void)
{
    pthread_mutexattr_t at;
    pthread_mutexattr_init(&at);
    pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&rec, &at);
    sem_init(&s, 0, 2);
    pthread_t t[6];
    for (long i = 0; i < 6; i++) pthread_create(&t[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
    return 0;
}
C
# Barriers that are made and destroyed, read-write and spin locks, once, children.
# Coroutines are left out: neither sanitizer is notified of their switches.
cat >more.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once[20];
static once_flag flag = ONCE_FLAG_INIT;
static int read_only, written;
static void init(void) { read_only++; }
static void *rounds(void *a)
{
    for (int i = 0; i < 200; i++) {
        pthread_once(&once[i % 20], init);
        call_once(&flag, init);
        if (i % 5 == 0) { pthread_rwlock_wrlock(&rw); written++; pthread_rwlock_unlock(&rw); }
        else { pthread_rwlock_rdlock(&rw); (void)written; pthread_rwlock_unlock(&rw); }
        pthread_spin_lock(&spin); written += 0; pthread_spin_unlock(&spin);
        pthread_barrier_wait(a);
    }
    return a;
}
int main(void)
{
    pthread_t t[4];
    pthread_spin_init(&spin, 0);
    for (int k = 0; k < 3; k++) {
        pthread_barrier_t *b = malloc(sizeof *b);
        pthread_barrier_init(b, NULL, 4);
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, rounds, b);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
        pthread_barrier_destroy(b);
        free(b);
    }
    for (int i = 0; i < 5; i++)
        if (fork() == 0) { pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); _exit(0); }
    while (wait(0) > 0) ;
    return 0;
}
C
# The id of a thread is reused as soon as the thread is joined.
cat >ids.c <<'C'
#include <pthread.h>
static void *nothing(void *a) { return a; }
static void *work(void *a)
{
    pthread_t t;
    for (int i = 0; i < 300; i++)
        if (!pthread_create(&t, 0, nothing, 0)) { if (i % 3) pthread_join(t, 0); else pthread_detach(t); }
    return a;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
C
# Tasks of a runtime that move between threads, trace lines and keys that several threads use at once.
cat >tasks.c <<'C'
#include <poet.h>
#include <pthread.h>
#define TASKS 6
static pthread_mutex_t lock[TASKS];
static poet_line_t task[TASKS], room;
static uint64_t next_key;
static void *carry(void *a)
{
    unsigned r = (unsigned)(long)a * 7919;
    for (int i = 0; i < 400; i++) {
        r = r * 1103515245 + 12345;
        int k = (int)(r >> 16) % TASKS;
        pthread_mutex_lock(&lock[k]); /* the thread that has the lock acts as the task */
        poet_task_switch(task[k]);
        poet_enter(room, poet_type("in", NULL), poet_type("came", NULL));
        poet_text("%d", i);
        poet_leave(room, poet_type("out", NULL), poet_type("back", NULL));
        uint64_t key = __atomic_fetch_add(&next_key, 1, __ATOMIC_RELAXED), keys[3] = {3 * key, 3 * key + 1, 3 * key + 2};
        for (int n = 0; n < 3; n++)
            poet_record(&(poet_record_t){.type = poet_type("send", NULL), .flags = POET_SEND, .high = 1,
                                         .low = &keys[n], .keys = 1, .count = 1, .about = room});
        poet_set_current_line(i % 2 ? room : 0);
        poet_record(&(poet_record_t){.type = poet_type("receive", NULL), .flags = POET_RECEIVE, .high = 1, .low = keys,
                                     .keys = 3, .count = 1});
        poet_set_current_line(0);
        if (i % 100 == 0) {
            uint64_t *counter = poet_counter((uint64_t)k, 1), identity[2];
            if (counter)
                __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
            if (poet_identity(room, identity))
                poet_line_by_identity("room", "again", identity);
            poet_line_name(task[k], k % 2 ? "odd" : "even");
        }
        poet_task_switch(0);
        pthread_mutex_unlock(&lock[k]);
    }
    return a;
}
int main(void)
{
    pthread_t t[4];
    room = poet_line("room", "room", NULL, POET_SHARED);
    for (int k = 0; k < TASKS; k++) {
        pthread_mutex_init(&lock[k], NULL);
        task[k] = poet_task("fiber", "f", NULL);
    }
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, carry, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    for (int k = 0; k < TASKS; k++) poet_task_release(task[k]);
    return 0;
}
C
described() { [ "$1" != tasks ]; } # its event types are in no description
export POET_SERVER_PROGRAM="$B/libexec/poet/poet-server"
start_server -o san/ -q
for sanitizer in thread address,undefined; do
    flags="-fsanitize=$sanitizer -fexceptions -I$root -Wno-tsan"
    # libpoet is compiled without optimization, so that no access is left out and it compiles sooner.
    for f in "$root"/clients/libpoet/*.c "$root"/clients/libpoet/core/*.c "$root"/clients/libpoet/interpose/*.c "$root"/clients/libpoet/profile/*.c "$root"/clients/libpoet/replay/*.c "$root"/clients/libpoet/unwind/*.c "$root"/wire/message.c "$root"/wire/program_messages.c "$root"/wire/recorded_input.c "$root"/wire/endpoint.c; do
        gcc -std=gnu17 -g1 -O0 $flags -c "$f" -o "$(printf %s "${f#"$root/"}" | tr / _).o" || exit 1
    done
    for program in mix ids more tasks; do
        gcc -g -O1 $flags -include "$root/clients/libpoet/redirect.h" -I"$root/clients/libpoet" $program.c ./*.o -o $program -pthread -ldl
        if TSAN_OPTIONS=halt_on_error=0:exitcode=66:detect_deadlocks=0 ./$program >log 2>&1 && ! grep -q "ERROR\|WARNING" log; then ok "$program, $sanitizer: no report"
        else not_ok "$program, $sanitizer: no report" "$(head -n 40 log)"; fi
        if described $program; then
            check "$program, $sanitizer: the trace is sound" sound latest
        else
            until_true finished latest
            is "$program, $sanitizer: nothing is lost, pending or inconsistent" \
                "$(figure latest lost pending inconsistent)" "0 0 0"
        fi
    done
    rm ./*.o
done
# ten_runs PROGRAM: prints the runs that are not sound, with the reason
ten_runs() {
    poetcc -trace -g "$1.c" -o "$1"
    for i in $(seq 10); do
        "./$1" || echo "$i: exit $?"
        why=$(sound latest 2>&1) || { echo "$i: $why"; poet stat latest; }
    done
}
is "ten runs of all primitives at once are sound" "$(ten_runs mix)" ""
is "no release by an untraced owner is recorded" "$(poet dump latest | grep -c "release by the previous owner not traced")" 0
is "ten runs of many short threads are sound" "$(ten_runs ids)" ""
stop_server
done_testing

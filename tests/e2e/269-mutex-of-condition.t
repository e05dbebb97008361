#!/bin/bash
# A thread that waits for a condition variable needs its mutex to resume: poet blocked names the thread that holds it, whether
# the condition variable was signaled or not. The same for a lock that is requested by a call that is not traced.
. "$(dirname "$0")/lib.sh"

cat >monitor.c <<'C'
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static volatile int ready;
static void *worker(void *p)
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_wait(&more, &lock); // worker waits
    pthread_mutex_unlock(&lock);
    return p;
}
static void *leaves(void *p)
{
    pthread_mutex_lock(&lock); // leaves acquires
    pthread_cond_signal(&more);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t, l;
    const char *how = argv[argc - 1];
    pthread_create(&t, 0, worker, 0);
    while (!ready)
        usleep(1000);
    if (!strcmp(how, "exited")) {
        pthread_create(&l, 0, leaves, 0);
        pthread_join(l, 0);
    } else {
        pthread_mutex_lock(&lock); // main acquires
        if (strcmp(how, "unsignaled"))
            pthread_cond_signal(&more);
    }
    if (!strcmp(how, "sound"))
        pause();
    pthread_join(t, 0); // main joins
    return 0;
}
C
cat >plugin.c <<'C'
#include <pthread.h>
extern pthread_mutex_t registry;
__attribute__((constructor)) static void announce(void)
{
    pthread_mutex_lock(&registry);
    pthread_mutex_unlock(&registry);
}
C
cat >loads.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static void *loads(void *p)
{
    dlopen("./plugin.so", RTLD_NOW);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&registry); // main acquires the registry
    pthread_create(&t, 0, loads, 0);
    pthread_join(t, 0);
    return 0;
}
C
cat >lost.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static void *signals(void *p)
{
    pthread_cond_signal(&more); // it signals
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    if (argv[argc - 1][0] == 'l') {
        pthread_create(&t, 0, signals, 0);
        pthread_join(t, 0);
    } else {
        signals(0);
    }
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&more, &lock);
    return 0;
}
C
cc -g -pthread lost.c -o lost
cc -g -pthread monitor.c -o monitor
cc -g -pthread -rdynamic loads.c -o loads
cc -g -shared -fPIC plugin.c -o plugin.so
begin() {
    poet record -o "$1.poet" -- "./${2:-monitor}" "$1" >/dev/null 2>&1 &
    pids="$pids $!"
}
at() { echo "$1:$(grep -n "// $2" "$1" | cut -d: -f1)"; }
says() { poet blocked "$1.poet" 2>/dev/null >said; grep -Eq "$2" said; }

for how in signaled unsignaled; do
    begin $how
    check "$how: a deadlock" until_true says $how '^DEADLOCK: 2 threads wait for each other'
    like "$how: the mutex that the waiter needs" "$(cat said)" '^    T:worker waits on CV:more and needs M:lock to resume, held by T:main \(acquired at event [0-9:]+\)'
    like "$how: where it was acquired" "$(cat said)" "^    M:lock, which it needs to resume, is held by T:main, acquired at $(at monitor.c 'main acquires') "
    like "$how: where the holder waits" "$(cat said)" "^T:main waits to join T:worker at $(at monitor.c 'main joins')"
    is "$how: nothing else is concluded" "$(grep -c 'HANG' said)" 0
    end_own_processes monitor
done
begin exited
check "the holder has exited" until_true says exited '^HANG: M:lock is held by T:leaves, which has exited: its waiters will never resume'
like "the holder has exited: where it acquired the mutex" "$(cat said)" "^    M:lock, which it needs to resume, is held by T:leaves, acquired at $(at monitor.c 'leaves acquires') "
end_own_processes monitor
begin sound
check "correct: the waiter waits" until_true says sound '^T:worker waits on CV:more'
is "correct: no diagnosis" "$(grep -E 'DEADLOCK|HANG: M:|needs' said)" ""
end_own_processes monitor

begin plugin loads
asleep() { says plugin '^ *T:loads in futex'; }
can_look() { cat /proc/$(own_processes loads | head -n 1)/syscall >/dev/null 2>&1; }
if until_true asleep && can_look; then
    check "a constructor of a library: a deadlock" until_true says plugin '^DEADLOCK: 2 threads wait for each other'
    like "a constructor of a library: the lock and its holder" "$(cat said)" '^    T:loads waits for M:registry, held by T:main \(acquired at event [0-9:]+\)'
    like "a constructor of a library: where it was acquired" "$(cat said)" "held by T:main, acquired at $(at loads.c 'main acquires') "
else
    skip "where threads sleep cannot be read here"
fi
end_own_processes loads
begin lost lost
check "a lost wake-up: a hang" until_true says lost 'HANG: no (remaining|traced) thread can (still )?wake the waiters of CV:more'
like "a lost wake-up: where the signal was sent" "$(cat said)" "^    event [0-9:]+: signal at $(at lost.c 'it signals')"
end_own_processes lost
begin itself lost
check "the waiter signaled before: a hang" until_true says itself 'HANG: no (remaining|traced) thread can (still )?wake the waiters of CV:more'
is "the waiter signaled before: that is said" "$(grep -E 'signaled' said)" "    CV:more was signaled by its waiters only"
end_own_processes lost
done_testing

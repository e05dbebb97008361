#!/bin/bash
# The loader's lock: a library's destructor or constructor joins a thread that needs the lock to continue. poet blocked
# names the cycle; corrected programs have none. What dlopen finds by its caller is what it finds without Poet.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >closes.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library)
        return 1;
    usleep(10000);
    return dlclose(library);
}
C
cat >destroys.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
static pthread_t t;
static volatile int stop;
static void *work(void *p)
{
    while (!stop)
        usleep(1000);
#ifndef FIXED
    void *m = dlopen("libm.so.6", RTLD_NOW);
    if (m)
        dlclose(m);
#endif
    return p;
}
__attribute__((constructor)) static void up(void) { pthread_create(&t, 0, work, 0); }
__attribute__((destructor)) static void down(void) { stop = 1; pthread_join(t, 0); } /* line 18 */
C
cat >constructs.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
static void *work(void *p)
{
#ifndef FIXED
    dlopen("libm.so.6", RTLD_NOW);
#endif
    return p;
}
__attribute__((constructor)) static void up(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0); /* line 14 */
}
C
gcc -g closes.c -o closes
poetcc -trace -g closes.c -o closes-traced
for library in destroys constructs; do
    gcc -g -shared -fPIC $library.c -o $library.so
    gcc -g -DFIXED -shared -fPIC $library.c -o $library-fixed.so
    poetcc -trace -g -shared -fPIC $library.c -o $library-traced.so
    poetcc -trace -g -DFIXED -shared -fPIC $library.c -o $library-traced-fixed.so
done

# hangs RUN PROGRAM LIBRARY PATTERN...: until lines of poet blocked match each pattern; then kills the program
hangs() {
    local run=$1 program=$2 library=$3 pattern
    shift 3
    if [ "$program" = closes ]; then
        poet record --include "$library" -o "$run.poet" -- ./closes "./$library" >/dev/null 2>&1 &
    else
        POET_OUTPUT=$run.poet "./$program" "./$library" >/dev/null 2>&1 &
    fi
    pids="$pids $!"
    says() {
        poet blocked "$run.poet" >said 2>/dev/null
        for pattern; do grep -Eq -- "$pattern" said || return 1; done
    }
    check "$run: poet blocked names the loader's lock and its holder" until_true says "$@" || cat said
    kill -KILL $(own_processes "$program")
    until_true finished "$run.poet"
    poet blocked "$run.poet" >said
    for pattern; do like "$run, killed: poet blocked says it, too" "$(cat said)" "$pattern"; done
}
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
if ! cat /proc/self/syscall >/dev/null 2>&1; then
    skip "the call in which a thread sleeps cannot be read here"
    done_testing
    exit
fi
for how in record traced; do
    program=closes suffix=
    [ $how = traced ] && program=closes-traced suffix=-traced
    hangs destroys-$how $program destroys$suffix.so '^DEADLOCK: 2 threads wait for each other' \
        "^    T:work waits for the loader's lock, held by T:main" \
        "^    T:main waits for T:work, in dlclose\(destroys$suffix.so\)" \
        "^T:main waits to join T:work at destroys.c:18" "^T:work waits for the loader's lock" '^    held by T:main'
    hangs constructs-$how $program constructs$suffix.so '^DEADLOCK: 2 threads wait for each other' \
        "^    T:work waits for the loader's lock, held by T:main" '^    T:main waits for T:work$' \
        '^T:main waits to join T:work at constructs.c:14'
    for library in destroys constructs; do
        if [ $how = record ]; then
            timeout 100 poet record --include "$library-fixed.so" -o fixed.poet -- ./closes ./$library-fixed.so >/dev/null 2>&1
        else
            POET_OUTPUT=fixed.poet timeout 100 ./closes-traced ./$library-traced-fixed.so >/dev/null 2>&1
        fi
        is "$library-fixed ($how): the program ends" "$?" 0
        until_true finished fixed.poet
        is "$library-fixed ($how): poet blocked reports no hang" "$(poet blocked fixed.poet)" "no thread is blocked"
        rm -f fixed.poet
    done
done
like "poet blocked --json: how the lock is held" "$(poet blocked --json destroys-record.poet)" '"how": ?"loader"'
like "poet report names the lock" "$(poet report destroys-record.poet | tr -s ' \n' ' ')" "waits for the loader's lock"

# A thread that holds the lock and will run on keeps others waiting: no hang.
cat >slow.c <<'C'
#include <unistd.h>
__attribute__((constructor)) static void up(void) { pause(); }
C
cat >slowly.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
static pthread_barrier_t both;
static void *loads(void *name)
{
    pthread_barrier_wait(&both);
    return dlopen(name, RTLD_NOW);
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t, 0, loads, "./slow.so");
    loads("./slow.so");
    return pthread_join(t, 0);
}
C
gcc -g -shared -fPIC slow.c -o slow.so
gcc -g -pthread slowly.c -o slowly
poet record -o slowly.poet -- ./slowly 2>/dev/null &
pids="$pids $!"
waits() { poet blocked slowly.poet 2>/dev/null >said; grep -q "^T:.* waits for the loader's lock" said; }
check "a thread that waits for a constructor is listed" until_true waits
is "a thread that waits for a constructor is not a hang" "$(grep -Ec 'HANG|DEADLOCK|never' said)" 0
end_own_processes slowly

# ---- what dlopen finds by its caller ----
mkdir -p sub/inner
echo 'int inner(void) { return 7; }' >inner.c
cat >outer.c <<'C'
#include <dlfcn.h>
int outer(void)
{
    void *library = dlopen("libfound.so", RTLD_NOW); /* by the run path of this library */
    int (*inner)(void) = library ? (int (*)(void))dlsym(library, "inner") : 0;
    int result = inner ? inner() : 1;
    return library && dlclose(library) ? 2 : result;
}
C
cat >finds.c <<'C'
#include <dlfcn.h>
int main(void)
{
    void *library = dlopen("./sub/libouter.so", RTLD_NOW);
    int (*outer)(void) = library ? (int (*)(void))dlsym(library, "outer") : 0;
    int result = outer ? outer() : 3;
    return library && dlclose(library) ? 4 : result;
}
C
gcc -shared -fPIC inner.c -o sub/inner/libfound.so
gcc -shared -fPIC outer.c -o sub/libouter.so '-Wl,-rpath,$ORIGIN/inner'
gcc finds.c -o finds
poetcc -trace finds.c -o finds-traced
poet record -o finds.poet -- ./finds >/dev/null 2>&1
is "poet record: a library is found by the run path of the library that opens it" "$?" 7
POET_OUTPUT=finds-traced.poet ./finds-traced >/dev/null 2>&1
is "poetcc -trace: a library is found by the run path of the library that opens it" "$?" 7
done_testing

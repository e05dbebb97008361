#!/bin/bash
# Shared libraries that are opened and closed at run time: addresses are resolved to the library that was mapped
# at the time.
. "$(dirname "$0")/lib.sh"

cat >part.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#define JOIN(a, b) a##b
#define CALLED(part, what) JOIN(part, what)
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void CALLED(PART, _draw)(void)
{
#if defined(LOCKS)
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
#endif
    void *volatile p = malloc(100);
    (void)p;
}
void run(int n) { while (n--) CALLED(PART, _draw)(); }
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **args)
{
    for (int i = 2; i + 1 < count; i += 2) {
        void *part = dlopen(args[i], RTLD_NOW);
        void (*run)(int) = (void (*)(int))dlsym(part, "run");
        if (!run) return 1;
        run(atoi(args[i + 1]));
        if (*args[1] == 'c' && dlclose(part)) return 2;
        if (*args[1] == 'c' && dlopen(args[i], RTLD_NOW | RTLD_NOLOAD)) return 3;
    }
    return 0;
}
C
for part in one two; do
    poetcc -profile -trace -g -O1 -shared -fPIC -DPART=$part -DLOCKS part.c -o $part.so || exit 1
    poetcc -profile -g -O1 -shared -fPIC -DPART=$part part.c -o $part-bare.so || exit 1
done
poetcc -profile -trace -g -O1 host.c -o host || exit 1

# draws COLUMN: a figure of each draw function, from a table on the standard input
draws() {
    json 'rows | select(.function // "" | test("^\\w+_draw ")) | "\(.function | split(" ")[0]) \(.'"$1"')"' | sort
}
# calls FILE: the number of calls of each draw function
calls() { poet calls --json "$1" | draws calls; }
# taken FILE: the number of allocations of each draw function
taken() { poet memory --json "$1" | draws allocations; }
both=$(printf '%s\n' 'one_draw 3' 'two_draw 70')
for of in 'close .so' 'close -bare.so' 'keep -bare.so'; do
    way=${of% *} library=${of#* }
    run=$way$library.poet
    poet record -m calls,memory -o $run -- ./host $way ./one$library 3 ./two$library 70 2>/dev/null
    is "$of: the program exits with status 0" $? 0
    is "$of: calls are listed under functions of their library" "$(calls $run)" "$both"
    is "$of: allocations are listed under functions of their library" "$(taken $run)" "$both"
done
poet dump --json close.so.poet >events
is 'events: call stacks name functions of their library' "$(for f in one two; do grep -c "\"calls\":\[\"${f}_draw " events; done | xargs)" \
    "$(grep -c one_draw events | awk '$1 > 0 { print $1, $1 / 3 * 70 }')"

# Only some of many libraries leave their addresses unused: the program keeps running.
many=$(for i in $(seq 150); do echo ./one.so 1 ./two.so 1; done)
poet record -m calls -o many.poet -- ./host close $many 2>/dev/null
is 'a program may open and close any number of libraries' $? 0
is 'a limit on the address space affects the program as without Poet' "$( (ulimit -v 4000000; poet record -m calls -o limit.poet -- \
    ./host close ./one.so 3 ./two.so 70 2>/dev/null; echo $?))" 0
done_testing

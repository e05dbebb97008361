#!/bin/bash
# Lock orders of several runs: poet predict finds the deadlock that no run shows alone, and with --lock-order what
# contradicts a file of intended orders. No finding where the orders are those of one thread, below a common lock, or the same.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# order.c ORDER...: each ORDER is a thread's name and its locks, "worker:ab" acquires a, then b.
cat >order.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *named(char name) { return name == 'a' ? &a : name == 'b' ? &b : &c; }
static void *take(void *text)
{
    char *locks = strchr(text, ':') + 1;
    *strchr(text, ':') = 0;
    pthread_setname_np(pthread_self(), text);
    for (char *at = locks; *at; at++)
        pthread_mutex_lock(named(*at));
    for (size_t i = strlen(locks); i-- > 0;)
        pthread_mutex_unlock(named(locks[i]));
    return NULL;
}
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        pthread_t t;
        pthread_create(&t, NULL, take, argv[i]);
        pthread_join(t, NULL);
    }
    return 0;
}
C
poetcc -trace -g order.c -o order || exit 1
run() {
    POET_OUTPUT=$1.poet ./order "${@:2}" || exit 1
    until_true finished "$1.poet"
}
run ab one:ab
run ba two:ba
run again one:ba
run outer two:cba
run both one:ab two:ba
run gate one:cab
run bc two:bc
run ca three:ca

poet predict ab.poet >said
is "no run shows it alone" "$(sed -n 's/^note: //p' said)" "no potential concurrency bugs found"
poet predict ab.poet ba.poet >said
is "status" $? 0
is "two runs show it together" "$(sed 's/(event [0-9:]*)/(event)/g' said)" \
    "1  lock-order-inversion: potential deadlock (cyclic lock order of several runs)
  T:one acquired M:a at order.c:12 (event), then requested M:b at order.c:12 (event) (ab.poet)
  T:two acquired M:b at order.c:12 (event), then requested M:a at order.c:12 (event) (ba.poet)"
is "one thread in both orders" "$(poet predict ab.poet again.poet)" \
    "no potential deadlock by the lock orders of 2 runs together"
is "below a common lock" "$(poet predict gate.poet outer.poet)" \
    "no potential deadlock by the lock orders of 2 runs together"
is "what a run shows itself" "$(poet predict both.poet ba.poet)" \
    "no potential deadlock by the lock orders of 2 runs together"
is "three locks of three runs" "$(poet predict ab.poet bc.poet ca.poet | sed -n 's/^  \(T:[a-z]*\).*requested \(M:.\).*(\(.*\))$/\1 \2 \3/p')" \
    "T:one M:b ab.poet
T:two M:c bc.poet
T:three M:a ca.poet"
poet predict --fail-on=lock-order-inversion ab.poet ba.poet >said 2>&1
is "status for CI" $? 1

echo "M:a M:b M:c   # outermost first" >orders
is "no order contradicts the file" "$(poet predict --lock-order=orders ab.poet)" \
    "no potential deadlock by the lock orders of 1 run together"
is "an order contradicts the file" "$(poet predict --lock-order=orders ca.poet | sed 's/(event [0-9:]*)/(event)/g')" \
    "1  lock-order-inversion: orders: M:a is to be acquired before M:c
  T:three acquired M:c at order.c:12 (event), then requested M:a at order.c:12 (event) (ca.poet)"
printf 'M:a M:b\n\nM:b M:c\nM:c M:a\n' >orders
poet predict --lock-order=orders ca.poet 2>said
is "a file that contradicts itself" "$? $(cat said)" \
    "1 poet predict: orders:4: a line has two or more locks, in an order that no earlier line contradicts"
poet predict --lock-order=none ca.poet 2>said
is "no such file" "$? $(cat said)" "1 poet predict: none: No such file or directory"
done_testing

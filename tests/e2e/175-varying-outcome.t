#!/bin/bash
# poet confirm: an outcome that varies between uncontrolled runs as well confirms no interleaving; an outcome that
# follows from the enforced interleaving does.
. "$(dirname "$0")/lib.sh"

# The second thread lets the first one take the lock first, unless the first one is held: it polls 200 times. The
# exit status does not depend on the order of the lock but on the number of earlier runs: two uncontrolled runs
# end alike, and the first controlled one does not.
cat >varies.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *one(void *p)
{
    (void)p;
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}
static void *two(void *p)
{
    (void)p;
    for (int i = 0; i < 200 && !__atomic_load_n(&n, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    FILE *f = fopen("count", "r");
    int runs = 0;
    if (f) { if (fscanf(f, "%d", &runs) != 1) runs = 0; fclose(f); }
    f = fopen("count", "w");
    fprintf(f, "%d\n", runs + 1);
    fclose(f);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return runs > 2 && runs % 2;
}
C
cat >follows.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int first;
static void *one(void *p)
{
    (void)p;
    pthread_mutex_lock(&m);
    if (!first) first = 1;
    pthread_mutex_unlock(&m);
    return 0;
}
static void *two(void *p)
{
    (void)p;
    for (int i = 0; i < 200 && !__atomic_load_n(&first, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    pthread_mutex_lock(&m);
    if (!first) first = 2;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return first == 2;
}
C
for name in varies follows; do
    gcc -g -pthread $name.c -o $name
    poet record -o $name.poet -- ./$name 2>/dev/null
    check "$name: the trace is finished" until_true finished $name.poet
done
poet confirm varies.poet 1 >said 2>&1
is "varying outcome: the interleaving occurred" "$?" 0
is "varying outcome: the finding is not confirmed" "$(grep -c "confirmed in attempt" said)" 0
like "varying outcome: the message counts the differing outcomes" "$(cat said)" \
    'the interleaving occurred in attempt [0-9]+; the outcome varies without it, too: the outcome differs in [0-9]+ of 10 uncontrolled runs and in [0-9]+ of 5 further runs with the interleaving'
check "varying outcome: the trace is kept" test -s varies.confirmed.poet
is "varying outcome: no temporary files remain" "$(ls | grep -c kept)" 0
poet confirm follows.poet 1 >said 2>&1
is "outcome that follows from the order: the interleaving occurred" "$?" 0
like "outcome that follows from the order: the finding is confirmed, and the message counts the outcomes" "$(cat said)" \
    "confirmed in attempt [0-9]+: it exits with status 1; an uncontrolled run exits with status 0; the outcome differs in 0 of 10 uncontrolled runs and in 5 of 5 further runs with the interleaving \\(Fisher's exact test: p = 0.00033\\); trace: follows.confirmed.poet"
done_testing

#!/bin/bash
# Every example gives a trace that obeys every rule, and its own result.
. "$(dirname "$0")/lib.sh"
start_server -o traces/ -q

run_example() { # NAME OUTPUT
    check "$1 compiles" compile "$1"
    is "$1 computes what it does untraced" "$(./"$1" 2>&1)" "$2"
    check "$1: the trace is sound" sound latest
    check "$1: a picture" poet export latest -o "$1.pdf"
    like "$1: no Type 3 font" "$(pdffonts "$1.pdf" | grep -c 'Type 3')" "^0$"
}
run_example prodcons "sum of 10 items: 45"
run_example buffer "sum: 72"
run_example philosophers "meals: 15"
run_example list "nodes: 12"
run_example stages "blocks: 12"
# ten times as slow, so that it is no matter when a thread gets a processor
sed 's/ms \* 1000000/ms * 10000000/' "$root/examples/stages.c" >slow-stages.c
poetcc -trace -g slow-stages.c -o slow-stages && ./slow-stages >/dev/null
until_true finished latest
like "who keeps the other stages waiting" "$(poet report latest)" "bottleneck thread: other threads wait mostly for it +T:packer +CV:"
run_example dating "sum of phone numbers: 906"
like "names of threads" "$(poet dump --json unix:$XDG_RUNTIME_DIR/poet.sock#philosophers)" '"name":"phil 3"'
like "named events" "$(poet dump latest)" '"10[0-2] dates 20[0-2]"'

run_example actors "seven times round"
like "an actor is run by one thread at a time, and rests in between" "$(poet show latest | grep '^A:ada')" "●━+■━+○.*━● +●━+■"
like "messages are arrows" "$(poet dump latest)" 'receive +A:bob .*<> [0-9]'

check "deadlock compiles" compile deadlock
./deadlock &
program=$!
blocked() { poet blocked latest >live && grep -q "^DEADLOCK:" live && grep -q "^T:main" live; } # which joins one
check "the deadlock is seen live" until_true blocked
answer=$(poet blocked latest)
like "alice waits for knives" "$answer" "T:alice requests M:knives at deadlock.c:12"
like "bob waits for forks" "$answer" "T:bob requests M:forks at deadlock.c:20"
like "alice holds forks" "$answer" "held by T:alice, acquired at deadlock.c:10 \(event"
like "bob holds knives" "$answer" "held by T:bob, acquired at deadlock.c:18 \(event"
like "the cycle" "$answer" "^DEADLOCK: "
like "a row for each step of it, with what it holds since when" "$answer" \
    "^    T:alice waits for M:knives, held by T:bob \(acquired at event [0-9]+:[0-9]+\)"
like "and back" "$answer" "^    T:bob waits for M:forks, held by T:alice \(acquired at event [0-9]+:[0-9]+\)"
kill -KILL $program
wait $program 2>/dev/null
check "after SIGKILL the run is over" until_true finished latest
said() { grep -vE '^    for '; } # how long is told otherwise
is "and says the same" "$(poet blocked latest | said)" "$(printf '%s' "$answer" | said)"
like "with addresses, if they are wanted" "$(poet blocked latest --labels address)" \
    "^    T:alice \(0x[0-9a-f]+\) waits for M:knives \(0x[0-9a-f]+\), held by T:bob \(0x[0-9a-f]+\) \(acquired at event [0-9]+:[0-9]+\)"
is "what is wrong is said first" "$(poet blocked latest | head -n 1)" "DEADLOCK: 2 threads wait for each other"
like "as JSON, with addresses" "$(poet blocked latest --json)" '"label":"T:alice \(0x'
like "as JSON" "$(poet blocked latest --json)" '"cycles":\[\[\{"line"'
like "and in the picture" "$(poet show latest)" "requests M:(knives|forks)"
stop_server

# one launch tree is one run: a traced program that starts traced programs
cat >parent.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) { execl("./prodcons", "prodcons", "3", (char *)NULL); _exit(1); }
    while (wait(NULL) > 0) ;
    return 0;
}
C
poetcc -trace parent.c -o parent
start_server -o tree/ -q
check "a program that starts two others" ./parent
is "is one run" "$(poet runs | wc -l)" 1
check "which is sound" sound latest
is "with three programs" "$(poet stat latest | grep -c '^program ')" 3
is "by name: ENDPOINT#NAME" "$(poet stat "unix:$XDG_RUNTIME_DIR/poet.sock#parent" | head -n 1)" "run             parent"
cat >stays.c <<'C'
#include <pthread.h>
#include <stdio.h>
static void *nothing(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    return getchar() != EOF;
}
C
poetcc -trace stays.c -o stays
mkfifo stay
POET_RUN=together ./stays <stay & a=$!
POET_RUN=together ./stays <stay & b=$!
exec 5>stay
programs() { poet stat "unix:$XDG_RUNTIME_DIR/poet.sock#together" | grep -c '^program '; }
both() { [ "$(programs)" = 2 ]; }
until_true both
exec 5>&-
wait $a $b
is "programs started apart join by POET_RUN" "$(programs)" 2
stop_server
./parent >/dev/null 2>note
is "without a server, too: one file" "$(ls parent.*.poet prodcons.*.poet 2>/dev/null | wc -l)" 1
check "sound" sound "$(trace_of parent)"
is "with three programs in it" "$(poet stat "$(trace_of parent)" | grep -c '^program ')" 3
is "and one line of notice" "$(wc -l <note)" 1
done_testing

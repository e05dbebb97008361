#!/bin/bash
# A server that keeps a part of a run, and gets little of the processor: its memory stays bounded.
. "$(dirname "$0")/lib.sh"
cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    pthread_mutex_t mutex;
    (void)argc;
    for (int i = atoi(argv[1]); i > 0; i--) {
        pthread_mutex_init(&mutex, NULL);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_destroy(&mutex);
    }
    return 0;
}
C
compile_here() { poetcc -trace -O1 -g many.c -o many; }
check "a program" compile_here

# a step of saving in each turn, as where the loop is interrupted again and again; chunks are told whole
export POET_TEST_SAVE_STEP=1 POET_QUEUE_KIB=256
start_server -q --keep 8M -o kept.poet
check "150 000 mutexes, one after the other" ./many 150000
until_true finished latest
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
is "each is a line" "$(figure $endpoint lines)" 150001
high=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status)
[ "$high" -lt 40960 ] && ok "the server never had more than 40 MiB ($high KiB)" ||
    not_ok "the server never had more than 40 MiB" "$high KiB"
stop_server
check "the file obeys the rules" poet check kept.poet
is "has all lines" "$(figure kept.poet lines)" 150001
done_testing

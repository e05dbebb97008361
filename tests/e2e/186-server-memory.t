#!/bin/bash
# A server with --keep that gets little processor time: its memory stays bounded.
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
check "the program compiles" compile_here

# The state is saved in one step per turn, as if the event loop was interrupted each time.
export POET_TEST_SAVE_STEP=1 POET_QUEUE_KIB=256
start_server -q --keep 8M -o kept.poet
check "a program with 150 000 mutexes exits with status 0" ./many 150000
until_true finished latest
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
is "the live run has 150001 lines" "$(figure $endpoint lines)" 150001
high=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status)
[ "$high" -lt 40960 ] && ok "the peak memory of the server is less than 40 MiB ($high KiB)" ||
    not_ok "the peak memory of the server is less than 40 MiB" "$high KiB"
stop_server
check "the saved trace passes poet check" poet check kept.poet
is "the saved trace has 150001 lines" "$(figure kept.poet lines)" 150001
done_testing

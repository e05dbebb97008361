#!/bin/bash
# With --keep the server keeps the newest part of a run only, in memory and in its file.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >long.c <<'C'
#include <pthread.h>
static pthread_mutex_t m[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *work(void *a)
{
    unsigned s = (unsigned)(long)a;
    for (int i = 0; i < 60000; i++) { s = s * 1103515245 + 12345; pthread_mutex_lock(&m[s >> 16 & 3]); pthread_mutex_unlock(&m[s >> 16 & 3]); }
    return a;
}
int main(void)
{
    pthread_t t[4];
    for (int r = 0; r < 2; r++) {
        for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    return 0;
}
C
poetcc -trace -O2 -g long.c -o long
start_server -q --keep 24M -o kept.poet
check "a long run under --keep ends" ./long
until_true finished latest
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
is "--keep: every event was received" "$(figure $endpoint events)" $((8 * 4 + 480000 * 5 + 1 + 8 * 2 + 2))
kept=$(poet dump $endpoint --json | grep -c '^{"event"')
[ "$kept" -lt 2000000 ] && [ "$kept" -gt 80000 ] && ok "--keep: the newest part is kept ($kept events)" || not_ok "--keep: the newest part is kept" "$kept"
is "--keep: kept and discarded events add up to all" "$(($(figure $endpoint discarded) + kept))" "$(figure $endpoint events)"
like "poet stat explains the discarded events" "$(poet stat $endpoint)" "^discarded  +[0-9]+ of these, the oldest \(ring-buffer mode: --keep\)$"
is "the order of a discarded event is unknown" "$(poet order $endpoint 1:1 1:2)" unknown
check "poet check accepts the kept part" poet check $endpoint
last=$(poet dump $endpoint --json | sed -n 's/^{"event":"\([^h"]*\)".*/\1/p' | tail -n 400 | head -n 1)
like "a kept event is ordered with itself" "$(poet order $endpoint "$last" "$last")" same
check "poet export exports the end of the run" poet export $endpoint --last 60 -o k.pdf
said=" (ring-buffer mode: --keep)"
for to in txt svg html; do
    poet export $endpoint --last 60 -o k.$to
    words=$(grep -o "[0-9 ]* oldest events were discarded$said" k.$to | head -n 1)
    is "$to says how many were discarded" "$(tr -cd 0-9 <<<"$words")" "$(figure $endpoint discarded)"
done
like "poet show says how many events were discarded" "$(poet show $endpoint --last 5)" "^[0-9 ]+ oldest events were discarded \(ring-buffer mode: --keep\)"
stop_server
size=$(du -k kept.poet | cut -f1)
[ "$size" -le 24800 ] && ok "the file takes $size KiB of disk" || not_ok "the file takes $size KiB of disk"
is "the file opens without damage" "$(figure kept.poet damage)" null
is "the file of --keep has no inconsistent, pending or lost events" "$(figure kept.poet inconsistent pending lost)" "0 0 0"
check "poet check accepts the file of --keep" poet check kept.poet
like "poet show of the file says that events were discarded" "$(poet show kept.poet --last 5)" "events were discarded"
is "the last events are in the file of --keep" "$(poet order kept.poet "$last" "$last")" same
done_testing

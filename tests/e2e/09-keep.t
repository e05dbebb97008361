#!/bin/bash
# A run that keeps only its newest part, live and in its file.
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
check "a long run" ./long
until_true finished latest
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
is "every event was taken" "$(figure $endpoint events)" $((8 * 4 + 480000 * 5 + 1 + 8 * 2 + 2))
kept=$(poet dump $endpoint --json | grep -c '^{"event"')
[ "$kept" -lt 2000000 ] && [ "$kept" -gt 80000 ] && ok "the newest part is kept ($kept events)" || not_ok "the newest part is kept" "$kept"
is "stat says how many were discarded" "$(($(figure $endpoint discarded) + kept))" "$(figure $endpoint events)"
like "in words" "$(poet stat $endpoint)" "^discarded  +[0-9]+ of these, the oldest \(ring-buffer mode: --keep\)$"
is "a forgotten event has no answer" "$(poet order $endpoint 1:1 1:2)" unknown
check "what is kept obeys the rules" poet check $endpoint
last=$(poet dump $endpoint --json | sed -n 's/^{"event":"\([^h"]*\)".*/\1/p' | tail -n 400 | head -n 1)
like "and has an order" "$(poet order $endpoint "$last" "$last")" same
check "a picture of its end" poet export $endpoint --last 60 -o k.pdf
said=" (ring-buffer mode: --keep)"
for to in txt svg html; do
    poet export $endpoint --last 60 -o k.$to
    words=$(grep -o "[0-9 ]* oldest events were discarded$said" k.$to | head -n 1)
    is "$to says how many were discarded" "$(tr -cd 0-9 <<<"$words")" "$(figure $endpoint discarded)"
done
like "so does the terminal" "$(poet show $endpoint --last 5)" "^[0-9 ]+ oldest events were discarded \(ring-buffer mode: --keep\)"
stop_server
size=$(du -k kept.poet | cut -f1)
[ "$size" -le 24800 ] && ok "the file takes $size KiB of disk" || not_ok "the file takes $size KiB of disk"
is "the file opens without damage" "$(figure kept.poet damage)" null
is "and is whole" "$(figure kept.poet inconsistent)$(figure kept.poet pending)$(figure kept.poet lost)" 000
check "and obeys the rules" poet check kept.poet
like "and says what is gone" "$(poet show kept.poet --last 5)" "events were discarded"
is "with the same end" "$(poet order kept.poet "$last" "$last")" same
done_testing

#!/bin/bash
# Very many lines: what is shown, what is told, and what is kept in memory.
. "$(dirname "$0")/lib.sh"
cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[2]), stay = !strcmp(argv[1], "stay");
    pthread_mutex_t *all = stay ? calloc(n, sizeof *all) : malloc(sizeof *all), *m = all;
    (void)argc;
    for (int i = 0; i < n; i++) {
        if (!stay) pthread_mutex_init(m, 0);
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
        if (stay) m++; else pthread_mutex_destroy(m);
    }
    return 0;
}
C
compile_here() { poetcc -trace -O1 -g many.c -o many; }
check "a program" compile_here

# as many lines as there are mutexes, all of which stay
start_server -q -o stay.poet
check "200 000 mutexes" ./many stay 200000
until_true finished latest
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
is "each is a line" "$(figure $endpoint lines)" 200001
last=$(poet show $endpoint --last 50 --ascii)
rows=$(printf '%s\n' "$last" | grep -cE '^[A-Z]:')
[ "$rows" -gt 10 ] && [ "$rows" -lt 60 ] && ok "the end has rows for lines with events there ($rows)" ||
    not_ok "the end has rows for lines with events there" "$rows rows"
said=$(printf '%s\n' "$last" | sed -n 's/ lines without events in this range are hidden$//p' | tr -d ' ')
is "and says how many others there are" "$said" $((200001 - rows))
like "the names of those are known" "$(printf '%s\n' "$last" | grep -E '^[A-Z]:' | tail -n 1)" '^M:'
begin=$(poet show $endpoint --ascii | tail -n 1)
like "the begin, too, says what has no room" "$begin" 'more lines omitted'
check "a picture" poet export $endpoint --last 50 -o end.pdf
like "says it in its caption" "$(pdftotext end.pdf - | tr '\n' ' ')" 'lines without events in this range are hidden'
is "nobody waits" "$(poet blocked $endpoint)" "no thread is blocked"
like "around an event of a line that was not told yet" "$(poet show $endpoint --around 150000:1 --ascii | grep -c '^T:')" '^1$'
like "one that is not there" "$(poet show $endpoint --around 150000:9 2>&1)" "^poet show: no event 150000:9 in this run [(]line 150000 has [0-9] events[)]$"
is "an order" "$(poet order $endpoint 150000:2 150001:1)" before
why=$(poet order --why $endpoint 150000:2 150001:1)
like "and its chain, with names" "$why" 'M:0x'
named=$(poet show $endpoint --last 50 --lines '150000,150001' --ascii | grep -cE '^M:')
is "lines that are asked for have rows, whatever they have there" "$named" 2
stop_server
is "the file has them all" "$(figure stay.poet lines)" 200001
check "and its end" poet show stay.poet --last 50

# one after the other, of which only the newest part is kept
start_server -q --keep 8M -o kept.poet
export POET_QUEUE_KIB=256 # it does not grow: a queue is the program's memory, and would be counted here, too
check "400 000 mutexes, one after the other" ./many go 400000
until_true finished latest
is "were all seen" "$(figure $endpoint lines)" 400001
high=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status)
[ "$high" -lt 40960 ] && ok "the server never had more than 40 MiB ($high KiB)" ||
    not_ok "the server never had more than 40 MiB" "$high KiB"
check "what is kept obeys the rules" poet check $endpoint
check "a picture of its end" poet show $endpoint --last 50
stop_server
check "the file, too" poet check kept.poet
is "has all lines" "$(figure kept.poet lines)" 400001
done_testing

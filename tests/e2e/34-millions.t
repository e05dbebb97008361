#!/bin/bash
# Runs with very many lines: rows in the diagram, answers about omitted lines, and the server's memory.
# Runs in make check-all only.
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
check "the program compiles" compile_here

# As many lines as there are mutexes, all of which stay.
start_server -q -o stay.poet
check "a program with 200 000 mutexes runs" ./many stay 200000
until_true finished latest
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
is "200 000 mutexes: each is a line" "$(figure $endpoint lines)" 200001
last=$(poet show $endpoint --last 50 --ascii)
rows=$(printf '%s\n' "$last" | grep -cE '^[A-Z]:')
[ "$rows" -gt 10 ] && [ "$rows" -lt 60 ] && ok "poet show has rows for lines with events in view ($rows)" ||
    not_ok "poet show has rows for lines with events in view" "$rows rows"
said=$(printf '%s\n' "$last" | sed -n 's/ lines without events in this range are hidden$//p' | tr -d ' ')
is "poet show says how many lines are omitted" "$said" $((200001 - rows))
like "poet show has the names of the lines in view" "$(printf '%s\n' "$last" | grep -E '^[A-Z]:' | tail -n 1)" '^M:'
begin=$(poet show $endpoint --ascii | tail -n 1)
like "poet show of the beginning says that lines are omitted" "$begin" 'more lines omitted'
check "poet export writes a PDF of the end" poet export $endpoint --last 50 -o end.pdf
like "the PDF's caption says that lines are hidden" "$(pdftotext end.pdf - | tr '\n' ' ')" 'lines without events in this range are hidden'
is "poet blocked: no thread is blocked" "$(poet blocked $endpoint)" "no thread is blocked"
like "poet show --around an event of an omitted line has its row" "$(poet show $endpoint --around 150000:1 --ascii | grep -c '^T:')" '^1$'
like "poet show --around a missing event names the line's last event" "$(poet show $endpoint --around 150000:9 2>&1)" "^poet show: no event 150000:9 in this run [(]line 150000 has [0-9] events[)]$"
is "poet order of two events of omitted lines" "$(poet order $endpoint 150000:2 150001:1)" before
why=$(poet order --why $endpoint 150000:2 150001:1)
like "poet order --why has the names of omitted lines" "$why" 'M:0x'
named=$(poet show $endpoint --last 50 --lines '150000,150001' --ascii | grep -cE '^M:')
is "poet show --lines has the selected rows, with or without events in view" "$named" 2
stop_server
is "the trace file has all lines" "$(figure stay.poet lines)" 200001
check "poet show of the trace file's end" poet show stay.poet --last 50

# Short-lived mutexes, one after the other, under --keep.
start_server -q --keep 8M -o kept.poet
export POET_QUEUE_KIB=256 # a queue does not grow: it is the program's memory, and would be counted here, too
check "a program with 400 000 mutexes, one after the other, runs" ./many go 400000
until_true finished latest
is "--keep: all lines are counted" "$(figure $endpoint lines)" 400001
high=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status)
[ "$high" -lt 40960 ] && ok "--keep: the server never used more than 40 MiB ($high KiB)" ||
    not_ok "--keep: the server never used more than 40 MiB" "$high KiB"
check "--keep: poet check accepts the kept part" poet check $endpoint
check "--keep: poet show of the end" poet show $endpoint --last 50
stop_server
check "--keep: poet check accepts the file" poet check kept.poet
is "--keep: the file has all lines" "$(figure kept.poet lines)" 400001
done_testing

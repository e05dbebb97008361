#!/bin/bash
# Two runs of a program in one diagram around their divergence: the recorded run above, the replayed or swapped
# run below.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e
record() { # record NAME ARGUMENT...: NAME.poet
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 "./$1" "${@:2}" >out 2>&1
    until_true finished "$1.poet"
}
picture() { # picture NAME FILE ARGUMENT... of poet replay: prints its status and output
    rm -f new.poet "$2"
    timeout 60 poet replay "$1.poet" -o new.poet --picture "$2" "${@:3}" >out 2>said
    echo "$? $(grep -v 'runs the recorded command' said)"
}
# part FILE HEADING: the rows below it, up to the empty line after the last one
part() { awk -v h="$2: " 'index($0, h) == 1 { on = 1; next } on && /^(recorded|again|note|[0-9])/ { exit } on' "$1"; }
row() { part "$1" "$2" | grep -m 1 "^$3 " | sed "s/^[^ ]* *//"; }
cells() { python3 -c 'import sys; print([i for i, c in enumerate(sys.argv[1]) if c not in " ━─╌·╍│┼"][:int(sys.argv[2])])' "$1" "$2"; }

# ---- a swap ----
poetcc -trace -g "$here/predict/bad_use.c" -o bad_use
record bad_use
refs=$(poet dump bad_use.poet | awk '$3 == "acquired" { print $1 }' | xargs)
like "swap: replay draws the swapped run" "$(picture bad_use swap.txt --swap $refs)" \
    '^0 poet replay: order swapped: .*killed by signal 6$'
is "swap: the recorded run is above the new one" "$(grep -E '^(recorded|again):' swap.txt)" \
    "recorded: bad_use.poet
again: new.poet"
is "swap: both runs have the same rows" "$(part swap.txt recorded | grep -oE '^[TM]:[^ ]*' | xargs)" \
    "$(part swap.txt again | grep -oE '^[TM]:[^ ]*' | xargs)"
is "swap: the rows are those of all participants" "$(part swap.txt again | grep -oE '^[TM]:[^ ]*' | sort | xargs)" "M:lock T:main T:makes T:uses"
like "swap: note 1 is the diverging event of the recorded run" "$(cat swap.txt)" '^note 1 +[0-9]+:[0-9]+ +T:makes performed (acquire|lock) on M:lock, bad_use\.c:8$'
like "swap: note 2 is the diverging event of the new run" "$(cat swap.txt)" '^note 2 +again [0-9]+:[0-9]+ +T:uses performed lock on M:lock, bad_use\.c:16$'
marked() { part swap.txt "$1" | grep -v '^[TM]:' | grep -cE "(^|[^0-9])$2([^0-9]|\$)"; } # between the rows
is "swap: the diverging event is marked in both runs" "$(marked recorded 1) $(marked again 2)" "1 1"
like "swap: the caption states the outcome" "$(tail -n 1 swap.txt)" '^order swapped: '
is "swap: equal events before the divergence share a column" "$(cells "$(row swap.txt recorded T:main)" 2)" "$(cells "$(row swap.txt again T:main)" 2)"
is "swap: events after the divergence share a column" "$(cells "$(row swap.txt recorded T:uses)" 3)" "$(cells "$(row swap.txt again T:uses)" 3)"
for kind in pdf svg png; do picture bad_use swap.$kind --swap $refs >/dev/null; done
is "swap: PDF, SVG and PNG are written as well" "$(head -c 4 swap.pdf) $(head -c 5 swap.svg) $(head -c 4 swap.png | tail -c 3)" "%PDF <?xml PNG"
like "swap: the tooltip of a mark in SVG names its run" "$(cat swap.svg)" '<title>M:lock: acquired \(again [0-9:]*\).*bad_use\.c:16</title>'

# ---- an example: girls and boys in another order ----
compile dating
record dating
visits=$(poet dump dating.poet | awk '$3 == "acquired" && ++n <= 2 { print $1 }' | xargs)
like "the example dating: replay draws the swapped run" "$(picture dating dating.txt --swap $visits)" '^0 poet replay: order swapped: '
is "the example dating: both runs have all lines" "$(part dating.txt recorded | grep -oE '^[TM]:[^ ]*' | xargs)" \
    "$(part dating.txt again | grep -oE '^[TM]:[^ ]*' | xargs)"
is "the example dating: two events are marked" "$(grep -c '^note [12] .* performed lock on M:service, dating.c:23$' dating.txt)" 2

# ---- a program that diverges late with another argument ----
cat >other.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static int other;
static void visit(pthread_mutex_t *m) { pthread_mutex_lock(m), pthread_mutex_unlock(m); }
static void *work(void *p)
{
    for (int i = 0; i < 3000; i++)
        visit(&a);
    visit(other ? &b : &c);
    for (int i = 0; i < 3000; i++)
        visit(&a);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    other = argc > 1 && atoi(argv[1]);
    for (int i = 0; i < 500; i++)
        visit(&b), visit(&c);
    pthread_create(&t, 0, work, 0);
    return pthread_join(t, 0);
}
C
poetcc -trace -g other.c -o other
record other 0
like "divergence: replay draws it and exits with status 1" "$(picture other other.txt ./other 1)" \
    '^1 poet replay: divergence: T:work performed acquire on M:b, recorded was acquire on M:c'
is "divergence: the notes are at the reported event" "$(grep '^note' other.txt | sed 's/[0-9]*:[0-9]*//')" \
    "note 1    T:work performed acquire on M:c, other.c:5
note 2  again   T:work performed acquire on M:b, other.c:5"
is "divergence: only its surroundings are drawn" "$(python3 -c 'print(max(map(len, open("other.txt"))) < 200)')" True
is "divergence: only participating lines are drawn" "$(part other.txt recorded | grep -oE '^[TM]:[^ ]*' | xargs)" "M:b M:c T:work M:a"
like "divergence: the caption states how many events were replayed" "$(tail -n 1 other.txt)" '^divergence: .* [0-9]+ of [0-9]+ events were replayed'

# ---- a racy program ----
cat >racy.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int n;
static int turn;
static void *work(void *p)
{
    for (int i = 0; i < 60; i++) {
        pthread_mutex_t *m = (atomic_fetch_add(&n, 1) + turn) % 3 ? &a : &b;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    turn = argc > 1 && atoi(argv[1]);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g racy.c -o racy
record racy 0
like "racy program: replay draws the divergence" "$(picture racy racy.txt ./racy 1)" '^1 poet replay: divergence: '
is "racy program: two events are marked" "$(grep -c '^note [12] ' racy.txt)" 2
is "racy program: one note is of the new run" "$(grep -c '^note 2  again ' racy.txt)" 1
is "racy program: the marked events differ in thread, type or line" \
    "$(grep '^note' racy.txt | sed 's/.*[0-9]:[0-9]*  //' | sort -u | wc -l)" 2

# ---- a run that ended before all events were replayed ----
cat >stops.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
    for (int i = 0; i < 5; i++) {
        if (argc > 1 && i == atoi(argv[1]))
            abort();
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    }
    return 0;
}
C
poetcc -trace -g stops.c -o stops
record stops 9
like "early end: replay draws the run" "$(picture stops stops.txt ./stops 3)" '^1 poet replay: .*killed by signal 6'
is "early end: note 1 is the recorded event that was not reached" "$(grep -c '^note 1 .* T:main performed .* on M:m, stops.c:9$' stops.txt)" 1
like "early end: the caption says that all compared events match" "$(tail -n 1 stops.txt)" '; all compared events of the new run match$'

# ---- a deadlock confirmed by poet confirm ----
poetcc -trace -g "$here/predict/bad_two.c" -o bad_two
record bad_two
number=$(poet predict bad_two.poet | awk '$2 == "lock-order-inversion:" { print $1; exit }')
timeout 300 poet confirm bad_two.poet "$number" --picture two.txt >blocked 2>said
is "poet confirm draws the confirming run" "$? $(tail -n 1 said | sed 's/attempt [0-9]*/attempt N/')" \
    "0 poet confirm: confirmed in attempt N: the program hangs; trace: bad_two.confirmed.poet"
is "poet confirm: notes list the requests in the deadlock" "$(grep -c '^again .* requests M:.*, in a deadlock$' two.txt)" 2
is "poet confirm: the rows are those of the confirming run" "$(grep -c '^again: bad_two.confirmed.poet$' two.txt)" 1
like "poet confirm: the caption states the outcome" "$(tail -n 1 two.txt)" '^confirmed in attempt [0-9]*: the program hangs'

# ---- a run that hangs and is ended from a terminal with the rest of its process group ----
cat >hangs.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
    pthread_mutex_lock(&m);
    if (argc > 1 && argv[1][0] == '1')
        pthread_mutex_lock(&m);
    return pthread_mutex_unlock(&m);
}
C
cat >terminal.py <<'P'
import os, pty, subprocess, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
end = time.time() + 60
while time.time() < end and b"DEADLOCK" not in subprocess.run(["poet", "blocked", "new.poet"], capture_output=True).stdout:
    time.sleep(0.05)
os.write(terminal, b"\x03")
try:
    while os.read(terminal, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
poetcc -trace -g hangs.c -o hangs
record hangs 0
rm -f new.poet hangs.txt
timeout 120 python3 terminal.py poet replay hangs.poet -o new.poet --picture hangs.txt ./hangs 1
is "hang: an interrupted replay is drawn" "$? $(grep -c '^note 2  again .* T:main performed acquire on M:m, hangs.c:7$' hangs.txt)" "1 1"
is "hang: notes list the request in the deadlock" "$(grep -c '^again .* T:main: requests M:m, in a deadlock$' hangs.txt)" 1

# ---- no divergence ----
is "no divergence: replay says so" "$(picture stops same.txt)" \
    "0 poet replay: no divergence in $(figure stops.poet events) events
poet replay: no divergence; no diagram written"
is "no divergence: no file is written" "$(ls same.txt 2>/dev/null)" ""
is "no divergence with -q: no output" "$(picture stops same.txt -q)" "0 "
like "an unsupported file type is a usage error, and the program is not run" "$(picture stops same.html)" '^2 .*must end in \.pdf, \.svg, \.png or \.txt'
is "a file name without an extension is a usage error" "$(picture stops same | head -c 1)" 2
like "an unwritable file is reported" "$(picture other nix/other.svg ./other 1)" '^poet replay: nix/other.svg: '
done_testing

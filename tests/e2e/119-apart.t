#!/bin/bash
# Two runs of a program in one picture, where they diverge: the recorded one above, the one that was replayed or swapped below.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e
record() { # record NAME ARGUMENT...: NAME.poet
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 "./$1" "${@:2}" >out 2>&1
    until_true finished "$1.poet"
}
picture() { # picture NAME FILE ARGUMENT... of poet replay; prints its status and what it said
    rm -f new.poet "$2"
    timeout 60 poet replay "$1.poet" -o new.poet --picture "$2" "${@:3}" >out 2>said
    echo "$? $(grep -v 'runs the recorded command' said)"
}
# part FILE HEADING: the rows below it, up to an empty line behind the last one
part() { awk -v h="$2: " 'index($0, h) == 1 { on = 1; next } on && /^(recorded|again|note|[0-9])/ { exit } on' "$1"; }
row() { part "$1" "$2" | grep -m 1 "^$3 " | sed "s/^[^ ]* *//"; }
cells() { python3 -c 'import sys; print([i for i, c in enumerate(sys.argv[1]) if c not in " ━─╌·╍│┼"][:int(sys.argv[2])])' "$1" "$2"; }

# What is late here is so until the other thread has been there; where AT_ONCE is set, the order is given otherwise.
late_until() { sed "s/late(1);/while (!*(__typeof__($2) volatile *)\&$2 \&\& !getenv(\"AT_ONCE\")) usleep(1000);/" "$here/maybe/$1.c" >"$1.c"; }
cp "$here/maybe/slow.h" .

# ---- a swap ----
late_until bad_use made
poetcc -trace -g bad_use.c -o bad_use
record bad_use
export AT_ONCE=1
refs=$(poet dump bad_use.poet | awk '$3 == "acquired" { print $1 }' | xargs)
like "two visits are swapped and drawn" "$(picture bad_use swap.txt --swap $refs)" \
    '^0 poet replay: order swapped: .*killed by signal 6$'
is "the recorded run is above, the other one below" "$(grep -E '^(recorded|again):' swap.txt)" \
    "recorded: bad_use.poet
again: new.poet"
is "each has the same rows" "$(part swap.txt recorded | grep -oE '^[TM]:[^ ]*' | xargs)" \
    "$(part swap.txt again | grep -oE '^[TM]:[^ ]*' | xargs)"
is "of all that take part" "$(part swap.txt again | grep -oE '^[TM]:[^ ]*' | sort | xargs)" "M:lock T:main T:makes T:uses"
like "where they come apart is said of the one" "$(cat swap.txt)" '^note 1 +[0-9]+:[0-9]+ +T:makes performed (acquire|lock) on M:lock, bad_use\.c:8$'
like "and of the other" "$(cat swap.txt)" '^note 2 +again [0-9]+:[0-9]+ +T:uses performed lock on M:lock, bad_use\.c:16$'
marked() { part swap.txt "$1" | grep -v '^[TM]:' | grep -cE "(^|[^0-9])$2([^0-9]|\$)"; } # between the rows
is "and marked in both" "$(marked recorded 1) $(marked again 2)" "1 1"
like "what came of it stands below" "$(tail -n 1 swap.txt)" '^order swapped: '
is "what is equal stands in one column" "$(cells "$(row swap.txt recorded T:main)" 2)" "$(cells "$(row swap.txt again T:main)" 2)"
is "also behind that" "$(cells "$(row swap.txt recorded T:uses)" 3)" "$(cells "$(row swap.txt again T:uses)" 3)"
for kind in pdf svg png; do picture bad_use swap.$kind --swap $refs >/dev/null; done
is "as PDF, SVG and PNG, too" "$(head -c 4 swap.pdf) $(head -c 5 swap.svg) $(head -c 4 swap.png | tail -c 3)" "%PDF <?xml PNG"
like "an SVG says of a mark which run it is of" "$(cat swap.svg)" '<title>M:lock: acquired \(again [0-9:]*\).*bad_use\.c:16</title>'

# ---- an example: girls and boys in another order ----
compile dating
record dating
visits=$(poet dump dating.poet | awk '$3 == "acquired" && ++n <= 2 { print $1 }' | xargs)
like "an example is swapped and drawn" "$(picture dating dating.txt --swap $visits)" '^0 poet replay: order swapped: '
is "all its lines are in both" "$(part dating.txt recorded | grep -oE '^[TM]:[^ ]*' | xargs)" \
    "$(part dating.txt again | grep -oE '^[TM]:[^ ]*' | xargs)"
is "and two places are marked" "$(grep -c '^note [12] .* performed lock on M:service, dating.c:23$' dating.txt)" 2

# ---- a program that does something else, far behind its begin ----
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
like "what differs is drawn, and the status is that of a difference" "$(picture other other.txt ./other 1)" \
    '^1 poet replay: divergence: T:work performed acquire on M:b, recorded was acquire on M:c'
is "at the place that was named" "$(grep '^note' other.txt | sed 's/[0-9]*:[0-9]*//')" \
    "note 1    T:work performed acquire on M:c, other.c:5
note 2  again   T:work performed acquire on M:b, other.c:5"
is "only what is around it" "$(python3 -c 'print(max(map(len, open("other.txt"))) < 200)')" True
is "and lines that take part there" "$(part other.txt recorded | grep -oE '^[TM]:[^ ]*' | xargs)" "M:b M:c T:work M:a"
like "its caption says how far all was equal" "$(tail -n 1 other.txt)" '^divergence: .* [0-9]+ of [0-9]+ events were replayed'

# ---- chance ----
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
like "whatever a racy program does" "$(picture racy racy.txt ./racy 1)" '^1 poet replay: divergence: '
is "two places are marked" "$(grep -c '^note [12] ' racy.txt)" 2
is "one of each run" "$(grep -c '^note 2  again ' racy.txt)" 1
is "of which neither is equal: another thread, type or line" \
    "$(grep '^note' racy.txt | sed 's/.*[0-9]:[0-9]*  //' | sort -u | wc -l)" 2

# ---- a run that ended before all was repeated ----
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
like "a run that ended early is drawn" "$(picture stops stops.txt ./stops 3)" '^1 poet replay: .*killed by signal 6'
is "with the place that it did not come to" "$(grep -c '^note 1 .* T:main performed .* on M:m, stops.c:9$' stops.txt)" 1
like "and that the new run has nothing else" "$(tail -n 1 stops.txt)" '; all compared events of the new run match$'

# ---- a deadlock that was provoked ----
late_until bad_two meals
poetcc -trace -g bad_two.c -o bad_two
unset AT_ONCE
record bad_two
export AT_ONCE=1
number=$(poet predict bad_two.poet | awk '$2 == "lock-order-inversion:" { print $1; exit }')
timeout 300 poet confirm bad_two.poet "$number" --picture two.txt >blocked 2>said
is "what is provoked is drawn" "$? $(tail -n 1 said | sed 's/attempt [0-9]*/attempt N/')" \
    "0 poet confirm: confirmed in attempt N: the program hangs; trace: bad_two.confirmed.poet"
is "and who waits in the deadlock" "$(grep -c '^again .* requests M:.*, in a deadlock$' two.txt)" 2
is "in the rows of the run in which it happened" "$(grep -c '^again: bad_two.confirmed.poet$' two.txt)" 1
like "with what came of it" "$(tail -n 1 two.txt)" '^confirmed in attempt [0-9]*: the program hangs'

# ---- a run that hangs, and is ended from a terminal, as all that belongs to the command ----
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
is "a run that hangs is drawn once it was ended" "$? $(grep -c '^note 2  again .* T:main performed acquire on M:m, hangs.c:7$' hangs.txt)" "1 1"
is "with who waits there" "$(grep -c '^again .* T:main: requests M:m, in a deadlock$' hangs.txt)" 1

# ---- nothing to draw ----
is "where it did the same nothing is drawn, and that is said" "$(picture stops same.txt)" \
    "0 poet replay: no divergence in $(figure stops.poet events) events
poet replay: no divergence; no diagram written"
is "there is no file" "$(ls same.txt 2>/dev/null)" ""
is "quietly" "$(picture stops same.txt -q)" "0 "
like "what has no picture is wrong usage, and nothing is run" "$(picture stops same.html)" '^2 .*must end in \.pdf, \.svg, \.png or \.txt'
is "as is a name without an ending" "$(picture stops same | head -c 1)" 2
like "what cannot be written is said" "$(picture other nix/other.svg ./other 1)" '^poet replay: nix/other.svg: '
done_testing

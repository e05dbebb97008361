#!/bin/bash
# The commands of poet and poetcc: their output, their errors and their exit status.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
is "poet without a command exits with 2" "$(status poet)" 2
is "poet help exits with 0" "$(status poet help)" 0
is "an unknown command exits with 2" "$(status poet frobnicate)" 2
like "poet --version prints the version" "$(poet --version)" "^poet [0-9]+\.[0-9]+"
for c in view server export show blocked dump order runs stat check note; do
    is "poet $c --help exits with 0" "$(status poet $c --help)" 0
    is "poet $c --no-such-option exits with 2" "$(status poet $c --no-such-option)" 2
done
for c in server export record; do
    is "poet $c --no-such-option refers to poet help" "$(poet $c --no-such-option 2>&1 | tail -n 1)" "see: poet help $c"
done
is "a misspelt option gets a suggestion" "$(poet export x --ouput y 2>&1 | head -n 1)" "poet export: unknown option --ouput; did you mean --output?"
is "an unknown option letter is reported" "$(poet show -Z 2>&1 | head -n 1)" "poet show: unknown option -Z"
is "a long option may be abbreviated" "$(poet dump nowhere.poet --js 2>&1)" "poet dump: nowhere.poet: No such file or directory"
is "an ambiguous abbreviation lists the options it may stand for" "$(poet export x --no 2>&1 | head -n 1)" "poet export: ambiguous option --no (--no-legend or --no-notes)"
is "an option without its value is reported" "$(poet export x --last 2>&1 | head -n 1)" "poet export: option --last: missing argument N"
is "a value for an option that takes none is reported" "$(poet show x --all=1 2>&1 | head -n 1)" "poet show: option --all takes no value"
is "poet record leaves options behind the program to the program" "$(poet record -o own.poet echo --help -o x 2>/dev/null)" "--help -o x"
is "poet record -- leaves options behind the program to the program" "$(poet record -o own2.poet -- echo -- -f 2>/dev/null)" "-- -f"
cp -r "$root/docs/man" pages
check "docs/man.sh writes the manual pages" env B="$B" "$root/docs/man.sh" pages
is "the manual pages equal the output of --help (else: B=build docs/man.sh)" "$(diff -r "$root/docs/man" pages)" ""
is "poet order with two operands exits with 2" "$(status poet order x 1:1)" 2
is "poet dump of a missing file exits with 1" "$(status poet dump nowhere.poet)" 1
like "poet dump names a missing file" "$(poet dump nowhere.poet 2>&1)" "^poet dump: nowhere.poet: No such file"
is "poet stat of a missing server exits with 1" "$(status poet stat unix:$work/absent.sock)" 1

start_server -o t.poet -q
compile prodcons
./prodcons >/dev/null
until_true finished latest
stop_server
is "order: an earlier event happened before" "$(poet order t.poet 1:1 1:2)" before
is "order: a later event happened after" "$(poet order t.poet 1:2 1:1)" after
is "order: an event and itself are the same" "$(poet order t.poet 1:1 1:1)" same
pair=$(poet dump t.poet --json | json 'first(.[] | select(.relation == "sync" and .partner)) | "\(.event) \(.partner)"')
is "order: the two ends of a synchronous pair are the same point" "$(poet order t.poet $pair)" same
is "order: pairs are read from standard input" "$(printf '1:1 1:2\n\n1:2 1:1\n' | poet order t.poet - | tr '\n' ' ')" "before after "
is "order: a malformed line of standard input is reported" "$(printf '1:1 nonsense\n' | poet order t.poet - 2>&1)" \
    "poet order: standard input:1: expected LINE:NUMBER LINE:NUMBER"
is "order: a missing event exits with 1" "$(status poet order t.poet 1:1 99:1)" 1
poet dump --json t.poet >dump.json
like "dump: the first line names the run and its environments" "$(head -n 1 dump.json)" '^\{"poet":1,"run":"prodcons","environments":\["pthread"\]\}$'
like "dump: a trace line is a JSON object" "$(cat dump.json)" '^\{"line":[0-9]+,"kind":"semaphore","letter":"Sem","name":"full","object":"0x[0-9a-f]+","shared":true,"hidden":false,"opened_by":"1:1"\}$'
like "dump: an event is a JSON object" "$(cat dump.json)" '^\{"event":"[0-9]+:1","type":"acquired","time_ns":[0-9]+,"state":"ordered","relation":"sync","partner":"[0-9]+:[0-9]+","group":null,"order_after":\[\],"object":null,"thread":[0-9]+,"site":"prodcons.c:[0-9]+","context":null,"annotations":\[\],"uncertain":null\}$'
like "dump: hidden trace lines are listed" "$(cat dump.json)" '"line":"h1"'
json '[.[] | select(.event)] as $events |
    ($events | group_by(.event | split(":")[0])[] |
        [.[].event | split(":")[1] | tonumber] | select(. != [range(1; length + 1)]) | "not from 1 without gaps: \(.)"),
    ($events | to_entries | map({key: .value.event, value: .key}) | from_entries) as $place |
    ($events[] | .event as $event | .order_after[] |
        select($place[.] == null or $place[.] > $place[$event]) | "\($event) before \(.)")' dump.json >why 2>&1
is "dump: events of a line are numbered from 1 without gaps, causes precede effects" "$(cat why)" ""
for f in pdf svg png txt; do check "export to $f" poet export t.poet -o "x.$f"; done
SOURCE_DATE_EPOCH=1 poet export t.poet -o a.pdf
SOURCE_DATE_EPOCH=1 poet export t.poet -o b.pdf
check "export: a PDF of the same trace has the same bytes" cmp a.pdf b.pdf
check "export: an SVG without SOURCE_DATE_EPOCH has the same bytes" sh -c 'poet export t.poet -o a.svg && poet export t.poet -o b.svg && cmp a.svg b.svg'
like "export: fonts of the PDF are embedded and searchable" "$(pdffonts x.pdf)" "TrueType.*yes yes yes"
like "export: the PDF's text contains the names of objects" "$(pdftotext x.pdf -)" "Sem:full"
is "export: an unknown file suffix exits with 2" "$(status poet export t.poet -o x.doc)" 2
like "export --width sets the width of the page" "$(poet export t.poet -o w.pdf --width 84mm --last 20 && pdfinfo w.pdf)" "Page size: +238\.1"
check "export --paper a4 writes a PDF" poet export t.poet -o p.pdf --paper a4
like "export --paper a4 sets the size of the page" "$(pdfinfo p.pdf)" "Page size: +841\.89 x 595\.276"
check "export --from --to exports a range of events" poet export t.poet -o r.pdf --from 1:1 --to 1:2
check "export --around exports the events around one" poet export t.poet -o r.pdf --around 1:2
is "export --around a missing event exits with 1" "$(status poet export t.poet -o r.pdf --around 1:999)" 1
check "export --lines exports selected trace lines" poet export t.poet -o l.txt --lines 'full,prod*' --labels name
is "export --lines keeps the order of the selection" "$(sed -n 's/^\([A-Z][a-z]*:[a-z]*\).*/\1/p' l.txt | head -n 2 | tr '\n' ' ')" "Sem:full T:producer "
is "export --lines without a match exits with 1" "$(status poet export t.poet -o l.txt --lines absent)" 1
check "export: a caption, no title, no legend, gray" poet export t.poet -o c.pdf --caption "Figure 1" --no-title --no-legend --grayscale
like "export --caption is in the PDF's text" "$(pdftotext c.pdf -)" "Figure 1"
like "show: in a UTF-8 locale marks are Unicode characters" "$(poet show t.poet)" "■"
is "show: in the C locale all characters are ASCII" "$(LC_ALL=C poet show t.poet | LC_ALL=C grep -c '[^ -~]')" 0
like "stat --json has the counts of events and the programs" "$(poet stat --json t.poet)" '"events":[0-9]+.*"pending":0,"lost":0,"inconsistent":0.*"duration_ns":[0-9]+.*"programs":\[\{"path":"[^"]+/prodcons"'
is "blocked: a run that ended normally has no blocked thread" "$(poet blocked t.poet)" "no thread is blocked"
is "check: a sound trace exits with 0" "$(status poet check t.poet)" 0
is "check: a valid description exits with 0" "$(status poet check "$root/config/pthread.conf")" 0
sed 's/shape = "square"/shap = "square"/; s/name = "sem_post"/name = "sem_pots"/' "$root/config/pthread.conf" >bad.conf
is "check: an invalid description exits with 1" "$(status poet check bad.conf)" 1
like "check: an error of a description has its file and line" "$(poet check bad.conf 2>&1)" '^bad\.conf:[0-9]+: unknown key "shap"; did you mean "shape"\?$'
like "check: every error of a description is reported" "$(poet check bad.conf 2>&1)" '"ordered_after": unknown type "sem_post"'
# A large run: repeats are collapsed, and an export without a range is refused.
compile list
cat >many.c <<'C'
#include <pthread.h>
static pthread_mutex_t m[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int main(void) { for (int i = 0; i < 4000; i++) { pthread_mutex_lock(&m[i % 3]); pthread_mutex_unlock(&m[i % 3]); }
for (int i = 0; i < 4000; i++) { pthread_mutex_lock(&m[3]); pthread_mutex_unlock(&m[3]); } return 0; }
C
poetcc -trace -g many.c -o many
start_server -o m.poet -q
./many
until_true finished latest
stop_server
is "export: a run too large for a diagram exits with 1" "$(status poet export m.poet -o m.pdf)" 1
like "export: a run too large for a diagram suggests a range" "$(poet export m.poet -o m.pdf 2>&1)" "(more than )?[0-9]+ columns and .* rows, [0-9]+ pages: select a range with --last"
check "export --fold: the end of a large run is exported" poet export m.poet -o f.txt --from 1:12000 --fold
like "export --fold: 4000 critical sections are collapsed into one mark" "$(cat f.txt)" "collapsed: 4000 similar critical sections"

# poetcc behaves as the C compiler.
cat >a.c <<'C'
#include <pthread.h>
#include <stdio.h>
void *work(void *); pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); puts("done"); return 0; }
C
printf '#include <pthread.h>\nextern pthread_mutex_t m;\nvoid *work(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return a; }\n' >b.c
start_server -o cc/ -q
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    export CC=$cc
    check "$cc: poetcc -trace compiles several files" poetcc -trace -O2 -Wall -Wextra -Werror -std=c99 -pedantic a.c b.c -o ab
    is "$cc: the traced program prints its result" "$(./ab)" done
    check "$cc: the trace is sound" sound latest
    is "$cc: create, start, 5 of the lock, end, close; main: start, join, joined, end, close" "$(figure latest events)" 14
    check "$cc: -c, then link" sh -c 'poetcc -trace -c a.c && poetcc -trace -c b.c && poetcc -trace a.o b.o -o ab2 && ./ab2'
    check "$cc: -shared, then link with the library" sh -c 'poetcc -trace -fPIC -shared b.c -o libb.so && poetcc -trace a.c -L. -lb -Wl,-rpath,. -o ab3 && ./ab3'
    check "$cc: a traced and an untraced unit link" sh -c 'poetcc -trace -c a.c && poetcc -c b.c && poetcc -trace a.o b.o -o ab4 && ./ab4'
    until_true finished latest
    is "$cc: only the traced unit's calls are recorded" "$(figure latest events)" 9
    check "$cc: poetcc without -trace does not link libpoet" sh -c "poetcc a.c b.c -o ab5 -pthread && ! ldd ab5 | grep -q libpoet && ./ab5"
    is "$cc: a compiler error has the compiler's exit status" "$(status poetcc -trace -c nosuch.c)" "$(status $cc -c nosuch.c)"
done
unset CC
printf '#include <thread>\n#include <mutex>\n#include <cstdio>\nstd::mutex m; int main() { std::thread t([]{ std::lock_guard<std::mutex> g(m); }); t.join(); std::puts("c++"); }\n' >c.cc
check "poetcc++ -trace compiles a C++ program that runs" sh -c 'poetcc++ -trace -O2 c.cc -o cpp && ./cpp'
check "the trace of the C++ program is sound" sound latest
stop_server

check "make install works without root" make -s -C "$root" install PREFIX="$work/local" B="$B"
cd "$work" && mkdir elsewhere && cd elsewhere
PATH=$work/local/bin:$(printf %s "$PATH" | sed "s|$B/bin:||")
check "the installed poetcc compiles a program" poetcc -trace -g "$root/examples/prodcons.c" -o prodcons
is "an installed libpoet starts its own server" "$(./prodcons 2>/dev/null)" "sum of 10 items: 45"
check "the server of an installed libpoet writes a trace into the current directory" until_true sound "$(trace_of prodcons)"
check "make uninstall succeeds" make -s -C "$root" uninstall PREFIX="$work/local" B="$B"
is "make uninstall leaves no file or directory" "$(find "$work/local" 2>/dev/null)" ""
done_testing

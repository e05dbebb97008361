#!/bin/bash
# The commands: what they print, and how they exit.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
is "poet without a command" "$(status poet)" 2
is "poet help" "$(status poet help)" 0
is "an unknown command" "$(status poet frobnicate)" 2
like "--version" "$(poet --version)" "^poet [0-9]+\.[0-9]+"
for c in view server export show blocked dump order runs stat check note; do
    is "poet $c --help" "$(status poet $c --help)" 0
    is "poet $c --no-such-option" "$(status poet $c --no-such-option)" 2
done
for c in server export record; do
    is "poet $c --no-such-option says where to look" "$(poet $c --no-such-option 2>&1 | tail -n 1)" "see: poet help $c"
done
is "an option misspelt" "$(poet export x --ouput y 2>&1 | head -n 1)" "poet export: unknown option --ouput; did you mean --output?"
is "a letter that is none" "$(poet show -Z 2>&1 | head -n 1)" "poet show: unknown option -Z"
is "an option cut short" "$(poet dump nowhere.poet --js 2>&1)" "poet dump: nowhere.poet: No such file or directory"
is "too short to say which" "$(poet export x --no 2>&1 | head -n 1)" "poet export: ambiguous option --no (--no-legend or --no-notes)"
is "without its value" "$(poet export x --last 2>&1 | head -n 1)" "poet export: option --last: missing argument N"
is "with one that it does not take" "$(poet show x --all=1 2>&1 | head -n 1)" "poet show: option --all takes no value"
is "options of the program are its own" "$(poet record -o own.poet echo --help -o x 2>/dev/null)" "--help -o x"
is "also after --" "$(poet record -o own2.poet -- echo -- -f 2>/dev/null)" "-- -f"
cp -r "$root/docs/man" pages
check "the pages of the manual say" env B="$B" "$root/docs/man.sh" pages
is "what --help says (else: B=build docs/man.sh)" "$(diff -r "$root/docs/man" pages)" ""
is "poet order with two arguments" "$(status poet order x 1:1)" 2
is "a file that is not there" "$(status poet dump nowhere.poet)" 1
like "is named" "$(poet dump nowhere.poet 2>&1)" "^poet dump: nowhere.poet: No such file"
is "a server that is not there" "$(status poet stat unix:$work/nobody.sock)" 1

start_server -o t.poet -q
compile prodcons
./prodcons >/dev/null
until_true finished latest
stop_server
is "order: before" "$(poet order t.poet 1:1 1:2)" before
is "order: after" "$(poet order t.poet 1:2 1:1)" after
is "order: same event" "$(poet order t.poet 1:1 1:1)" same
pair=$(poet dump t.poet --json | perl -ne 'if (/"event":"([^"]+)".*"relation":"sync","partner":"([^"]+)"/) { print "$1 $2"; exit }')
is "order: the ends of a pair" "$(poet order t.poet $pair)" same
is "order: from standard input" "$(printf '1:1 1:2\n\n1:2 1:1\n' | poet order t.poet - | tr '\n' ' ')" "before after "
is "order: a bad line" "$(printf '1:1 nonsense\n' | poet order t.poet - 2>&1)" \
    "poet order: standard input:1: expected LINE:NUMBER LINE:NUMBER"
is "order: no such event" "$(status poet order t.poet 1:1 99:1)" 1
poet dump --json t.poet >dump.json
like "dump: the first line" "$(head -n 1 dump.json)" '^\{"poet":1,"run":"prodcons","environments":\["pthread"\]\}$'
like "dump: a line's object" "$(cat dump.json)" '^\{"line":[0-9]+,"kind":"semaphore","letter":"Sem","name":"full","object":"0x[0-9a-f]+","shared":true,"hidden":false,"opened_by":"1:1"\}$'
like "dump: an event" "$(cat dump.json)" '^\{"event":"[0-9]+:1","type":"acquired","time_ns":[0-9]+,"state":"ordered","relation":"sync","partner":"[0-9]+:[0-9]+","group":null,"order_after":\[\],"object":null,"thread":[0-9]+,"site":"prodcons.c:[0-9]+","context":null,"annotations":\[\],"uncertain":null\}$'
like "dump: hidden lines" "$(cat dump.json)" '"line":"h1"'
perl -e '
    my (%at, %last, $bad, $n);
    while (<>) {
        next unless /^\{"event":"(h?\d+):(\d+)"/;
        my ($l, $k) = ($1, $2);
        $bad = "$l:$k after $last{$l}" if $k != ($last{$l} // 0) + 1;
        $last{$l} = $k; $at{"$l:$k"} = ++$n;
        if (/"order_after":\[([^\]]*)\]/) { for ($1 =~ /"([^"]+)"/g) { $bad = "$l:$k before $_" unless $at{$_} } }
    }
    print $bad if $bad' dump.json >why
is "dump: numbers from 1 without gaps, causes first" "$(cat why)" ""
for f in pdf svg png txt; do check "export to $f" poet export t.poet -o "x.$f"; done
SOURCE_DATE_EPOCH=1 poet export t.poet -o a.pdf
SOURCE_DATE_EPOCH=1 poet export t.poet -o b.pdf
check "the same bytes twice" cmp a.pdf b.pdf
check "also without a date" sh -c 'poet export t.poet -o a.svg && poet export t.poet -o b.svg && cmp a.svg b.svg'
like "fonts are embedded, searchable" "$(pdffonts x.pdf)" "TrueType.*yes yes yes"
like "text can be found in it" "$(pdftotext x.pdf -)" "Sem:full"
is "export to an unknown ending" "$(status poet export t.poet -o x.doc)" 2
like "a width" "$(poet export t.poet -o w.pdf --width 84mm --last 20 && pdfinfo w.pdf)" "Page size: +238\.1"
check "on paper" poet export t.poet -o p.pdf --paper a4
like "as many pages as it takes" "$(pdfinfo p.pdf)" "Page size: +841\.89 x 595\.276"
check "a range" poet export t.poet -o r.pdf --from 1:1 --to 1:2
check "around an event" poet export t.poet -o r.pdf --around 1:2
is "around one that is not there" "$(status poet export t.poet -o r.pdf --around 1:999)" 1
check "only some lines" poet export t.poet -o l.txt --lines 'full,prod*' --labels name
is "those, in that order" "$(sed -n 's/^\([A-Z][a-z]*:[a-z]*\).*/\1/p' l.txt | head -n 2 | tr '\n' ' ')" "Sem:full T:producer "
is "a line that is not there" "$(status poet export t.poet -o l.txt --lines nobody)" 1
check "a caption, no title, no legend, grey" poet export t.poet -o c.pdf --caption "Figure 1" --no-title --no-legend --grey
like "the caption is there" "$(pdftotext c.pdf -)" "Figure 1"
like "show in UTF-8" "$(poet show t.poet)" "■"
is "show in ASCII" "$(LC_ALL=C poet show t.poet | LC_ALL=C grep -c '[^ -~]')" 0
like "stat" "$(poet stat --json t.poet)" '"events":[0-9]+.*"pending":0,"lost":0,"inconsistent":0.*"duration_ns":[0-9]+.*"programs":\[\{"path":"[^"]+/prodcons"'
is "blocked, where nothing is" "$(poet blocked t.poet)" "no thread is blocked"
is "check of a trace" "$(status poet check t.poet)" 0
is "check of a description" "$(status poet check "$root/config/pthread.conf")" 0
sed 's/shape = "square"/shap = "square"/; s/name = "sem_post"/name = "sem_pots"/' "$root/config/pthread.conf" >bad.conf
is "check of a bad one" "$(status poet check bad.conf)" 1
like "names file and line" "$(poet check bad.conf 2>&1)" '^bad\.conf:[0-9]+: unknown key "shap"; did you mean "shape"\?$'
like "and every mistake" "$(poet check bad.conf 2>&1)" '"ordered_after": unknown type "sem_post"'
# a large run: folded, and refused without a range
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
is "a run too large for a picture" "$(status poet export m.poet -o m.pdf)" 1
like "says what to do" "$(poet export m.poet -o m.pdf 2>&1)" "(more than )?[0-9]+ columns and .* rows, [0-9]+ pages: select a range with --last"
check "the end of it folds" poet export m.poet -o f.txt --from 1:12000 --fold
like "4000 visits are one mark" "$(cat f.txt)" "collapsed: 4000 similar critical sections"

# poetcc is cc
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
    check "$cc: several files" poetcc -trace -O2 -Wall -Wextra -Werror -std=c99 -pedantic a.c b.c -o ab
    is "$cc: runs" "$(./ab)" done
    check "$cc: sound" sound latest
    is "$cc: create, start, 5 of the lock, end, close; main: start, join, joined, end, close" "$(figure latest events)" 14
    check "$cc: -c, then link" sh -c 'poetcc -trace -c a.c && poetcc -trace -c b.c && poetcc -trace a.o b.o -o ab2 && ./ab2'
    check "$cc: -shared" sh -c 'poetcc -trace -fPIC -shared b.c -o libb.so && poetcc -trace a.c -L. -lb -Wl,-rpath,. -o ab3 && ./ab3'
    check "$cc: one unit traced, one not" sh -c 'poetcc -trace -c a.c && poetcc -c b.c && poetcc -trace a.o b.o -o ab4 && ./ab4'
    until_true finished latest
    is "$cc: only what the traced unit does" "$(figure latest events)" 9
    check "$cc: without -trace it is cc" sh -c "poetcc a.c b.c -o ab5 -pthread && ! ldd ab5 | grep -q libpoet && ./ab5"
    is "$cc: an error is cc's" "$(status poetcc -trace -c nosuch.c)" "$(status $cc -c nosuch.c)"
done
unset CC
printf '#include <thread>\n#include <mutex>\n#include <cstdio>\nstd::mutex m; int main() { std::thread t([]{ std::lock_guard<std::mutex> g(m); }); t.join(); std::puts("c++"); }\n' >c.cc
check "poetcc++" sh -c 'poetcc++ -trace -O2 c.cc -o cpp && ./cpp'
check "its trace is sound" sound latest
stop_server

check "make install, without root" make -s -C "$root" install PREFIX="$work/local" B="$B"
cd "$work" && mkdir elsewhere && cd elsewhere
PATH=$work/local/bin:$(printf %s "$PATH" | sed "s|$B/bin:||")
check "the installed poetcc" poetcc -trace -g "$root/examples/prodcons.c" -o prodcons
is "an installed libpoet starts its own server" "$(./prodcons 2>/dev/null)" "sum of 10 items: 45"
check "which writes a trace here" until_true sound "$(trace_of prodcons)"
check "make uninstall" make -s -C "$root" uninstall PREFIX="$work/local" B="$B"
is "leaves nothing, and no folder" "$(find "$work/local" 2>/dev/null)" ""
done_testing

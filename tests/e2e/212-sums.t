#!/bin/bash
# poet calls of known sums, to the nanosecond, in every format; and profile regions with invalid data.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q

cat >called.c <<'END'
const char part_of_k[] = "sorting; all";
void f(void) {}
void g(void) {}
void k(void) {}
void r(void) {}
int main(void) { f(); g(); k(); r(); }
END
check "called.c compiles" cc -g -pie -fPIE called.c -o called
region() { /usr/bin/python3 "$root/tests/e2e/region.py" "$work/called" "$@"; }
check "a client sends its function profile" region end
run=$(ls traces/called-*.poet)

# ---- flat ----
poet calls --json "$run" >flat.json
is "calls: column names are as scripts expect them" "$(json '[columns] as $columns
    | "function", "caller", "calls", "concurrent", "self_ns", "net_ns", "total_ns", "cpu_ns", "min_ns", "max_ns", "flags"
    | select(. as $name | $columns | index($name))' flat.json | paste -sd' ')" \
    "function caller calls concurrent self_ns net_ns total_ns cpu_ns min_ns max_ns flags"
each() { json "by_function($1)" flat.json | sort | tr ' ' : | paste -sd' '; } # each FILTER: a value of each function
is "calls: number of calls, and of concurrent ones" "$(each '"\(.calls)/\(.concurrent)"')" \
    "f:1304/4 g:1/0 k:3/2 lock:1/0 main:1/0 r:11/0"
is "calls: self time to the nanosecond" "$(each '.self_ns / 1000')" \
    "f:30000 g:8000 k:30000 lock:22000 main:10000 r:20000"
is "calls: total time counts recursion once" "$(each '.total_ns / 1000')" \
    "f:30000 g:50000 k:40000 lock:22000 main:90000 r:20000"
expect flat.json <<'E'
calls: CPU time | row("lock", "f").cpu_ns => 1000000 30000000
calls: minimum and maximum | row("f", "r") | .min_ns, .max_ns => 5000 2000000 1000000 20000000
E
is "calls: net time is less 10 ns a call and 5 ns a call made" "$(json 'cells(row("g", "k", "lock").net_ns)' flat.json)" \
    "$((8000000 - 10 - 1001 * 5)) $((30000000 - 30 - 304 * 5)) 21999990"
is "calls: self times and unaccounted time add up to the lifetimes" "$(json 'sum(rows.self_ns) as $sum | total
    | if .self_ns == $sum and .lifetime_ns == $sum + .unaccounted_ns then .lifetime_ns else "no" end' flat.json)" 140000000
is "calls: no call is incomplete" "$(json 'rows.flags | select(. != "")' flat.json 2>&1)" ""
like "calls: the footer has the totals" "$(poet calls "$run")" \
    "total 140\.000 ms in 2 threads, 20\.000 ms \(14\.29 %\) outside functions, 1321 calls, instrumentation overhead about 0\.020 ms \(0\.01 %\): 10\.0 \+ 5\.0 ns"
is "calls --raw: no net time is estimated" "$(poet calls --raw --csv --columns net "$run" | sed 1d | tr -d '\r' | sort -u)" ""

# ---- the call graph ----
poet calls --graph --json "$run" >graph.json
is "calls --graph: the arcs into a function are its calls" "$(json '[.[] | select(.row)] | group_by(.row.function)[]
    | (map(select(.depth > 0).row.calls) | add) as $in | (map(select(.depth == 0).row.calls) | add) as $of
    | select($of != ($in // 0)) | "\(.[0].row.function) \($in // "") \($of)"' graph.json | paste -sd' ')" \
    "k (called.c:4) 1 3 main (called.c:6)  1"
arc() { # CALLER CALLED: how often, and how long
    json 'inner_rows | select((.caller | first_word) == "'"$1"'" and (.function | first_word) == "'"$2"'")
        | cells(.calls, .total_ns)' graph.json
}
is "calls --graph: g calls f" "$(arc g f)" "1000 20000000"
is "calls --graph: k calls f in both threads" "$(arc k f)" "304 10000000"
is "calls --graph: r calls itself" "$(arc r r)" "10 -"
is "calls --graph as text" "$(poet calls --graph "$run" | grep -A1 '^g ' | tail -n 1 | tr -s ' ')" " lock 1 22.000 44.0 % 1.000 22.000 22.000 22.000 22.000 1.000 1.000 1.000 -"
is "calls --cycles: a recursion cycle" "$(poet calls --cycles "$run" --csv --columns function,cycle | tr -d '\r' | paste -sd' ')" "function,cycle cycle 1,1 r (called.c:5),1"
is "calls --tree: the tree of calls" "$(poet calls --tree "$run" | sed -n '3,11p' | sed 's/(.*//' | cut -c1-12 | tr -d ' ' | paste -sd' ')" \
    "$(echo main g lock f r r k f k)"
is "calls --by thread: a row per thread" "$(poet calls --by thread --json "$run" | grep -c '"depth":0')" 2
is "calls --threads: one thread's calls" "$(poet calls --threads two "$run" --csv --columns calls | sed 1d | tr -d '\r' | paste -sd' ')" "2 4"

# ---- all formats have the same figures ----
poet calls "$run" >calls.txt
poet calls "$run" -o calls.pdf
words() { grep -E '^ *(f|g|k|r|main|lock) ' | sed 's/^ *//' | tr -s ' ' | sed 's/ *$//'; }
is "calls as PDF has the words of the text" "$(pdftotext -layout calls.pdf - | words)" "$(words <calls.txt)"
poet calls "$run" -o again.pdf
check "calls as PDF has the same bytes each time" cmp calls.pdf again.pdf
check "calls --tree as PNG" poet calls --tree "$run" -o calls.png
check "calls --graph as SVG" poet calls --graph "$run" -o calls.svg
is "calls --baseline: a run does not differ from itself" "$(poet calls "$run" --baseline "$run" --json |
    json '[rows | .calls_diff, .self_diff_ns | select(. != null and . != 0)] | length')" 0

# ---- in a report ----
is "report has the top functions" "$(poet report --all "$run" | sed -n '/^Top functions/,/^$/p' | grep -cE '^(k|f|lock|r|main) ')" 5
like "report has the instrumentation overhead" "$(poet report --all "$run")" "instrumentation overhead about 0\.020 ms"

# ---- formats of other tools ----
poet calls "$run" -f folded >folded.txt
is "calls -f folded: a line per path" "$(sort folded.txt | paste -sd'|')" \
    "k 26000000|k;f 4000000|main 10000000|main;g 8000000|main;g;f 20000000|main;g;lock 22000000|main;k 4000000|main;k;f 6000000|main;r 2000000|main;r;r 18000000"
check "calls -f callgrind writes a file" poet calls "$run" -f callgrind -o callgrind.out
if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate --auto=no callgrind.out >annotated.txt
    like "callgrind_annotate reads the same total" "$(cat annotated.txt)" "120,000,000 .*PROGRAM TOTALS"
    is "callgrind_annotate reads the same functions" "$(grep -cE '30,000,000.*called.c:(f|k)|22,000,000.*lock|8,000,000.*called.c:g' annotated.txt)" 4
else
    skip "callgrind_annotate is not installed (valgrind)"
fi
check "calls -f pprof writes a file" poet calls "$run" -f pprof -o profile.pb
if command -v go >/dev/null && go tool pprof -h 2>&1 | grep -qi usage; then
    is "go tool pprof reads the same functions" "$(PPROF_TMPDIR=$work go tool pprof -sample_index=self -unit=us -top profile.pb 2>/dev/null |
        awk '$NF ~ /^(f|g|k|r|main|lock)$/ { print $NF ":" $1 }' | sort | paste -sd' ')" \
        "f:30000us g:8000us k:30000us lock:22000us main:10000us r:20000us"
else
    skip "go tool pprof is not installed"
fi
is "calls: an unknown format exits with 2" "$(status poet calls "$run" -f gprof)" 2
is "calls --from: sums of the whole run cannot be restricted" "$(status poet calls "$run" --from 1ms)" 2

# ---- counts without times ----
region counts
counted() { poet calls latest | grep -q '(counted, not timed)'; } # the note may arrive a moment later
until_true counted
poet calls latest --json >counts.json
is "calls=counts: counts without times" "$(json 'row("f") | "\(.calls) \(.self_ns)"' counts.json)" "1304 null"
like "calls=counts: the footer says that calls are not timed" "$(poet calls latest)" "1321 calls in 2 threads \(counted, not timed\)"

# ---- parts that the program names ----
region named
named() { poet calls latest --csv | grep -q sorting; }
until_true named
is "a named part of a function is a row" \
    "$(poet calls latest --threads two --csv --columns function,calls | sed 1d | tr -d '\r' | paste -sd'|')" "k (called.c:4),2|sorting; all,4"
is "a named part of a function is in the folded stacks" "$(poet calls latest --threads two -f folded | tail -n 1)" "k;sorting: all 4000000"

# ---- live, and killed ----
mkfifo in
region wait <in >said &
program=$!
pids="$pids $program"
exec 5>in
open_frames() { poet calls latest --threads two --csv --columns function,calls,flags | grep -q '^k.*INCOMPLETE'; }
check "calls of a live run marks open calls" until_true open_frames
like "calls of a live run says as of when" "$(poet calls latest)" "sums are as of [0-9.]+ s"
f_calls() { poet calls latest --threads two --csv --columns function,calls | grep '^f ' | cut -d, -f2 | tr -d '\r'; }
# ---- poet measure changes what is measured ----
wanted() { # of each queue: counts 1, real 2, cpu 4, states 16
    before=$(wc -l <said)
    echo wanted >&5
    said() { [ "$(wc -l <said)" -gt "$before" ]; }
    until_true said
    tail -n 1 said
}
becomes() { [ "$(wanted)" = "$1" ]; }
is "measure: nothing is measured at first" "$(wanted)" "0 0"
check "measure calls=real is accepted" poet measure latest calls=real
check "measure calls=real reaches all threads" until_true becomes "3 3"
check "measure calls=counts:THREAD is accepted" poet measure latest calls=counts:two
check "measure calls=counts:THREAD reaches that thread only" until_true becomes "3 1"
check "measure states=on:THREAD is accepted" poet measure latest states=on:1
check "measure states=on keeps the other measurements" until_true becomes "19 1"
touch more
check "measure: a later thread gets the setting of all" until_true becomes "19 1 3"
check "measure calls=off is accepted" poet measure latest calls=off
check "measure calls=off reaches all threads" until_true becomes "16 0 0"
is "measure: an unknown value exits with 2" "$(status poet measure latest calls=sometimes)" 2
is "measure: an unknown line exits with 2" "$(status poet measure latest calls=off:absent)" 2
is "measure: an ended run is refused" "$(poet measure "$run" calls=off 2>&1)" \
    "poet measure: no program of this run is connected"
is "calls of a live run: four calls of f" "$(f_calls)" 4
echo >&5
five() { [ "$(f_calls)" = 5 ]; }
check "calls of a live run: repeated after another call of f" until_true five
kill -KILL $program
wait $program 2>/dev/null
ended() { poet ls 2>/dev/null | grep called | head -n 1 | grep -qv running; }
until_true ended
exec 5>&-
newest=$(ls -t traces/*.poet | head -n 1)
stop_server() { kill "$server"; wait "$server" 2>/dev/null; }
is "killed: calls has all counted calls" "$(poet calls "$newest" --threads two --csv --columns function,calls,flags | tr -d '\r' | sed 1d | sort | paste -sd' ')" \
    "f (called.c:2),5,INCOMPLETE k (called.c:4),2,INCOMPLETE"
is "killed: lifetimes count nothing twice" "$(poet calls "$newest" --json |
    json 'total | .lifetime_ns - .self_ns - .unaccounted_ns')" 0

# ---- a program without a profile ----
compile prodcons
./prodcons >/dev/null
like "calls without a profile gives a note" "$(poet calls latest)" "no function profile: compile with poetcc -profile and enable calls"
is "report without a profile has no top functions" "$(poet report --all latest | grep -c '^Top functions')" 0
is "calls --json without a profile is an empty table" "$(poet calls latest --json | wc -l)" 2
done_testing

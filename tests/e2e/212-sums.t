#!/bin/bash
# What threads measure of their calls: sums that are known to the nanosecond, in every shape; regions of nonsense.
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
check "it compiles" cc -g -pie -fPIE called.c -o called
region() { /usr/bin/python3 "$root/tests/e2e/region.py" "$work/called" "$@"; }
check "a program tells of its calls" region end
run=$(ls traces/called-*.poet)
json() {
    FILE=$1 perl -MJSON::PP -e '
        open my $f, "<", $ENV{FILE} or die; my @all = map { decode_json $_ } <$f>;
        our ($head, @rows) = @all; our $end = pop @rows; our @cells = map { $_->{row} } @rows; our $total = $end->{total};
        our %f = map { ($_->{function} =~ s/ .*//r) => $_ } @cells;
        '"$2"
}

# ---- flat ----
poet calls --json "$run" >flat.json
is "the names that scripts rely on" "$(json flat.json 'my %n = map { $_->{name} => 1 } @{$head->{columns}};
    print join " ", grep { $n{$_} } qw(function caller calls concurrent self_ns net_ns total_ns cpu_ns min_ns max_ns flags)')" \
    "function caller calls concurrent self_ns net_ns total_ns cpu_ns min_ns max_ns flags"
is "how often, at the same time as others" "$(json flat.json 'print join " ", map { "$_:$f{$_}{calls}/$f{$_}{concurrent}" } sort keys %f')" \
    "f:1304/4 g:1/0 k:3/2 lock:1/0 main:1/0 r:11/0"
is "self, to the nanosecond" "$(json flat.json 'print join " ", map { "$_:" . $f{$_}{self_ns} / 1000 } sort keys %f')" \
    "f:30000 g:8000 k:30000 lock:22000 main:10000 r:20000"
is "total: what calls itself counts once" "$(json flat.json 'print join " ", map { "$_:" . $f{$_}{total_ns} / 1000 } sort keys %f')" \
    "f:30000 g:50000 k:40000 lock:22000 main:90000 r:20000"
is "what the processor did" "$(json flat.json 'print $f{lock}{cpu_ns}, " ", $f{f}{cpu_ns}')" "1000000 30000000"
is "the least and the most" "$(json flat.json 'print "$f{f}{min_ns} $f{f}{max_ns} $f{r}{min_ns} $f{r}{max_ns}"')" "5000 2000000 1000000 20000000"
is "net: less 10 ns a call, 5 ns a call made" "$(json flat.json 'print "$f{g}{net_ns} $f{k}{net_ns} $f{lock}{net_ns}"')" \
    "$((8000000 - 10 - 1001 * 5)) $((30000000 - 30 - 304 * 5)) 21999990"
is "lives are what all took themselves, and what is unaccounted" "$(json flat.json 'my $sum = 0; $sum += $_->{self_ns} for @cells;
    print $sum == $total->{self_ns} && $total->{lifetime_ns} == $sum + $total->{unaccounted_ns} ? $total->{lifetime_ns} : "no"')" 140000000
is "nothing has not ended" "$(json flat.json 'print grep { $_ } map { $_->{flags} } @cells')" ""
like "the footer" "$(poet calls "$run")" \
    "total 140\.000 ms in 2 threads, 20\.000 ms \(14\.29 %\) outside functions, 1321 calls, instrumentation overhead about 0\.020 ms \(0\.01 %\): 10\.0 \+ 5\.0 ns"
is "raw: nothing is estimated" "$(poet calls --raw --csv --columns net "$run" | sed 1d | tr -d '\r' | sort -u)" ""

# ---- the call graph ----
poet calls --graph --json "$run" >graph.json
is "arcs into a function are its calls" "$(json graph.json 'my (%in, %of); for my $i (0 .. $#rows) { my $c = $cells[$i];
    $rows[$i]{depth} ? ($in{$c->{function}} += $c->{calls}) : ($of{$c->{function}} = $c->{calls}) }
    print join " ", map { "$_ $in{$_} $of{$_}" } grep { $of{$_} != ($in{$_} // 0) } sort keys %of')" "k (called.c:4) 1 3 main (called.c:6)  1"
arc() { json graph.json 'for my $i (0 .. $#rows) { my $c = $cells[$i]; print "$c->{calls} " . ($c->{total_ns} // "-")
    if $rows[$i]{depth} && $c->{caller} =~ /^'"$1"' / && $c->{function} =~ /^'"$2"' / }'; }
is "g calls f" "$(arc g f)" "1000 20000000"
is "k calls f, in both threads" "$(arc k f)" "304 10000000"
is "r calls itself" "$(arc r r)" "10 -"
is "in words" "$(poet calls --graph "$run" | grep -A1 '^g ' | tail -n 1 | tr -s ' ')" " lock 1 22.000 1.000 22.000 22.000 22.000 1.000 1.000 1.000 -"
is "a cycle" "$(poet calls --cycles "$run" --csv --columns function,cycle | tr -d '\r' | paste -sd' ')" "function,cycle cycle 1,1 r (called.c:5),1"
is "as a tree" "$(poet calls --tree "$run" | sed -n '3,11p' | sed 's/(.*//' | cut -c1-12 | tr -d ' ' | paste -sd' ')" \
    "$(echo main g lock f r r k f k)"
is "by thread" "$(poet calls --by thread --json "$run" | grep -c '"depth":0')" 2
is "of one thread" "$(poet calls --threads two "$run" --csv --columns calls | sed 1d | tr -d '\r' | paste -sd' ')" "2 4"

# ---- all shapes say the same ----
poet calls "$run" >calls.txt
poet calls "$run" -o calls.pdf
words() { grep -E '^ *(f|g|k|r|main|lock) ' | sed 's/^ *//' | tr -s ' ' | sed 's/ *$//'; }
is "PDF" "$(pdftotext -layout calls.pdf - | words)" "$(words <calls.txt)"
poet calls "$run" -o again.pdf
check "the same bytes again" cmp calls.pdf again.pdf
check "PNG" poet calls --tree "$run" -o calls.png
check "SVG" poet calls --graph "$run" -o calls.svg
is "against itself" "$(poet calls "$run" --baseline "$run" --json >same.json; json same.json 'print scalar grep { $_->{calls_diff} || $_->{self_diff_ns} } @cells')" 0

# ---- in a report ----
is "a report has a section of it" "$(poet report "$run" | sed -n '/^Top functions/,/^$/p' | grep -cE '^(k|f|lock|r|main) ')" 5
like "with what measuring took" "$(poet report "$run")" "instrumentation overhead about 0\.020 ms"

# ---- for other tools ----
poet calls "$run" -f folded >folded.txt
is "folded: a line for each path" "$(sort folded.txt | paste -sd'|')" \
    "k 26000000|k;f 4000000|main 10000000|main;g 8000000|main;g;f 20000000|main;g;lock 22000000|main;k 4000000|main;k;f 6000000|main;r 2000000|main;r;r 18000000"
check "callgrind" poet calls "$run" -f callgrind -o callgrind.out
if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate --auto=no callgrind.out >annotated.txt
    like "its reader finds the same total" "$(cat annotated.txt)" "120,000,000 .*PROGRAM TOTALS"
    is "and of each function" "$(grep -cE '30,000,000.*called.c:(f|k)|22,000,000.*lock|8,000,000.*called.c:g' annotated.txt)" 4
else
    skip "callgrind_annotate: not installed (valgrind)"
fi
check "pprof" poet calls "$run" -f pprof -o profile.pb
if command -v go >/dev/null && go tool pprof -h 2>&1 | grep -qi usage; then
    is "its reader finds the same" "$(PPROF_TMPDIR=$work go tool pprof -sample_index=self -unit=us -top profile.pb 2>/dev/null |
        awk '$NF ~ /^(f|g|k|r|main|lock)$/ { print $NF ":" $1 }' | sort | paste -sd' ')" \
        "f:30000us g:8000us k:30000us lock:22000us main:10000us r:20000us"
else
    skip "go tool pprof: not installed"
fi
is "no such format" "$(status poet calls "$run" -f gprof)" 2
is "a part of the run is not to be had" "$(status poet calls "$run" --from 1ms)" 2

# ---- counts alone ----
region counts
counted() { poet calls latest | grep -q '(counted, not timed)'; } # it may be told a moment later
until_true counted
poet calls latest --json >counts.json
is "counted" "$(json counts.json 'print "$f{f}{calls} ", defined $f{f}{self_ns} ? "timed" : "null"')" "1304 null"
like "that is said" "$(poet calls latest)" "1321 calls in 2 threads \(counted, not timed\)"

# ---- parts that the program named ----
region named
named() { poet calls latest --csv | grep -q sorting; }
until_true named
is "a part has the name that the program gave it" \
    "$(poet calls latest --threads two --csv --columns function,calls | sed 1d | tr -d '\r' | paste -sd'|')" "k (called.c:4),2|sorting; all,4"
is "also for other tools" "$(poet calls latest --threads two -f folded | tail -n 1)" "k;sorting: all 4000000"

# ---- while it runs, and killed ----
mkfifo in
region wait <in >said &
program=$!
pids="$pids $program"
exec 5>in
open_frames() { poet calls latest --threads two --csv --columns function,calls,flags | grep -q '^k.*INCOMPLETE'; }
check "open calls are marked" until_true open_frames
like "as of when" "$(poet calls latest)" "sums are as of [0-9.]+ s"
f_calls() { poet calls latest --threads two --csv --columns function,calls | grep '^f ' | cut -d, -f2 | tr -d '\r'; }
# ---- what is measured is chosen while it runs ----
wanted() { # of each queue: counts 1, real 2, cpu 4, states 16
    before=$(wc -l <said)
    echo wanted >&5
    said() { [ "$(wc -l <said)" -gt "$before" ]; }
    until_true said
    tail -n 1 said
}
becomes() { [ "$(wanted)" = "$1" ]; }
is "nothing is wanted" "$(wanted)" "0 0"
check "calls are to be timed" poet measure latest calls=real
check "that reaches all threads" until_true becomes "3 3"
check "one of them is to be counted" poet measure latest calls=counts:two
check "that reaches it alone" until_true becomes "3 1"
check "states, too" poet measure latest states=on:1
check "what else is wanted stays" until_true becomes "19 1"
touch more
check "who comes later does as all were told" until_true becomes "19 1 3"
check "off" poet measure latest calls=off
check "for all" until_true becomes "16 0 0"
is "no such meter" "$(status poet measure latest calls=sometimes)" 2
is "no such line" "$(status poet measure latest calls=off:nobody)" 2
is "nobody is there" "$(poet measure "$run" calls=off 2>&1)" \
    "poet measure: no program of this run is connected"
is "four calls by now" "$(f_calls)" 4
echo >&5
five() { [ "$(f_calls)" = 5 ]; }
check "one more: it is asked anew" until_true five
kill -KILL $program
wait $program 2>/dev/null
ended() { poet ls 2>/dev/null | grep called | head -n 1 | grep -qv running; }
until_true ended
exec 5>&-
newest=$(ls -t traces/*.poet | head -n 1)
stop_server() { kill "$server"; wait "$server" 2>/dev/null; }
is "killed, all is there that it had counted" "$(poet calls "$newest" --threads two --csv --columns function,calls,flags | tr -d '\r' | sed 1d | sort | paste -sd' ')" \
    "f (called.c:2),5,INCOMPLETE k (called.c:4),2,INCOMPLETE"
is "lives hold nothing twice" "$(poet calls "$newest" --json | tail -n 1 |
    perl -MJSON::PP -ne '$t = decode_json($_)->{total}; print $t->{lifetime_ns} - $t->{self_ns} - $t->{unaccounted_ns}')" 0

# ---- a program without ----
compile prodcons
./prodcons >/dev/null
like "nothing was measured" "$(poet calls latest)" "no function profile: compile with poetcc -profile and enable calls"
is "a report has no section of it" "$(poet report latest | grep -c '^Top functions')" 0
is "an empty table" "$(poet calls latest --json | wc -l)" 2
done_testing

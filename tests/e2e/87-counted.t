#!/bin/bash
# Calls that are counted and not timed: functions that are listed (POET_PROFILE_COUNT_ONLY, poetcc -count), and those that are
# called often and shortly (throttle).
. "$(dirname "$0")/lib.sh"
cat >calls.c <<'C'
#include <stdlib.h>
volatile long sink;
#define NI __attribute__((noinline))
NI void leaf(void) { sink++; }
NI void tiny(int n) { if (n & 1) leaf(); }
NI void mid(int n) { for (int i = 0; i < n; i++) tiny(i); }
int main(int argc, char **argv)
{
    tiny(3);
    for (int i = argc > 1 ? atoi(argv[1]) : 10; i--;) mid(1000);
    return 0;
}
C
# run FILE COMMAND...: its trace
run() { out=$1; shift; rm -f "$out"; POET_OUTPUT=$PWD/$out "$@" 2>program.err; }
# table FILE OPTION...: the rows, path or function, calls, those counted only, what it took itself: - where it has no times
table() { poet calls "$@" --json | perl -MJSON::PP -e 'while (<STDIN>) { my $r = decode_json($_)->{row} or next;
    my $s = $r->{function}; $s =~ s/ .*//; my $p = $r->{caller} // "-"; $p =~ s/ .*//;
    print join(":", $p, $s, $r->{calls}, $r->{untimed}, defined $r->{self_ns} ? "timed" : "-"), "\n" }' | sort | xargs; }
# whole FILE: all that functions took themselves, and what is in none of them, is how long the thread lived
whole() { poet calls "$1" --json | perl -MJSON::PP -e 'my $s = 0; while (<STDIN>) { my $o = decode_json($_);
    $s += $o->{row}{self_ns} // 0 if $o->{row};
    print $s + $o->{total}{unaccounted_ns} == $o->{total}{lifetime_ns} ? "whole" : "not" if $o->{total} }'; }
is_sound() { is "$1: the sums are whole" "$(whole "$1")" whole; like "and sound" "$(poet check "$1")" OK; }

check 'it is compiled' poetcc -profile -g -O1 calls.c -o calls
run all.poet ./calls
is 'all are timed' "$(table all.poet --tree)" '-:main:1:0:timed main:mid:10:0:timed main:tiny:1:0:timed mid:tiny:10000:0:timed tiny:leaf:1:0:timed tiny:leaf:5000:0:timed'
run listed.poet env POET_PROFILE_COUNT_ONLY='t?ny' ./calls
is 'one that is listed has no times, and what it calls is called by its caller' "$(table listed.poet --tree)" \
    '-:main:1:0:timed main:leaf:1:0:timed main:mid:10:0:timed main:tiny:1:1:- mid:leaf:5000:0:timed mid:tiny:10000:10000:-'
is_sound listed.poet
like 'the table says so' "$(poet calls listed.poet)" 'tiny.* counted, not timed$'
like 'and for how many' "$(poet calls listed.poet)" 'note: 10001 calls were counted but not timed; their time'
is 'by function likewise' "$(table listed.poet)" '-:leaf:5001:0:timed -:main:1:0:timed -:mid:10:0:timed -:tiny:10001:10001:-'
run counts.poet env POET_MEASURE=calls=counts POET_PROFILE_COUNT_ONLY=leaf ./calls
is 'where nothing is timed, too' "$(table counts.poet)" '-:leaf:5001:5001:- -:main:1:0:- -:mid:10:0:- -:tiny:10001:0:-'
run ignored.poet env POET_PROFILE_COUNT_ONLY=leaf,tiny POET_PROFILE_EXCLUDE=tiny POET_PROFILE_INCLUDE=mid ./calls
is 'what is ignored is not counted, what is counted is one of the only ones' "$(table ignored.poet)" '-:mid:10:0:timed'
run only.poet env POET_PROFILE_COUNT_ONLY=leaf POET_PROFILE_INCLUDE=mid ./calls
is 'and beside them' "$(table only.poet --tree)" '-:leaf:1:1:- -:mid:10:0:timed mid:leaf:5000:5000:-'
printf 'leaf # often\nsrc/x.c\n' >list
run wrong.poet env POET_PROFILE_COUNT_ONLY=@list ./calls
like 'what is wrong with a list is said' "$(cat program.err)" 'POET_PROFILE_COUNT_ONLY: list:2: src/x.c: a file, '
is 'and the rest counts' "$(table wrong.poet | tr ' ' '\n' | grep leaf)" '-:leaf:5001:5001:-'
like 'poet record does not start the program then' "$(POET_PROFILE_COUNT_ONLY=@list poet record -- ./calls 2>&1; echo "=$?")" \
    'poet record: POET_PROFILE_COUNT_ONLY: list:2: src/x.c: a file, '

# ---- when compiling ----
printf '# those that are called often\nleaf\nt?ny\n' >names
compiled() { poetcc -profile "$@" -g -O1 calls.c -o compiled && run compiled.poet ./compiled && table compiled.poet; }
is 'poetcc -count' "$(compiled -count=leaf)" '-:leaf:5001:5001:- -:main:1:0:timed -:mid:10:0:timed -:tiny:10001:0:timed'
is 'by a list, with any letters' "$(compiled -count=@names)" '-:leaf:5001:5001:- -:main:1:0:timed -:mid:10:0:timed -:tiny:10001:10001:-'
is 'what the program is started with comes first' "$(POET_PROFILE_EXCLUDE=mid compiled -count=leaf)" \
    '-:leaf:1:1:- -:main:1:0:timed -:tiny:1:0:timed'
sed 's/int main/int hidden/; s/argc > 1.*: 10/10/; s/char \*\*argv/char **argv/' calls.c >part.c
cat >whole.c <<'C'
int hidden(int, char **);
int main(int argc, char **argv) { return hidden(argc, argv); }
C
poetcc -profile -count=leaf -g -O1 -shared -fPIC part.c -o libpart.so
poetcc -profile -g -O1 -Wl,--gc-sections whole.c -o with ./libpart.so
run with.poet ./with
is 'of a library its own' "$(table with.poet | tr ' ' '\n' | grep -E 'leaf|tiny' | xargs)" '-:leaf:5001:5001:- -:tiny:10001:0:timed'
wrong() { rm -f wrong.o; poetcc -profile "$@" -c calls.c -o wrong.o 2>&1; echo "=$?"; test ! -e wrong.o || echo compiled; }
printf 'leaf\nsrc/calls.c\n' >names
is 'a wrong name is said with its line, and nothing is compiled' "$(wrong -count=@names)" \
    'poetcc: -count: names:2: src/calls.c: one name of a function, without blanks: files cannot be counted
=1'
like 'and an empty list' "$(wrong -count=)" 'missing'

# ---- while it runs ----
run throttled.poet env POET_MEASURE=calls,throttle ./calls 300
is 'no call is lost' "$(table throttled.poet | tr ' ' '\n' | cut -d: -f2,3 | xargs)" 'leaf:150001 main:1 mid:300 tiny:300001'
poet calls throttled.poet --json | perl -MJSON::PP -e 'while (<STDIN>) { my $r = decode_json($_)->{row} or next;
    my $counted = $r->{untimed}; my $timed = $r->{calls} - $counted;
    print "wrong: $_" if $counted && ($timed < 100000 || !defined $r->{untimed_since_ns} || $r->{flags} !~ /^counted, not timed since \d/);
    print "wrong: $_" if !$counted && defined $r->{untimed_since_ns} }' >wrong
is 'what became counted only had been called 100000 times, and it is said since when' "$(cat wrong)" ''
is_sound throttled.poet
run lengthy.poet env POET_MEASURE=calls=counts,throttle ./calls 300
is 'where nothing is timed nothing is short' "$(table lengthy.poet | tr ' ' '\n' | cut -d: -f4 | sort -u)" 0
like 'the word alone is of calls' "$(run word.poet env POET_MEASURE=throttle ./calls; table word.poet | tr ' ' '\n' | head -1)" 'timed'
# ---- lists in a meter file ----
cat >good.conf <<'C'
exact = { calls = "cpu"; };
functions = { ignore = ["mid"]; count = "t?ny"; };
metrics = ( { name = "entries"; count = ["acquired"]; } );
C
like 'a meter file may have lists' "$(poet check ./good.conf)" 'OK$'
poet record -m good.conf -o file.poet ./calls 2>/dev/null
is 'poet record goes by them' "$(table file.poet)" '-:leaf:1:0:timed -:main:1:0:timed -:tiny:1:1:-'
like 'poet metrics reads the same file' "$(poet metrics -m good.conf file.poet 2>&1; echo "=$?")" '=0'
# broken LIST COMPLAINT
broken() {
    printf 'exact = { calls = "cpu"; };\nfunctions = {\n  %s;\n};\n' "$1" >broken.conf
    is "$1" "$(poet record -m ./broken.conf ./calls 2>&1; echo "=$?")" "./broken.conf:3: $2
=2"
}
broken 'count = ["src/x.c"]' 'src/x.c: a file, and those are chosen when compiling (poetcc -only, -ignore)'
broken 'only = "a,b"' 'a,b: not a single name'
broken 'ignored = ["a"]' 'unknown key "ignored"; did you mean "ignore"?'
printf 'exact = { throttle = true; };\n' >broken.conf
is 'a throttle is of calls' "$(poet check ./broken.conf 2>&1)" \
    './broken.conf:1: "throttle" needs timed calls: calls = "real", "cpu" or "every"'

# ---- when they began and ended is not known of them ----
cat >lines.c <<'C'
volatile long sink;
#define NI __attribute__((noinline))
NI void leaf(void) { sink++; }
NI void tiny(int n) { if (n & 1) leaf(); }
NI void mid(int n)
{
    for (int i = 0; i < n; i++)
        tiny(i);
    leaf();
}
int main(void) { for (int i = 0; i < 10; i++) mid(100); return 0; }
C
poetcc -profile -g -O1 lines.c -o lines
run every.poet env POET_MEASURE=calls=every POET_PROFILE_COUNT_ONLY=tiny ./lines
for o in --every '--with mid' --cases; do
    like "$o says that they are missing" "$(poet calls $o every.poet)" 'note: 1000 calls of the whole run have no records: counted, not timed'
done
like '--blocks, too' "$(poet calls --blocks mid every.poet)" 'note: 1000 calls in it were counted but not timed: they end no block'
# Fifty of each hundred calls of leaf are those of tiny, which mid calls; they are on no line of mid.
is 'a block is between lines of its own' "$(poet calls --blocks mid every.poet --json | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next;
    my $after = $r->{after} // "-"; $after =~ s/ .*//; print "$r->{lines}:$after:$r->{count}\n"' | xargs)" 'from 6:-:10 9-end:leaf:10 :leaf:500'
like 'and what is not is said' "$(poet calls --blocks mid every.poet)" 'note: 500 calls came from code of other functions'
run whole.poet env POET_MEASURE=calls=every ./lines
is 'nothing is said where all are there' "$(for o in --every '--with mid' --cases '--blocks mid'; do poet calls $o whole.poet; done |
    grep -E 'not timed|not its own')" ''

# ---- in groups ----
sed -n '2,5p' calls.c >a.c
{ echo 'void tiny(int);'; sed -n '1p;3p;6,$p' calls.c; } >b.c
poetcc -profile -g -O1 a.c b.c -o two
mkdir -p home/poet
cat >home/poet/pthread.conf <<'C'
include = "pthread";
function_categories = ( { match = "t?ny"; category = "system"; }, { match = "mid"; category = "send"; } );
C
run two.poet env POET_PROFILE_COUNT_ONLY=tiny ./two
# sums COLUMN: the groups by it, and whether their times are all of them
sums() { perl -MJSON::PP -e 'my ($s, @rows) = 0; while (<STDIN>) { my $o = decode_json($_);
    if (my $r = $o->{row}) { my $key = $r->{$ARGV[0]}; $key =~ s/.*\/| .*//g; $s += $r->{self_ns} // 0;
        push @rows, "$key:$r->{functions}:$r->{calls}:$r->{flags}"; }
    print join(" ", sort(@rows), $s == $o->{total}{self_ns} ? "whole" : "not whole"), "\n" if $o->{total} }' "$1"; }
is 'by file' "$(poet calls two.poet --by file --json | sums file)" 'a.c:2:15002:some not timed b.c:2:11: whole'
is '--files is the same' "$(poet calls two.poet --files)" "$(poet calls two.poet --by file)"
is 'with the functions of each' "$(poet calls two.poet --files --tree --sort calls | awk 'NR > 2 && /^ *[a-z\/].*\.c/ { sub(/.*\//, "", $1); print $1 }' | xargs)" \
    'a.c tiny leaf b.c mid main'
is 'by category, as a description says of names' "$(XDG_CONFIG_HOME=$PWD/home poet calls two.poet --by category --json | sums category)" \
    '(no:2:5002: send:1:10: system:1:10001:some not timed whole'
is 'where none says so' "$(poet calls two.poet --by category --json | sums category)" '(no:4:15013:some not timed whole'
like 'what cannot be added up is no column' "$(poet calls two.poet --files --sort total 2>&1)" 'sort total: what of groups can be added up'
done_testing

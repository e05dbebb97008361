#!/bin/bash
# Calls that are counted and not timed: functions that are listed (POET_PROFILE_COUNT_ONLY, poetcc -count), and short
# functions that are called often (throttle).
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
# run FILE COMMAND...: records a trace into FILE
run() { out=$1; shift; rm -f "$out"; POET_OUTPUT=$PWD/$out "$@" 2>program.err; }
# table FILE OPTION...: per row path or function, calls, counted calls, and whether it has times (-: none)
table() {
    poet calls "$@" --json | json 'rows | [(.caller // "-" | first_word), (.function | first_word), .calls, .untimed,
        if .self_ns == null then "-" else "timed" end] | join(":")' | sort | xargs
}
# whole FILE: do self times and unaccounted time add up to each thread's lifetime?
whole() {
    poet calls "$1" --json |
        json 'if sum(rows.self_ns) + total.unaccounted_ns == total.lifetime_ns then "whole" else "not" end'
}
is_sound() { is "$1: self times add up to the lifetime" "$(whole "$1")" whole; like "$1: poet check accepts the trace" "$(poet check "$1")" OK; }

check 'calls.c compiles with -profile' poetcc -profile -g -O1 calls.c -o calls
run all.poet ./calls
is 'without a list all functions are timed' "$(table all.poet --tree)" '-:main:1:0:timed main:mid:10:0:timed main:tiny:1:0:timed mid:tiny:10000:0:timed tiny:leaf:1:0:timed tiny:leaf:5000:0:timed'
run listed.poet env POET_PROFILE_COUNT_ONLY='t?ny' ./calls
is 'COUNT_ONLY: a listed function has no times, its callees belong to its caller' "$(table listed.poet --tree)" \
    '-:main:1:0:timed main:leaf:1:0:timed main:mid:10:0:timed main:tiny:1:1:- mid:leaf:5000:0:timed mid:tiny:10000:10000:-'
is_sound listed.poet
like 'COUNT_ONLY: the table marks the function' "$(poet calls listed.poet)" 'tiny.* counted, not timed$'
like 'COUNT_ONLY: a note has the number of counted calls' "$(poet calls listed.poet)" 'note: 10001 calls were counted but not timed; their time'
is 'COUNT_ONLY: the table by function marks the function' "$(table listed.poet)" '-:leaf:5001:0:timed -:main:1:0:timed -:mid:10:0:timed -:tiny:10001:10001:-'
run counts.poet env POET_MEASURE=calls=counts POET_PROFILE_COUNT_ONLY=leaf ./calls
is 'COUNT_ONLY with calls=counts: no function has times' "$(table counts.poet)" '-:leaf:5001:5001:- -:main:1:0:- -:mid:10:0:- -:tiny:10001:0:-'
run ignored.poet env POET_PROFILE_COUNT_ONLY=leaf,tiny POET_PROFILE_EXCLUDE=tiny POET_PROFILE_INCLUDE=mid ./calls
is 'COUNT_ONLY with EXCLUDE: an excluded function is not counted' "$(table ignored.poet)" '-:mid:10:0:timed'
run only.poet env POET_PROFILE_COUNT_ONLY=leaf POET_PROFILE_INCLUDE=mid ./calls
is 'COUNT_ONLY with INCLUDE: a counted function is measured besides' "$(table only.poet --tree)" '-:leaf:1:1:- -:mid:10:0:timed mid:leaf:5000:5000:-'
printf 'leaf # often\nsrc/x.c\n' >list
run wrong.poet env POET_PROFILE_COUNT_ONLY=@list ./calls
like 'COUNT_ONLY: an error of a list is reported with its line' "$(cat program.err)" 'POET_PROFILE_COUNT_ONLY: list:2: src/x.c: a file, '
is 'COUNT_ONLY: the other names of the list are in effect' "$(table wrong.poet | tr ' ' '\n' | grep leaf)" '-:leaf:5001:5001:-'
like 'COUNT_ONLY: poet record does not start the program with an invalid list' "$(POET_PROFILE_COUNT_ONLY=@list poet record -- ./calls 2>&1; echo "=$?")" \
    'poet record: POET_PROFILE_COUNT_ONLY: list:2: src/x.c: a file, '

# ---- when compiling ----
printf '# those that are called often\nleaf\nt?ny\n' >names
compiled() { poetcc -profile "$@" -g -O1 calls.c -o compiled && run compiled.poet ./compiled && table compiled.poet; }
is 'poetcc -count counts a function' "$(compiled -count=leaf)" '-:leaf:5001:5001:- -:main:1:0:timed -:mid:10:0:timed -:tiny:10001:0:timed'
is 'poetcc -count=@FILE counts the functions of a list, with any characters' "$(compiled -count=@names)" '-:leaf:5001:5001:- -:main:1:0:timed -:mid:10:0:timed -:tiny:10001:10001:-'
is 'poetcc -count: POET_PROFILE_EXCLUDE at start has priority' "$(POET_PROFILE_EXCLUDE=mid compiled -count=leaf)" \
    '-:leaf:1:1:- -:main:1:0:timed -:tiny:1:0:timed'
sed 's/int main/int hidden/; s/argc > 1.*: 10/10/; s/char \*\*argv/char **argv/' calls.c >part.c
cat >whole.c <<'C'
int hidden(int, char **);
int main(int argc, char **argv) { return hidden(argc, argv); }
C
poetcc -profile -count=leaf -g -O1 -shared -fPIC part.c -o libpart.so
poetcc -profile -g -O1 -Wl,--gc-sections whole.c -o with ./libpart.so
run with.poet ./with
is 'poetcc -count in a library applies to the library' "$(table with.poet | tr ' ' '\n' | grep -E 'leaf|tiny' | xargs)" '-:leaf:5001:5001:- -:tiny:10001:0:timed'
wrong() { rm -f wrong.o; poetcc -profile "$@" -c calls.c -o wrong.o 2>&1; echo "=$?"; test ! -e wrong.o || echo compiled; }
printf 'leaf\nsrc/calls.c\n' >names
is 'poetcc -count: an invalid name is reported with its line, and nothing is compiled' "$(wrong -count=@names)" \
    'poetcc: -count: names:2: src/calls.c: invalid; expected a function name, not a file
=1'
like 'poetcc -count with an empty list is refused' "$(wrong -count=)" 'missing'

# ---- throttling at run time ----
run throttled.poet env POET_MEASURE=calls,throttle ./calls 300
is 'throttle: no call is lost' "$(table throttled.poet | tr ' ' '\n' | cut -d: -f2,3 | xargs)" 'leaf:150001 main:1 mid:300 tiny:300001'
poet calls throttled.poet --json | json 'rows | select(if .untimed > 0
        then .calls - .untimed < 100000 or .untimed_since_ns == null or
            (.flags // "" | test("^counted, not timed since [0-9]") | not)
        else .untimed_since_ns != null end) | "wrong: \(.)"' >wrong 2>&1
is 'throttle: functions are counted after 100000 calls, with the time of the change' "$(cat wrong)" ''
is_sound throttled.poet
run lengthy.poet env POET_MEASURE=calls=counts,throttle ./calls 300
is 'throttle with calls=counts: no function is throttled' "$(table lengthy.poet | tr ' ' '\n' | cut -d: -f4 | sort -u)" 0
like 'throttle alone measures calls' "$(run word.poet env POET_MEASURE=throttle ./calls; table word.poet | tr ' ' '\n' | head -1)" 'timed'
# ---- lists in a measurement file ----
cat >good.conf <<'C'
exact = { calls = "cpu"; };
functions = { ignore = ["mid"]; count = "t?ny"; };
metrics = ( { name = "entries"; count = ["acquired"]; } );
C
like 'a measurement file may have lists of functions' "$(poet check ./good.conf)" 'OK$'
poet record -m good.conf -o file.poet ./calls 2>/dev/null
is 'poet record applies the lists of a measurement file' "$(table file.poet)" '-:leaf:1:0:timed -:main:1:0:timed -:tiny:1:1:-'
like 'poet metrics reads a measurement file with lists' "$(poet metrics -m good.conf file.poet 2>&1; echo "=$?")" '=0'
# broken LIST COMPLAINT: the file is refused
broken() {
    printf 'exact = { calls = "cpu"; };\nfunctions = {\n  %s;\n};\n' "$1" >broken.conf
    is "record -m: a list with $1 is refused" "$(poet record -m ./broken.conf ./calls 2>&1; echo "=$?")" "./broken.conf:3: $2
=2"
}
broken 'count = ["src/x.c"]' 'src/x.c: a file, and those are chosen when compiling (poetcc -only, -ignore)'
broken 'only = "a,b"' 'a,b: not a single name'
broken 'ignored = ["a"]' 'unknown key "ignored"; did you mean "ignore"?'
printf 'exact = { throttle = true; };\n' >broken.conf
is 'a measurement file with throttle needs calls' "$(poet check ./broken.conf 2>&1)" \
    './broken.conf:1: "throttle" needs timed calls: calls = "real", "cpu" or "every"'

# ---- counted calls have no start and end ----
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
    like "calls $o notes the missing records" "$(poet calls $o every.poet)" 'note: 1000 calls of the whole run have no records: counted, not timed'
done
like 'calls --blocks notes the missing records' "$(poet calls --blocks mid every.poet)" 'note: 1000 calls in it were counted but not timed: they end no block'
# Fifty of each hundred calls of leaf are those of tiny, which mid calls; they are on no line of mid.
is 'calls --blocks: a block is between lines of its own function' "$(poet calls --blocks mid every.poet --json |
    json 'rows | [.lines, (.after // "-" | first_word), .count] | join(":")' | xargs)" 'from 6:-:10 9-end:leaf:10 :leaf:500'
like 'calls --blocks notes calls from other functions' "$(poet calls --blocks mid every.poet)" 'note: 500 calls came from code of other functions'
run whole.poet env POET_MEASURE=calls=every ./lines
is 'calls of a complete trace have no note of missing records' "$(for o in --every '--with mid' --cases '--blocks mid'; do poet calls $o whole.poet; done |
    grep -E 'not timed|not its own')" ''

# ---- groups ----
sed -n '2,5p' calls.c >a.c
{ echo 'void tiny(int);'; sed -n '1p;3p;6,$p' calls.c; } >b.c
poetcc -profile -g -O1 a.c b.c -o two
mkdir -p home/poet
cat >home/poet/pthread.conf <<'C'
include = "pthread";
function_categories = ( { match = "t?ny"; category = "system"; }, { match = "mid"; category = "send"; } );
C
run two.poet env POET_PROFILE_COUNT_ONLY=tiny ./two
# sums COLUMN: the groups, and whether their times add up to the total
sums() {
    json "([rows | [(.$1 / \"/\" | last | first_word), .functions, .calls, .flags] | join(\":\")] | sort[]),
        if sum(rows.self_ns) == total.self_ns then \"whole\" else \"not whole\" end" | paste -sd' '
}
is 'calls --by file: the groups' "$(poet calls two.poet --by file --json | sums file)" 'a.c:2:15002:some not timed b.c:2:11: whole'
is 'calls --files equals calls --by file' "$(poet calls two.poet --files)" "$(poet calls two.poet --by file)"
is 'calls --files --tree lists the functions of each file' "$(poet calls two.poet --files --tree --sort calls | awk 'NR > 2 && /^ *[a-z\/].*\.c/ { sub(/.*\//, "", $1); print $1 }' | xargs)" \
    'a.c tiny leaf b.c mid main'
is 'calls --by category: categories of the names in a description' "$(XDG_CONFIG_HOME=$PWD/home poet calls two.poet --by category --json | sums category)" \
    '(no:2:5002: send:1:10: system:1:10001:some not timed whole'
is 'calls --by category without categories has one group' "$(poet calls two.poet --by category --json | sums category)" '(no:4:15013:some not timed whole'
like 'calls --files --sort total is refused with the reason' "$(poet calls two.poet --files --sort total 2>&1)" 'sort total: not a column of groups'
done_testing

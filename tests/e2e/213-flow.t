#!/bin/bash
# poet calls --suggest lists functions that are better not measured, and poetcc -ignore=@FILE leaves them out.
. "$(dirname "$0")/lib.sh"
measured() { POET_MEASURE=${METERS:-calls} POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"; } # measured TRACE PROGRAM...
names() { poet calls "$1" --json | json 'rows | .function | sub(" .*"; "")' | sort | xargs; }

# One function is called often and is short; one is called too rarely, by one call; one often enough, but is long.
cat >often.c <<'C'
volatile long sink;
__attribute__((noinline)) void tiny(void) { sink++; }
__attribute__((noinline)) void rare(void) { sink++; }
__attribute__((noinline)) void slow(void) { for (int i = 0; i < 2000; i++) sink++; }
int main(void)
{
    for (int i = 0; i < 400000; i++) tiny();
    for (int i = 0; i < 100000; i++) rare();
    for (int i = 0; i < 100001; i++) slow();
    return 0;
}
C
poetcc -profile -g -O1 often.c -o often
measured often.poet ./often
is 'without a list all functions are measured' "$(names often.poet)" 'main rare slow tiny'
poet calls often.poet --suggest >list
is 'suggest: the function that is called often and is short' "$(grep -v '^#' list)" tiny
like 'suggest: its share of the instrumentation overhead' "$(cat list)" \
    '^# 1 function with more than 100000 calls, .*: about [0-9.]+ of [0-9.]+ ms overhead \([0-9.]+ %\)'
like 'suggest: the overhead of each function' "$(cat list)" '^# 400000 calls, overhead about [0-9.]+ ms'
# Beside three processes of a higher priority on its only CPU: it takes some ten times as long.
taskset -c "$(taskset -pc $$ | sed 's/.*[ ,-]//')" sh -c '
    for loop in 1 2 3; do while :; do :; done & loops="$loops $!"; done
    nice -n 5 "$@"
    kill $loops' sh env POET_MEASURE=calls POET_QUIET=1 POET_OUTPUT=busy.poet ./often
is 'suggest: the same function where the CPU is shared' "$(poet calls busy.poet --suggest | grep -v '^#')" tiny
poet calls often.poet --suggest -o file
check 'suggest -o writes the list to a file' cmp list file

# ---- compiled with the list ----
poetcc -profile -ignore=@list -g -O1 often.c -o less
measured less.poet ./less
is '-ignore=@FILE: the listed function is not measured' "$(names less.poet)" 'main rare slow'
is '-ignore=@FILE: no further function is suggested' "$(poet calls less.poet --suggest | grep -vc '^#')" 0
poetcc -profile -ignore=@list,rare -g -O1 often.c -o least
measured least.poet ./least
is '-ignore: a list and names may be combined' "$(names least.poet)" 'main slow'
like '-ignore: a missing list is an error' "$(poetcc -profile -ignore=@gone -c often.c 2>&1)" 'gone: cannot be read'
check '-ignore: with a missing list nothing is compiled' test ! -e often.o

# ---- counts without times ----
METERS=calls=counts measured counts.poet ./often
like 'suggest: counts without times give a note' "$(poet calls counts.poet --suggest)" '^# instrumentation overhead unknown: no call was timed'
done_testing

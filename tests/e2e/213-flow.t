#!/bin/bash
# Which functions are better not measured (poet calls --suggest), and leaving those out (poetcc -ignore=@FILE).
. "$(dirname "$0")/lib.sh"
measured() { POET_MEASURE=${METERS:-calls} POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"; } # measured TRACE PROGRAM...
names() { poet calls "$1" --json | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next; my $s = $r->{function};
    $s = $s->{name} if ref $s; $s =~ s/ .*//; print "$s\n"' | sort | xargs; }

# One is called often and is short; one not often enough, by one call; one often enough, but long.
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
is 'all are measured' "$(names often.poet)" 'main rare slow tiny'
poet calls often.poet --suggest >list
is 'the one that is called often and is short is suggested' "$(grep -v '^#' list)" tiny
like 'and what measuring it costs is said' "$(cat list)" \
    '^# 1 function of more than 100000 calls .*: about [0-9.]+ of [0-9.]+ ms of measuring \([0-9.]+ %\)'
like 'of each, too' "$(cat list)" '^# 400000 calls, measuring about [0-9.]+ ms'
poet calls often.poet --suggest -o file
check 'it goes into a file' cmp list file

# ---- without them ----
poetcc -profile -ignore=@list -g -O1 often.c -o less
measured less.poet ./less
is 'what the list has is not measured' "$(names less.poet)" 'main rare slow'
is 'and then nothing is suggested' "$(poet calls less.poet --suggest | grep -vc '^#')" 0
poetcc -profile -ignore=@list,rare -g -O1 often.c -o least
measured least.poet ./least
is 'a list and names go together' "$(names least.poet)" 'main slow'
like 'a list that is not there is an error' "$(poetcc -profile -ignore=@gone -c often.c 2>&1)" 'gone: cannot be read'
check 'and nothing is compiled then' test ! -e often.o

# ---- counted alone ----
METERS=calls=counts measured counts.poet ./often
like 'of counts it is not known' "$(poet calls counts.poet --suggest)" '^# no call was timed'
done_testing

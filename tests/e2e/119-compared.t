#!/bin/bash
# Where two runs of a program part: in words, and as a picture of both, one above the other, what is equal in the same columns.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >parts.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void use(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
}
static void *work(void *x)
{
    for (int i = 0; i < atoi(x); i++)
        use(&a);
    if (getenv("OTHER"))
        use(&b);
    use(&a);
    return x;
}
int main(int c, char **v)
{
    pthread_t t;
    for (int i = 1; i < c; i++) {
        pthread_create(&t, 0, work, v[i]);
        pthread_join(t, 0);
    }
    return 0;
}
END
poetcc -trace -g parts.c -o parts
record() { # record FILE COMMAND...
    rm -f "$1"
    env POET_OUTPUT="$1" timeout 60 "${@:2}"
    until_true finished "$1"
}
record one.poet ./parts 3
record same.poet ./parts 3
record other.poet env OTHER=1 ./parts 3
record more.poet ./parts 3 1

# ---- in words ----
is "equal" "$(poet compare one.poet same.poet; echo $?)" "the same: $(figure one.poet events) events
0"
poet compare one.poet other.poet >said
is "they part" $? 1
is "who did what instead of what" "$(tail -n +2 said)" "one.poet: T:work did petition of M:a (2:12, parts.c:7)
other.poet: T:work did petition of M:b (2:12, parts.c:7)"
like "after so many" "$(head -n 1 said)" "^they part; equal: [0-9]{2} events are$"
poet compare one.poet more.poet >said
is "one goes on" "$? $(tail -n +2 said | sed 's/ (.*//')" "1 one.poet: T:main did end
more.poet: T:main did create of T:work#2"
is "nothing is said" "$(poet compare -q one.poet more.poet; echo $?)" 1
is "no such file" "$(poet compare one.poet none.poet 2>/dev/null; echo $?)" 2
is "two are needed" "$(poet compare one.poet 2>/dev/null; echo $?)" 2
like "what it cannot write" "$(poet compare -o x.html one.poet more.poet 2>&1)" "x.html: the name must end in .pdf, .svg, .png or .txt"
is "what is equal is not drawn" "$(poet compare -o same.pdf one.poet same.poet 2>&1 >/dev/null; ls same.pdf 2>/dev/null)" "poet compare: same.pdf is not written: the runs do not part"

# ---- as a picture ----
poet compare -o both.txt one.poet other.poet >/dev/null
is "both are in it" "$(grep -c '^T:work ' both.txt) $(grep -xc 'one.poet\|other.poet' both.txt)" "2 2"
is "each event is called as its own run calls it" "$(grep -c '^2:1[0-9] T:work: ends, before 1:3 T:main' both.txt)" 2
# how many letters of the two rows are equal
same=$(perl -CS -Mutf8 -ne 'push @row, $_ if /^T:work /; END { my $x = $row[0] ^ $row[1]; print $x =~ /^(\x{0}*)/ ? length $1 : 0 }' both.txt)
check "and equal up to where they part" [ "$same" -gt 60 ]
like "with flags" "$(cat both.txt)" "^note 1  T:work did petition of M:a .2:12"
like "and the other" "$(cat both.txt)" "^note 2  T:work did petition of M:b .2:12"
for format in pdf svg png; do poet compare -o both.$format one.poet other.poet >/dev/null; done
like "on paper" "$(pdftotext -layout both.pdf -)" "parts: two runs"
is "as SVG" "$(grep -c 'T:work did petition of M:b' both.svg)" 1
like "as PNG" "$(head -c 4 both.png | tail -c 3)" PNG

# ---- a run that is repeated ----
OTHER=1 timeout 60 poet replay one.poet -o again.poet --picture again.txt 2>said
is "it differs" $? 1
like "and is drawn" "$(cat again.txt)" "^again.poet$"
like "above the other" "$(cat again.txt)" "^note 2  T:work did petition of M:b .2:12"
rm -f again.txt again.poet
timeout 60 poet replay one.poet -o again.poet -p again.txt 2>said
is "what is the same is not" "$? $(ls again.txt 2>/dev/null; grep -c 'again.txt is not written: the runs do not part' said)" "0 1"

# ---- a run whose visits are flipped ----
cat >two.c <<'END'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *x) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return x; }
static void *two(void *x) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return x; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, one, 0), pthread_create(&u, 0, two, 0);
    pthread_join(t, 0), pthread_join(u, 0);
    return 0;
}
END
poetcc -trace -g two.c -o two
record two.poet ./two
set -- $(poet dump --json two.poet | perl -MJSON::PP -ne 'my $e = decode_json $_; print "$e->{event} " if ($e->{type} // "") eq "enter" && $e->{event} =~ /^[23]:/')
timeout 60 poet replay two.poet -o flipped.poet --flip "$1" "$2" --picture flipped.txt 2>said
like "the other came first" "$? $(cat said)" "0 .*flipped: the other came first"
is "in the one this, in the other that" "$(grep -c 'of M:m .*event [13] of M:m' flipped.txt)" 2
done_testing

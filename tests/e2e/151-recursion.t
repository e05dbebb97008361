#!/bin/bash
# Recursive functions (direct, mutual, and through threads that they create): no time is counted twice.
. "$(dirname "$0")/lib.sh"

cat >recursion.c <<'C'
#include <time.h>
#define NOINLINE __attribute__((noinline))
static void pass(long n) { struct timespec t = {0, n * 1000000}; nanosleep(&t, 0); }
NOINLINE int alone(int n) { pass(1); return n < 1 ? 1 : n * alone(n - 1); }
NOINLINE int ping(int n);
NOINLINE int pong(int n) { pass(1); return n < 1 ? 0 : ping(n - 1); }
NOINLINE int ping(int n) { pass(1); return n < 1 ? 1 : pong(n - 1); }
int main(void) { return alone(6) + ping(7) < 0; }
C
poetcc -profile -ignore=pass -g -O1 recursion.c -o recursion || exit 1
POET_MEASURE=calls=every poet record -o recursion.poet -- ./recursion 2>/dev/null
poet calls --cases --json recursion.poet >cases
is 'recursion in one thread: wall-clock time equals thread time in each case' \
    "$(perl -MJSON::PP -ne '$r = decode_json($_)->{row} or next; $n++;
        print "$r->{class} $r->{thread_ns} $r->{elapsed_ns}\n" if $r->{thread_ns} != $r->{elapsed_ns} || !$r->{thread_ns};
        END { print "rows\n" if $n > 8 }' cases)" rows
# means RUN: for each function whether its mean is between its minimum and maximum; - if it has none
means() {
    poet calls --graph --json "$1" | perl -MJSON::PP -ne '$r = decode_json($_)->{row} or next;
        $s = ref $r->{function} ? $r->{function}{name} : $r->{function}; $s =~ s/ .*//; next if $seen{$s}++ || $s !~ /^(alone|ping|pong)$/;
        $m = $r->{mean_ns}; $of{$s} = !defined $m ? "-" : $m >= $r->{min_ns} && $m <= $r->{max_ns} ? "between" : "outside";
        END { print join(" ", map { "$_:$of{$_}" } sort keys %of), "\n" }'
}
is 'recursion: the mean of a recursive function is that of its outer calls' "$(means recursion.poet)" 'alone:between ping:between pong:-'

# ---- recursion through threads: time in created threads is part of the total, and also a column of its own ----
cat >threads.c <<'C'
#include <pthread.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
static void pass(long n) { struct timespec t = {0, n * 1000000}; nanosleep(&t, 0); }
NOINLINE void step(int n);
NOINLINE void other(void) { pass(2); }
UNSEEN void *begin(void *n) { step((int)(long)n); other(); return 0; }
NOINLINE void step(int n)
{
    pthread_t t;
    pass(2);
    if (n && !pthread_create(&t, 0, begin, (void *)(long)(n - 1))) pthread_join(t, 0);
}
int main(void) { other(); step(2); return 0; }
C
poetcc -profile -trace -ignore=pass -g -O1 threads.c -o threads || exit 1
POET_MEASURE=calls poet record -o threads.poet -- ./threads 2>/dev/null
# row FILE FUNCTION COLUMN...
row() { perl -MJSON::PP -e 'my ($f, $of, @c) = @ARGV; open F, $f; while (<F>) { my $r = decode_json($_)->{row} or next; my $s = $r->{function};
    $s = $s->{name} if ref $s; print join(" ", map { $r->{$_} } @c), "\n" if $s =~ /^\Q$of\E\b/ }' "$@"; }
poet calls --json threads.poet >sums
poet calls --by thread --json threads.poet >apart
row apart step total_ns | sort -n >each # the thread that creates the others took longest
is 'recursion through threads: three threads call the function' "$(row sums step calls) $(wc -l <each)" '3 3'
is 'recursion through threads: the total is that of all threads' "$(row sums step total_ns)" "$(awk '{ sum += $1 } END { printf "%d", sum }' each)"
is 'recursion through threads: time in created threads is in column nested_ns' "$(row sums step nested_ns)" \
    "$(head -2 each | awk '{ sum += $1 } END { printf "%d", sum }')"
is 'concurrent calls in several threads: no time is in column nested_ns' "$(row sums other nested_ns)" 0
like 'recursion through threads: poet calls prints a note' "$(poet calls threads.poet)" 'on threads that the same function created'
done_testing

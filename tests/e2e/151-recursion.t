#!/bin/bash
# Functions that call themselves, each other, or themselves on threads that they make: no time counts twice.
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
POET_METERS=calls=every poet record -o recursion.poet -- ./recursion 2>/dev/null
poet calls --cases --json recursion.poet >cases
is 'each case of recursion in one thread takes as long by the clock as by its thread' \
    "$(perl -MJSON::PP -ne '$r = decode_json($_)->{row} or next; $n++;
        print "$r->{case} $r->{thread_ns} $r->{elapsed_ns}\n" if $r->{thread_ns} != $r->{elapsed_ns} || !$r->{thread_ns};
        END { print "rows\n" if $n > 8 }' cases)" rows
done_testing

#!/bin/bash
# Whose calls are measured and what is said of them: names that are left out are whole names.
. "$(dirname "$0")/lib.sh"
measured() { POET_METERS=calls POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"; } # measured TRACE PROGRAM...
names() { poet calls "$1" --json | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next;
    my $s = $r->{scope}; $s =~ s/ .*//; print "$s:$r->{calls}\n"' | sort | xargs; }

# ---- -ignore ----
cat >turns.c <<'C'
volatile long turns;
__attribute__((noinline)) static void turn(void) { turns++; }
__attribute__((noinline)) void return_(void) { turns++; }
__attribute__((noinline)) void turn_all(void) { return_(); turn(); }
__attribute__((noinline)) void lonely(void) { turns++; }
int main(void) { turn_all(); turn(); lonely(); return 0; }
C
ignoring() { poetcc -profile "-ignore=$1" -O1 turns.c -o turns && measured turns.poet ./turns && names turns.poet; }
is 'a function is left out by its whole name, and what it calls is not' "$(ignoring turn_all)" \
    'lonely:1 main:1 return_:1 turn:2'
is 'not others that have it in theirs' "$(ignoring turn)" 'lonely:1 main:1 return_:1 turn_all:1'
is 'several, where * stands for letters' "$(ignoring '*turn_*,lonely')" 'main:1 turn:2'
poetcc -profile -ignore=lonely -O1 -c turns.c -o turns.o
is 'what no other name has in it the compiler leaves out' "$(readelf -n turns.o | grep -c Poet)" 0
cat >scopes.cpp <<'C'
volatile long n;
namespace in { __attribute__((noinline)) void f() { n++; } }
__attribute__((noinline)) void f() { n++; }
int main() { in::f(); f(); }
C
poetcc++ -profile -ignore=f -O1 scopes.cpp -o scopes
measured scopes.poet ./scopes
is 'in C++ the scope belongs to the name' "$(names scopes.poet)" 'in::f:1 main:1'
like 'what is neither a function nor a part of a file is refused' \
    "$(poetcc -profile '-ignore=s*/' -c turns.c 2>&1)" 's\*/: one name of a function'
done_testing

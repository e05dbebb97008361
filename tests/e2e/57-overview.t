#!/bin/bash
# From far away: the critical path as a line over the strips, waiting by kind, and the states of threads below them; each is
# what the tables say of the same threads, by order and by time.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
. "$root/tests/e2e/display.sh"

# Waits of each kind: two who take a lock in turn, each while the other waits for it, one who sleeps until a time, one who waits for a flag that nobody records,
# and main, who joins all of them.
cat >kinds.c <<'C'
#define _GNU_SOURCE
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static struct sleeper at[2];
static atomic_int has_had[2], slept;
static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void *holder(void *a)
{
    int me = *(char *)a == 't';
    pthread_setname_np(pthread_self(), a);
    for (int i = 0; i < 12; i++) {
        until_set(&has_had[!me], i + me);
        about_to_wait(&at[me]);
        pthread_mutex_lock(&m);
        has_had[me] = i + 1;
        if (me && i == 11)
            until_set(&slept, 1); /* the last of all */
        else
            until_asleep(&at[!me], i + 1 + me);
        nap(8);
        pthread_mutex_unlock(&m);
        nap(1);
    }
    return a;
}
static void *sleeper(void *a)
{
    pthread_setname_np(pthread_self(), a);
    pthread_mutex_lock(&own);
    for (int i = 0; i < 4; i++) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 30000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&never, &own, &t);
    }
    pthread_mutex_unlock(&own);
    slept = 1;
    return a;
}
int main(void)
{
    pthread_t t[3];
    nap(20);
    pthread_create(&t[0], 0, holder, "one");
    pthread_create(&t[1], 0, holder, "two");
    pthread_create(&t[2], 0, sleeper, "sleeper");
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
}
C
poetcc -trace -g kinds.c -o kinds
POET_OUTPUT=kinds.poet ./kinds
until_true finished kinds.poet

cat >script <<'E'
drawer none
action fit
overlay nothing
state state
action critical-path
action tint-waits
drawer states
action fit
strips by-order.strips
overlay by-order
bands by-order.bands
image by-order.png
time 6
action fit
strips by-time.strips
overlay by-time
bands by-time.bands
hide 1
overlay hidden
action undo
action cluster-kind
image cluster.png
overlay cluster
bands cluster.bands
action undo
drawer none
action critical-path
action tint-waits
overlay off
zoom 0.6 600 300
action fit
state state
quit
drawer none
action fit
overlay nothing
action critical-path
action tint-waits
drawer states
action fit
strips by-order.strips
overlay by-order
bands by-order.bands
image by-order.png
time 6
action fit
strips by-time.strips
overlay by-time
bands by-time.bands
hide 1
overlay hidden
action undo
drawer none
action critical-path
action tint-waits
overlay off
quit
E
timeout 100 poet view kinds.poet --script script >log 2>&1

# What tables say of each thread, and what the picture adds up to, in ms.
poet states kinds.poet --json >states.json
poet path kinds.poet --by thread --json >path.json
cat >compare.pl <<'P'
my ($strips, $overlay, $bands, $what) = @ARGV;
my (@label, %path, %kinds, %band, $pixels, $span, @pixel, $bad);
sub lines { open my $f, "<", $_[0] or return; <$f> }
for (lines($strips)) {
    $span = ($2 - $1) / 1e6 if /, (-?\d+) to (-?\d+),/;
    push @label, $1 if /^row .* (\S+)$/;
}
for (lines($overlay)) {
    $pixels = $1 if /^trail of (\d+)/;
    if (/^path (\d+) (\d+) (\d+) (\S+)/) {
        $path{$label[$1]} += ($3 - $2) * $4 * $span / $pixels;
        $pixel[$_] += $4 for $2 .. $3 - 1;
    }
    $kinds{$label[$1]} = {split " ", $2} if /^kinds (\d+) (.*)/;
}
for (lines($bands)) { $band{$1} = {split " ", $2} if /^row \d+ (\S+) (.*)/ }
sub near { abs($_[0] - $_[1]) < 0.015 * $span or $bad .= "$_[2]: $_[0] ms, not $_[1]\n" }
sub ms { $_[0] =~ /"$_[1]_ns":(\d+)/ ? $1 / 1e6 : 0 }
my %is = map { /"row":.*?"thread":"([^"]*)".*"depth":0/ ? ($1 => $_) : () } lines("states.json");
if ($what eq "path") {
    for (lines("path.json")) { near($path{$1} // 0, ms($_, "critical_path"), $1) if /"row":.*?"thread":"([^"]*)".*"depth":0/ }
} elsif ($what eq "kinds") {
    for my $t (keys %is) {
        my $sum = 0;
        $sum += $_ * $span for values %{$kinds{$t}};
        near($sum, ms($is{$t}, "blocked"), $t);
    }
} elsif ($what eq "states") {
    for my $t (keys %is) {
        # (which part of what no wait accounts for ran, is known of a whole life only)
        $band{$t}{rest} += $band{$t}{$_} for qw(runnable running other_off_cpu);
        near($band{$t}{$_} * $span / $pixels, ms($is{$t}, $_), "$t $_") for qw(created blocked exited);
        near($band{$t}{rest} * $span / $pixels, ms($is{$t}, "runnable") + ms($is{$t}, "running") + ms($is{$t}, "other_off_cpu"), "$t rest");
    }
} else { # all of each pixel, and no more
    $_ > 1.002 and $bad .= "a pixel has $_ of the path\n" for @pixel;
    my $sum = 0;
    $sum += $_ for @pixel;
    $bad .= "$sum of $pixels pixels have the path\n" if $sum < 0.97 * $pixels;
}
print $bad || (keys %is == 4 ? "alike\n" : "other threads\n");
P
compare() { perl compare.pl "$1.strips" "$1" "$1.bands" "$2"; }
most() { # PICTURE: of each row its label and the kind that it waited most by, in the order of labels
    perl -ne 'push @label, $1 if $ARGV =~ /strips$/ && /^row .* (\S+)$/;
        if (/^kinds (\d+) (.*)/) { my ($row, %of) = ($1, split " ", $2); my ($k) = sort { $of{$b} <=> $of{$a} } keys %of; print "$label[$row] $k\n" }' \
        "$1.strips" "$1" | sort | tr '\n' ' '
}
hops() { # TO FROM: the path comes to the row of TO from that of FROM
    perl -ne 'push @label, $1 if $ARGV =~ /strips$/ && /^row .* (\S+)$/;
        $found = 1 if /^path (\d+) .* hops 1 after (\d+)$/ && "$label[$1] $label[$2]" eq "'"$1 $2"'";
        END { exit !$found }' by-time.strips by-time
}
is "nothing lies over the strips at first" "$(cat nothing)" ""
is "the path is as long on each row as the table says" "$(compare by-time path)" alike
is "it has all of the width" "$(compare by-time covered)" alike
is "by order, too" "$(compare by-order covered)" alike
is "waiting is as long as the table of states says, of each thread" "$(compare by-time kinds)" alike
is "each waits by its kind" "$(most by-time)" "T:main rendezvous T:one contention T:sleeper timeout T:two contention "
is "by order, too" "$(most by-order)" "T:main rendezvous T:one contention T:sleeper timeout T:two contention "
is "states stand below the strips" "$(compare by-time states)" alike
is "by order each thread has a row" "$(cut -d' ' -f3 by-order.bands | tr '\n' ' ')" "T:main T:one T:two T:sleeper "
like "how much of the path is on a row that is hidden is said" "$(head -n 1 hidden)" "hidden 0[.][0-9]*[1-9]"
is "clusters have bands, too" "$(wc -l <cluster.bands)" 1
is "and the path, all of it" "$(perl -ne '$s += ($2 - $1) * $3 if /^path 0 (\d+) (\d+) (\S+)/; $p = $1 if /^trail of (\d+)/;
    END { print $s > 0.97 * $p && $s < 1.01 * $p ? "all" : "$s of $p" }' cluster)" all
check "it goes from thread to thread" hops T:two T:one
check "and back" hops T:one T:two
is "switched off, nothing lies there" "$(cat off)" ""
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "nothing was complained of" quiet

# Whoever has looked from afar finds all of it from near, and the other way round.
cat >script <<'E'
action critical-path
action tint-waits
drawer states
action start
overlay near
action fit
overlay far
action zoom-in
action fit
overlay again
quit
E
timeout 100 poet view kinds.poet --script script >log 2>&1
check "from near it is a line through marks" grep -q ^along near
check "from afar one through strips" grep -q ^path far
is "the same again" "$(cat again)" "$(cat far)"
check "nothing was complained of then" quiet
done_testing

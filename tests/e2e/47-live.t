#!/bin/sh
# State bands of the overview agree with poet states; poet waits of a growing run agrees with its file; what-if answers under --keep.
. "$(dirname "$0")/lib.sh"
make -s -C "$root" B="$B" "$B/tests/look" || exit 1
poetcc -trace -O2 "$root/tests/bench/contend.c" -o contend || exit 1
POET_SERVER= POET_OUTPUT=run.poet ./contend 8 2 40000
until_true finished run.poet

"$B/tests/look" run.poet living >look.out
poet states run.poet --from 0ns --json >states.out # of a range, by the order alone
cat >compare.pl <<'P'
my (%of, $bad, $seen);
open my $f, "<", "look.out" or die;
while (<$f>) { $of{$1} = [split " ", $2] if /^line (\d+):(.*)/ }
open $f, "<", "states.out" or die;
while (<$f>) {
    my $row = $_;
    my ($line) = /"depth":0,"lines":\[(\d+)\]/ or next;
    my ($all, $strip) = (0, $of{$line}) or next;
    my %is = map { $_ => $row =~ /"${_}_ns":(\d+)/ ? $1 / 1e6 : 0 } qw(created runnable running blocked exited);
    $all += $_ for values %is;
    my @sums = @$strip; # blocked is blocked, whatever the class
    $sums[3] += $_ for splice @sums, 4, 3;
    my $i = 0;
    for (qw(created runnable running blocked exited)) {
        $bad .= "line $line: $_ $is{$_} ms, from afar $sums[$i]\n" if abs($is{$_} - $sums[$i]) > 0.03 * $all + 0.05;
        $i++;
    }
    $seen++;
}
print $bad || "alike\n", $seen > 5 ? "" : "few threads\n";
P
is "the pixels of a thread's state band add up to the figures of poet states" "$(perl compare.pl)" alike

poet path run.poet --json >path.out
length=$(sed -n 's/.*"length_ns":\([0-9][0-9]*\).*/\1/p' path.out)
poet path run.poet --what-if lock=1 --json >same.out
is "what-if without a change: the run takes as long" "$(sed -n 's/.*"if_ns":\([0-9][0-9]*\).*/\1/p' same.out)" "$length"
is "what-if without a change: the rows are the same" "$(grep '"row"' same.out)" "$(grep '"row"' path.out)"

cat >two.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&m);
        for (volatile int k = 0; k < 300; k++)
            ;
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&t[i], NULL, work, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
        puts("round");
        fflush(stdout);
        getchar();
    }
    return 0;
}
C
poetcc -trace -O2 two.c -o two || exit 1
start_server -q -o runs/
live=unix:$XDG_RUNTIME_DIR/poet.sock # ("latest" may be the trace in the current directory)
mkfifo in
./two <in >rounds & pids="$pids $!"
exec 3>in
waits() { poet waits "$live" --json | grep '"total"' | sed 's/.*"count":\([0-9]*\).*/\1/'; }
came() { [ "$(grep -c round rounds)" -ge "$round" ] && [ "$(figure "$live" events)" -ge $((45000 * round)) ]; }
for round in 1 2 3; do
    check "round $round has arrived" until_true came
    waits >>waited # each call continues from the previous one
    echo >&3
done
exec 3>&-
until_true finished "$live"
poet waits "$live" --json | grep -v '"table"' >grown.out
poet waits "$(ls runs/*.poet)" --json | grep -v '"table"' >fresh.out
is "poet waits of a live run ends with the answer of its file" "$(cat grown.out)" "$(cat fresh.out)"
check "poet waits was called while the run grew" test "$(sort -nu waited | wc -l)" -ge 1
done_testing

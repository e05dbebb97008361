# Read by bench.sh: what others cost in the same run, as far as they are installed.
# The same program, the same pairs: nanoseconds added, and how they compare to ours.
compare() { # compare NAME NS-A-PAIR UNTRACED OURS
    perl -e 'my ($name, $v, $u, $o) = @ARGV; printf "  %-44s +%.1f ns a pair; ours is %.2f of it\n", $name, $v - $u, ($o - $u) / ($v - $u)' "$@"
}
pair_untraced=$(median ./plain 1 800000)
pair_ours=$(median ./traced 1 800000)
fight_untraced=$(median ./plain 2 300000 contended)
fight_ours=$(median ./traced 2 300000 contended)
perl -e 'printf "contended by 2 threads, time                  %.1f ns a pair untraced, %.1f traced\n", @ARGV' "$fight_untraced" "$fight_ours"
wrapper=$(ls /usr/lib/*/liblttng-ust-pthread-wrapper.so 2>/dev/null | head -n 1)
if command -v lttng >/dev/null && [ -n "$wrapper" ]; then
    (
        export LTTNG_HOME=$work/lttng LTTNG_UST_ALLOW_BLOCKING=1
        mkdir -p "$LTTNG_HOME"
        lttng-sessiond --daemonize >/dev/null 2>&1
        lttng create bench --output="$work/lttng/trace" >/dev/null 2>&1 &&
            lttng enable-event --userspace 'lttng_ust_pthread:*' >/dev/null 2>&1 && lttng start >/dev/null 2>&1
        with_lttng() { LD_PRELOAD=$wrapper "$@"; }
        compare "LTTng-UST's pthread wrapper (3 events)" "$(median with_lttng ./plain 1 800000)" "$pair_untraced" "$pair_ours"
        compare "the same, contended by 2 threads, time" "$(median with_lttng ./plain 2 300000 contended)" "$fight_untraced" "$fight_ours"
        lttng destroy >/dev/null 2>&1
        pkill -u "$(id -u)" -f lttng-sessiond
    ) || true
else
    echo "  LTTng-UST is not installed (lttng-tools, liblttng-ust-dev)"
fi
if command -v uftrace >/dev/null; then
    with_uftrace() { uftrace record -d "$work/uftrace" "$@" 2>/dev/null; rm -rf "$work/uftrace"; }
    gcc -pg -O2 "$here/bench.c" -o profiled -pthread
    compare "uftrace" "$(median with_uftrace ./profiled 1 200000)" "$pair_untraced" "$pair_ours"
else
    echo "  uftrace is not installed"
fi
if gcc -fsanitize=thread -O2 "$here/bench.c" -o tsan -pthread 2>/dev/null; then
    compare "ThreadSanitizer" "$(median ./tsan 1 800000)" "$pair_untraced" "$pair_ours"
fi
# Start-up: true, linked with libpoet, a server running.
echo 'int main(void) { return 0; }' >true.c
poetcc -trace true.c -o true-traced
poetcc true.c -o true-plain
perl -MTime::HiRes=time -e '
    my %t; for my $p ("./true-plain", "./true-traced") { my @r; for (1 .. 21) { my $t = time; system("POET_QUIET=1 $p"); push @r, time - $t } $t{$p} = (sort { $a <=> $b } @r)[10] }
    printf "start-up of true, a server running             +%.1f ms\n", 1e3 * ($t{"./true-traced"} - $t{"./true-plain"})'
rm -f runs/*.poet

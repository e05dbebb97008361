# What tests share that play a program of which every nanosecond is known (stage.py), and look at what is reported of it.
# played NAME < SCRIPT: the program runs; $run is its trace, which is sound
played() {
    python3 "$root/tests/e2e/stage.py" "$1" || not_ok "$1 is played"
    run=
    until_true ls traces/"$1"-*.poet
    run=$(ls traces/"$1"-*.poet)
    check "$1 is sound" sound "$run"
}
# waits [OPTION...]: the longest first: MS THREAD CLASS KINDS; what is charged: MS STEP THREAD HOW; in all
waits() {
    poet waits --by wait --sort waited --json "$run" "$@" | perl -CO -MJSON::PP -ne '$o = decode_json($_); $r = $o->{row};
        if ($o->{total}) { printf "of %g unexplained %g\n", $o->{total}{waited_ns} / 1e6, $o->{total}{unattributed_ns} / 1e6 }
        elsif ($r && !$o->{depth}) { printf "%g %s %s %s:", $r->{waited_ns} / 1e6, $r->{thread}, $r->{wait_class}, $r->{cause}; print $r->{ambiguous} ? " ambiguous\n" : "\n" }
        elsif ($r) { printf "  %g %s %s %s\n", $r->{attributed_ns} / 1e6, $r->{segment}, $r->{thread}, $r->{direct} }'
}
path() { # each step on the path: STEP MS; its length, work, hops
    poet path --json "$run" "$@" | perl -CO -MJSON::PP -ne '$o = decode_json($_);
        printf "%s %g\n", $o->{row}{segment}, $o->{row}{critical_path_ns} / 1e6 if $o->{row} && $o->{row}{critical_path_ns};
        printf "%g of %g, %g hops\n", map { $_ || 0 } $o->{total}{length_ns} / 1e6, $o->{total}{work_ns} / 1e6, $o->{total}{hops} if $o->{total}'
}
# cells NAME...: of each row, for human beings: times in ms
cells() {
    perl -CO -MJSON::PP -e 'my @names = @ARGV; while (<STDIN>) { my $r = decode_json($_)->{row} or next;
        print join(" ", map { my $v = $r->{$_}; !defined $v ? "-" : /_ns$/ ? $v / 1e6 : $v } @names), "\n" }' "$@"
}

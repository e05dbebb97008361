#!/bin/sh
# Updates the pages of docs/man from poet help and --help: NAME, SYNOPSIS and the first paragraph of DESCRIPTION.
#   B=build docs/man.sh [DIRECTORY]
# An end-to-end test fails if a page is not up to date.
set -eu
directory=${1:-$(dirname "$0")/man}
help=$(mktemp)
summary=$(mktemp)
trap 'rm -f "$help" "$summary"' EXIT
"$B/bin/poet" help >"$summary"
for page in "$directory"/poet.1 "$directory"/poet-*.1; do
    command=$(basename "$page" .1)
    command=${command#poet}
    command=${command#-}
    "$B/bin/poet" $command --help >"$help"
    HELP=$help SUMMARY=$summary COMMAND=$command perl -0777 -i -pe '
        open my $f, "<", $ENV{HELP} or die; local $/; my $help = <$f>;
        $help =~ s/ +$//mg; $help =~ s/\\/\\e/g; $help =~ s/-/\\-/g; $help =~ s/^([.\x27])/\\&$1/mg;
        open $f, "<", $ENV{SUMMARY} or die; my $commands = <$f>; $commands =~ s/\n {11}/ /g;
        if ($ENV{COMMAND} && $commands =~ /^  $ENV{COMMAND} +(.*)/m) {
            my $name = "poet-$ENV{COMMAND} - $1"; $name =~ s/-/\\-/g;
            s{^\.SH NAME\n.*\n}{.SH NAME\n$name\n}m;
        }
        my ($usage, $text) = $help =~ /^((?:Usage: [^\n]*\n)(?:  or: [^\n]*\n)*)(.*)/s;
        $usage =~ s/^(?:Usage:|  or:) +//mg;
        $text =~ s/\n*\z/\n/;
        s{\.SH SYNOPSIS\n.*?^\.SH DESCRIPTION\n\.nf\n.*?^\.fi\n}{.SH SYNOPSIS\n.nf\n$usage.fi\n.SH DESCRIPTION\n.nf\n$text.fi\n}ms;
    ' "$page"
done

#!/bin/sh
# Writes what --help says into the pages of docs/man, their SYNOPSIS and the first paragraph of their DESCRIPTION:
#   B=build docs/man.sh [DIRECTORY]
# An end-to-end test sees that it was done.
set -eu
directory=${1:-$(dirname "$0")/man}
help=$(mktemp)
trap 'rm -f "$help"' EXIT
for page in "$directory"/poet.1 "$directory"/poet-*.1; do
    command=$(basename "$page" .1)
    command=${command#poet}
    command=${command#-}
    "$B/bin/poet" $command --help >"$help"
    HELP=$help perl -0777 -i -pe '
        open my $f, "<", $ENV{HELP} or die; local $/; my $help = <$f>;
        $help =~ s/ +$//mg; $help =~ s/\\/\\e/g; $help =~ s/-/\\-/g; $help =~ s/^([.\x27])/\\&$1/mg;
        my ($usage, $text) = $help =~ /^((?:Usage: [^\n]*\n)(?:  or: [^\n]*\n)*)(.*)/s;
        $usage =~ s/^(?:Usage:|  or:) +//mg;
        $text =~ s/\n*\z/\n/;
        s{\.SH SYNOPSIS\n.*?^\.SH DESCRIPTION\n\.nf\n.*?^\.fi\n}{.SH SYNOPSIS\n.nf\n$usage.fi\n.SH DESCRIPTION\n.nf\n$text.fi\n}ms;
    ' "$page"
done

#!/bin/bash
# poet help COMMAND: each heading of options is printed once, with options below it; each option has a description; completion offers the same.
. "$(dirname "$0")/lib.sh"

headings=0 repeated="" empty="" otherwise=""
for command in $(poet help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do
    poet help "$command" >help.txt
    headings=$((headings + $(grep -cE '^ [A-Z].*:$' help.txt)))
    repeated="$repeated$(grep -E '^ [A-Z].*:$' help.txt | sort | uniq -d | sed "s/^/$command:/")"
    otherwise="$otherwise$(diff <(sed -nE 's/^ +(-., )?--([a-z-]+).*/\2/p' help.txt | sort -u) \
        <(poet "$command" --list-options | sed -nE 's/^[^\t]*\t--([a-z-]+).*/\1/p' | sort -u) | sed -n "s/^[<>]/$command:/p")"
    empty="$empty$(awk '/^ [A-Z].*:$/ { heading = $0; next } heading != "" && !/^  / { print heading } { heading = "" }' help.txt | sed "s/^/$command:/")"
done
check "commands have headings" test "$headings" -gt 20
is "no heading is printed twice" "$repeated" ""
is "no heading is without options" "$empty" ""
is "each option of poet report has a description" \
    "$(poet report --list-options | awk -F'\t' '$4 == "" { print $2 }')" ""
is "completion offers the options of the help" "$otherwise" ""
done_testing

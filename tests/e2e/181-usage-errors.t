#!/bin/bash
# Usage errors: messages name the invalid value and valid alternatives.
. "$(dirname "$0")/lib.sh"
said() { poet "$@" </dev/null 2>&1 | head -n 1; }
compile dating
POET_QUIET=1 POET_OUTPUT=dating.poet ./dating >/dev/null
until_true finished dating.poet
is "unknown command: no similar command" "$(said help frob)" 'poet: unknown command "frob"'
is "unknown command: a similar command is suggested" "$(said help shwo)" 'poet: unknown command "shwo"; did you mean "show"?'
is "poet rm of a missing run: one error message" "$(poet rm nosuch 2>&1)" "poet rm: nosuch: No such file or directory"
for width in 1mm 84; do
    is "poet export --width $width: the valid range is given" "$(said export dating.poet --width $width -o x.pdf)" \
        "poet export: --width: invalid value \"$width\"; valid: 20pt to 14400pt, 84mm, 16cm, 3.3in"
done
like "poet predict with an unknown kind: the known kinds are listed" "$(said predict --kinds foo dating.poet)" '^poet predict: --kinds foo: unknown kind \(known: lock-order-inversion, read-lock-recursion, '
is "poet confirm with a missing finding: the message refers to poet predict" "$(said confirm dating.poet 300)" "poet confirm: dating.poet: no finding 300; see poet predict"
is "poet attach to a missing process: the message says so" "$(said attach 99999999)" "poet attach: 99999999: no such process"
is "poet attach --core with another file: the message says so" "$(said attach --core dating.poet)" \
    "poet attach: dating.poet: not a core file"
head -c $(($(wc -c <dating.poet) / 2)) dating.poet >short.poet
is "truncated trace: the message says so" "$(said stat short.poet)" \
    "poet stat: short.poet: the trace is truncated: the server exited first, or the file was cut short"
printf 'int main(void)\n{\n    return 0;\n}\n' >main.c
like "poet check of another type of file: the message names the supported ones" "$(poet check main.c 2>&1)" \
    '^poet check: main.c: not a trace \(FILE.poet\) or a target description \(FILE.conf\)$'
# --by: each word that the help lists is accepted
for command in states waits path calls memory usage metrics; do
    words=$(poet help $command | sed -n '/--by=WHAT/,/--from/p' | tr -s '\n ' '  ' |
        sed 's/.*one row per //; s/ (default)//; s/ or / /; s/,//g; s/ --from.*//')
    wrong=
    for word in $words; do
        case $(poet $command --by "$word" dating.poet 2>&1 >/dev/null) in *"no table by"*) wrong="$wrong $word" ;; esac
    done
    like "poet $command --by accepts the values of its help: $words" "$words:$wrong" '^[a-z]+ [a-z ]+:$'
done
for command in source predict; do
    like "$command: --baseline is refused" "$(poet $command --baseline dating.poet dating.poet 2>&1)" \
        "^poet $command: --baseline: rows of this command cannot be compared between runs"
    is "$command: its help does not list --baseline" "$(poet help $command | grep -c baseline)" 0
done
done_testing

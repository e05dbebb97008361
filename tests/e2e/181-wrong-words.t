#!/bin/sh
# Errors name what is wrong, and what would be right.
. "$(dirname "$0")/lib.sh"
said() { poet "$@" </dev/null 2>&1 | head -n 1; }
compile dating
POET_QUIET=1 POET_OUTPUT=dating.poet ./dating >/dev/null
until_true finished dating.poet
is "a word that is like no command" "$(said help frob)" 'poet: unknown command "frob"'
is "one that is like a command" "$(said help shwo)" 'poet: unknown command "shwo"; did you mean "show"?'
is "rm: a run that is not there removes nothing, and says no more" "$(poet rm nosuch 2>&1)" "poet rm: nosuch: No such file or directory"
for width in 1mm 84; do
    is "export: --width $width" "$(said export dating.poet --width $width -o x.pdf)" \
        "poet export: --width: invalid value \"$width\"; valid: 20pt to 14400pt, 84mm, 16cm, 3.3in"
done
like "predict: kinds are listed" "$(said predict --kinds foo dating.poet)" '^poet predict: --kinds foo: unknown kind \(known: lock-order-inversion, lost-wakeup, '
is "confirm: a finding that is not there" "$(said confirm dating.poet 300)" "poet confirm: dating.poet: no finding 300; see poet predict"
is "attach: no process" "$(said attach 99999999)" "poet attach: 99999999: no such process"
is "attach: a process that is not traced" "$(said attach $$)" \
    "poet attach: $$: not traced, or its server exited ($XDG_RUNTIME_DIR/poet.sock is missing); start it with poet record"
head -c $(($(wc -c <dating.poet) / 2)) dating.poet >short.poet
is "a file that was cut short" "$(said stat short.poet)" \
    "poet stat: short.poet: the trace is truncated: the server exited first, or the file was cut short"
printf 'int main(void)\n{\n    return 0;\n}\n' >main.c
like "check: a file of another kind" "$(poet check main.c 2>&1)" \
    '^poet check: main.c: not a trace \(FILE.poet\) or a target description \(FILE.conf\)$'
# --by: what the help lists is taken
for command in states waits path calls memory usage metrics; do
    words=$(poet help $command | sed -n '/--by=WHAT/,/--from/p' | tr -s '\n ' '  ' |
        sed 's/.*one row per //; s/ (default)//; s/ or / /; s/,//g; s/ --from.*//')
    wrong=
    for word in $words; do
        case $(poet $command --by "$word" dating.poet 2>&1 >/dev/null) in *"no table by"*) wrong="$wrong $word" ;; esac
    done
    like "$command: --by takes what its help lists: $words" "$words:$wrong" '^[a-z]+ [a-z ]+:$'
done
done_testing

#!/bin/sh
# Errors name what is wrong, and what would be right.
. "$(dirname "$0")/lib.sh"
said() { poet "$@" </dev/null 2>&1 | head -n 1; }
compile dating
POET_QUIET=1 POET_OUTPUT=dating.poet ./dating >/dev/null
until_true finished dating.poet
is "a word that is like no command" "$(said help frob)" 'poet: "frob" is no command'
is "one that is like a command" "$(said help shwo)" 'poet: "shwo" is no command: did you mean "show"?'
is "rm: a run that is not there removes nothing, and says no more" "$(poet rm nosuch 2>&1)" "poet rm: nosuch: No such file or directory"
for width in 1mm 84; do
    is "export: --width $width" "$(said export dating.poet --width $width -o x.pdf)" \
        "poet export: --width $width: not a width (20pt to 14400pt, 84mm, 16cm, 3.3in)"
done
like "maybe: kinds are listed" "$(said maybe --kinds foo dating.poet)" '^poet maybe: --kinds foo: unknown kind \(known: inversion, lost, '
is "provoke: a row that is not there" "$(said provoke dating.poet 300)" "poet provoke: dating.poet: no row 300 in the table of poet maybe"
is "attach: no process" "$(said attach 99999999)" "poet attach: 99999999: no such process"
is "attach: a process that is not traced" "$(said attach $$)" \
    "poet attach: $$: not traced, or its server has ended ($XDG_RUNTIME_DIR/poet.sock is missing); start it with poet record"
done_testing

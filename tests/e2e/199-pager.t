#!/bin/bash
# Commands use a pager on a terminal; footnotes of a text diagram are printed on request.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || { skip "script (bsdutils) is not installed"; done_testing; exit; }
compile prodcons
POET_QUIET=1 POET_OUTPUT=t.poet ./prodcons >/dev/null
until_true finished t.poet
cat >pager <<'END'
#!/bin/sh
echo "LESS=$LESS" >>"$0.log"
sed 's/^/|/'
END
printf '#!/bin/sh\nread line\n' >reads-one
chmod +x pager reads-one
unset LESS
# on_terminal COMMAND...: prints its output on a terminal and then its exit status
on_terminal() { TERM=xterm script -qec "stty cols 300; $*; echo status \$?" /dev/null </dev/null 2>&1 | tr -d '\r'; }
paged() { on_terminal "$@" | grep -c '^|'; }
plain=$(poet states t.poet)
for command in "show t.poet" "states t.poet" "dump t.poet" "ls"; do
    like "poet $command on a terminal: output goes through the pager" "$(PAGER=$work/pager paged poet $command)" '^[1-9]'
done
is "the pager runs with LESS=FRX" "$(sort -u pager.log)" "LESS=FRX"
is "the pager receives the complete output" "$(PAGER=$work/pager on_terminal NO_COLOR=1 poet states t.poet | grep '^|' | grep -c 'T:')" "$(echo "$plain" | grep -c 'T:')"
is "--no-pager: output does not go through the pager" "$(PAGER=$work/pager paged poet show --no-pager t.poet)" 0
is "PAGER=cat: output does not go through the pager" "$(PAGER=cat paged poet show t.poet)" 0
is "empty PAGER: output does not go through the pager" "$(PAGER= paged poet show t.poet)" 0
is "output to a pipe does not go through the pager" "$(PAGER=$work/pager poet show t.poet | grep -c '^|')" 0
like "missing pager: a message names it" "$(PAGER=no-such-pager on_terminal poet blocked t.poet)" '^poet: PAGER=no-such-pager: not found; printing without a pager$'
like "missing pager: the output is printed" "$(PAGER=no-such-pager on_terminal poet states --color=never t.poet)" '^T:main'
like "pager that exits early: exit status 0" "$(PAGER=$work/reads-one on_terminal poet dump t.poet)" '^status 0$'
like "failing command with a pager: exit status 1" "$(PAGER=$work/pager on_terminal poet show nosuch.poet)" '^status 1$'

poet show t.poet >brief.txt
poet show --footnotes t.poet >whole.txt
like "text diagram: a note gives the number of footnotes and the option" "$(cat brief.txt)" \
    '^note: [0-9]+ footnotes .*; --footnotes prints them$'
is "text diagram with --footnotes: the number of footnotes is that of the note" "$(($(wc -l <whole.txt) - $(wc -l <brief.txt) + 1))" "$(sed -n 's/^note: \([0-9]*\) footnotes.*/\1/p' brief.txt)"
is "text diagram without --footnotes: no footnotes are printed" "$(grep -c ', before ' brief.txt)" 0
done_testing

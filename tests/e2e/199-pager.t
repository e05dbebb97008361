#!/bin/sh
# On a terminal what commands print goes through a pager; footnotes of the diagram are printed on request.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || { skip "there is no script (bsdutils)"; done_testing; exit; }
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
# on_terminal COMMAND...: what comes on a terminal, and at the end its exit status
on_terminal() { TERM=xterm script -qec "stty cols 300; $*; echo status \$?" /dev/null </dev/null 2>&1 | tr -d '\r'; }
paged() { on_terminal "$@" | grep -c '^|'; }
plain=$(poet states t.poet)
for command in "show t.poet" "states t.poet" "dump t.poet" "ls"; do
    like "$command: through the pager" "$(PAGER=$work/pager paged poet $command)" '^[1-9]'
done
is "less, unless told otherwise, ends where all fits on the screen" "$(sort -u pager.log)" "LESS=FRX"
is "nothing is lost" "$(PAGER=$work/pager on_terminal NO_COLOR=1 poet states t.poet | grep '^|' | grep -c 'T:')" "$(echo "$plain" | grep -c 'T:')"
is "--no-pager: it prints directly" "$(PAGER=$work/pager paged poet show --no-pager t.poet)" 0
is "so it does with PAGER=cat" "$(PAGER=cat paged poet show t.poet)" 0
is "and where PAGER is empty" "$(PAGER= paged poet show t.poet)" 0
is "in a pipe there is no pager" "$(PAGER=$work/pager poet show t.poet | grep -c '^|')" 0
like "a pager that is not there is named" "$(PAGER=no-such-pager on_terminal poet blocked t.poet)" '^poet: PAGER=no-such-pager: not found; printing without a pager$'
like "it prints all the same" "$(PAGER=no-such-pager on_terminal poet states --color=never t.poet)" '^T:main'
like "leaving the pager sooner is no failure" "$(PAGER=$work/reads-one on_terminal poet dump t.poet)" '^status 0$'
like "a failure is one" "$(PAGER=$work/pager on_terminal poet show nosuch.poet)" '^status 1$'

poet show t.poet >brief.txt
poet show --footnotes t.poet >whole.txt
like "how many footnotes there are, and how to see them" "$(cat brief.txt)" \
    '^note: [0-9]+ footnotes .*; --footnotes prints them$'
is "so many come with it" "$(($(wc -l <whole.txt) - $(wc -l <brief.txt) + 1))" "$(sed -n 's/^note: \([0-9]*\) footnotes.*/\1/p' brief.txt)"
is "none is there without it" "$(grep -c ', before ' brief.txt)" 0
done_testing

#!/bin/bash
# The viewer's tab Loops has the rows of poet calls --loops; the dialog that runs a program can measure calls of libraries.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
cat >loops.c <<'C'
volatile int sink;
__attribute__((noinline)) static void nested(int a, int b)
{
    for (int i = 0; i < a; i++)
        for (int k = 0; k < b; k++)
            sink++;
}
int main(void)
{
    nested(3, 5);
    return 0;
}
C
poetcc -profile=loops -g loops.c -o loops
POET_OUTPUT=loops.poet ./loops
until_true finished loops.poet
poet calls --loops --json loops.poet >loops.json
outer=$(grep -n 'i < a' loops.c | cut -d: -f1) inner=$(grep -n 'k < b' loops.c | cut -d: -f1)
printf '%s\n' 'action show-loops' 'state table table' 'state selection selection' quit >script
timeout 100 poet view loops.poet --script script >log 2>&1
like "the tab Loops is open" "$(cat selection)" ' drawer loops '
is "it has a row for each loop of poet calls --loops" "$(grep -c 'nested' table)" "$(json 'rows | select(tostring | test("nested"))' loops.json | wc -l)"
like "with its iterations" "$(tr '\t' ' ' <table)" "loops.c:$outer.* 3( |$)"
like "also of the inner one" "$(tr '\t' ' ' <table)" "loops.c:$inner.* 15( |$)"

compile prodcons
POET_OUTPUT=none.poet ./prodcons >/dev/null 2>&1
until_true finished none.poet
printf '%s\n' 'action show-loops' 'state tab tab' quit >script
timeout 100 poet view none.poet --script script >>log 2>&1
is "a run without counted loops says how they are counted" "$(cat tab)" \
    "loops: No loops were counted: they are in programs compiled with poetcc -profile=loops."

# ---- the dialog ----
if command -v xdotool >/dev/null && command -v openbox >/dev/null; then
    manager
    poet view 2>>log &
    pids="$pids $!"
    focus Poet
    again xdotool key F5 -- shown "^Run program$"
    focus "^Run program$"
    xdotool key alt+g ctrl+a
    xdotool type ./loops
    xdotool key alt+i shift+Tab space # the box before the list Ignored
    xdotool key alt+f
    focus "^Save as$"
    again write_path "$PWD/saved.conf" -- test -s saved.conf
    is "the dialog measures calls of libraries, with calls" "$(poet check ./saved.conf)" \
        "./saved.conf: calls=cpu,calls=libraries,metrics,waits: OK"
    end_viewers
else
    skip "xdotool or openbox is not installed"
fi
is "the viewer prints no CRITICAL message" "$(grep -c CRITICAL log)" 0
done_testing

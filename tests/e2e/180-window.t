#!/bin/bash
# The viewer's window has, when it is opened again, the size that it had, also where it was maximized.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export POET_QUIET=1 XDG_CONFIG_HOME="$work/config"
compile prodcons
POET_OUTPUT=prodcons.poet ./prodcons >/dev/null
kept() { sed -n "s/^$1=//p" config/poet/view.conf; }
mkdir -p config/poet
printf '[view]\nwidth=900\nheight=610\n' >config/poet/view.conf
opened_and_closed() { timeout 100 poet view prodcons.poet --script quit; }
echo quit >quit
manager
sizes=
for i in 1 2 3; do
    check "it is opened and closed, $i" opened_and_closed
    sizes="$sizes $(kept width)x$(kept height)"
done
is "the size stays" "$sizes" " 900x610 900x610 900x610"
is "it was not maximized" "$(kept maximized)" false

printf '[view]\nwidth=900\nheight=610\nmaximized=true\n' >config/poet/view.conf
check "it is opened maximized" opened_and_closed
is "and is so the next time" "$(kept maximized)" true
is "its other size is kept, too" "$(kept width)x$(kept height)" 900x610
done_testing

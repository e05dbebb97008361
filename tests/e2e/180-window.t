#!/bin/bash
# The viewer's window: its size and maximized state are restored; the diagram follows the font size of the
# desktop; dialogs fit the screen.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export POET_QUIET=1 XDG_CONFIG_HOME="$work/config"
compile prodcons
POET_OUTPUT=prodcons.poet ./prodcons >/dev/null
until_true finished prodcons.poet
kept() { sed -n "s/^$1=//p" config/poet/view.conf; }
mkdir -p config/poet
printf '[view]\nwidth=900\nheight=610\n' >config/poet/view.conf
opened_and_closed() { timeout 100 poet view prodcons.poet --script quit; }
echo quit >quit
manager
sizes=
for i in 1 2 3; do
    check "the window opens and closes, run $i" opened_and_closed
    sizes="$sizes $(kept width)x$(kept height)"
done
is "window size: unchanged after reopening" "$sizes" " 900x610 900x610 900x610"
is "window size: the window is not maximized" "$(kept maximized)" false

printf '[view]\nwidth=900\nheight=610\nmaximized=true\n' >config/poet/view.conf
check "the maximized window opens and closes" opened_and_closed
is "maximized window: still maximized after reopening" "$(kept maximized)" true
is "maximized window: the normal size is preserved" "$(kept width)x$(kept height)" 900x610

# ---- font size ----
rm config/poet/view.conf
mkdir -p config/gtk-4.0
apart() { # the distance of the two arrows beside a name with this font
    printf '[Settings]\ngtk-font-name=%s\n' "$1" >config/gtk-4.0/settings.ini
    rm -f spots
    printf 'state positions spots\nquit\n' >script
    timeout 100 poet view prodcons.poet --script script >log 2>&1
    awk '$1 == "back" { x = $3 } $1 == "on" { print $3 - x; exit }' spots
}
usual=$(apart "Sans 11")
is "font of 22 points: the diagram is twice as large" "$(apart "Sans 22")" $((2 * usual))
is "font of 8 points: the diagram is not smaller" "$(apart "Sans 8")" "$usual"
# ---- a dialog is never higher than the screen ----
printf '[Settings]\ngtk-font-name=Sans 22\n' >config/gtk-4.0/settings.ini
if [ -n "$managed" ]; then
    printf 'action save\nawait saved\nquit\n' >dialog
    timeout 100 poet view prodcons.poet --script dialog >log 2>&1 &
    viewer=$!
    until_true still "^Export diagram$"
    eval "$(xdotool getwindowgeometry --shell "$(window "^Export diagram$")" | grep -E '^(X|Y|WIDTH|HEIGHT)=')"
    is "the export dialog lies within the screen" \
        "$((X >= 0 && Y >= 0 && X + WIDTH <= 1300 && Y + HEIGHT <= 800))" 1
    : >saved
    wait $viewer
else
    skip "openbox is not installed"
fi

done_testing

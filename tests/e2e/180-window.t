#!/bin/bash
# The viewer's window has, when it is opened again, the size that it had, also where it was maximized; what it draws
# follows the system's size of letters; its dialogs fit the screen.
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
    check "it is opened and closed, $i" opened_and_closed
    sizes="$sizes $(kept width)x$(kept height)"
done
is "the size stays" "$sizes" " 900x610 900x610 900x610"
is "it was not maximized" "$(kept maximized)" false

printf '[view]\nwidth=900\nheight=610\nmaximized=true\n' >config/poet/view.conf
check "it is opened maximized" opened_and_closed
is "and is so the next time" "$(kept maximized)" true
is "its other size is kept, too" "$(kept width)x$(kept height)" 900x610

# ---- letters ----
rm config/poet/view.conf
mkdir -p config/gtk-4.0
apart() { # how far the two arrows beside a name are from each other, with this font
    printf '[Settings]\ngtk-font-name=%s\n' "$1" >config/gtk-4.0/settings.ini
    printf 'spots spots\nquit\n' >script
    timeout 100 poet view prodcons.poet --script script >log 2>&1
    awk '$1 == "back" { x = $3 } $1 == "on" { print $3 - x; exit }' spots
}
usual=$(apart "Sans 11")
is "larger letters make the picture larger: 22 points, twice" "$(apart "Sans 22")" $((2 * usual))
is "small ones do not make it smaller" "$(apart "Sans 8")" "$usual"
# ---- a dialog is no higher than the screen, whatever stands in it ----
printf '[Settings]\ngtk-font-name=Sans 22\n' >config/gtk-4.0/settings.ini
if [ -n "$managed" ]; then
    printf 'action save\nawait saved\nquit\n' >dialog
    timeout 100 poet view prodcons.poet --script dialog >log 2>&1 &
    viewer=$!
    until_true still "^Export diagram$"
    eval "$(xdotool getwindowgeometry --shell "$(window "^Export diagram$")" | grep -E '^(X|Y|WIDTH|HEIGHT)=')"
    is "the dialog that saves lies on the screen" \
        "$((X >= 0 && Y >= 0 && X + WIDTH <= 1300 && Y + HEIGHT <= 800))" 1
    : >saved
    wait $viewer
else
    skip "there is no window manager (openbox)"
fi

done_testing

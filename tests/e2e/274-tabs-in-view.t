#!/bin/bash
# In a small window the tabs of the sidebar do not fit: the tab of the shown panel is scrolled into view, both ways.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

echo 'int main(void) { return 0; }' >nothing.c
poetcc -trace nothing.c -o nothing
POET_OUTPUT=nothing.poet ./nothing
until_true finished nothing.poet
mkdir -p config/poet
printf '[view]\nwidth=700\nheight=500\npanel=true\n' >config/poet/view.conf
printf '%s\n' 'action show-text' 'state tabs last' 'action show-event' 'state tabs first' quit >script
XDG_CONFIG_HOME=$work/config timeout 100 poet view nothing.poet --script script >said 2>&1
is "the last tab is in view when its panel is shown" "$(cat last)" "in view 1"
is "the first one is in view again when its panel is shown" "$(cat first)" "in view 1"
is "GTK has no complaint" "$(cat said)" ""
done_testing

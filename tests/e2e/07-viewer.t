#!/bin/bash
# The viewer, driven by keys and pointer under Xvfb.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
start_server -o live.poet -q
cat >ticker.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *tick(void *a)
{
    for (int i = 0; i < 400 || access("enough", F_OK) != 0; i++) {
        pthread_mutex_lock(&m);
        if (i % 10 == 0) poet_text("tick %d", i);
        pthread_mutex_unlock(&m);
        usleep(5000);
    }
    return a;
}
int main(void) { pthread_t t; pthread_create(&t, 0, tick, 0); pthread_join(t, 0); return 0; }
C
poetcc -trace -g ticker.c -o ticker
poet view "unix:$XDG_RUNTIME_DIR/poet.sock" >view.log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the viewer opens a window without a run" until_true shown "^Poet$"
until_true still "^Poet$"
xdotool key --window "$(window '^Poet$')" F9 # closes the panel, if the key arrives in time; either is fine
./ticker &
program=$!
check "the viewer follows a run that begins" until_true shown "ticker — live"
# Only the diagram of a window is compared: the panels above and below it change for other reasons.
part=1200x360+0+160
seen() { picture ticker $part; }
same_as() { [ "$(seen)" = "$1" ]; }
changed() { [ "$(seen)" != "$first" ]; }
settle() { until_true still ticker $part; }
first=$(seen)
check "the diagram of a live run grows by itself" until_true changed
touch enough
wait $program
check "the title shows that the run has ended" until_true shown "^ticker$"
settle
end=$(seen)
first=$end
key() { xdotool key --window "$(window ticker)" "$1"; }
key shift+Left
check "Shift+Left scrolls back" until_true changed
settle
first=$(seen)
key Page_Up
check "Page Up scrolls back by a page" until_true changed
settle
two=$(seen)
first=$two
key shift+Left
until_true changed
settle
key shift+Right
check "Shift+Left, then Shift+Right restores the diagram to the pixel" until_true same_as "$two"
first=$two
key Home
check "Home scrolls to the beginning" until_true changed
key End
check "End restores the diagram of the end to the pixel" until_true same_as "$end"
settle
first=$end
# A click on a mark shows its details: the test looks for one along the rows.
clicked() {
    for y in 95 163 230 110 144 78; do # the height of rows depends on the window
        for x in $(seq 300 9 900); do
            xdotool mousemove --window "$(window ticker)" "$x" "$y" click 1
            changed && return 0
        done
    done
    changed
}
check "a click selects an event and shows its details" until_true clicked
check "Ctrl+S opens the export dialog" again xdotool key --window "$(window ticker)" ctrl+s -- shown "^Export diagram$"
focus "^Export diagram$"
check "the export dialog opens the file dialog" again xdotool key --window "$(window '^Export diagram$')" alt+a -- shown "^Save as$"
check "the export dialog saves the diagram" save_path "$work/diagram.pdf"
until_true pdfinfo diagram.pdf
like "the saved PDF contains the names of threads" "$(pdftotext diagram.pdf - | head -n 20)" "T:tick"
check "the viewer runs on after saving" kill -0 $viewer
until_true not_shown "^Export diagram$"
settle
whole() { picture ticker; }
first=$(whole)
told() { [ "$(whole)" != "$first" ]; }
kill -KILL $server
wait $server 2>/dev/null
check "the viewer reports that the server has exited" until_true told
check "the viewer runs on after the server has exited" kill -0 $viewer
gone() { ! kill -0 $viewer 2>/dev/null; }
leave() { gone || { focused ticker; xdotool key ctrl+q; }; }
check "Ctrl+Q quits" again leave -- gone
poet view live.poet >view.log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "poet view opens a trace file" until_true shown "^ticker$"
kill -0 $viewer 2>/dev/null || sed 's/^/# /' view.log # if the viewer exited, its log says why
kill $viewer
like "the viewer logs no CRITICAL message" "$(grep -c CRITICAL view.log)" "^0$"
# poet record --view opens the viewer on the default server, or on the server of the trace file that it writes.
until_true gone
gcc -w -DPLAIN -I"$B/include" ticker.c -o plain-ticker -L"$B/lib" -lpoet -Wl,-rpath,"$B/lib" -pthread
rm enough
poet record --view -- ./plain-ticker 2>record.log &
check "poet record --view shows the live run" until_true shown "plain-ticker — live"
touch enough
end_viewers
wait $!
rm enough
poet record --view -o own.poet -- ./plain-ticker 2>>record.log &
check "poet record --view -o shows the live run" until_true shown "plain-ticker — live"
touch enough
wait $!
check "poet record --view -o writes a sound trace" poet check own.poet
end_viewers
# On a busy machine a frame takes longer than the display shows it: idle work must have its turn all the same.
cat >busy.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
void *cairo_create(void *surface)
{
    void *(*real)(void *) = (void *(*)(void *))dlsym(RTLD_NEXT, "cairo_create");
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    return real(surface);
}
C
gcc -shared -fPIC busy.c -o busy.so
printf '%s\n' 'image drawn.png' quit >script
LD_PRELOAD="$work/busy.so" poet view live.poet --script script >busy.log 2>&1 &
check "a script draws a trace although frames are late" until_true test -s drawn.png
like "poet record --view prints no message of its own" "$(grep -c 'poet record' record.log)" "^0$"

# ---- what the manual lists ----
listed() { # listed PARAGRAPH: the names in the list after it
    tr -d '\\' <"$root/docs/man/poet-view.1" | sed -n "/^$1/,/^\.fi/p" | sed '1,/^\.nf/d' | grep -oE '^[a-z-]+(, [a-z-]+)*' | tr -d ' ' | tr ',' '\n' | sort -u
}
rows() { sed -n "/^} $1\[\]/,/^};/s/^    {\"\([a-z-]*\)\", .*/\1/p" "$root/clients/viewer/$2.c" | sort; } # rows TABLE FILE
is "the manual lists the commands of scripts" "$(listed 'One line of a script')" "$(rows script_verbs viewer_script)"
is "the manual lists the actions with an argument" "$(listed 'prints their names')" "$(rows argument_actions action_arguments)"
is "the manual lists the parts of the state" "$(listed 'Parts of the state')" "$(rows script_state_parts script_state)"
done_testing

#!/bin/bash
# Exported files: web pages, SVG and PDF in bands with readable text, ShiViz and dot.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
bytes() { stat -c %s "$1"; }

cat >wakes.c <<'C'
/* Several threads signal without the mutex: which of them caused a wake-up is unknown. A woken thread needs the mutex, which
 * main keeps until both have signaled; the order of their turns is not recorded. */
#include <pthread.h>
#include <unistd.h>
#define ROUNDS 30
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static volatile int waiting, turn, signalled;
static void *signals(void *p)
{
    for (int i = 1; i <= ROUNDS; i++) {
        while (turn < i)
            usleep(100);
        pthread_cond_signal(&more);
        __atomic_fetch_add(&signalled, 1, __ATOMIC_SEQ_CST);
    }
    return p;
}
static void *waits(void *p)
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        waiting = i;
        pthread_cond_wait(&more, &lock);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, i ? signals : waits, 0);
    for (int i = 1; i <= ROUNDS; i++) {
        while (waiting < i)
            usleep(100);
        pthread_mutex_lock(&lock);
        turn = i;
        while (signalled < 2 * i)
            usleep(100);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
cat >hostile.c <<'C'
/* Names that would be markup in a page if they were not escaped. */
#include <poet.h>
#include <string.h>
int main(void)
{
    static char longest[4096];
    memset(longest, 'n', sizeof longest - 1);
    const char *names[] = {"</script><script>window.broken=1</script>", "\"><img src=x onerror='window.broken=1'>",
                           "\xe2\x80\xae" "evil\xe2\x80\xa6 \xff\xfe \xed\xa0\x80", "a\\u0000\\\"'&amp;<!--", longest, "\x01\x1b[31m", ""};
    poet_type_t type = poet_type("</title><b>t</b>", NULL);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        poet_line_t line = poet_line("object", names[i], names, 0);
        for (int k = 0; k < 3; k++)
            poet_annotate(poet_event(line, type, line, 0), "%s", names[i]);
    }
    return 0;
}
C
compile prodcons
poetcc -trace -g wakes.c -o wakes
poetcc -trace -g hostile.c -o hostile
for p in prodcons wakes hostile; do
    POET_SERVER= POET_OUTPUT=$p.poet ./$p >/dev/null
    until_true finished $p.poet
done
for p in prodcons wakes hostile; do
    check "poet export writes a page of $p" poet export $p.poet -o $p.html
done

# ---- the page as a file ----
events=$(figure wakes.poet events)
is "the page is small" "$(($(bytes wakes.html) <= 65536 + 200 * events))" 1
is "two pages of the same trace are identical" "$(poet export wakes.poet -o again.html && cmp wakes.html again.html)" ""
like "the page's policy forbids loading anything" "$(cat wakes.html)" "content=\"default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]*'; style-src 'sha256-[A-Za-z0-9+/=]*'; base-uri 'none'; form-action 'none'\""
is "the page contains no URL" "$(sed 's|http://www.w3.org/2000/svg||' wakes.html | grep -c 'https\?:')" 0
is "hostile names stay within their quotes" "$(grep -c '<script>window.broken\|<img\|<b>t' hostile.html)" 0
is "the page has one script that runs and one with data" "$(grep -o '<script[^>]*>' hostile.html | tr '\n' ' ')" '<script type="application/json" id="data"> <script> '
is "the page has no right-to-left override" "$(grep -c "$(printf '\342\200\256')" hostile.html)" 0
is "without --source the page has no source lines" "$(grep -c 'Several threads signal' wakes.html)" 0
poet export wakes.poet -o source.html --source
is "with --source the page has the source lines" "$(grep -c 'pthread_cond_signal(&more)\|pthread_cond_signal(\\u0026more)' source.html)" 1
cat >lots.c <<'C'
#include <pthread.h>
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 6000; i++)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return 0;
}
C
poetcc -trace -g lots.c -o lots
POET_SERVER= POET_OUTPUT=lots.poet ./lots
until_true finished lots.poet
is "a page of too many events is refused" "$(poet export lots.poet -o lots.html 2>&1; ls lots.html* 2>/dev/null)" \
    "poet export: the diagram has more than 25000 events, the limit of a web page; select a range with --last 200, --from EVENT --to EVENT, --around EVENT or --lines LIST"
check "a page of a part of them is written" poet export lots.poet -o lots.html --last 200

# ---- bands, and readable text ----
height() { pdfinfo "$1" | sed -n 's/^Page size: *[0-9.]* x \([0-9.]*\) pts.*/\1/p'; }
width() { pdfinfo "$1" | sed -n 's/^Page size: *\([0-9.]*\) x.*/\1/p'; }
times() { pdftotext -layout "$1" - | grep -c "$2"; }
is "a PDF of a column's width is written without a warning" "$(poet export prodcons.poet -o column.pdf --width 84mm --labels name 2>&1)" ""
is "--width 84mm sets the width of the PDF" "$(printf '%.0f' "$(width column.pdf)")" 238
is "a narrow PDF has bands, each with the names of lines" "$(($(times column.pdf T:producer) > 3))" 1
like "--no-wrap warns that text is too small" "$(poet export prodcons.poet -o line.pdf --width 84mm --no-wrap 2>&1)" \
    "^poet export: text is [01]\.[0-9] pt high, too small to read: --last [0-9]+ fits; or use --wrap$"
fits=$(poet export prodcons.poet -o line.pdf --width 84mm --labels name --no-wrap 2>&1 | sed -n 's/.*--last \([0-9]*\) .*/\1/p')
is "the number of columns that the warning suggests fits" "$(poet export prodcons.poet -o fits.pdf --width 84mm --labels name --no-wrap --last "$fits" 2>&1)" ""
is "--no-wrap writes one band" "$(times fits.pdf T:producer)" 1
is "a diagram that fits is not wrapped" "$(poet export prodcons.poet -o few.pdf --width 170mm --last 20 2>&1; times few.pdf T:producer)" 1
poet export prodcons.poet -o bands.pdf --wrap
is "--wrap alone is as wide as a text page" "$(printf '%.0f' "$(width bands.pdf)")" 482
poet export prodcons.poet -o bands.png --wrap
poet export prodcons.poet -o bands.svg --wrap
is "a wrapped SVG is as high as the PDF" "$(sed -n 's/.*<svg [^>]*height="\([0-9]*\).*/\1/p' bands.svg | head -n 1)" "$(height bands.pdf | sed 's/\..*//')"
poet export prodcons.poet -o a4.pdf --paper a4
is "--paper writes bands on one page" "$(pdfinfo a4.pdf | sed -n 's/^Pages: *//p')" 1
is "--paper writes several bands" "$(($(times a4.pdf T:producer) > 2))" 1
is "--paper writes one legend" "$(times a4.pdf 'thread enters or leaves an object')" 1
poet export lots.poet -o pages.pdf --paper a4 --last 2000 --no-fold
is "a PDF of several pages has one legend" "$(($(pdfinfo pages.pdf | sed -n 's/^Pages: *//p') > 2)) $(times pages.pdf 'thread enters or leaves an object')" "1 1"
right() { # right FILE: the right end of its legend; its words occur nowhere else
    pdftotext -bbox "$1" - | sed -n 's/.*xMax="\([0-9]*\).*>\(here\|there\|line\|over\|blocked\|ended\|leaves\|gone\)<.*/\1/p' | sort -n | tail -n 1
}
is "no legend extends beyond the page" "$(($(right a4.pdf) < 842 && $(right column.pdf) < 239 && $(right bands.pdf) < 483))" 1
like "an export that is too large names its rows and pages" "$(poet export lots.poet -o x.png --no-fold 2>&1; poet export lots.poet -o x.pdf --no-fold 2>&1)" "rows(, [0-9]+ pages)?: select a range"
is "an image that is too large mentions no pages" "$(poet export lots.poet -o x.png --no-fold 2>&1 | grep -c ' page')" 0

# ---- notes below a diagram ----
poet note lots.poet 1:3 "$(printf 'words that recur %.0s' 1 2 3 4 5 6 7 8)"
poet export lots.poet -o note.pdf --to 1:40 --width 84mm --wrap --no-notes
without=$(height note.pdf)
poet export lots.poet -o note.pdf --to 1:40 --width 84mm --wrap
is "a note makes the page higher" \
    "$(awk -v height="$(height note.pdf)" -v without="$without" 'BEGIN { print (height > without + 9) }')" 1
last=$(pdftotext -bbox note.pdf - | sed -n 's/.*xMax="\([0-9]*\).*yMax="\([0-9]*\).*>\(go\|on\|words\|that\)<.*/\1 \2/p' | sort -n | tail -n 1)
is "a note does not extend beyond the page" "$((${last% *} < 239))" 1
is "a long note is wrapped" "$(($(times note.pdf 'words\|recur') > 1))" 1
is "a wrapped note is complete" "$(pdftotext note.pdf - | grep -o 'words' | wc -l)" 8
poet export prodcons.poet -o arrows.svg --no-title
poet export prodcons.poet -o none.svg --no-title --no-legend
heads() { grep -o '<path [^>]*fill-rule[^>]* d="[^"]*"' "$1" | sed 's/.* d="//' | grep -o 'L [-0-9.]* [-0-9.]* L [-0-9.]* [-0-9.]* Z' | wc -l; }
is "the legend shows the arrows" "$(($(heads arrows.svg) > $(heads none.svg)))" 1

# ---- SVG ----
poet export prodcons.poet -o x.svg
is "the SVG's text is text, not glyphs" "$(($(grep -c '<text[^>]*>T:producer' x.svg) > 0)) $(grep -c '<glyph\|<symbol\|glyph-' x.svg)" "1 0"
like "the SVG's font has a generic fallback" "$(cat x.svg)" "font-family=\"'DejaVu Sans', .*sans-serif\""
is "each mark of the SVG has a title" "$(grep -c '<title>' x.svg)" "$(figure prodcons.poet events)"
like "the title of a mark has the thread and the call site" "$(cat x.svg)" "<title>T:producer.*prodcons\.c:[0-9]+</title>"
ground() { grep -cE '<rect [^>]*(fill="rgb\(100%, ?100%, ?100%\)"|fill:rgb\(100%,100%,100%\))' "$1"; }
is "the SVG has a background" "$(($(ground x.svg) > 0))" 1
poet export prodcons.poet -o y.svg --transparent
is "--transparent leaves out the background" "$(($(ground x.svg) - $(ground y.svg)))" 1
poet export hostile.poet -o hostile.svg --lines 2,3,4,5,7,8
check "an SVG of hostile names is valid XML" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' hostile.svg
is "an SVG of hostile names has no elements of theirs" "$(grep -c '<script\|<img\|<b>' hostile.svg)" 0

# ---- other formats ----
poet export prodcons.poet --format shiviz -o x.log
like "--format shiviz writes type, object, thread and call site" "$(cat x.log)" "^acquired Sem:full by producer, prodcons\.c:[0-9]+$"
check "poet import reads the exported ShiViz log" poet import shiviz x.log -o back.poet
is "the imported ShiViz log has every event" "$(figure back.poet events)" "$(figure prodcons.poet events)"
poet export prodcons.poet --format dot -o x.dot
like "--format dot ranks the lines in one column" "$(cat x.dot)" '^  \{ rank=same; edge \[style=invis\]; "line 1" -> "line 2"; '
is "--format dot groups the events of each line" "$(grep -c '^  "[0-9]*:[0-9]*" \[group="[0-9]*"' x.dot)" "$(figure prodcons.poet events)"

# ---- notes in a page ----
noted=$(poet dump --json hostile.poet | sed -n 's/^{"event":"\([0-9:]*\)".*/\1/p' | head -n 2 | tail -n 1)
is "a page without notes has an empty list of notes" "$(grep -o '^"notes":\[\]' hostile.html)" '"notes":[]'
poet note hostile.poet "$noted" "$(printf '</script><script>window.broken=1</script>\n\\"&\342\200\256<!--')"
poet note prodcons.poet 1:1 "it begins here"
poet export hostile.poet -o hostile.html
poet export prodcons.poet -o prodcons.html
like "a page has the note of an event" "$(cat prodcons.html)" '^"notes":\[\{"event":"1:1","text":"it begins here"\}\]'
like "a hostile note stays within its quotes" "$(cat hostile.html)" "\"event\":\"$noted\",\"text\":\"[^\"<>&]*window.broken=1[^<>&]*\"\}\]"
is "a page with a hostile note has one script that runs and one with data" "$(grep -o '<script[^>]*>' hostile.html | tr '\n' ' ')" '<script type="application/json" id="data"> <script> '
poet export prodcons.poet -o unnoted.html --no-notes
like "--no-notes leaves notes out of the page" "$(cat unnoted.html)" '^"notes":\[\]'

# ---- the page in a browser ----
in_a_browser() {
browse() { timeout 600 python3 "$root/tests/e2e/browser.py" "file://$work/$1"; }
random='(() => { let s = 7; const r = n => (s = (s * 48271) % 2147483647) % n, ids = poet.ids(), out = []; for (let i = 0; i < 1000; i++) { const a = ids[r(ids.length)], b = ids[r(ids.length)]; out.push(a + " " + b + " " + poet.relation(a, b)); } return out.join(String.fromCharCode(10)); })()'
for p in prodcons wakes lots; do
    echo "eval $random" | browse $p.html >pairs
    is "page of $p: 1000 pairs of events are compared" "$(wc -l <pairs)" 1000
    cut -d' ' -f1,2 pairs | poet order $p.poet - 2>/dev/null >said
    is "page of $p: relations are those of poet order" "$(cut -d' ' -f3 pairs | diff - said | head -n 5)" ""
    cut -d' ' -f3 pairs | sort | uniq -c | tr -s ' \n' ' ' | sed 's/^/# /'
    echo
done
echo "eval $random" | browse wakes.html | cut -d' ' -f3 | sort -u >kinds
is "the page answers unknown for some pairs" "$(grep -c unknown kinds)" 1

chosen=$(poet dump --json prodcons.poet | sed -n 's/^{"event":"\([0-9:]*\)","type":"sem_acquired".*/\1/p' | sed -n 3p)
line=${chosen%:*}
first=$(poet dump --json prodcons.poet | sed -n 's/^{"event":"\([0-9]*:1\)","type":"start".*/\1/p' | head -n 1)
browse "prodcons.html#e=$chosen&s=$first" >said <<S
eval poet.id(poet.see.selected) + " " + poet.id(poet.see.second)
eval document.getElementById("status").textContent
key Escape
key Home
key ArrowRight
eval poet.see.selected >= 0
eval poet.select("$chosen")
key ArrowRight
eval poet.id(poet.see.selected)
key ArrowLeft
eval poet.id(poet.see.selected)
key h
eval [...poet.see.hidden].length + location.hash
key C-S-h
eval [...poet.see.hidden].length + (/hide/.test(location.hash) ? "hide" : "")
key t
eval poet.see.byTime + " " + /time=1/.test(location.hash)
key t
key +
eval poet.see.zoom > 1.4
key /
eval (document.activeElement.value = "sem_acquired", document.activeElement.dispatchEvent(new Event("input")), poet.see.found.length)
key Enter
eval document.getElementById("status").textContent.replace(/:.*/, "")
key Escape
eval poet.see.selected
click 60 250
eval document.querySelector("[aria-selected=true]").dataset.tab
eval document.querySelector("[data-tab=events]").click(), document.querySelectorAll("#page li").length
S
is "the page raises no error and loads nothing" "$?" 0
is "page: the URL has the selected events" "$(sed -n 1p said)" "$chosen $first"
like "page: the relation of the selected events is shown" "$(sed -n 2p said)" "^$chosen happened after $first — .*, [0-9]+ hops?$"
is "page: keys clear the selection and select an event" "$(sed -n 3p said)" true
is "page: an arrow key selects the next event of the line" "$(sed -n 5p said)" "$line:$((${chosen#*:} + 1))"
is "page: an arrow key selects the previous event of the line" "$(sed -n 6p said)" "$chosen"
like "page: a key hides the line" "$(sed -n 7p said)" "^1#.*hide=$line"
is "page: a key shows all lines" "$(sed -n 8p said)" 0
is "page: a key places events by time" "$(sed -n 9p said)" "true true"
is "page: a key enlarges the diagram" "$(sed -n 10p said)" true
is "page: a search finds the events of poet dump" "$(sed -n 11p said)" "$(poet dump --json prodcons.poet | grep -c '"type":"sem_acquired"')"
like "page: the next hit is numbered" "$(sed -n 12p said)" "^Match [0-9]+ of "
is "page: Escape clears the selection" "$(sed -n 13p said)" -1
is "page: a click on a name opens the list of lines" "$(sed -n 14p said)" rows
is "page: the list of events has all of them" "$(sed -n 15p said)" "$(figure prodcons.poet events)"

browse prodcons.html >notes <<'S'
eval document.querySelector("[data-tab=notes]").click(), document.getElementById("page").textContent
eval document.querySelector("#page li").click(), poet.id(poet.see.selected)
eval document.querySelector("[data-tab=event]").click(), document.getElementById("page").textContent
S
is "page: the tab of notes lists the notes" "$(sed -n 1p notes)" "1:1 it begins here"
is "page: a click on a note selects its event" "$(sed -n 2p notes)" "1:1"
like "page: the details of an event have its note" "$(sed -n 3p notes)" "Noteit begins here"

browse hostile.html >said <<'S'
eval String(window.broken) + document.querySelectorAll("img, b, script").length
eval document.querySelectorAll("script").length
eval poet.ids().length
eval document.querySelector("[data-tab=notes]").click(), document.getElementById("page").textContent
print hostile.pdf
S
is "page of hostile names: no script of theirs runs" "$?" 0
is "page of hostile names: they add no element" "$(head -n 2 said | tr '\n' ' ')" "undefined2 2 "
like "page of hostile names: notes are shown as text" "$(sed -n 4p said)" "^$noted </script><script>window.broken=1</script>"
check "page of hostile names: the browser prints it" pdfinfo hostile.pdf

# ---- blocked threads in a page ----
cat >hangs.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *one(void *p)
{
    pthread_mutex_lock(p ? &a : &b);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(p ? &b : &a);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, one, &a);
    pthread_join(t[0], 0);
    return 0;
}
C
poetcc -trace -g hangs.c -o hangs
POET_SERVER= POET_OUTPUT=hangs.poet ./hangs &
hung=$!
pids="$pids $hung"
cycle() { poet blocked hangs.poet | grep -q ^DEADLOCK; }
until_true cycle
kill -KILL $hung
until_true finished hangs.poet
poet export hangs.poet -o hangs.html
browse hangs.html >said <<'S'
eval document.querySelector("[aria-selected=true]").dataset.tab
eval document.getElementById("page").textContent
S
is "the page of a hang opens with the blocked threads" "$(sed -n 1p said)" waiting
like "the page of a hang has the deadlock" "$(sed -n 2p said)" "DEADLOCK: "
}
if command -v chromium >/dev/null; then in_a_browser; else skip "chromium, the browser, is not installed"; fi

# ---- export from the viewer ----
. "$root/tests/e2e/display.sh"
printf '%s\n' 'action time 0; action end' 'action go 3:3' 'action save-view a.view' 'action save a.html seen' quit >script
check "the viewer exports a page" timeout 300 poet view prodcons.poet --script script
poet export prodcons.poet -o b.html --view a.view
check "the viewer's page equals that of poet export --view" cmp a.html b.html
like "the viewer's page has its selection" "$(cat a.html)" '^"open":"#e=3:3",?$'
done_testing

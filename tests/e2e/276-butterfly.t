#!/bin/bash
# poet calls --callers, --graph and --inverted: callers and callees with their shares of a function, self time per call, icicle
# graphs both ways, and the differences between two runs, as text, in a page and in the viewer.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >known.c <<'C'
#define NOINLINE __attribute__((noinline))
static volatile long n;
NOINLINE void f(void)
{
    for (int i = 0; i < 200; i++)
        n++;
}
NOINLINE void g(void)
{
    for (int i = 0; i < 1000; i++)
        f();
}
NOINLINE void k(void)
{
    for (int i = 0; i < K_CALLS; i++)
        f();
}
#ifdef GONE
NOINLINE void gone(void)
{
    f();
    n++;
}
#endif
NOINLINE void leaf(void)
{
    for (int i = 0; i < 100000; i++)
        n++;
}
NOINLINE void twice(void)
{
    leaf();
    n++;
}
NOINLINE void one(void)
{
    twice();
    n++;
}
NOINLINE void two(void)
{
    twice();
    n++;
}
NOINLINE void r(int depth)
{
    if (depth)
        r(depth - 1);
    n++;
}
int main(void)
{
    g();
    k();
    one();
    two();
#ifdef GONE
    for (int i = 0; i < 7; i++)
        gone();
#endif
    r(10);
    return 0;
}
C
check "known.c compiles" poetcc -profile -g -O1 -DK_CALLS=300 -DGONE known.c -o known
POET_OUTPUT=known.poet ./known
until_true finished known.poet

# ---- callers and callees ----
poet calls --callers --json known.poet >callers.json
# relatives FUNCTION VALUE...: of each row below the function, its name and these values
relatives() { # FILE FUNCTION FILTER
    json 'reduce .[] as $l ({}; if $l.depth == 0 then .head = ($l.row.function | first_word) else . end |
        if $l.depth == 1 and .head == "'"$2"'" then .rows += [$l.row] else . end) | .rows[] | cells((.function | first_word), '"$3"')' "$1" | sort
}
is "--callers: the callers of f, and how often each called it" "$(relatives callers.json f .calls)" "g 1000
gone 7
k 300"
is "--callers: main is called by the thread's start" "$(relatives callers.json main .calls)" "(thread 1"
is "--callers: r is called by main, and by itself" "$(relatives callers.json r .calls)" "main 1
r 10"
is "--callers: their shares of f are all of it" \
    "$(relatives callers.json f .function_share | awk '{ sum += $2 } END { printf "%.6f\n", sum }')" 1.000000
is "--callers: a share is the caller's part of the function's total" \
    "$(relatives callers.json f .total_ns | awk '{ t[$1] = $2; s += $2 } END { for (c in t) printf "%s %.6f\n", c, t[c] / s }' | sort)" \
    "$(relatives callers.json f .function_share | awk '{ printf "%s %.6f\n", $1, $2 }' | sort)"
poet calls --graph --json known.poet >graph.json
is "--graph: the callees of main" "$(relatives graph.json main .calls)" "g 1
gone 7
k 1
one 1
r 1
two 1"
g_total=$(json 'outer_rows | select(.function | startswith("g ")) | .total_ns' graph.json)
is "--graph: a callee's share is of this function, not of the run" "$(relatives graph.json g .function_share | awk '{ printf "%.6f\n", $2 }')" \
    "$(relatives graph.json g .total_ns | awk -v g="$g_total" '{ printf "%.6f\n", $2 / g }')"
poet calls --graph --callers --json known.poet >both.json
is "--graph --callers: both, each with its relation" "$(relatives both.json k .relation)" "f callee
main caller"
is "--graph --callers: callers are above callees, whichever took longer" \
    "$(json 'foreach .[] as $l (""; if $l.depth == 0 then $l.row.function | first_word else . end; select(. == "twice" and $l.depth == 1) | $l.row.relation)' both.json | paste -sd' ')" \
    "caller caller callee"
is "self per call" "$(json 'row("f") | .self_mean_ns' callers.json | head -n 1)" \
    "$(json 'row("f") | .self_ns / .calls | floor' callers.json | head -n 1)"
like "self per call is beside total per call" "$(poet calls known.poet | grep -m 1 '^function')" "self mean \(ms\)  mean \(ms\)"

# ---- the inverted tree ----
poet calls --inverted --json known.poet >inverted.json
is "--inverted: f, below it its callers, and the callers of these" \
    "$(json 'reduce .[] as $l ({}; if $l.depth == 0 then .head = ($l.row.function | first_word) else . end |
        if $l.row and .head == "f" then .rows += ["\($l.depth) \($l.row.function | first_word) \($l.row.calls)"] else . end) | .rows[]' inverted.json | sort)" \
    "0 f 1307
1 g 1000
1 gone 7
1 k 300
2 main 1000
2 main 300
2 main 7"
is "--inverted: the self times of all functions are those of the flat profile" \
    "$(json '[outer_rows.leaf_self_ns] | add' inverted.json)" "$(poet calls --json known.poet | json 'total.self_ns')"
is "--inverted: the callers of f have all of its self time" \
    "$(json '[foreach .[] as $l (""; if $l.depth == 0 then $l.row.function | first_word else . end; select(. == "f" and $l.depth == 1) | $l.row.leaf_self_ns)] | add' inverted.json)" \
    "$(poet calls --json known.poet | json 'row("f").self_ns')"
check "an icicle graph of it" poet calls --inverted known.poet -o inverted.svg
check "and a page of it" poet calls --inverted known.poet -o inverted.html
size_of() { sed -n "s/.*{n:\"$2 .*,s:\([0-9]*\),.*/\1/p" "$1" | head -n 1; }
is "the page: the box of f is as wide as its self time" "$(size_of inverted.html f)" "$(poet calls --json known.poet | json 'row("f").self_ns')"

# ---- differences between two runs ----
# Another version, in which all functions are on other lines.
mkdir other-version
{ echo '/* another version */'; cat known.c; } >other-version/known.c
check "another version compiles" poetcc -profile -g -O1 -DK_CALLS=500 other-version/known.c -o other
for program in known other; do
    POET_MEASURE=calls=counts POET_OUTPUT=$program-counts.poet ./$program
    until_true finished $program-counts.poet
done
check "a page of differences" poet calls --tree --baseline known-counts.poet other-counts.poet -o diff.html
node_of() { grep "^{n:\"$2 " "$1" | sed 's/.*c:"\([^"]*\)",s:\([0-9]*\),x:\(-*[0-9]*\),.*/\1 \2 \3/'; }
is "differences: k has more calls of f, below g as many as before" "$(node_of diff.html f | sort)" "+200 500 200
-7 0 -7
0 1000 0"
is "differences: k and what it calls" "$(node_of diff.html k)" "+200 501 200"
is "differences: gone, and what it calls, is only in the other run" "$(node_of diff.html gone)" "-14 0 -14"
like "differences: the page has a note about it" "$(sed 's/ ([^)]*c:[0-9]*)//g' diff.html)" "<p>only in the other run: main > gone \(-14\)</p>"
check "differences as a picture" poet calls --chart icicle --baseline known-counts.poet other-counts.poet -o diff.svg
like "the picture has a key of differences, and the note" "$(sed 's/ ([^)]*c:[0-9]*)//g' diff.svg)" "no difference"
is "differences as text are refused" "$(poet calls --chart icicle --baseline known-counts.poet other-counts.poet 2>&1 | head -n 1)" \
    "poet calls: --baseline: an icicle of differences needs -o FILE.html, .pdf, .svg or .png"
poet calls --tree --baseline known-counts.poet other-counts.poet --json >tree.json
is "differences as a table: what only the other run has is below its caller" \
    "$(json '[.[] | select(.row) | "\(.depth)\(.row.function | first_word)"] | (index("1gone") - index("0main")) > 0 and (index("2f") != null)' tree.json)" true
if command -v node >/dev/null; then
    for page in inverted diff; do
        sed -n '/^<script>/,/^<\/script>/p' $page.html | sed '1d;$d' >$page.js
    done
    cat >run.js <<'C'
// The elements that the script uses: boxes are appended to the graph.
const boxes = [], element = {graph: {clientWidth: 1000, style: {}, append: d => boxes.push(d), set textContent(t) { boxes.length = 0; }},
    find: {value: ""}, share: {}};
global.document = {getElementById: id => element[id], createElement: () => ({style: {}})};
require("vm").runInThisContext(require("fs").readFileSync(process.argv[2], "utf8"));
const color = name => boxes.find(b => b.textContent.startsWith(name + " ")).style.background;
if (process.argv[2] === "diff.js")
    console.log(color("k").startsWith("hsl(0"), color("g").includes(" 0% 90%"));
else
    console.log(boxes.length > 5);
C
    is "the page of differences: red is more, gray is the same" "$(node run.js diff.js 2>&1)" "true true"
    is "the inverted page draws its boxes" "$(node run.js inverted.js 2>&1)" true
fi

# ---- in the viewer ----
. "$root/tests/e2e/display.sh"
poet calls --csv known.poet | tr -d '\r' >flat.csv
row_of() { awk -v f="$2 (" 'index($0, f) == 1 { print NR - 2; exit }' "$1"; }
cat >script <<S
action show-calls
action select-row $(row_of flat.csv f)
action calls-shape butterfly
state table first.tab
action select-row 0
action activate-row
state table second.tab
action calls-shape inverted
state table inverted.tab
quit
S
timeout 100 poet view known.poet --script script >log 2>&1
is "butterfly: the callers of f, and f" "$(tail -n +2 first.tab | cut -f 2 | sed 's/^ *//; s/ (.*//' | sort | paste -sd' ')" "f g gone k"
caller=$(tail -n +2 first.tab | cut -f 2 | sed 's/^ *//; s/ (.*//' | head -n 1) # the one with the most time
is "butterfly: Enter goes to the caller, with its callers and callees" \
    "$(tail -n +2 second.tab | cut -f 2 | sed 's/^ *//; s/ (.*//' | paste -sd' ')" "main $caller f"
like "the inverted icicle graph has a function, and its caller below it" "$(cat inverted.tab)" "leaf .* > twice |	f .* > (g|k|gone) "
is "the viewer logs no message" "$(grep -c 'CRITICAL\|WARNING' log)" 0
done_testing

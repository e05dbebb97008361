#!/bin/bash
# poet waits --stacks -o FILE.html: the waits by call stack as a web page that needs no network, with a search box.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >waits.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void hold(void)
{
    pthread_mutex_lock(&m);
    nanosleep(&(struct timespec){0, 20000000}, 0);
    pthread_mutex_unlock(&m);
}
static void use_first(void) { hold(); }
static void use_second(void) { hold(); }
static void *work(void *p)
{
    for (int i = 0; i < 5; i++)
        p ? use_first() : use_second();
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, work, argv);
    work(0);
    pthread_join(t, 0);
    return argc > 1;
}
C
poetcc -trace -g waits.c -o waits
POET_OUTPUT=waits.poet ./waits
finished() { poet stat --json waits.poet | grep -q '"finished":true'; }
until_true finished
check "a page is written" poet waits --stacks -o graph.html waits.poet
like "it is a page" "$(head -n 1 graph.html)" '^<!doctype html>'
like "with a search box" "$(cat graph.html)" '<input id="find" type="search">'
for function in hold use_first; do
    like "it has the function $function" "$(cat graph.html)" "\{n:\"$function"
done
is "it needs no network" "$(grep -Ec 'https?:|src=|@import|url\(' graph.html)" 0
like "and allows none" "$(cat graph.html)" "default-src 'none'"
if command -v node >/dev/null; then
    sed -n '/^<script>/,/^<\/script>/p' graph.html | sed '1d;$d' >graph.js
    check "its script is valid" node --check graph.js
    cat >run.js <<'C'
// The elements that the script uses: boxes are appended to the graph.
const boxes = [], element = {graph: {clientWidth: 1000, style: {}, append: d => boxes.push(d), set textContent(t) { boxes.length = 0; }},
    find: {value: ""}, share: {}};
global.document = {getElementById: id => element[id], createElement: () => ({style: {}})};
require("vm").runInThisContext(require("fs").readFileSync("graph.js", "utf8"));
const all = boxes.length, root = boxes[0];
element.find.value = "use_first";
element.find.oninput();
const found = boxes.filter(b => b.className.includes("found"));
console.log(all > 3, root.style.width, found.length > 0, /^[0-9.]+ % of all$/.test(element.share.textContent));
found[0].onclick();
console.log(boxes.filter(b => !b.className.includes("above"))[0].style.width);
C
    is "boxes, the whole width, what is found, and its share; a box that was selected has the whole width" \
        "$(node run.js | tr '\n' ' ')" "true 1000px true true 1000px "
fi
is "other tables have no such page" "$(poet states -o states.html waits.poet 2>&1 | grep -c 'the name ends in none of')" 1
done_testing

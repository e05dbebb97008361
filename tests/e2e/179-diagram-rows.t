#!/bin/bash
# Rows of a diagram: order and clusters by --lines and --group, with all events of their lines; diagrams too wide
# for one image; labels of lines in several programs.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
start_server
python3 "$root/tests/e2e/skewed.py" rows 3 200
trace=$(ls "$XDG_STATE_HOME"/poet/rows-*.poet)
until_true finished "$trace"
stop_server
cp "$trace" rows.poet
# rows ARG...: the lines of each row of a page, from its events; rows are separated by blanks
rows() {
    poet export rows.poet -o rows.html "$@" && python3 - <<'P'
import json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("rows.html").read(), re.S).group(1))
lines = [set() for _ in data["rows"]]
for line, row in zip(data["lines_of"], data["row"]):
    lines[row].add(line)
print(" ".join("+".join(map(str, sorted(l))) for l in lines))
P
}
is "--lines: rows are in the given order" "$(rows --lines=5,2,1)" "5 2 1"
is "--group: a cluster is at the position of its first line" "$(rows --lines=5,2,1 --group=5,2)" "2+5 1"
is "--group: a line in the middle of a cluster is moved" "$(rows --lines=5,4,2,1,3 --group=4,3)" "5 3+4 2 1"
is "--group: two clusters" "$(rows --lines=1,2,3,4,5 --group=1,3 --group=5,4)" "1+3 2 4+5"
is "--group: a line in two clusters is in the last one" "$(rows --lines=1,2,3,4 --group=1,2 --group=3,1)" "2 1+3 4"
is "--group without --lines: the other lines follow" "$(rows --group=3,1)" "1+3 2 4 5 6 7"
label=$(poet export rows.poet -o rows.html && python3 -c 'import json, re
data = json.loads(re.search(r"id=\"data\">(.*?)</script>", open("rows.html").read(), re.S).group(1))
print(data["rows"][3]["n"])')
like "labels begin with the letter of their kind" "$label" ":p4$"
is "--lines accepts labels as drawn" "$(rows --lines="$label")" "4"

# ---- diagrams too wide for one image ----
start_server
python3 "$root/tests/e2e/skewed.py" long 5 9000
trace=$(ls "$XDG_STATE_HOME"/poet/long-*.poet)
until_true finished "$trace"
stop_server
cp "$trace" long.poet
like "a diagram too wide for PNG: the error suggests --wrap" "$(poet export long.poet -o long.png --no-fold --all 2>&1)" \
    "^poet export: the diagram has .*draw it in bands with --wrap, write an SVG, or insist with --all on a PDF$"
check "--wrap: the diagram is exported" poet export long.poet -o long.png --no-fold --wrap
is "--wrap: the file is PNG" "$(head -c 4 long.png | tail -c 3)" PNG
check "SVG has no limit of width" poet export long.poet -o long.svg --no-fold --all
check "180 columns fit into one PNG" poet export long.poet -o some.png --no-fold --last 180

# ---- several programs in one run: labels of lines with equal names contain the program ----
cat >sender.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *only_here(void *p)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, only_here, 0);
    pthread_join(t, 0);
    for (int i = 1; i < argc; i++)
        if (fork() == 0)
            _exit(execl(argv[i], argv[i], (char *)0) != 0);
        else
            wait(0);
    return 0;
}
C
sed 's/only_here/other/' sender.c >receiver.c
poetcc -trace -g sender.c -o sender
poetcc -trace -g receiver.c -o receiver
POET_OUTPUT=both.poet ./sender ./receiver ./receiver
until_true finished both.poet
labels() { poet show "$@" | grep -o '^[A-Z][a-z]*:[^ ]*\( ([a-z]*)\(#[0-9]\)\{0,1\}\)\{0,1\}' | sort | xargs; }
is "equal names in several programs: labels contain the program" "$(labels both.poet)" \
    "M:lock (receiver) M:lock (receiver)#2 M:lock (sender) T:main (receiver) T:main (receiver)#2 T:main (sender) T:only_here T:other T:other#2"
is "equal names in several programs: a label as drawn selects one row" "$(labels both.poet --lines 'T:main (receiver)#2,M:lock (sender)')" \
    "M:lock (sender) T:main (receiver)#2"
is "equal names in several programs: a name selects the lines of all programs" "$(labels both.poet --lines 'T:main')" \
    "T:main (receiver) T:main (receiver)#2 T:main (sender)"
like "poet waits --threads accepts a label with the program" "$(poet waits both.poet --threads 'T:main (sender)')" 'main \(sender.c:15\) +join +T:only_here'
done_testing

#!/bin/bash
# Descriptions: layers of the user's own, environments under other names, mistakes, and what a trace breaks.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
programs="semaphores accepting waiting coroutines fibonacci inside"
poetcc -trace -g -c "$root/examples/ucpp/ucpp.c" -o ucpp.o
# trace NAME OBJECT...: builds and runs it into NAME.poet
trace() {
    name=$1
    shift
    poetcc -trace -g "$@" -o "$name" && POET_OUTPUT="$name.poet" "./$name" && until_true finished "$name.poet"
}

# ---- no program knows an environment: all names replaced by random ones ----
mkdir conf
python3 - "$root" <<'P'
import random, re, sys
random.seed(20)
root = sys.argv[1]
text, code = open(root + "/config/ucpp.conf").read(), open(root + "/examples/ucpp/ucpp.c").read()
names = sorted(set(re.findall(r'\{ name = "([^"]+)"', text)))
new = {n: "".join(random.choice("kqxz7_") for _ in range(9)) for n in names}
for n in names:
    for key in ("name", "partner"):
        text = re.sub(rf'({key} = )"{n}"', rf'\1"{new[n]}"', text)
    text = re.sub(rf'((?:line_types|allowed_after_on_line|allowed_after_in_thread|woken_by|ended_by) = \[[^\]]*)"{n}"', rf'\1"{new[n]}"', text)
    while re.search(rf'((?:line_types|allowed_after_on_line|allowed_after_in_thread|woken_by|ended_by) = \[[^\]]*)"{n}"', text):
        text = re.sub(rf'((?:line_types|allowed_after_on_line|allowed_after_in_thread|woken_by|ended_by) = \[[^\]]*)"{n}"', rf'\1"{new[n]}"', text)
    code = code.replace(f'"{n}"', f'"{new[n]}"')
text = text.replace('name = "ucpp"', 'name = "zzqx"')
code = code.replace('POET_RUNTIME("ucpp")', 'POET_RUNTIME("zzqx")')
open("conf/zzqx.conf", "w").write(text)
open("renamed.c", "w").write(code)
P
poetcc -trace -g -I"$root/examples/ucpp" -c renamed.c -o renamed.o
export POET_CONFIG="$work/conf"
check "a description under random names is good" poet check conf/zzqx.conf
for program in $programs; do
    trace "$program" "$root/examples/ucpp/$program.c" ucpp.o
    trace "other-$program" "$root/examples/ucpp/$program.c" renamed.o
    check "$program under random names: obeys its description" poet check "other-$program.poet"
    is "$program: the picture is the same" \
        "$(poet show "other-$program.poet" --labels name | tail -n +2)" \
        "$(poet show "$program.poet" --labels name | tail -n +2)"
    for kind in "$program" "other-$program"; do
        poet export "$kind.poet" -o "$kind.svg" --labels name --no-title
    done
    # what a mark says where it is pointed at names the place in the source, which has another name
    is "$program: stroke by stroke" "$(sed 's/<title>[^<]*//' "other-$program.svg" | md5sum)" \
        "$(sed 's/<title>[^<]*//' "$program.svg" | md5sum)"
done
like "the names did change" "$(poet dump other-inside.poet --json | head -n 1)" zzqx

# ---- the older marks ----
poet show inside.poet --labels name --description ucpp-trace >older.txt
is "the older tracing shows of a call from inside only its petition" \
    "$(grep '^T:fred' older.txt | grep -o '●' | wc -l):$(poet show inside.poet --labels name | grep '^T:fred' | grep -o '●' | wc -l)" "2:6"
like "a description that is not there" "$(poet show inside.poet --description nowhere 2>&1)" "description nowhere"

# ---- clusters and new names ----
cat >system.c <<'C'
#include "ucpp.h"
void uc_main(void)
{
    struct object a, b;
    monitor_make(&a, "uProcessor");
    monitor_make(&b, "uCluster");
    leave(&a, enter(&a, 1));
    object_name(&a, "uOther");
    leave(&a, enter(&a, 1));
    object_delete(&b);
    object_delete(&a);
}
C
trace system -I"$root/examples/ucpp" system.c ucpp.o
like "lines that belong together are called as the description says" \
    "$(poet show system.poet --group 'u*')" "^\{Group of system objects ×2\}"
like "a line that is renamed says since when" "$(poet dump --json system.poet)" \
    '"event":"2:3".*"type":"leave".*called uOther from here on, uProcessor before'
like "and is found by its old name" "$(poet show system.poet --text uProcessor 2>&1)" "uOther"

# ---- a user's own layer ----
export XDG_CONFIG_HOME="$work/own"
mkdir -p own/poet
cat >own/poet/ucpp.conf <<'C'
include = "ucpp";
line_types = ( { name = "task"; letter = "Task "; } );
events = ( { name = "petition"; color = "#ff00ff"; label = "knocks"; } );
C
check "a layer is checked with what it changes" poet check own/poet/ucpp.conf
poet export inside.poet -o mine.svg
like "the user's own colour" "$(cat mine.svg)" "100%, ?0%, ?100%|rgb\(255, ?0, ?255\)"
like "and letter" "$(poet show inside.poet)" "^Task :main"
is "change no order" "$(poet dump inside.poet --json | sed 's/"letter":"[^"]*"//')" \
    "$(XDG_CONFIG_HOME=/nowhere poet dump inside.poet --json | sed 's/"letter":"[^"]*"//')"
trace layered "$root/examples/ucpp/inside.c" ucpp.o
check "recorded under a layer" poet check layered.poet
rm own/poet/ucpp.conf
like "the layer is in the trace" "$(poet show layered.poet)" "^Task :main"
unset XDG_CONFIG_HOME

# ---- mistakes, all at once ----
cat >conf/bad.conf <<'C'
name = "bad";
include = "no-such-thing";
line_types = ( { name = "k"; letter = "K"; visibel = true; } );
events = (
    { name = "a"; shape = "circle"; filled = "yes"; },
    { name = "a"; },
    { name = "b"; relation = "sync"; partner = "c"; },
    { name = "d"; relation = "sync"; partner = "b"; },
    { name = "e"; thread_state = "left"; }
);
C
is "every mistake, with its line" "$(poet check conf/bad.conf 2>&1 | cut -d: -f2 | sort -n | tr '\n' ' ')" "2 3 5 6 7 8 9 "
like "the nearest key" "$(poet check conf/bad.conf 2>&1)" 'bad.conf:3: unknown key "visibel"; did you mean "visible"'
is "exit status" "$(poet check conf/bad.conf >/dev/null 2>&1; echo $?)" 1

# ---- a description that lacks an event: shown by name, and ordered ----
python3 - "$root" <<'P'
import re, sys
text = open(sys.argv[1] + "/config/ucpp.conf").read()
text = re.sub(r'\{ name = "signal";.*?\},\n', "", text, flags=re.S).replace('"signal", ', "")
text = re.sub(r"\s*(ended_by|woken_by) = \[\"signal\"\];", "", text)
open("conf/ucpp.conf", "w").write(text)
P
check "a description without signal" poet check conf/ucpp.conf
trace lacking "$root/examples/ucpp/semaphores.c" ucpp.o
like "the event it lacks is shown by name" "$(poet check lacking.poet)" \
    "signal is not in the description"
poet export lacking.poet -o lacking.pdf
like "in the picture, too" "$(pdftotext lacking.pdf -)" "undescribed type: signal"
is "and ordered" "$(poet order lacking.poet "$(poet dump lacking.poet --json | sed -n 's/.*"event":"\([^"]*\)","type":"signal".*/\1/p')" 2:6)" before
rm conf/ucpp.conf

# ---- what a runtime does wrong: the first break on each line ----
cat >wrong.c <<'C'
#include <poet.h>
POET_RUNTIME("ucpp");
int main(void)
{
    poet_line_t t = poet_task("task", "t", 0);
    poet_task_switch(t);
    poet_event(t, poet_type("create", 0), 0, 0);
    poet_event(t, poet_type("end", 0), 0, 0);
    poet_event(t, poet_type("start", 0), 0, 0);
    poet_line_t m = poet_line("monitor", "m", 0, 0);
    poet_pair(t, poet_type("enter", 0), m, poet_type("resumed", 0), 0);
    poet_event(m, poet_type("ready", 0), 0, 0);
    return 0;
}
C
trace wrong wrong.c
poet check wrong.poet >wrong.txt
is "exit status for a trace that breaks rules" $? 1
like "the first break on a line, with both events" "$(cat wrong.txt)" "1:2: end must not follow create \(1:1\) on its line"
is "and no second one there" "$(grep -c '1:.*on its line' wrong.txt)" 1
like "a pair of the wrong types" "$(cat wrong.txt)" "2:1: (resumed is paired with enter, not with resume|enter is paired)"
done_testing

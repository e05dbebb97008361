#!/bin/bash
# Target descriptions: layers of the user's own, environments under other names, errors, and traces that violate a description.
# Runs in make check-all only.
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

# ---- no program knows an environment by name: all names replaced by random ones ----
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
    text = re.sub(rf'((?:line_types|allowed_after_on_line|allowed_after_in_thread|woken_by|ended_by|ordered_after) = \[[^\]]*)"{n}"', rf'\1"{new[n]}"', text)
    while re.search(rf'((?:line_types|allowed_after_on_line|allowed_after_in_thread|woken_by|ended_by|ordered_after) = \[[^\]]*)"{n}"', text):
        text = re.sub(rf'((?:line_types|allowed_after_on_line|allowed_after_in_thread|woken_by|ended_by|ordered_after) = \[[^\]]*)"{n}"', rf'\1"{new[n]}"', text)
    code = code.replace(f'"{n}"', f'"{new[n]}"')
text = text.replace('name = "ucpp"', 'name = "zzqx"')
code = code.replace('POET_RUNTIME("ucpp")', 'POET_RUNTIME("zzqx")')
open("conf/zzqx.conf", "w").write(text)
open("renamed.c", "w").write(code)
P
poetcc -trace -g -I"$root/examples/ucpp" -c renamed.c -o renamed.o
export POET_CONFIG="$work/conf"
check "a description under random names is valid" poet check conf/zzqx.conf
for program in $programs; do
    trace "$program" "$root/examples/ucpp/$program.c" ucpp.o
    trace "other-$program" "$root/examples/ucpp/$program.c" renamed.o
    check "$program under random names: poet check accepts the trace" poet check "other-$program.poet"
    is "$program under random names: the diagram is the same" \
        "$(poet show "other-$program.poet" --labels name | tail -n +2)" \
        "$(poet show "$program.poet" --labels name | tail -n +2)"
    for kind in "$program" "other-$program"; do
        poet export "$kind.poet" -o "$kind.svg" --labels name --no-title
    done
    # the tooltip of a mark has the source file's name, which differs
    is "$program under random names: the SVG is the same" "$(sed 's/<title>[^<]*//' "other-$program.svg" | md5sum)" \
        "$(sed 's/<title>[^<]*//' "$program.svg" | md5sum)"
done
like "the names in the trace did change" "$(poet dump other-inside.poet --json | head -n 1)" zzqx

# ---- the marks of µC++'s own tracing ----
poet show inside.poet --labels name --description ucpp-trace >older.txt
is "ucpp-trace.conf shows a call from inside as a petition only" \
    "$(grep '^T:fred' older.txt | grep -o '●' | wc -l):$(poet show inside.poet --labels name | grep '^T:fred' | grep -o '●' | wc -l)" "2:6"
like "a missing description is named" "$(poet show inside.poet --description nowhere 2>&1)" "description nowhere"

# ---- line groups and new names ----
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
like "a line group is named as the description says" \
    "$(poet show system.poet --group 'u*')" "^\{Group of system objects ×2\}"
like "a renamed line has the event since which the name holds" "$(poet dump --json system.poet)" \
    '"event":"2:3".*"type":"leave".*called uOther from here on, uProcessor before'
like "a renamed line is found by its old name" "$(poet show system.poet --text uProcessor 2>&1)" "uOther"

# ---- a layer of the user's own ----
export XDG_CONFIG_HOME="$work/own"
mkdir -p own/poet
cat >own/poet/ucpp.conf <<'C'
include = "ucpp";
line_types = ( { name = "task"; letter = "Task "; } );
events = ( { name = "petition"; color = "#ff00ff"; label = "knocks"; } );
C
check "poet check validates a layer together with the description it changes" poet check own/poet/ucpp.conf
poet export inside.poet -o mine.svg
like "a layer changes the color" "$(cat mine.svg)" "100%, ?0%, ?100%|rgb\(255, ?0, ?255\)"
like "a layer changes the letter of a line" "$(poet show inside.poet)" "^Task :main"
is "a layer does not change the order" "$(poet dump inside.poet --json | sed 's/"letter":"[^"]*"//')" \
    "$(XDG_CONFIG_HOME=/nowhere poet dump inside.poet --json | sed 's/"letter":"[^"]*"//')"
trace layered "$root/examples/ucpp/inside.c" ucpp.o
check "poet check accepts a trace recorded under a layer" poet check layered.poet
rm own/poet/ucpp.conf
like "a layer is stored in the trace" "$(poet show layered.poet)" "^Task :main"
unset XDG_CONFIG_HOME

# ---- several errors at once ----
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
is "every error of a description is reported with its line" "$(poet check conf/bad.conf 2>&1 | cut -d: -f2 | sort -n | tr '\n' ' ')" "2 3 5 6 7 8 9 "
like "an unknown key gets a suggestion" "$(poet check conf/bad.conf 2>&1)" 'bad.conf:3: unknown key "visibel"; did you mean "visible"'
is "poet check of an invalid description exits with 1" "$(poet check conf/bad.conf >/dev/null 2>&1; echo $?)" 1

# ---- a description that lacks an event type: its events are shown by name, and ordered ----
python3 - "$root" <<'P'
import re, sys
text = open(sys.argv[1] + "/config/ucpp.conf").read()
text = re.sub(r'\{ name = "signal";.*?\},\n', "", text, flags=re.S).replace('"signal", ', "")
text = re.sub(r"\s*(ended_by|woken_by) = \[\"signal\"\];", "", text)
open("conf/ucpp.conf", "w").write(text)
P
check "a description without the type signal is valid" poet check conf/ucpp.conf
trace lacking "$root/examples/ucpp/semaphores.c" ucpp.o
like "poet check names the undescribed type" "$(poet check lacking.poet)" \
    "signal is not in the description"
poet export lacking.poet -o lacking.pdf
like "the exported diagram names the undescribed type" "$(pdftotext lacking.pdf -)" "undescribed type: signal"
is "events of an undescribed type are ordered" "$(poet order lacking.poet "$(poet dump lacking.poet --json | sed -n 's/.*"event":"\([^"]*\)","type":"signal".*/\1/p')" 2:6)" before
rm conf/ucpp.conf

# ---- errors of a runtime: the first violation on each line ----
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
is "poet check of a trace with violations exits with 1" $? 1
like "the first violation on a line names both events" "$(cat wrong.txt)" "1:2: end must not follow create \(1:1\) on its line"
is "only the first violation on a line is reported" "$(grep -c '1:.*on its line' wrong.txt)" 1
like "a pair of the wrong types is reported" "$(cat wrong.txt)" "2:1: (resumed is paired with enter, not with resume|enter is paired)"
done_testing

#!/bin/bash
# No program knows an environment by name: if all names in the description and in the
# announcements of a program are replaced by random ones, the diagram is the same except for labels.
. "$(dirname "$0")/lib.sh"
cat >own.c <<'C'
#include <poet.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
/* The same run twice, under given names: argv[1] is a prefix of every line type and event type. */
static char *name(const char *prefix, const char *s)
{
    char *n = malloc(200);
    snprintf(n, 200, "%s%s", prefix, s);
    return n;
}
int main(int argc, char **argv)
{
    const char *p = argc > 2 ? argv[2] : "";
    poet_environment(argv[1]);
    const char *after[] = {name(p, "gives"), NULL};
    poet_line_t t[3], m = poet_line(name(p, "room"), "m", NULL, 0),
                s = poet_line(name(p, "store"), "s", NULL, POET_SHARED);
    poet_type_t begin = poet_type(name(p, "begins"), NULL), in = poet_type(name(p, "goes"), NULL),
                came = poet_type(name(p, "came"), NULL), out = poet_type(name(p, "goes out"), NULL),
                left = poet_type(name(p, "is back"), NULL), gives = poet_type(name(p, "gives"), NULL),
                takes = poet_type(name(p, "takes"), after), sends = poet_type(name(p, "sends"), NULL),
                gets = poet_type(name(p, "gets"), NULL), meets = poet_type(name(p, "meets"), NULL),
                asks = poet_type(name(p, "asks"), NULL);
    for (int i = 0; i < 3; i++) {
        t[i] = poet_line(name(p, "worker"), (const char *[]){"one", "two", "three"}[i], NULL, 0);
        poet_event(t[i], begin, 0, 0);
    }
    for (int i = 0; i < 6; i++) {
        poet_line_t w = t[i % 3];
        poet_event(w, asks, m, 0);
        poet_pair(w, in, m, came, NULL);
        poet_pair(w, left, m, out, NULL);
        poet_event(s, i % 2 ? takes : gives, 0, 0);
        poet_event_t sent = poet_send(w, sends);
        poet_receive(t[(i + 1) % 3], gets, &sent, 1);
    }
    poet_send_key(t[0], meets, 1, 2);
    poet_receive_key(t[1], gets, 1, 2);
    poet_annotate(poet_event(t[0], asks, m, 0), "the end");
    return 0;
}
C
poetcc -trace own.c -o own
description() { # NAME PREFIX
    cat <<C
name = "$1";
line_types = ({ name = "$2worker"; letter = "W"; }, { name = "$2room"; letter = "R"; },
         { name = "$2store"; letter = "S"; shared = true; });
events = (
  { name = "$2begins"; shape = "square"; filled = true; thread_state = "running"; state_of = "own_thread"; opens = true; },
  { name = "$2goes"; filled = true; relation = "sync"; partner = "$2came"; arrow = "to-partner"; thread_state = "left"; state_of = "own_thread"; },
  { name = "$2came"; filled = true; relation = "sync"; partner = "$2goes"; arrow = "from-partner"; thread_state = "running"; },
  { name = "$2goes out"; filled = true; relation = "sync"; partner = "$2is back"; arrow = "to-partner"; thread_state = "left"; },
  { name = "$2is back"; filled = true; relation = "sync"; partner = "$2goes out"; arrow = "from-partner"; thread_state = "running"; state_of = "own_thread"; },
  { name = "$2gives"; shape = "square"; filled = true; }, { name = "$2takes"; shape = "square"; ordered_after = ["$2gives"]; },
  { name = "$2sends"; relation = "send"; }, { name = "$2gets"; relation = "receive"; },
  { name = "$2meets"; relation = "send"; }, { name = "$2asks"; verb = "asks for"; wait_class = "rendezvous"; thread_state = "blocked"; state_of = "own_thread"; });
C
}
mkdir conf
export POET_CONFIG="$work/conf"
description first "" >conf/first.conf
description second "Zq7 " >conf/second.conf
check "the description is valid" poet check conf/first.conf
check "the description under other names is valid" poet check conf/second.conf
start_server -o named/ -q
check "a program with line types of its own runs" ./own first
check "the run with line types of its own finishes" until_true finished latest
poet export latest -o first.txt --labels id --no-legend
poet export latest -o first.svg --labels id --no-legend --no-title --lines 2,3,4,5,6
poet dump latest >first.dump
check "the same program runs under other names" ./own second "Zq7 "
check "the run under other names finishes" until_true finished latest
poet export latest -o second.txt --labels id --no-legend
poet export latest -o second.svg --labels id --no-legend --no-title --lines 2,3,4,5,6
strip() { sed 's/Zq7 //g' "$1"; }
is "the diagram in the terminal differs in names only" "$(strip second.txt)" "$(strip first.txt)"
is "the exported SVG differs in names only" "$(grep -c . second.svg):$(strip second.svg | md5sum)" \
    "$(grep -c . first.svg):$(strip first.svg | md5sum)"
like "the shape of a mark is that of the description" "$(cat first.txt)" "■"
is "no source file of the server or a client names an environment" \
    "$(grep -rlE '"(pthread|monitor|mutex|condvar|semaphore|petition|acquire|acquired|ucpp|mpi|process|rank|task|coroutine|actors)"' "$root"/server "$root"/render "$root"/clients/cli "$root"/clients/viewer "$root"/clients/connection "$root"/clients/sourcefile --include='*.[ch]' | sort | tr '\n' ' ')" ""
# Events are ordered without any description.
rm conf/*.conf
check "a program runs without a description" ./own third
until_true finished latest
is "without a description as many events are ordered" "$(poet dump latest --json | grep -c '"state":"ordered"')" "$(poet dump "$(ls named/*.poet | head -n 1)" --json | grep -c '"state":"ordered"')"
like "without a description poet check names the undescribed type" "$(poet check latest)" "begins is not in the description"
stop_server
done_testing

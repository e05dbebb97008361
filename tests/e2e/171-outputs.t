#!/bin/bash
# Where a trace is written: under the name that was given, and over nothing that is no trace.
. "$(dirname "$0")/lib.sh"
cat >one.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { return pthread_mutex_lock(&m) || pthread_mutex_unlock(&m); }
C
cc -g one.c -o one -pthread
echo text >text.poet
is "a file that is no trace is refused before the program is started" \
    "$(poet record -o text.poet -- sh -c 'echo started' 2>&1; echo $?)" "poet record: text.poet: exists and is not a trace file; not overwritten
1"
is "...and stays as it was" "$(cat text.poet)" text
: >empty.poet
poet record -o empty.poet -- ./one 2>err
check "an empty one is no loss" sound empty.poet
ln -s nothing link.poet
poet record -o link.poet -- ./one 2>err
check "a link to nothing makes way" sound link.poet
is "...and no other name is written" "$(ls link*)" link.poet
ln -sf empty.poet to.poet
poet record -o to.poet -- ./one 2>err
check "a link to a trace does, too" sound to.poet
is "...and no other name is written" "$(ls to*)" to.poet
check "...and that trace stays" sound empty.poet
printf -v name 'w\xef\xbf\xbe\xef\xbf\xbfx'
cat >noted.c <<'C'
#include <poet.h>
#include <stdio.h>
int main(int argc, char **argv) { poet_annotate(poet_text("%s", argv[argc - 1]), "%s", argv[argc - 1]); return 0; }
C
if poetcc -trace -g noted.c -o noted 2>err; then
    POET_OUTPUT=noted.poet ./noted "$name" 2>err
    until_true finished noted.poet
    poet export -o noted.svg noted.poet 2>err
    check "what is no character is in no picture: SVG is XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("noted.svg")'
    check "...and PDF is made" poet export -o noted.pdf noted.poet
    is "a file that is no trace is named where the program's own server refuses it" \
        "$(POET_OUTPUT=text.poet ./noted x 2>&1; echo $?)" "poet: text.poet: exists and is not a trace file; not overwritten: tracing disabled
0"
    is "...and stays as it was" "$(cat text.poet)" text
    mkdir directory.poet
    is "so is a directory" "$(POET_OUTPUT=directory.poet ./noted x 2>&1; echo $?)" \
        "poet: directory.poet: is a directory; name a file, or append /: tracing disabled
0"
else
    not_ok "a program with a note is made" "$(cat err)"
fi
done_testing

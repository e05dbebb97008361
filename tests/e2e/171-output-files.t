#!/bin/bash
# The file name of a trace: a trace is written under the given name, and files that are not traces are never
# overwritten.
. "$(dirname "$0")/lib.sh"
cat >one.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { return pthread_mutex_lock(&m) || pthread_mutex_unlock(&m); }
C
cc -g one.c -o one -pthread
echo text >text.poet
is "poet record -o of a file that is not a trace: error, and the program is not run" \
    "$(poet record -o text.poet -- sh -c 'echo started' 2>&1; echo $?)" "poet record: text.poet: exists and is not a trace file; not overwritten
1"
is "poet record -o of a file that is not a trace: the file is unchanged" "$(cat text.poet)" text
: >empty.poet
poet record -o empty.poet -- ./one 2>err
check "poet record -o of an empty file: the trace replaces it" sound empty.poet
ln -s nothing link.poet
poet record -o link.poet -- ./one 2>err
check "poet record -o of a dangling link: the trace replaces the link" sound link.poet
is "poet record -o of a dangling link: no other file is written" "$(ls link*)" link.poet
ln -sf empty.poet to.poet
poet record -o to.poet -- ./one 2>err
check "poet record -o of a link to a trace: the trace replaces the link" sound to.poet
is "poet record -o of a link to a trace: no other file is written" "$(ls to*)" to.poet
check "poet record -o of a link to a trace: the target is unchanged" sound empty.poet
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
    check "invalid characters in notes: the SVG is well-formed XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("noted.svg")'
    check "invalid characters in notes: the PDF is written" poet export -o noted.pdf noted.poet
    is "POET_OUTPUT of a file that is not a trace: tracing is disabled with a message" \
        "$(POET_OUTPUT=text.poet ./noted x 2>&1; echo $?)" "poet: text.poet: exists and is not a trace file; not overwritten: tracing disabled
0"
    is "POET_OUTPUT of a file that is not a trace: the file is unchanged" "$(cat text.poet)" text
    mkdir directory.poet
    is "POET_OUTPUT of a directory without a slash: tracing is disabled with a message" "$(POET_OUTPUT=directory.poet ./noted x 2>&1; echo $?)" \
        "poet: directory.poet: is a directory; name a file, or append /: tracing disabled
0"
else
    not_ok "the program with a note compiles" "$(cat err)"
fi
done_testing

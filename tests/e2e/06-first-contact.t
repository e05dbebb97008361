#!/bin/bash
# Common mistakes of a first use are reported in one line that says what happened and what to type.
. "$(dirname "$0")/lib.sh"
one_line() { [ "$(printf '%s\n' "$1" | wc -l)" = 1 ]; }
says() { # NAME TEXT PATTERN: exactly one line, and it matches
    like "$1" "$2" "$3"
    check "$1: the message is one line" one_line "$2"
}
cp "$root/examples/prodcons.c" .
poetcc -trace -c prodcons.c
like "an object file linked without -trace is named in the linker's error" "$(poetcc prodcons.o -o p -pthread 2>&1)" "poet_link_with_poetcc_trace__sem_wait"
poetcc -c prodcons.c
poetcc -trace prodcons.o -o prodcons
start_server -o none/ -q
says "a traced program that ends with no event" "$(./prodcons 2>&1 >/dev/null)" \
    "^poet: no events recorded: .* build with: poetcc -trace$"
stop_server
says "poet view without a display" "$(env -u DISPLAY -u WAYLAND_DISPLAY GDK_BACKEND=x11 poet view 2>&1)" \
    "^poet view: (no display; print the trace with: poet show latest|poet-view: not installed)"
python3 "$root/tests/e2e/old-server.py" "$XDG_RUNTIME_DIR/poet.sock" &
pids="$pids $!"
old=$!
until_true test -S "$XDG_RUNTIME_DIR/poet.sock"
poetcc -trace prodcons.c -o prodcons
says "an old server with a newer program" "$(./prodcons 2>&1 >/dev/null)" "restart the server with the newer Poet: tracing disabled"
is "a program runs untraced under an old server" "$(./prodcons 2>/dev/null)" "sum of 10 items: 45"
like "an old server with a newer command is reported" "$(poet stat unix:$XDG_RUNTIME_DIR/poet.sock 2>&1)" "restart the server with the newer Poet"
kill $old; wait $old 2>/dev/null; rm -f "$XDG_RUNTIME_DIR/poet.sock"

mkdir full
if mount -t tmpfs -o size=200k none full 2>/dev/null; then
    start_server -o full/
    cat >busy.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { for (int i = 0; i < 60000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } return 0; }
C
    poetcc -trace busy.c -o busy
    check "a full disk does not stop the program" timeout 200 env POET_MAX_STALL_MS=100 ./busy
    until_true grep 'No space left' server.log
    like "the server reports a full disk in one line" "$(cat server.log)" "No space left on device: recording paused; data written so far is safe"
    is "the server reports a full disk once" "$(grep -c 'No space left' server.log)" 1
    check "poet stat opens the file written before the disk was full" poet stat full/*.poet
    check "the file written before the disk was full has no inconsistent event" sh -c '[ "$(poet stat --json full/*.poet | grep -c "\"inconsistent\":0")" = 1 ]'
    stop_server
    umount full
else
    skip "a small file system cannot be mounted here: a full disk"
fi
long=$(printf 'x%.0s' $(seq 120))
says "a socket path that is too long" "$(poet server -l unix:/tmp/$long 2>&1)" \
    "socket path too long \(at most 107 bytes, this one has 125\); use a shorter one"
says "a socket path that is too long, in a program" "$(POET_SERVER=unix:/tmp/$long ./prodcons 2>&1 >/dev/null)" "at most 107 bytes"
head -c 3000 /bin/ls >ls.poet
says "a file that is not a trace" "$(poet stat ls.poet 2>&1)" "^poet stat: ls.poet: not a Poet trace file$"
: >empty.poet
says "an empty file" "$(poet export empty.poet -o x.pdf 2>&1)" "^poet export: empty.poet: not a Poet trace file$"
POET_QUIET=1 ./prodcons >/dev/null
trace=$(trace_of prodcons)
until_true finished "$trace"
printf XXXX | dd of="$trace" bs=1 seek=4000 conv=notrunc status=none
like "poet stat reports how many bytes of a damaged file are lost" "$(poet stat "$trace")" "^damage +damaged at byte [0-9]+: [0-9]+ bytes in 1 place are lost, the rest is shown"
# A server that starts after three seconds, as on a loaded machine: POET_MAX_STALL_MS bounds how long a program waits for it.
printf '#!/bin/sh\nsleep 3\nexec "%s" "$@"\n' "$B/libexec/poet/poet-server" >slow
chmod +x slow
export POET_SERVER_PROGRAM="$work/slow"
like "a program waits for a server that starts slowly" "$(POET_OUTPUT=slow.poet POET_MAX_STALL_MS=10000 ./prodcons 2>&1 >/dev/null)" "recording to slow.poet"
printf '#!/bin/sh\nexec sleep 100\n' >slow # a server that never starts
like "a program waits for its server at most POET_MAX_STALL_MS" "$(POET_OUTPUT=slower.poet POET_MAX_STALL_MS=1000 ./prodcons 2>&1 >/dev/null)" "no answer: tracing disabled"
unset POET_SERVER_PROGRAM
says "no server runs, and none can be started" "$(POET_SERVER_PROGRAM=/nonexistent ./prodcons 2>&1 >/dev/null)" \
    "no server is running and poet-server was not found: tracing disabled"
is "POET_SERVER=none: the program is untraced and prints no notice" "$(POET_SERVER=none ./prodcons 2>&1)" "sum of 10 items: 45"
rm -f ./*.poet
no_server() { ! ls "$XDG_RUNTIME_DIR" | grep -q 'sock$'; } # servers of ended programs remain for a moment
until_true no_server
says "latest without any trace" "$(poet show latest 2>&1)" "latest: no trace found; compile a program with poetcc -trace"
# A server that the program started lives on and would hold the pipe open.
printf '#!/bin/sh\n"%s" "$@"\nexec sleep 1000\n' "$B/libexec/poet/poet-server" >slow
is "a pipe from the program is closed when the program exits" \
    "$(POET_SERVER_PROGRAM=$work/slow timeout 300 sh -c './prodcons 2>&1 | cat | tail -n 1')" "sum of 10 items: 45"
done_testing

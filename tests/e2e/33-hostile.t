#!/bin/bash
# Hostile data from servers, programs, traces and view files does not crash or hang a client, and does not control
# the user's terminal.
. "$(dirname "$0")/lib.sh"
export PYTHONPATH="$root/tests/e2e" PYTHONDONTWRITEBYTECODE=1 POET_QUIET=1
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
# raw: tests whether standard input has control characters or invalid UTF-8
raw() { LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" || ! iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1; }
clean() { if raw "$2"; then not_ok "$1" "$(head -c 2000 "$2" | cat -v)"; else ok "$1"; fi; }

# ---- names with control sequences, newlines, invalid UTF-8 ----
start_server -o runs/
python3 - "$endpoint" <<'P'
import sys
from talk import *
escape = "\x1b]0;OWNED\x07\x1b[31mRED\x1b[2J\x9b1m"
peer = connect(sys.argv[1])
peer.sendall(program_hello("evil" + escape + "\nrun@1", "/bin/ev" + escape + "\nil", ["a\x1b[31m", "b\nc"]))
peer.sendall(event_type(1, "lock" + escape) + event_type(2, "a <b> & \"c\"") + event_type(3, b"\xff\xfe\x80bad"))
peer.sendall(line(1, "thread", "T" + escape) + line(2, "ta" + escape, "<script>") +
             line(3, "mutex", b"\xff\xc0\x80 bad") + line(4, "thread", "new\nline\rcr\ttab"))
peer.sendall(slots(1, slot(1, 1, 1, 0x40, ("note" + escape + "\nforged 1:1 line").encode()), slot(2, 1, 2, time=1000)))
peer.sendall(slots(3, slot(3, 3, 1, 0x40, "cut in the middle of é".encode()[:-1])) + slots(4, slot(2, 4, 1)))
peer.sendall(text(1, 2, b"\xff\xfe late \xc3\x28"))
finish(peer)
P
until_true finished latest
file=$(ls runs/*.poet)
for what in "stat" "stat --json" "dump" "dump --json" "show" "blocked" "check"; do
    poet $what "$file" >out.txt 2>&1
    clean "poet $what prints no control characters" out.txt
done
poet runs >out.txt 2>&1
clean "poet runs prints no control characters" out.txt
clean "the server's log has no control characters" server.log
ls runs >out.txt
clean "poet prints a file's name without control characters" out.txt
is "an annotation with a newline stays on its line" "$(poet dump "$file" | grep -c 'forged')" 1
like "control characters are shown by replacement symbols" "$(poet dump "$file")" '␛\[31mRED'
poet dump "$file" --json >out.json
check "poet dump --json prints valid JSON" python3 -c 'import json; [json.loads(l) for l in open("out.json", encoding="utf-8")]'
check "poet export writes a PDF of hostile names" poet export "$file" -o out.pdf
check "poet export writes an SVG of hostile names" poet export "$file" -o out.svg
check "the SVG of hostile names is valid XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out.svg")'
for format in chrome dot shiviz; do
    poet export "$file" --format $format -o out.$format >/dev/null 2>&1
    clean "poet export --format $format writes no control characters" out.$format
done
check "the file for Perfetto is valid JSON" python3 -c 'import json; json.load(open("out.chrome", encoding="utf-8"))'

# ---- a module that is a FIFO, view files that include others ----
mkfifo waits
python3 - "$endpoint" "$PWD/waits" <<'P'
import sys
from talk import *
peer = connect(sys.argv[1])
peer.sendall(program_hello("fifo@1", sys.argv[2], pid=2, instance=2) + module(0x1000, 0x9000, sys.argv[2]))
peer.sendall(event_type(1, "x") + line(1, "thread", "", entry=0x1800) + slots(1, slot(1, 1, 1, site=0x1500)))
finish(peer)
P
until_true finished latest
file=$(ls runs/fifo*.poet)
check "a module that is a FIFO does not block poet dump" timeout 200 poet dump "$file"
check "a module that is a FIFO does not block poet show" timeout 200 poet show "$file"
printf '@include "waits"\nview = 1;\n' >evil.view
output=$(timeout 200 poet show "$file" --view evil.view 2>&1)
is "a view file with an include is refused" "$?:$output" "1:poet show: evil.view: a view cannot include other files"
output=$(timeout 200 poet show "$file" --view waits 2>&1)
is "a view file that is a FIFO is refused" "$?:$output" "1:poet show: waits: not a regular file"
output=$(timeout 200 poet stat waits 2>&1)
like "a trace file that is a FIFO is refused" "$?:$output" "^1:.*waits"

# ---- a server that sends impossible windows ----
cat >server.py <<'P'
import sys, threading
from talk import *
column = int(sys.argv[1])
def event(number, at):
    return (ref(1, number) + struct.pack("<QIBBqIIIQIIBBQHHHiIBqq", number, 1, 0, 0, number, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, at, 0, 0, -1, -1)
            + struct.pack("<III", 0, 0, 0))
run = struct.pack("<IIQQ", 1, 0, 2, 1) + string("run") + string("x.poet") + struct.pack("<QB", 0, 0) + string("")
tables = (frame(72, struct.pack("<IBIQQ", 1, 0, 0, 0, 0) + ref(0, 0) + struct.pack("<QQQ", 2, 1, 2) + string("thread")
                + string("main")) + frame(71, struct.pack("<I", 1) + string("x")))
window = (struct.pack("<QQQiIqiiB", 1, 0, 2, 0, 40, 0, 0, 1, 0) + struct.pack("<III", 1, 1, 0) + struct.pack("<HHHQB", 1, 0, 0, 0, 0)
          + struct.pack("<I", 2) + event(1, 0) + event(2, column) + struct.pack("<IIIIQQIIQ", 0, 0, 0, 0, 0, 0, 0, 0, 0))
door = socket.socket(socket.AF_UNIX)
door.bind("door.%s" % sys.argv[1])
door.listen(5)
def serve(peer):
    for kind, body in frames(peer):
        if kind == 1: peer.sendall(frame(64, struct.pack("<I", VERSION)))
        if kind != ASK: continue
        number, what = struct.unpack_from("<IH", body)
        if what == RUNS: peer.sendall(answer(number, PART_RUN, run))
        if what == SELECT: peer.sendall(frame(83, run) + tables + answer(number))
        if what == WINDOW: peer.sendall(answer(number, PART_WINDOW, window))
        if what == WAITS: peer.sendall(answer(number))
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
P
for column in 1 -100000 2000000000; do
    python3 server.py $column 2>/dev/null &
    pids="$pids $!"
    listens() { grep -q "door.$column\$" /proc/net/unix; }
    until_true listens
    timeout 200 poet show "unix:door.$column" >out.txt 2>&1
    status=$?
    if [ $column = 1 ]; then is "a valid window is drawn" $status 0
    else
        is "an event in column $column is refused" $status 1
        like "an event in column $column is refused in one line" "$(cat out.txt)" "^poet show: .*event outside of its window's columns"
    fi
done

stop_server

# ---- a peer on a host that is down ----
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then skip "this Poet was built without GnuTLS and zstd"
else
poet key >key.txt
port=$(free_port)
start_server -q -o far/ -l poet://127.0.0.1:$port -l "$endpoint"
python3 - $port >alive <<'P'
import socket, sys, time
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
mine, timer = "%04X" % peer.getsockname()[1], ""
for again in range(3000):  # the server's end: its timer 02 is the one that checks whether the peer is alive
    for row in open("/proc/net/tcp"):
        fields = row.split()
        if fields[2].endswith(":" + mine):
            timer = fields[5].split(":")[0]
    if timer == "02":
        break
    time.sleep(0.02)
print(timer)
P
is "the server checks periodically whether a network peer is alive" "$(cat alive)" 02
stop_server
fi

# ---- another PID namespace ----
compile prodcons
if unshare --pid --fork true 2>/dev/null; then
    unshare --pid --fork --kill-child poet server -q -o inside/ -l "$endpoint" 2>server.log &
    server=$!
    pids="$pids $server"
    until_true poet runs "$endpoint"
    is "a program outside of the server's PID namespace runs" "$(POET_SERVER=$endpoint ./prodcons)" "sum of 10 items: 45"
    check "a program outside of the server's PID namespace is traced" sound "$endpoint"
    POET_SERVER=$endpoint unshare --pid --fork ./prodcons >out
    check "a program in a third PID namespace is traced" sound "$endpoint"
    is "both programs are listed by poet runs" "$(poet runs "$endpoint" | grep -c " ended ")" 2
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    start_server -q -o outside/ -l "$endpoint"
    POET_SERVER=$endpoint unshare --pid --fork ./prodcons >out
    check "a program in a PID namespace is traced by a server outside" sound "$endpoint"
    stop_server
else
    skip "PID namespaces are not available"
fi
done_testing

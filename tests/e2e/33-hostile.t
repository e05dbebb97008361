#!/bin/bash
# What a server, a program, a trace or a view file may say to those who look: nothing of it crashes them, hangs them
# or commands their terminal.
. "$(dirname "$0")/lib.sh"
export PYTHONPATH="$root/tests/e2e" PYTHONDONTWRITEBYTECODE=1 POET_QUIET=1
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
# raw: what a terminal would obey, or what is no UTF-8, is in standard input
raw() { LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" || ! iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1; }
clean() { if raw "$2"; then not_ok "$1" "$(head -c 2000 "$2" | cat -v)"; else ok "$1"; fi; }

# ---- names that are commands to a terminal, newlines, bytes that are no UTF-8 ----
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
    clean "poet $what prints text" out.txt
done
poet runs >out.txt 2>&1
clean "poet runs prints text" out.txt
clean "so does the server's log" server.log
ls runs >out.txt
clean "a file's name is text" out.txt
is "a text stays on its line" "$(poet dump "$file" | grep -c 'forged')" 1
like "and is marked where it was mended" "$(poet dump "$file")" '␛\[31mRED'
poet dump "$file" --json >out.json
check "a dump is JSON" python3 -c 'import json; [json.loads(l) for l in open("out.json", encoding="utf-8")]'
check "a picture on paper" poet export "$file" -o out.pdf
check "a picture for the web" poet export "$file" -o out.svg
check "which is XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out.svg")'
for format in chrome dot shiviz; do
    poet export "$file" --format $format -o out.$format >/dev/null 2>&1
    clean "poet export --format $format writes text" out.$format
done
check "that of Perfetto is JSON" python3 -c 'import json; json.load(open("out.chrome", encoding="utf-8"))'

# ---- a module, a view that would never end ----
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
check "a module that is a FIFO hangs nobody" timeout 200 poet dump "$file"
check "nor a picture" timeout 200 poet show "$file"
printf '@include "waits"\nview = 1;\n' >evil.view
output=$(timeout 200 poet show "$file" --view evil.view 2>&1)
is "a view that includes is refused" "$?:$output" "1:poet show: evil.view: a view cannot include other files"
output=$(timeout 200 poet show "$file" --view waits 2>&1)
is "so is one that is a FIFO" "$?:$output" "1:poet show: waits: not a regular file"
output=$(timeout 200 poet stat waits 2>&1)
like "so is a trace" "$?:$output" "^1:.*waits"

# ---- a server that tells windows that cannot be ----
cat >server.py <<'P'
import sys, threading
from talk import *
column = int(sys.argv[1])
def event(number, at):
    return (ref(1, number) + struct.pack("<QIBBqIIIQIIQHHHiIBqq", number, 1, 0, 0, number, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, at, 0, 0, -1, -1)
            + struct.pack("<III", 0, 0, 0))
run = struct.pack("<IIQQ", 1, 0, 2, 1) + string("run") + string("x.poet") + struct.pack("<QB", 0, 0)
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
    if [ $column = 1 ]; then is "a window is drawn" $status 0
    else
        is "an event in column $column is refused" $status 1
        like "in one line" "$(cat out.txt)" "^poet show: .*event outside of its window's columns"
    fi
done

stop_server

# ---- a peer whose machine is gone ----
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then skip "this Poet was built without GnuTLS and zstd"
else
poet key >key.txt
port=$(free_port)
start_server -q -o far/ -l poet://127.0.0.1:$port -l "$endpoint"
python3 - $port >alive <<'P'
import socket, sys, time
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
mine, timer = "%04X" % peer.getsockname()[1], ""
for again in range(3000):  # the server's end: its timer 02 is the one that asks whether we live
    for row in open("/proc/net/tcp"):
        fields = row.split()
        if fields[2].endswith(":" + mine):
            timer = fields[5].split(":")[0]
    if timer == "02":
        break
    time.sleep(0.02)
print(timer)
P
is "over a network a peer is asked now and then whether it lives" "$(cat alive)" 02
stop_server
fi

# ---- another process namespace ----
compile prodcons
if unshare --pid --fork true 2>/dev/null; then
    unshare --pid --fork --kill-child poet server -q -o inside/ -l "$endpoint" 2>server.log &
    server=$!
    pids="$pids $server"
    until_true poet runs "$endpoint"
    is "a program outside of the server's process namespace" "$(POET_SERVER=$endpoint ./prodcons)" "sum of 10 items: 45"
    check "is traced" sound "$endpoint"
    POET_SERVER=$endpoint unshare --pid --fork ./prodcons >out
    check "so is one in a third one" sound "$endpoint"
    is "both are there" "$(poet runs "$endpoint" | grep -c " ended ")" 2
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    start_server -q -o outside/ -l "$endpoint"
    POET_SERVER=$endpoint unshare --pid --fork ./prodcons >out
    check "and one inside, of a server outside" sound "$endpoint"
    stop_server
else
    skip "no process namespaces here"
fi
done_testing

#!/bin/bash
# Replay of memcached under a deterministic client: the first divergence that timing or the network causes is
# reported, and the client is served to the end.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
if ! command -v memcached >/dev/null; then
    skip "memcached is not installed"
    done_testing
    exit
fi
cat >client.py <<'END'
import socket, sys, time
for _ in range(600):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect("m.sock")
        break
    except OSError:
        time.sleep(0.05)
f = s.makefile("rwb")
stored = 0
for i in range(10):
    value = b"v" * (i + 1)
    f.write(b"set k%d 0 0 %d\r\n%s\r\n" % (i, len(value), value))
    f.flush()
    f.readline()
    f.write(b"get k%d\r\n" % i)
    f.flush()
    if f.readline().startswith(b"VALUE"):
        stored += f.readline().strip() == value
        f.readline()
f.write(b"shutdown\r\n")
f.flush()
f.readline()
print(stored)
END
# serve COMMAND...: prints what the client got, then the status
serve() {
    rm -f m.sock
    timeout 100 "$@" >out 2>said &
    server=$!
    timeout 60 python3 client.py
    wait $server
    echo "status $?"
}
user=$(id -un)
is "memcached: a recorded server serves its client" "$(serve poet record --with-input -o m.poet -- memcached -u "$user" -t 2 -s m.sock -A | xargs)" "10 status 0"
until_true finished m.poet
check "memcached: the trace passes poet check" sound m.poet
is "memcached: a replayed server serves its client" "$(serve poet replay m.poet -o again.poet | head -n 1)" 10
like "memcached: replay reports the first divergence, or none" "$(cat said)" "poet replay: (divergence: T:[^ ]+ .*; [0-9]+ of [0-9]+ events were replayed|no divergence in )"
repeated=$(sed -n 's/.*; \([0-9]*\) of .*/\1/p' said)
name="memcached: more than 1000 events are replayed before a divergence"
if [ "${repeated:-1000000}" -gt 1000 ]; then ok "$name"; else not_ok "$name" "$(cat said)"; fi
done_testing

#!/bin/bash
# A server that nobody here wrote, memcached, under a client that does the same each time: it is repeated up to the first
# difference that time or the network makes, which is named, and serves its client all along.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
if ! command -v memcached >/dev/null; then
    skip "there is no memcached"
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
# serve COMMAND...: what the client got, then the status
serve() {
    rm -f m.sock
    timeout 100 "$@" >out 2>said &
    server=$!
    timeout 60 python3 client.py
    wait $server
    echo "status $?"
}
user=$(id -un)
is "recorded" "$(serve poet record --with-input -o m.poet -- memcached -u "$user" -t 2 -s m.sock -A | xargs)" "10 status 0"
until_true finished m.poet
check "its trace is sound" sound m.poet
is "repeated, it serves its client" "$(serve poet replay m.poet -o again.poet | head -n 1)" 10
like "the first difference is named, or there is none" "$(cat said)" "poet replay: (divergence: T:[^ ]+ .*; [0-9]+ of [0-9]+ events were replayed|no divergence in )"
repeated=$(sed -n 's/.*; \([0-9]*\) of .*/\1/p' said)
check "far behind its beginning" [ "${repeated:-1000000}" -gt 1000 ]
done_testing

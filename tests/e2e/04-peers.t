#!/bin/bash
# The server refuses malformed peers with a reason, logs them, and disconnects only them; other clients are not affected.
. "$(dirname "$0")/lib.sh"
start_server -o peers/ -l "unix:$XDG_RUNTIME_DIR/poet.sock" 2>/dev/null
send() { python3 "$root/tests/e2e/send-bytes.py" "$XDG_RUNTIME_DIR/poet.sock" "$@" | strings -n 4; }
logged() { grep -Eq "$1" server.log; }
like "bytes that are not a Poet message are refused" "$(send 4745542f20485454502f312e310d0a0d0a stay)" "not a Poet message"
check "bytes that are not a Poet message are logged with the byte offset" until_true logged "peer [0-9]+: not a Poet message, at byte 0"
like "a message that is too long is refused" "$(send ffffff7f0100504f stay)" "too long"
like "another protocol version is refused with both versions" "$(send 0a0000000100504f504f454d63000000010000 stay)" "protocol version mismatch \(server 1, peer 99\)"
like "a HELLO from before protocol version 1 is refused" "$(send 090000000100504f504f45540600000002 stay)" \
    "HELLO: of an older version of Poet; update the peer"
like "a first message other than HELLO is refused" "$(send 000000002000504f stay)" "the first message is REQUEST, not HELLO"
send 0a0000000100504f504f >/dev/null
check "a connection closed within a message is logged" until_true logged "connection closed within a message"
viewer=090000000100504f504f454d0100000002
like "a viewer's message without the magic number is refused" "$(send ${viewer}00000000e7030000 stay)" "not a Poet message"
like "a message of an unknown type is refused" "$(send ${viewer}000000005000504f stay)" "is not a viewer message"
like "a window request without a selected run is refused" "$(send ${viewer}060000002000504f070000001000000000005000504f stay)" "no run was selected"
like "a request without an id is refused" "$(send ${viewer}060000002000504f000000001000 stay)" "REQUEST: request without an id"
like "a truncated request is refused" "$(send ${viewer}020000002000504f0000 stay)" "REQUEST: truncated message"
compile prodcons
is "a traced program prints its result after malformed peers" "$(./prodcons)" "sum of 10 items: 45"
check "the trace of that program is sound" sound latest

# A program that passes a queue that is not sealed.
cat >unsealed.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "wire/message.h"
int main(int argc, char **argv)
{
    struct sockaddr_un a = {AF_UNIX, ""};
    strcpy(a.sun_path, argv[1]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0), fd = memfd_create("q", MFD_ALLOW_SEALING);
    if (connect(s, (void *)&a, sizeof a) || ftruncate(fd, 1 << 20)) return 1;
    struct encoder out = {0};
    encoder_begin_message(&out, MESSAGE_HELLO);
    encode_u32(&out, HELLO_MAGIC); encode_u32(&out, WIRE_VERSION); encode_u8(&out, ROLE_PROGRAM);
    encode_string(&out, "unsealed"); encode_string(&out, "pthread"); encode_string(&out, "/bin/x");
    encode_string(&out, "host"); encode_u32(&out, 1); encode_u64(&out, 1); encode_u64(&out, 1);
    encode_u64(&out, 1); encode_u32(&out, 0);
    encoder_end_message(&out);
    encoder_begin_message(&out, MESSAGE_THREAD); encode_u32(&out, 4096); encoder_end_message(&out);
    char control[CMSG_SPACE(sizeof(int))] = {0}, answer[4096];
    struct iovec iov = {out.data, out.size};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET; c->cmsg_type = SCM_RIGHTS; c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    sendmsg(s, &m, 0);
    for (ssize_t n; (n = read(s, answer, sizeof answer)) > 0;) fwrite(answer, 1, (size_t)n, stdout);
    return 0;
}
C
cc -I"$root" unsealed.c "$root/wire/message.c" -o unsealed
like "a queue that is not sealed is refused" "$(./unsealed "$XDG_RUNTIME_DIR/poet.sock" | strings)" "THREAD: a queue that is not sealed"
check "the unsealed queue is logged with the name of the program" until_true logged "x\[1\]: THREAD: a queue that is not sealed"

like "a second server does not start on a socket that is in use" "$(poet server 2>&1)" "in use by another server"
like "a server refuses to listen on an unencrypted TCP endpoint" "$(poet server -l tcp:127.0.0.1:7777 2>&1)" "unencrypted connections are not supported; use poet://HOST:PORT"
kill -KILL "$server"
wait "$server" 2>/dev/null
start_server -o peers2/ -q
check "a stale socket is replaced" poet runs
is "the directory of sockets is readable by its owner only" "$(stat -c %a "$XDG_RUNTIME_DIR")" 700
stop_server
[ -e "$XDG_RUNTIME_DIR/poet.sock" ] && not_ok "SIGTERM removes the socket" || ok "SIGTERM removes the socket"

# Twenty viewers at different positions, one of them stopped, on a run at full rate.
start_server -o crowd.poet -q
cat >busy.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { for (int i = 0; i < 300000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } return 0; }
C
poetcc -trace -O2 busy.c -o busy
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
./busy & program=$!
poet_running() { [ "$(figure "$endpoint" events)" -gt 1000 ]; }
until_true poet_running
poet dump "$endpoint" >/dev/null & stopped=$!
stop_process $stopped
viewers=
for i in $(seq 20); do
    poet export "$endpoint" --last $((i * 5)) -o "v$i.pdf" & viewers="$viewers $!"
done
bad=
for v in $viewers; do wait "$v" || bad="$bad $v"; done
is "20 viewers get their windows beside one that is stopped" "$bad" ""
wait $program
check "the trace of a program that 20 viewers watch is sound" sound "$endpoint"
is "the trace of a program that 20 viewers watch has every event" "$(figure "$endpoint" events)" $((300000 * 5 + 3))
kill -CONT $stopped
kill $stopped
stop_server
done_testing

#!/bin/bash
# Bad peers are answered where possible, dropped alone and logged; good ones do not notice.
. "$(dirname "$0")/lib.sh"
start_server -o peers/ -l "unix:$XDG_RUNTIME_DIR/poet.sock" 2>/dev/null
cat >peer.pl <<'P'
use Socket; # peer.pl PATH HEX [stay]: sends the bytes, prints the answer
socket my $s, AF_UNIX, SOCK_STREAM, 0; connect $s, sockaddr_un($ARGV[0]) or die "$!";
syswrite $s, pack "H*", $ARGV[1]; shutdown $s, 1 unless $ARGV[2];
$SIG{ALRM} = sub { exit 3 }; alarm 200;
while (sysread $s, my $b, 4096) { print $b }
P
send() { perl peer.pl "$XDG_RUNTIME_DIR/poet.sock" "$@" | strings -n 4; }
logged() { grep -Eq "$1" server.log; }
like "garbage is answered" "$(send 4745542f20485454502f312e310d0a0d0a stay)" "not a Poet message"
check "and logged with its byte" until_true logged "peer [0-9]+: not a Poet message, at byte 0"
like "a huge length" "$(send ffffff7f0100504f stay)" "too long"
like "another version" "$(send 0a0000000100504f504f454d63000000010000 stay)" "protocol version mismatch \(server 1, peer 99\)"
like "a peer from before version 1" "$(send 090000000100504f504f45540600000002 stay)" \
    "HELLO: of an older version of Poet; update the peer"
like "no HELLO first" "$(send 000000002000504f stay)" "the first message is REQUEST, not HELLO"
send 0a0000000100504f504f >/dev/null
check "half a message and a hang-up" until_true logged "connection closed within a message"
viewer=090000000100504f504f454d0100000002
like "a request that is none" "$(send ${viewer}00000000e7030000 stay)" "not a Poet message"
like "a message that does not exist" "$(send ${viewer}000000005000504f stay)" "is not a viewer message"
like "a window of no run" "$(send ${viewer}060000002000504f070000001000000000005000504f stay)" "no run was selected"
like "a question without an id" "$(send ${viewer}060000002000504f000000001000 stay)" "REQUEST: request without an id"
like "half a question" "$(send ${viewer}020000002000504f0000 stay)" "REQUEST: truncated message"
compile prodcons
is "a program does not notice" "$(./prodcons)" "sum of 10 items: 45"
check "nor its trace" sound latest

# A program that hands over a queue that is not sealed.
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
check "and logged by name" until_true logged "x\[1\]: THREAD: a queue that is not sealed"

like "a second server keeps off a live socket" "$(poet server 2>&1)" "in use by another server"
like "no door in the clear" "$(poet server -l tcp:127.0.0.1:7777 2>&1)" "unencrypted connections are not supported; use poet://HOST:PORT"
kill -KILL "$server"
wait "$server" 2>/dev/null
start_server -o peers2/ -q
check "a stale socket is replaced" poet runs
is "the directory of sockets is the user's own" "$(stat -c %a "$XDG_RUNTIME_DIR")" 700
stop_server
[ -e "$XDG_RUNTIME_DIR/poet.sock" ] && not_ok "SIGTERM removes the socket" || ok "SIGTERM removes the socket"

# Twenty viewers at different places, one of them stopped, on a run at full rate.
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
kill -STOP $stopped
viewers=
for i in $(seq 20); do
    poet export "$endpoint" --last $((i * 5)) -o "v$i.pdf" & viewers="$viewers $!"
done
bad=
for v in $viewers; do wait "$v" || bad="$bad $v"; done
is "20 viewers get their pictures beside one that is stopped" "$bad" ""
wait $program
check "and the program's trace is complete" sound "$endpoint"
is "every event of it" "$(figure "$endpoint" events)" $((300000 * 5 + 3))
kill -CONT $stopped
kill $stopped
stop_server
done_testing

# What the tests of NATS share, behind lib.sh: a NATS server of their own.  Skips all of the test where there is none.
nats=$(command -v nats-server || PATH=/usr/sbin:/sbin command -v nats-server)
why=
[ -n "$nats" ] || why="there is no nats-server (Debian: nats-server)"
poet server --from nats://127.0.0.1:1 2>&1 | grep -q "built without" && why="this Poet was built without libnats"
if [ -n "$why" ]; then
    skip "$why"
    done_testing
    exit 0
fi

# nats_start [PORT [ARG...]]: its messages stay in nats/ when it is killed; $url is where it is, $nats_pid its process
nats_start() {
    nats_port=${1:--1}
    [ $# -gt 0 ] && shift
    rm -rf ports
    mkdir ports
    "$nats" -js -a 127.0.0.1 -p "$nats_port" -sd "$work/nats" --ports_file_dir "$work/ports" "$@" >>nats.log 2>&1 &
    nats_pid=$!
    pids="$pids $nats_pid"
    nats_said() {
        url=$(cat ports/*.ports 2>/dev/null | grep -Eo '"(nats|tls)://[0-9.]+:[0-9]+"' | head -n 1 | tr -d '"')
        [ -n "$url" ]
    }
    until_true nats_said
    nats_port=${url##*:}
}
nats_kill() { kill -KILL $nats_pid; wait $nats_pid 2>/dev/null; }
nats_messages() { # of the stream, as its files say: bytes
    cat nats/jetstream/*/streams/"$1"/msgs/*.blk 2>/dev/null | wc -c
}

# rate N: three threads and a mutex of all, N rounds each; then it waits for the file that WAIT_FOR names, if that is set
cat >rate.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static void *thread(void *a)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_t *m = i % 64 ? &own : &all;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    rounds = argc > 1 ? atol(argv[1]) : 100;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    while (getenv("WAIT_FOR") && access(getenv("WAIT_FOR"), F_OK) != 0)
        usleep(1000);
    return 0;
}
END
poetcc -trace -g rate.c -o rate -pthread

agent() { # agent NAME [URL]: its door NAME.sock, its journals NAME-kept/
    rm -f "$1.sock"
    poet server --to "${2:-$url}" -l "unix:$work/$1.sock" -o "$1-kept/" 2>>"$1.log" &
    agent=$!
    pids="$pids $agent"
    until_true test -S "$1.sock"
}
reader() { # reader NAME RUN [URL]: what it orders is in NAME-read/
    rm -f "$1.sock"
    poet server --from "${3:-$url}#$2" -l "unix:$work/$1.sock" -o "$1-read/" 2>>"$1.log" &
    reader=$!
    pids="$pids $reader"
    until_true test -S "$1.sock"
}
program() { # program AGENT RUN ROUNDS
    POET_SERVER="unix:$work/$1.sock" POET_RUN="$2" ./rate "$3"
}
read_by() { ls "$1-read/$2"-*.poet 2>/dev/null | head -n 1; }
kept() { ls "$1-kept/$2"-*.poet 2>/dev/null | head -n 1; }
ended() { [ -s "$(read_by "$1" "$2")" ] && finished "$(read_by "$1" "$2")"; }
# all of a run, each event with what it comes after
sorted() { poet dump "$1" | sort | cksum; }
# all of a run, with the names of lines in place of their numbers, which depend on the order of arrival
by_name() {
    poet dump "$1" | awk '
        function named(text,    before, line) {
            while (match(text, /[0-9A-Za-z_]+:[0-9]/)) {
                line = substr(text, RSTART, RLENGTH - 2)
                before = before substr(text, 1, RSTART - 1) (line in name ? name[line] : line) ":"
                text = substr(text, RSTART + RLENGTH - 1)
            }
            return before text
        }
        { said[NR] = $0; line = $1; sub(/:.*/, "", line) }
        line ~ /^[0-9]+$/ && !(line in name) { name[line] = $5 ~ /^\(0x/ ? $4 " " $5 : $4 }
        END { for (i = 1; i <= NR; i++) print named(said[i]) }' | sort | cksum
}

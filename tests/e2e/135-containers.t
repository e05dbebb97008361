#!/bin/bash
# A program and its agent in two containers with a shared socket directory: what is identified by a PID, user id
# or inode number is distinguished, or reported as unknown. Then launch trees over two hosts with ssh and Open MPI.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/hosts.sh"

if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
container="unshare --mount --pid --fork --mount-proc --ipc --uts"
if [ "$(id -u)" != 0 ] && unshare --user --map-current-user true 2>/dev/null; then
    container="unshare --user --map-current-user --mount --pid --fork --mount-proc --ipc --uts"
fi
if ! $container true 2>unshare.log; then
    skip "containers cannot be created here: $(head -n 1 unshare.log)"
    done_testing
    exit 0
fi
apart="$container --net" # without a network
poet key >/dev/null
far=$(free_port)
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
pids="$pids $!"
until_true poet runs "unix:$work/server.sock"
mkdir shared image
cat >work.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t unmistakable = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *a)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&unmistakable);
        pthread_mutex_unlock(&unmistakable);
    }
    return a;
}
static void three(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        pthread_create(&t, NULL, one, NULL);
        pthread_join(t, NULL);
    }
}
/* work forks N: waits for each child; work wait: until it is killed; work shared FILE: a lock in a file */
static void fork_some(int n)
{
    for (int i = 0; i < n; i++) {
        if (fork() == 0) {
            one(NULL);
            exit(0);
        }
        wait(NULL);
    }
}
static void lock_shared(const char *path)
{
    pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR), 0);
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}
static int make_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0666), set = ftruncate(fd, 4096);
    pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    return set + pthread_mutex_init(m, &a);
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "make") == 0)
        return make_shared(argv[2]);
    three();
    while (getenv("WAIT_FOR") && access(getenv("WAIT_FOR"), F_OK) != 0)
        usleep(1000);
    if (strcmp(what, "forks") == 0)
        fork_some(atoi(argv[2]));
    if (strcmp(what, "shared") == 0)
        lock_shared(argv[2]);
    if (strcmp(what, "wait") == 0)
        for (;;)
            pause();
    return 0;
}
C
poetcc -trace -g work.c -o work -pthread && cc -g work.c -o plain -pthread
agent() { # agent NAME COMMAND...: in its own container
    name=$1
    shift
    "$@" sh -c "hostname pod-$name 2>/dev/null; exec poet server --to poet://127.0.0.1:$far -l unix:$work/shared/$name.sock -o $work/$name-kept/" 2>"$name.log" &
    agent=$!
    pids="$pids $agent"
    until_true test -S "shared/$name.sock"
}
in_pod() { # in_pod RUN COMMAND...: beside the agent `pod`
    pod_run=$1
    shift
    POET_SERVER="unix:$work/shared/pod.sock" POET_RUN=$pod_run $apart "$@"
}
served() { ls served/"$1"-*.poet 2>/dev/null | head -n 1; }
ended() { [ -s "$(served "$1")" ] && finished "$(served "$1")"; }
dumped() { poet dump "$(served "$1")"; }
# The programs of a run wait for a file until all of them are connected: a program that is alone could end the run.
all_of() { # all_of RUN COUNT
    arrived() { [ "$(poet runs --json "unix:$work/server.sock" | grep "\"$1\"" | grep -o '"connected":[0-9]*')" = "\"connected\":$2" ]; }
    until_true arrived "$1" "$2"
    touch "$WAIT_FOR"
    unset WAIT_FOR
}

# ---- a program and its agent ----
agent pod $container
said=$(in_pod threads ./work 2>&1)
is "container: the program prints nothing" "$said" ""
until_true ended threads
check "container: the trace passes poet check" sound "$(served threads)"
is "container: the agent of the other container forwards the run" "$(grep -c 'agent of pod-pod connected' server.log)" 1
is "container: the program has its PID of the container" "$(poet stat "$(served threads)" | grep -c '^program.*, process [1-9] on')" 1
is "container: names and call sites are resolved" "$(dumped threads | grep -c 'M:unmistakable.* at work.c:1[0-9]$')" 450
in_pod recorded poet record -- ./plain 2>said
until_true ended recorded
check "container with poet record: the trace passes poet check" sound "$(served recorded)"
is "container with poet record: names and call sites are resolved" "$(dumped recorded | grep -c 'M:unmistakable.* at work.c:1[0-9]$')" 450
is "container with poet record: no messages are printed" "$(cat said)" ""

# ---- whether a program is alive ----
in_pod killed "$work/work" wait 2>/dev/null &
within=$!
pids="$pids $within"
there() { [ "$(figure "unix:$work/server.sock#killed" events)" -gt 300 ]; }
until_true there
end_own_processes work
wait $within 2>/dev/null
check "program killed in a container: its exit is detected despite another PID" until_true ended killed
is "program killed in a container: no event is lost or pending" "$(figure "$(served killed)" lost pending)" "0 0"

# ---- which process /proc shows ----
is "program killed in a container: no usage figures are taken from another process in /proc" "$(poet usage "$(served killed)" 2>&1 | grep -c ' /proc')" 0
like "program killed in a container: poet states says that its process could not be seen" "$(poet states "$(served killed)" 2>&1)" "its process cannot be seen from there, as in a container"
# An agent with the /proc of another PID namespace.
cat >wrong.sh <<X
poet server --to poet://127.0.0.1:$far -l unix:$work/shared/wrong.sock -o $work/wrong-kept/ 2>$work/wrong.log &
while [ ! -S $work/shared/wrong.sock ]; do sleep 0.05; done
export POET_SERVER=unix:$work/shared/wrong.sock POET_RUN=wrong
$work/work wait &
wait
X
no_proc=$(echo "$container" | sed 's/ --mount-proc//')
$no_proc sh wrong.sh 2>/dev/null &
within=$!
pids="$pids $within"
wrong_there() { [ "$(figure "unix:$work/server.sock#wrong" events)" -gt 300 ]; }
until_true wrong_there
end_own_processes work
check "agent with the /proc of another namespace: the run ends" until_true ended wrong
is "agent with the /proc of another namespace: no usage figures are taken from a process with the same PID" "$(poet usage "$(served wrong)" | grep -c ' /proc')" 0

# A program in a container inside that of the agent: the agent sees it under another PID.
export POET_SERVER="unix:$work/shared/here.sock" POET_RUN=inner
poet server --to poet://127.0.0.1:$far -l "$POET_SERVER" -o here-kept/ 2>here.log &
pids="$pids $!"
until_true test -S shared/here.sock
$apart "$work/work" wait 2>/dev/null &
within=$!
pids="$pids $within"
one_thread() { [ "$(poet usage "unix:$work/server.sock#inner" | awk '$3 == "threads" && /\/proc/ { print $4 }')" = 1 ]; }
check "nested container: usage figures count the one remaining thread" until_true one_thread
end_own_processes work
wait $within 2>/dev/null
unset POET_SERVER POET_RUN
until_true ended inner
like "nested container: poet states says that thread ids differ" "$(poet states "$(served inner)")" "other numbers, in a PID namespace of its own"

# ---- ids that are unique within one container only ----
export WAIT_FOR="$work/forks.go"
in_pod forks ./work forks 20 &
first=$!
in_pod forks ./work forks 20 &
second=$!
POET_SERVER="unix:$work/shared/here.sock" POET_RUN=forks ./work forks 20 &
third=$!
all_of forks 3
wait $first $second $third
all_there() { ended forks && [ "$(poet stat "$(served forks)" | grep -c ^program)" = 63 ]; }
check "child processes in two containers with two agents: the run ends with all of them" until_true all_there
check "child processes in two containers: the trace passes poet check" sound "$(served forks)"
cat >forks.py <<'P'
"""Does each child begin after one fork, and each fork make one child?"""
import json, sys
events = [e for e in map(json.loads, sys.stdin) if 'event' in e]
forks = [e for e in events if e['type'] == 'fork']
partners = [e['partner'] if isinstance(e['partner'], list) else [e['partner']] for e in forks]
print(len(forks), sum(len(p) == 1 and p[0] is not None for p in partners), len({p[0] for p in partners}))
P
is "child processes in two containers: each one has one parent" "$(poet dump --json "$(served forks)" | python3 forks.py)" "60 60 60"
POET_SERVER=none ./work make locks
export WAIT_FOR="$work/locks.go"
in_pod locks ./work shared "$work/locks" &
first=$!
in_pod locks ./work shared "$work/locks" &
second=$!
all_of locks 2
wait $first $second
until_true ended locks
check "file lock shared by two containers with one agent: the trace passes poet check" sound "$(served locks)"
shared_lines() { dumped "$1" | awk '$3 == "acquired" && $4 !~ /unmistakable/ { split($1, at, ":"); print at[1] }' | sort | uniq -c | awk '{ print $1 }' | xargs; }
is "file lock shared by two containers with one agent: one line" "$(shared_lines locks)" 100
export WAIT_FOR="$work/apart.go"
POET_SERVER="unix:$work/shared/here.sock" POET_RUN=apart ./work shared "$work/locks" &
first=$!
in_pod apart ./work shared "$work/locks" &
second=$!
all_of apart 2
wait $first $second
until_true ended apart
check "file lock with two agents that number it independently: the trace passes poet check" sound "$(served apart)"
is "file lock with two agents: a line for each agent" "$(shared_lines apart)" "50 50"

# ---- an executable that the agent cannot read ----
cat >elsewhere.sh <<X
mount -t tmpfs none $work/image && cp $work/work $work/image/other && exec $work/image/other
X
in_pod image sh elsewhere.sh
until_true ended image
is "executable in a private mount: its path is empty outside" "$(ls image)" ""
like "executable in a private mount: call sites are given as offsets" "$(dumped image)" "lock .* at other\+0x[0-9a-f]+"
cp plain image/other
is "executable in a private mount: another file of the same path is not used" "$(dumped image | grep -c ' at work.c:')" 0
cp work image/other
is "executable in a shared directory: call sites are resolved" "$(dumped image | grep -c 'M:unmistakable.* at work.c:1[0-9]$')" 450

# ---- users ----
user_says() { "$@" ./work 2>&1 | head -n 1; }
at=unix:$work/shared/here.sock
if [ "$(id -u)" = 0 ] && setpriv --reuid 4242 --clear-groups true 2>/dev/null; then
    chmod 755 "$work" shared
    like "another user: the message says to run both as the same user" "$(POET_SERVER=$at user_says setpriv --reuid 4242 --clear-groups)" \
        "^poet: $at: Permission denied: owned by another user; run both as the same user: tracing disabled$"
    chmod 777 shared/here.sock
    like "another user and a socket open to all: the message says to run both as the same user" "$(POET_SERVER=$at user_says setpriv --reuid 4242 --clear-groups)" \
        "^poet: $at: server is owned by another user \(0; you are 4242\); run both as the same user: tracing disabled$"
    chmod 700 shared/here.sock "$work"
    check "another user and a socket open to all: the log of the server says so" grep -q "peer [0-9]*: server is owned by another user (0; you are 4242); run both as the same user: dropped" here.log
else
    skip "the test does not run as root"
fi
if unshare --user true 2>/dev/null; then
    like "user without a mapping in the user namespace: the message says so" "$(POET_SERVER=$at user_says unshare --user)" \
        "^poet: $at: the server is owned by a user that this user namespace does not have: not used; map that user into it, or run both in one: tracing disabled$"
else
    skip "user namespaces cannot be created here"
fi
if [ "$(id -u)" = 0 ] && unshare --user --map-user=1000 true 2>/dev/null; then
    POET_SERVER=$at POET_RUN=mapped unshare --user --map-user=1000 --map-group=1000 ./work
    until_true ended mapped
    check "same user with another id in a user namespace: the trace passes poet check" sound "$(served mapped)"
else
    skip "user namespaces cannot be created here"
fi

# ---- launch trees over two hosts ----
two_hosts 135
cat >ssh <<X
#!/bin/bash
# as ssh: [OPTION...] HOST COMMAND, with another environment
while [ "\${1#-}" != "\$1" ]; do [ "\$1" = -x ] || shift; shift; done
case \$1 in 10.135.0.1) host=a ;; *) host=b ;; esac
shift
exec env -i PATH="\$PATH" HOME="$work" XDG_RUNTIME_DIR="$work/run-\$host" POET_MAX_STALL_MS=10000 \\
    ip netns exec $hosts\$host unshare --uts bash -c "hostname $hosts\$host; cd $work; \$*"
X
chmod +x ssh
mkdir -m 700 run-a run-b
export PATH="$work:$PATH"
ssh 10.135.0.1 "exec poet server -q -l poet://10.135.0.1:7711 -l unix:$work/far.sock -o far/" 2>far.log &
pids="$pids $!"
until_true poet runs "unix:$work/far.sock"
far_of() { ls far/"$1"-*.poet 2>/dev/null | head -n 1; }
far_ended() { [ -s "$(far_of "$1")" ] && finished "$(far_of "$1")"; }
hosts_of() { poet stat --json "$1" | grep -o '"host":"[^"]*"' | sort | uniq -c | awk '{ print $1 "x" $2 }' | xargs; }
cat >tree.sh <<'X'
#!/bin/sh
# a launch script, which is recorded itself
./work forks 2 &
ssh 10.135.0.2 "POET_RUN=$POET_RUN POET_SERVER=$POET_SERVER poet record -- ./plain" &
ssh 10.135.0.2 "POET_RUN=$POET_RUN POET_SERVER=$POET_SERVER ./work forks 2"
wait
X
chmod +x tree.sh
ssh 10.135.0.1 "POET_SERVER=10.135.0.1:7711 POET_RUN=tree poet record -- sh ./tree.sh" 2>said
tree_there() { far_ended tree && [ "$(poet stat --json "$(far_of tree)" | grep -o "\"host\":\"${hosts}b\"" | wc -l)" -ge 4 ]; }
check "ssh: programs started on another host are in the same run" until_true tree_there
check "ssh: the trace passes poet check" sound "$(far_of tree)"
is "ssh: no messages are printed" "$(cat said)" ""

if ! command -v mpirun.openmpi >/dev/null; then
    skip "Open MPI is not installed"
    done_testing
    exit 0
fi
CC=mpicc.openmpi poetcc -trace -g "$root/tests/e2e/mpi-log.c" -o mpi-log 2>/dev/null
ssh 10.135.0.1 "exec timeout 100 mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent $work/ssh --mca plm_rsh_no_tree_spawn 1 \
    --mca btl tcp,self --mca oob_tcp_if_include 10.135.0.0/24 --mca btl_tcp_if_include 10.135.0.0/24 \
    --host 10.135.0.1:2,10.135.0.2:2 -n 4 --map-by node --oversubscribe \
    -x POET_SERVER=10.135.0.1:7711 -x POET_RUN=ompi -x POET_QUIET=1 ./mpi-log" >mpi.out 2>&1
is "Open MPI on two hosts: mpirun exits with status 0" $? 0
check "Open MPI on two hosts: all ranks are in one run" until_true far_ended ompi
check "Open MPI on two hosts: the trace passes poet check" sound "$(far_of ompi)"
is "Open MPI on two hosts: the run has both hosts" "$(poet stat --json "$(far_of ompi)" | grep -o '"host":"[^"]*"' | sort -u | xargs)" "host:${hosts}a host:${hosts}b"
like "Open MPI on two hosts: each receive is matched with its send" \
    "$(poet dump --json "$(far_of ompi)" | python3 "$root/tests/e2e/mpi-log.py" . 2>&1)" " 0 wrong, 0 unknown"
done_testing

#!/bin/bash
# A task that accepts calls which no task is left to make: all that wait for it will never resume, and the diagnosis says so,
# with the accept statement's place; of tasks of examples/ucpp and of real µC++. While a task is left that can call, nothing
# is concluded. Processors that a program makes are told apart, and their kernel threads, which the runtime ends, left out.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache

# ---- examples/ucpp ----
cat >accepts.c <<'C'
#include "ucpp.h"
#include <stdio.h>
#include <unistd.h>
enum { REQUEST = 1, CANCEL = 2 };
static struct object server, client;
static int calls;
static void request(void)
{
    struct object *from = enter(&server, REQUEST);
    leave(&server, from);
}
static void serve(void *unused)
{
    (void)unused;
    accept_call(&server, REQUEST);
    accept_call(&server, CANCEL);
}
static void use(void *unused)
{
    (void)unused;
    for (int i = 0; i < calls; i++)
        request();
    if (calls == 1)
        _exit(7);
}
void uc_main(void)
{
    calls = POET_CALLS;
    task_make(&server, "server", serve, NULL);
    task_make(&client, "client", use, NULL);
    object_delete(&client);
    object_delete(&server);
}
C
poetcc -trace -c -g -I "$root/examples/ucpp" "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
for calls in 1 2; do
    poetcc -trace -g -I "$root/examples/ucpp" -DPOET_CALLS=$calls accepts.c ucpp.o -o accepts-$calls || exit 1
    { POET_OUTPUT=accepts-$calls.poet timeout 60 ./accepts-$calls; } >out 2>&1
    until_true finished accepts-$calls.poet
done
poet blocked accepts-2.poet >said
like "no thread is left to call what a task accepts" "$(cat said)" '^HANG: no remaining thread can wake T:server$'
like "the task that waits for calls" "$(cat said)" '^T:server accepts calls of its own members at accepts.c:16$'
like "the task that calls another member" "$(cat said)" '^    T:server is itself blocked and will never resume$'
is "no other diagnosis" "$(grep -c '^[A-Z ]*: ' said)" 1
like "poet report" "$(poet report accepts-2.poet)" '^    T:server waits at serve \(accepts.c:16\)'
is "nothing is concluded while a task can call" "$(poet blocked accepts-1.poet | grep -c 'HANG\|DEADLOCK')" 0

# ---- real µC++ ----
if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi
cat >accepts.cc <<'C'
_Task Server {
  public:
    void request() {}
    void cancel() {}
  private:
    void main() {
        _Accept(request);
        _Accept(cancel)
            ;
        or _Accept(~Server)
            ;
        _Accept(cancel);
        _Accept(~Server);
    }
};
_Task Client {
    Server &server;
    void main() { for (int i = 0; i < 2; i++) server.request(); }
  public:
    Client(Server &server) : server(server) {}
};
int main()
{
    Server server;
    Client client(server);
}
C
cat >clusters.cc <<'C'
static volatile int ready; // east's processor is the first that runs a task
_Task Mover {
    uCluster &to;
    void main() { migrate(to); yield(); ready = 1; }
  public:
    Mover(uCluster &to) : to(to) {}
};
int main()
{
    uCluster east("east"), west("west");
    uProcessor p(east), q(west);
    Mover a(east);
    while (ready < 1)
        uBaseTask::yield();
    Mover b(west);
}
C
for kernel in -nodebug -debug "-multi -nodebug" "-multi -debug"; do
    # shellcheck disable=SC2086 # options
    CXX=u++ poetcc++ -trace -quiet -O2 $kernel accepts.cc -o accepts 2>err || { cat err; continue; }
    rm -f accepts.poet
    { POET_OUTPUT=accepts.poet timeout 5 ./accepts; } >out 2>&1 # with -multi nothing else ends it
    until_true finished accepts.poet
    poet blocked accepts.poet >said
    like "$kernel: no task is left to call" "$(cat said)" '^HANG: no remaining thread can wake T:Server$'
    like "$kernel: where the accept statement begins" "$(cat said)" '^T:Server accepts calls of its own members at accepts.cc:8$'
    # shellcheck disable=SC2086
    CXX=u++ poetcc++ -trace -quiet -O2 $kernel clusters.cc -o clusters 2>err || cat err
    poet record -o clusters.poet ./clusters 2>err
    is "$kernel: processors that are deleted: status" $? 0
    until_true finished clusters.poet
    is "$kernel: and no event of their kernel threads" "$(poet check clusters.poet | sed 's/: [0-9]* events//') $(poet dump clusters.poet | grep -c ' join ')" \
        "clusters.poet: OK 0"
    is "$kernel: each processor has its cluster" "$(poet states --by processor clusters.poet | awk '$2 ~ /^[0-9]+$/ && $3 !~ /:/ { print $1, $2, $3 }' | sort | paste -sd,)" \
        "processor 1 userCluster,processor 2 east,processor 3 west"
done
done_testing

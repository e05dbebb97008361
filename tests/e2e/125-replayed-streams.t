#!/bin/bash
# Replay of pipes and sockets: reads return the recorded portions, from the recorded writers, and poll and select
# the recorded readiness.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cc -g -O1 -w "$root/tests/e2e/streams.c" -o streams -pthread
for how in pair poll again both select counts programs; do
    for i in 1 2 3; do
        rm -f run.poet
        timeout 60 poet record -o run.poet -- ./streams $how >first
        is "$how: recording $i exits with status 0" $? 0
        until_true finished run.poet
        for j in 1 2; do
            rm -f again.poet
            timeout 60 poet replay run.poet -o again.poet >second 2>said
            is "$how: a replay of recording $i has the same output and no divergence" "$? $(cmp first second)$(tail -n 1 said | grep -v 'no divergence')" "0 "
        done
    done
    check "$how: the trace passes poet check" sound run.poet
done

# ---- a divergence is reported, and the replay does not hang ----
cat >other.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int p[2], n = getenv("FEWER") ? 2 : 5;
    char text[100];
    if (pipe(p))
        return 1;
    if (fork() == 0) {
        close(p[0]);
        for (int i = 0; i < n; i++)
            if (write(p[1], text, 10) != 10)
                return 1;
        return 0;
    }
    close(p[1]);
    wait(NULL);
    while (read(p[0], text, sizeof text) > 0) {
    }
    return 0;
}
END
cc -g -w other.c -o other
poet record -o other.poet -- ./other
until_true finished other.poet
FEWER=1 timeout 30 poet replay other.poet -o again.poet 2>said
is "fewer bytes in a pipe are reported as a divergence" "$? $(grep -c 'divergence: ' said)" "1 1"
done_testing

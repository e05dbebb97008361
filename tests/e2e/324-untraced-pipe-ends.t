#!/bin/bash
# A thread that waits at a pipe or FIFO of which a process that is not traced has the other end: that process is named, live and after the end,
# and nothing is concluded; no process is named if it has the end no more, or only the end at which the thread waits.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >ends.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char many[1 << 20];
int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    int p[2], writes = !strcmp(how, "writes");
    char c;
    if (pipe(p))
        return 1;
    if (!strcmp(how, "fifo")) {
        close(p[0]);
        close(p[1]);
        mkfifo("fifo", 0600);
        p[0] = open("fifo", O_RDONLY | O_NONBLOCK);
        p[1] = open("fifo", O_WRONLY);
        fcntl(p[0], F_SETFL, 0);
    }
    if (!strcmp(how, "other"))
        fcntl(p[1], F_SETFD, FD_CLOEXEC);
    if (fork() == 0) {
        unsetenv("LD_PRELOAD");
        execl("./still", "still", NULL);
        _exit(1);
    }
    if (strcmp(how, "other"))
        close(p[!writes]);
    if (writes)
        return write(p[1], many, sizeof many) < 0; // it writes
    return read(p[0], &c, 1) < 0; // it reads
}
C
cat >still.c <<'C'
#include <unistd.h>
int main(void) { return pause(); }
C
cc -g ends.c -o ends
cc -static still.c -o still
at() { echo "ends.c:$(grep -n "// $1" ends.c | cut -d: -f1)"; }
says() { # says FILE PATTERN...
    local file=$1 pattern
    shift
    poet blocked "$file" >said 2>/dev/null
    for pattern; do grep -Eq -- "$pattern" said || return 1; done
}
end() { # ends the programs of a run, and waits for its file
    kill -KILL $(own_processes ends) 2>/dev/null
    kill -KILL $(own_processes still) 2>/dev/null
    until_true finished "$1"
}
named() { # named HOW WAIT PLACE: the process is named
    poet record -o $1.poet -- ./ends $1 >/dev/null 2>&1 &
    pids="$pids $!"
    check "$1: the process that has the other end" until_true says $1.poet "^T:main $2 at $3" \
        '^    also open in process [0-9]+ \(still\), of which nothing is recorded'
    is "$1: its number" "$(sed -n 's/.*also open in process \([0-9]*\).*/\1/p' said)" "$(own_processes still)"
    is "$1: nothing is concluded" "$(grep -E 'HANG|DEADLOCK|never' said)" ""
    like "$1: in JSON" "$(poet blocked --json $1.poet 2>/dev/null)" '"untraced_holder": ?"also open in process [0-9]+ \(still\), of which nothing is recorded"'
    end $1.poet
    check "$1: after the end" says $1.poet '^    also open in process [0-9]+ \(still\), of which nothing is recorded'
}
named reads 'waits for bytes from S:pipe' "$(at 'it reads')"
named writes 'waits for buffer space in S:pipe' "$(at 'it writes')"
named fifo 'waits for bytes from S:fifo' "$(at 'it reads')"

# The child has the reading end alone.
poet record -o other.poet -- ./ends other >/dev/null 2>&1 &
pids="$pids $!"
looked() { says other.poet '^T:main waits for bytes from S:pipe'; }
check "other: the thread waits" until_true looked
end other.poet
check "other: after the end, it waited" says other.poet '^T:main waits for bytes from S:pipe'
is "other: no process is named" "$(grep 'also open' said)" ""
done_testing

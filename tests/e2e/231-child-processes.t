#!/bin/bash
# Waits for child processes: a parent that waits for the end of a child waits for the child's threads. poet blocked
# names a cycle through such a wait, and one below it; a parent that waits for a child that runs is not a hang.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# The parent waits for the child's end before it reads what the child writes.
cat >unread.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    static char block[8192];
    int up[2];
    if (pipe(up))
        return 1;
    pid_t child = fork();
    if (!child) {
        close(up[0]);
        for (int i = 0; i < 32; i++)
            if (write(up[1], block, sizeof block) < 0) /* line 13 */
                _exit(1);
        _exit(0);
    }
    close(up[1]);
#ifdef FIXED
    while (read(up[0], block, sizeof block) > 0)
        ;
#endif
    return waitpid(child, 0, 0) != child; /* line 22 */
}
C
# Both write, none reads.
cat >full.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    static char block[8192];
    int down[2], up[2];
    if (pipe(down) || pipe(up))
        return 1;
    pid_t child = fork();
    if (!child) {
        ssize_t n;
        close(down[1]);
        close(up[0]);
        while ((n = read(down[0], block, 4096)) > 0)
            if (write(up[1], block, (size_t)n) != n) /* line 15 */
                _exit(1);
        _exit(0);
    }
    close(down[0]);
    close(up[1]);
    for (int i = 0; i < 64; i++)
        if (write(down[1], block, sizeof block) < 0) /* line 22 */
            return 1;
    close(down[1]);
    while (read(up[0], block, 4096) > 0)
        ;
    return waitpid(child, 0, 0) != child;
}
C
# The child runs, in a call that is not traced.
cat >runs.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    pid_t child = fork();
    if (!child)
        return pause();
    return waitpid(child, 0, 0) != child;
}
C
for program in unread full runs; do poetcc -trace -processes -g $program.c -o $program; done
poetcc -trace -processes -g -DFIXED unread.c -o unread-fixed
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
# hangs NAME PROGRAMS PATTERN...: until lines of poet blocked match each pattern; then kills these programs
hangs() {
    local what=$1 program=$2 pattern
    shift 2
    says() {
        poet blocked "$what.poet" >said 2>/dev/null
        for pattern; do grep -Eq -- "$pattern" said || return 1; done
    }
    check "$what: poet blocked says what keeps the threads waiting" until_true says "$@" || cat said
    killed=$(for name in $program; do own_processes "$name"; done)
    kill -STOP $killed # none sees the end of another one
    kill -KILL $killed
    until_true finished "$what.poet"
    poet blocked "$what.poet" >said
    for pattern; do like "$what, killed: poet blocked says it, too" "$(cat said)" "$pattern"; done
}
POET_OUTPUT=unread.poet ./unread &
pids="$pids $!"
hangs unread unread '^DEADLOCK: 2 threads wait for each other' \
    '^    T:main waits for the end of a child process, that of T:main\[[0-9]+\]' \
    '^    T:main\[[0-9]+\] waits for buffer space in S:pipe.*, which only T:main can read' \
    '^T:main waits for the end of a child process at unread.c:22' '^    that of T:main\[[0-9]+\]' \
    '^T:main\[[0-9]+\] waits for buffer space in S:pipe.* at unread.c:13'
like "poet blocked --json: how the child keeps its parent waiting" "$(poet blocked --json unread.poet)" '"how": ?"child"'
POET_OUTPUT=fixed.poet timeout 100 ./unread-fixed
is "unread-fixed: the program ends" "$?" 0
until_true finished fixed.poet
is "unread-fixed: poet blocked reports no hang" "$(poet blocked fixed.poet)" "no thread is blocked"

# A shell that waits for the program does not hide its deadlock.
poet record -o shell.poet -- sh -c './full; true' 2>/dev/null &
pids="$pids $!"
hangs shell "sh full" '^HANG: no remaining thread can read from, or write to, S:pipe' \
    '^T:main \(.*\) waits for the end of a child process' '^    that of T:main \(full\)' \
    '^T:main \(full\) waits for buffer space in S:pipe.* at full.c:22' \
    '^T:main\[[0-9]+\] waits for buffer space in S:pipe.* at full.c:15'

# Nothing is concluded of a child that runs, or that is not in the trace.
POET_OUTPUT=runs.poet ./runs &
pids="$pids $!"
waits() { poet blocked "$1" >said 2>/dev/null; grep -q '^T:main.* waits for the end of a child process' said; }
check "a parent that waits for a child is listed" until_true waits runs.poet
is "a parent that waits for a child that runs is not a hang" "$(grep -Ec 'HANG|DEADLOCK|never' said)" 0
end_own_processes runs
cat >sleeps.c <<'C'
#include <unistd.h>
int main(void) { return pause(); }
C
gcc -static sleeps.c -o sleeps
poet record -o hidden.poet -- sh -c './sleeps; true' 2>/dev/null &
pids="$pids $!"
check "a parent that waits for an untraced child is listed" until_true waits hidden.poet
is "a parent that waits for an untraced child is not a hang" "$(grep -Ec 'HANG|DEADLOCK|never' said)" 0
end_own_processes sleeps
done_testing

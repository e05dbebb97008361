#!/bin/bash
# Replay of child processes: those of posix_spawn, vfork and fork with exec have their own parts of the schedule,
# and wait and waitpid return the recorded children.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e
cat >child.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *p)
{
    for (int i = 0; i < 20; i++) {
        unsigned char x = 0;
        if (getrandom(&x, 1, 0) == 1)
            usleep(x);
        pthread_mutex_lock(&m);
        n = n * 7 % 251 + (p != 0);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argc;
    pthread_create(&t, 0, work, &t);
    work(0);
    pthread_join(t, 0);
    return (n + atoi(argv[1])) % 100; /* the exit status depends on the order of threads */
}
C
cat >parent.c <<'C'
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
    pid_t children[9];
    char name[] = "0";
    char *v[] = {(char *)"child", name, NULL};
    for (int i = 0; i < 9; i++, name[0]++)
        if (i % 3 == 0)
            posix_spawn(&children[i], "./child", NULL, NULL, v, environ);
        else if (i % 3 == 1 && (children[i] = vfork()) == 0)
            execv("./child", v), _exit(1);
        else if (i % 3 == 2 && (children[i] = fork()) == 0)
            execv("./child", v), _exit(1);
    for (int left = 9; left; left--) {
        int status = 0, i = 0;
        pid_t ended;
        while ((ended = left % 2 ? wait(&status) : waitpid(-1, &status, WNOHANG)) == 0)
            usleep(500);
        while (children[i] != ended)
            i++;
        printf("%d:%d ", i, WEXITSTATUS(status));
    }
    printf("%d\n", (int)wait(NULL));
    return 0;
}
C
poetcc -trace -g child.c -o child
poetcc -trace -g parent.c -o parent
same=0 equal=0
for i in 1 2 3; do
    rm -f run.poet
    POET_OUTPUT=run.poet ./parent >first
    until_true finished run.poet
    for j in 1 2; do
        rm -f again.poet
        timeout 60 poet replay run.poet -o again.poet >second 2>said && same=$((same + 1)) || cat said
        cmp -s first second && equal=$((equal + 1)) || cat first second
        until_true finished again.poet
    done
done
is "replay returns children and exit statuses in the recorded order, six times of six" "$equal" 6
is "replay exits with status 0, six times of six" "$same" 6
like "replay reports no divergence" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
is "the events of a replay are those of the recorded run" "$(python3 "$here/same.py" run.poet again.poet | tr -d 0-9 | tr -s ' ' | head -n 1)" "the same: events"
done_testing

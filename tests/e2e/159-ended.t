# How runs ended, as poet ls says it.
. "$(dirname "$0")/lib.sh"

cat >ends.c <<'X'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *arg) { return arg; }

static __attribute__((noinline)) int leaf(int n) { return n + 1; }

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argc;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    switch (*argv[1]) {
    case 'e':
        execlp("true", "true", (char *)NULL);
        return 1;
    case 'p':
        pthread_exit(NULL);
    case 'k':
        kill(getpid(), SIGKILL);
        return 1;
    default:
        return leaf(-1);
    }
}
X
poetcc -profile -g ends.c -o ends -pthread || exit 1
for how in return exec pthread_exit kill; do
    (POET_OUTPUT=$how.poet ./ends $how) 2>/dev/null
    until_true finished $how.poet
done
ended() { poet ls --json "$1.poet" | perl -ne 'print $1 if /"ended": *"([^"]*)"/'; }
for how in return exec pthread_exit; do
    is "a program that ends by $how has finished" "$(ended $how)" finished
done
is "one that is killed is stopped" "$(ended kill)" stopped
done_testing

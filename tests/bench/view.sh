# The viewer under Xvfb, drawing in software: frames, keys, memory.  Read in by bench.sh.
[ -x "$B/libexec/poet/poet-view" ] && command -v Xvfb >/dev/null || return 0
Xvfb -displayfd 3 -screen 0 1920x1080x24 3>display >/dev/null 2>&1 &
xvfb=$!
trap 'kill $server $xvfb 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -s display ] && break; sleep 0.05; done
export DISPLAY=":$(cat display)" GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none HOME="$work"
mkdir -p .config/poet
printf '[view]\nwidth=1900\nheight=1040\npanel=false\n' >.config/poet/view.conf
export XDG_CONFIG_HOME="$work/.config"
cat >threads.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t *m;
static int threads, mutexes, pause;
static long pairs;
static void *work(void *a)
{
    unsigned r = (unsigned)(long)a * 7919 + 1;
    struct timespec t = {0, 900000};
    for (long i = 0; i < pairs; i++) {
        r = r * 1103515245 + 12345;
        int k = (int)((r >> 8) % (unsigned)mutexes);
        pthread_mutex_lock(&m[k]);
        pthread_mutex_unlock(&m[k]);
        if (pause && i % pause == 0) nanosleep(&t, NULL);
    }
    return a;
}
int main(int argc, char **argv)
{
    threads = atoi(argv[1]);
    mutexes = atoi(argv[2]);
    pairs = atol(argv[3]) / 5 / threads;
    pause = argc > 4 ? atoi(argv[4]) : 0;
    m = calloc((size_t)mutexes, sizeof *m);
    pthread_t *t = calloc((size_t)threads, sizeof *t);
    for (int i = 0; i < mutexes; i++) pthread_mutex_init(&m[i], NULL);
    for (long i = 0; i < threads; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
    return argc == 0;
}
C
poetcc -trace -O2 threads.c -o threads
# trace THREADS MUTEXES EVENTS: into view.poet
trace() {
    rm -f view.poet
    POET_QUIET=1 POET_WAIT_MS=10000 POET_KEEP=100G POET_SERVER= POET_OUTPUT=view.poet ./threads "$1" "$2" "$3"
    until poet stat --json view.poet | grep -q '"finished":true'; do sleep 0.1; done
}
cat >script <<'S'
goto 50%
zoom 0.6 900 300
frames full 100
frames scroll 300
key right 200
key page-right 30
key event-on 40
memory
quit
S
for what in "30 30 100000" "30 30 10000000" "500 500 5000000" "100 9900 ${EVENTS:-10000000}"; do
    set -- $what
    trace "$1" "$2" "$3"
    echo "viewer, $(($1 + $2)) lines, $3 events:"
    poet view view.poet --script script 2>/dev/null | sed 's/^/  /'
done
trace 30 30 10000000
echo quit >script
perl -MTime::HiRes=time -e 'my $t = time; system "poet view view.poet --script script"; printf "viewer, 10 000 000 events: from start to picture and end  %.2f s\n", time - $t'
trace 5 5 100000
perl -MTime::HiRes=time -e 'my $t = time; system "poet export view.poet --all --no-fold -o view.pdf"; my $d = time - $t;
    printf "PDF of 100 000 events on 10 lines                 %.0f events/s, %.1f bytes an event\n", 1e5 / $d, (-s "view.pdf") / 1e5'
poet server -q -o runs/ &
server=$!
for _ in $(seq 100); do [ -S run/poet.sock ] && break; sleep 0.05; done
./threads 8 8 6000000 25 &
until [ "$(poet runs | wc -l)" -gt 0 ]; do sleep 0.05; done
printf 'watch 3\nmemory\nquit\n' >script
echo "viewer, following a run at a million events a second:"
poet view "unix:$work/run/poet.sock" --script script 2>/dev/null | sed 's/^/  /'
wait $! 2>/dev/null || true
kill $server

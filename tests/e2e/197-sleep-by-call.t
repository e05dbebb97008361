#!/bin/bash
# Threads that sleep in untraced calls: poet blocked counts them by call, in live runs and after the program was
# killed.
. "$(dirname "$0")/lib.sh"

cat >library.c <<'C'
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
void library_waits(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
}
void library_polls(void) { for (;;) poll(0, 0, -1); }
C
cat >asleep.c <<'C'
#include <pthread.h>
void library_waits(void);
void library_polls(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    if (a) library_waits(); else library_polls();
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, work, t);
    pthread_create(&t[1], 0, work, 0);
    work(t);
    return 0;
}
C
# The loader's lock: the constructor of a library waits within dlopen, while another thread needs the lock.
cat >plugin.c <<'C'
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
__attribute__((constructor)) static void begin(void)
{
    for (;;) syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
}
C
cat >loads.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *load(void *name)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    dlopen(name, RTLD_NOW);
    return name;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, load, "./plugin.so");
    return load("./plugin.so") == 0;
}
C
gcc -g -shared -fPIC library.c -o liblibrary.so
gcc -g -shared -fPIC plugin.c -o plugin.so
gcc -g -pthread asleep.c -o asleep -L. -llibrary -Wl,-rpath,"$work"
gcc -g -pthread loads.c -o loads -ldl
for p in asleep loads; do
    poet record -o $p.poet -- ./$p 2>/dev/null &
    pids="$pids $!"
done
said() { poet blocked "$1.poet" 2>/dev/null | grep -q "$2"; }
sleeping() { grep -q "^[0-9-]* 0x" /proc/$(own_processes asleep | head -n 1)/syscall; }
if ! until_true sleeping; then
    skip "the call in which a thread sleeps cannot be read here"
    done_testing
    exit
fi
three='^3 threads are asleep in untraced calls (futex 2, poll 1), since [0-9.]* s'
loader="^T:load waits for the loader's lock\|^T:main waits for the loader's lock"
check "live run: sleeping threads are counted by call" until_true said asleep "$three"
check "live run: the lock of the loader is distinguished from other futexes" until_true said loads "$loader"
like "live run: the call of each thread is given" "$(poet blocked asleep.poet)" '^    T:work.* in poll '
like "live run: the futex is named by its variable" "$(poet blocked asleep.poet)" '^    T:work.* in futex word \(0x[0-9a-f]+\) '
like "poet blocked --json: the futex has its address" "$(poet blocked --json asleep.poet)" '"futex": ?[0-9]+,"object": ?"word \(0x'
end_own_processes asleep
end_own_processes loads
over() { poet stat --json "$1.poet" | grep -q '"finished":true'; }
until_true over asleep && until_true over loads
check "killed: sleeping threads are counted by call" said asleep "$three:\$"
check "killed: the lock of the loader is distinguished from other futexes" said loads "$loader"
like "poet blocked --json: the call is given" "$(poet blocked --json asleep.poet)" '"call": ?"poll"'
like "poet report: a note counts the sleeping threads by call" "$(poet report --all asleep.poet)" 'note: 3 threads are asleep in untraced calls \(futex 2, poll 1\), since'
like "poet report: each sleeping thread has a row" "$(poet report --all asleep.poet)" '^asleep: futex +T:main '

# ---- the panel of the viewer, as assistive technology reads it ----
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not installed"
    done_testing
    exit
fi
. "$root/tests/e2e/display.sh"
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1 launcher
cat >panel.py <<'P'
from atspi import until
for text in "3 threads are asleep in untraced calls (futex 2, poll 1)", " asleep in poll":
    print(bool(until(lambda a: text in a.get_name())))
P
echo 'action show-waiting' >script
read_aloud=$(timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    poet view asleep.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore panel.py; kill $viewer %1' 2>log | grep -v '^SpiRegistry')
is "the viewer shows the sleeping threads and their number" "$(echo $read_aloud)" "True True"
done_testing

#!/bin/bash
# The pictures of examples/ucpp/, and of what programs of real µC++ sent (tests/e2e/ucpp/*.sent), each with a caption: one
# by one in $B/gallery/, and as one document: gallery.sh OUT.pdf
set -eu
B=${B:-build}
root=$(cd "$(dirname "$0")/.." && pwd)
PATH=$(cd "$B" && pwd)/bin:$PATH
out=$(realpath -m "$1")
one_by_one=$(realpath -m "$B")/gallery
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export POET_QUIET=1 SOURCE_DATE_EPOCH=0 XDG_RUNTIME_DIR=$work XDG_STATE_HOME=$work XDG_CONFIG_HOME=$work
unset POET_SERVER POET_RUN POET_CONFIG UCPP_SCHEDULE UCPP_SEED UCPP_RUNS
chmod 700 "$work"

page() { # PROGRAM CAPTION
    poetcc -trace -g "$root/examples/ucpp/$1.c" "$root/examples/ucpp/ucpp.c" -o "$1"
    POET_OUTPUT=$1.poet "./$1"
    picture "$1" "$2"
}
sent() { # PROGRAM CAPTION
    POET_OUTPUT=$1.poet ./send <"$root/tests/e2e/ucpp/$1.sent"
    picture "$1" "$2"
}
picture() { # PROGRAM CAPTION
    for _ in $(seq 200); do
        poet stat --json "$1.poet" | grep -q '"finished":true' && break
        sleep 0.05
    done
    poet check "$1.poet" >/dev/null
    poet export "$1.poet" -o "$1.pdf" --labels name --no-title --caption "$2"
    pages+=("$1.pdf")
}
pages=()
page semaphores "Producer and consumer with two semaphores, each of them a monitor. The consumer comes first and waits in \"full\", \
where only it is, blocked: the line is dashed until the producer enters. The signal is before the consumer resumes."
page accepting "A dating service, scheduled from outside. The task accepts a caller; that one is inside, and accepts its partner, \
which ends its call first. The last thing that is accepted is the destructor."
page coroutines "Producer and consumer as coroutines: one thread goes from line to line, and a line is there only while it is in it."
page fibonacci "Two generators, coroutines with a mutex. Four workers take turns; the filled square enters the generator's main, \
the open one leaves it, and the thread stays inside meanwhile."
page waiting "The dating service once more, scheduled from inside: the first of a couple waits on a condition, and the partner signals."
page inside "A task that calls its own member twice, then accepts one call of it; a coroutine that resumes itself, which leaves no mark."
poetcc -trace -g "$root/tests/e2e/ucpp/send.c" -o send
sent kernelsem "Real µC++: semaphores of the kernel, which are not monitors. A task passes when it has got a unit, and stays on its line; \
the last P times out."
sent timeouts "Real µC++: a server accepts a call or its destructor, with a time limit, which is over twice before the client calls."
sent printing "Real µC++: a member prints, and accepts itself. The lock of the stream is an object of the system; its owner stays on its own line."
sent inlined "Real µC++: readers-writer and adaptive locks with inlined calls. Their queue is seen: which task waits, and which one wakes it."
sent exceptions "Real µC++: exceptions raised at another task, which handles them in its order, and a member that ends by an exception."
sent held "Real µC++: a coroutine that waits in a monitor, with a lock, is deleted: it leaves the monitor and releases the lock."
mkdir -p "$one_by_one"
cp "${pages[@]}" "$one_by_one"
pdfunite "${pages[@]}" "$out"
echo "$out, and each page in $one_by_one"

#!/bin/bash
# What the first screens of Poet, gdb, Helgrind, DRD and ThreadSanitizer say of the programs in tests/hangs, as the
# table of docs/compared.md: [TOOLS="poet gdb"] tests/compared.sh [FILE]. Tools that are not installed are left out. The
# programs are left alone until all their threads sleep; then gdb attaches, or the program is ended, and its tool with
# it. KEEP_SCREENS=DIRECTORY keeps what is judged.
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/docs/compared.md}
PATH=$root/build/bin:$PATH
export POET_QUIET=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
SCREEN=50 # lines
WAIT_S=60 # for a program to hang
ASLEEP=10 # times in a row, 0.1 s apart, that all threads are seen asleep

tools=
for tool in ${TOOLS:-poet gdb helgrind drd tsan}; do
    case $tool in
    poet | gdb) command -v "$tool" ;;
    tsan) echo 'int main(void) { return 0; }' | gcc -fsanitize=thread -x c - -o tsan-works 2>/dev/null && ./tsan-works && echo ;;
    *) command -v valgrind ;;
    esac >/dev/null && tools="$tools$tool "
done

# What the tool concludes by: a line of a report. gdb concludes nothing.
concludes() {
    case $1 in
    poet) grep -Eq '^(DEADLOCK|(LIKELY |POSSIBLE )?HANG|POSSIBLE LOST)' ;;
    helgrind | drd) grep -Eq 'ERROR SUMMARY: [1-9]' "$2" ;;
    tsan) grep -q 'WARNING: ThreadSanitizer' ;;
    *) false ;;
    esac
}

# asleep SESSION: all threads of its processes sleep, and there is one.
asleep() { [ -n "$(ps -o stat= -L -s "$1")" ] && ! ps -o stat= -L -s "$1" | grep -q '^[RDZ]'; }
hangs() { # hangs SESSION
    local seen=0 deadline=$((EPOCHSECONDS + WAIT_S))
    while [ $seen -lt $ASLEEP ] && [ $EPOCHSECONDS -lt $deadline ]; do
        sleep 0.1
        if asleep "$1"; then seen=$((seen + 1)); else seen=0; fi
    done
    [ $seen = $ASLEEP ]
}
end_session() { pkill -"$2" -s "$1"; }
# terminate SESSION: by SIGTERM, so that a tool prints its summary; what does not end by that is killed.
terminate() {
    end_session "$1" TERM
    for _ in $(seq 50); do
        pgrep -s "$1" >/dev/null || return
        sleep 0.1
    done
    end_session "$1" KILL
}

# start COMMAND...: in a session of its own, with its number in $session
start() {
    setsid "$@" >said 2>&1 </dev/null &
    session=$!
    hangs $session
}

# first_screen TOOL PROGRAM KIND: into the file screen
first_screen() {
    case $1 in
    poet)
        rm -f run.poet
        start poet record -o run.poet -- "./$2" "$3"
        poet blocked run.poet >said 2>&1
        end_session $session KILL
        ;;
    gdb)
        start "./$2" "$3"
        for pid in $(ps -o pid= -s $session); do
            gdb -p "$pid" -batch -ex 'thread apply all bt' 2>/dev/null
        done >said
        end_session $session KILL
        ;;
    tsan)
        start "./$2-tsan" "$3"
        terminate $session
        ;;
    *)
        start valgrind --tool="$1" "./$2" "$3"
        terminate $session
        ;;
    esac
    wait $session 2>/dev/null
    end_session $session KILL
    head -n $SCREEN said >screen
}

# says TOOL SOURCE KIND: what the first screen says
says() {
    local waits keeps places
    waits=$2:$(grep -n "/[/*] $3 WAITS" "$root/tests/hangs/$2" | cut -d: -f1)
    keeps=$2:$(grep -n "/[/*] $3 KEEPS" "$root/tests/hangs/$2" | cut -d: -f1)
    places=$(grep -Eo "\b($waits|$keeps)\b" screen | sort -u | wc -l)
    if concludes "$1" said <screen; then
        case $places in
        2) echo cause ;;
        1) echo one place ;;
        *) echo no place ;;
        esac
    elif [ $places = 0 ]; then
        echo silent
    else
        echo stacks
    fi
}

compile() { # compile SOURCE COMPILER ARG...
    local source=$1 compiler=$2 program=${1%.*}
    shift 2
    $compiler -g -pthread "$@" "$root/tests/hangs/$source" -o "$program" || exit 1
    case " $tools" in *" tsan "*) $compiler -g -pthread -fsanitize=thread "$@" "$root/tests/hangs/$source" -o "$program-tsan" || exit 1 ;; esac
}

judge() { # judge TOOL SOURCE KIND, in a directory of its own: what it says, into the file verdict
    mkdir -p "$1" && cd "$1" && ln -sf ../"${2%.*}"* . || return
    first_screen "$1" "${2%.*}" "$3" 2>/dev/null
    [ -z "$KEEP_SCREENS" ] || cp screen "$KEEP_SCREENS/$3.$1"
    says "$1" "$2" "$3" >verdict
}

row() { # row SOURCE KIND
    for tool in $tools; do judge "$tool" "$1" "$2" & done
    wait
    printf '| %s |' "$2"
    for tool in $tools; do printf ' %s |' "$(cat "$tool/verdict")"; done
    echo
}

compile hangs.c gcc
compile futures.cpp g++ -std=c++17
{
    cat "$root/tests/hangs/compared.head"
    echo
    printf '| kind |'
    for tool in $tools; do printf ' %s |' "$tool"; done
    printf '\n|---|'
    for tool in $tools; do printf -- '---|'; done
    echo
    for source in hangs.c futures.cpp; do
        for kind in $(grep -o '/[/*] [a-z-]* WAITS' "$root/tests/hangs/$source" | cut -d' ' -f2); do
            row $source "$kind"
        done
    done
    echo
    echo "Versions: $(gcc --version | head -n 1); $(gdb --version 2>/dev/null | head -n 1); $(valgrind --version 2>/dev/null)."
} >"$work/page"
cp "$work/page" "$out"

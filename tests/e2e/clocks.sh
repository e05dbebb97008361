# Read by tests of hosts' clocks, behind lib.sh: hosts with clocks that are set (POET_TEST_CLOCK), programs on them that send each other
# datagrams (ring.c), and whether what is said of the clocks is true (true.py).
poetcc -trace -g "$root/tests/e2e/ring.c" -o ring || { not_ok "it compiles"; done_testing; exit 1; }

since=$(python3 -c 'import time; print(time.monotonic_ns())')
set_of() { # set_of HOST: how its clock is set
    case $1 in
    A) echo 0,0 ;; B) echo 4999871000,198 ;; C) echo -4700000123,-200 ;; D) echo 1234567,57 ;;
    esac
}
on() { # on HOST COMMAND...
    host=$1
    shift
    POET_TEST_CLOCK="$(set_of "$host"),$since,$host" "$@"
}
truth() { # truth FILE HOST...
    file=$1
    shift
    args=
    for h in "$@"; do args="$args $h=$(set_of "$h"),$since"; done
    poet stat --json "$file" >stat.json
    poet dump --json "$file" >dump.json
    python3 "$root/tests/e2e/true.py" stat.json dump.json $args 2>&1
}
ring() { # ring RUN ROUNDS HOST...: one program on each, by the agent of that host; $meanwhile before they end
    name=$1 rounds=$2 me=0
    shift 2
    rm -f port.* go
    ring_pids=
    for h in "$@"; do
        POET_SERVER="unix:$work/$h.sock" POET_RUN=$name on "$h" ./ring $me $# "$rounds" $one_way &
        ring_pids="$ring_pids $!"
        me=$((me + 1))
    done
    all_there() { [ "$(poet runs --json "unix:$work/server.sock" | grep "\"$name\"" | grep -o '"connected":[0-9]*')" = "\"connected\":$me" ]; }
    until_true all_there # or a program that is there alone may end the run
    ${meanwhile:-:}
    touch go
    wait $ring_pids
}

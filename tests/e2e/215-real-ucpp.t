#!/bin/bash
# Programs of real µC++, compiled by poetcc++ with the user's u++: their lines, for each of its four kernels, and with
# several processors; names, places, calls; and that the programs themselves do not change.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi
sources=$root/tests/e2e/ucpp
six="semaphores accepting waiting coroutines fibonacci inside"
more="locks kernelsem timeouts exceptions clusters threads io inlined held printing generators"

kernels="-nomulti,-debug -nomulti,-nodebug,-O2 -multi,-debug -multi,-nodebug,-O2"
for kernel in $kernels; do
    options=$(echo "$kernel" | tr , ' ')
    bad=
    for program in $six $more; do
        # shellcheck disable=SC2086 # options
        CXX=u++ poetcc++ -trace -quiet $options "$sources/$program.cc" -o "$program" 2>err || { cat err; bad="$bad $program:compile"; continue; }
        for run in 1 2 3 4 5; do
            rm -f "$program.poet"
            POET_OUTPUT=$program.poet timeout 60 "./$program" >out 2>&1 || bad="$bad $program:$run:status"
            until_true finished "$program.poet"
            poet check "$program.poet" >check 2>&1 || bad="$bad $program:$run:$(head -n 1 check)"
            case " $six " in
            *" $program "*)
                poet dump --json "$program.poet" | python3 "$root/tests/e2e/ucpp.py" "$program" >lines 2>&1 ||
                    bad="$bad $program:$run:$(cat lines)" ;;
            esac
        done
        [ "$kernel" != -nomulti,-debug ] || [ -z "${POET_TEST_KEEP-}" ] ||
            poet dump --json "$program.poet" | python3 "$sources/sent.py" >"$POET_TEST_KEEP/$program.sent"
    done
    is "seventeen programs, 5 runs each, $options: status, poet check, the lines of the reference" "$bad" ""
done

# ---- waits for I/O, with what comes through pipes ----
for kernel in "-multi -nodebug -O2" -debug; do
    # shellcheck disable=SC2086
    CXX=u++ poetcc++ -trace -processes -quiet $kernel "$sources/io.cc" -o io 2>err || cat err
    rm -f io.poet
    POET_OUTPUT=io.poet ./io
    until_true finished io.poet
    check "-processes, $kernel: poet check accepts events of two descriptions in a task" poet check io.poet
    like "-processes, $kernel: the task waits where it calls the library, and reads what the other one wrote" \
        "$(poet dump io.poet | grep ' T:reader ' | awk '{ print $3, $NF }' | xargs)" \
        "io_wait io.cc:8.* read [^ ]* io_ready io.cc:8 end"
done
like "a task is deleted where its block ends" "$(poet dump io.poet)" "delete  *T:reader .* at io.cc:21"
like "and its end is awaited there" "$(poet waits io.poet)" "main \(io.cc:21\) +awaits end"

# ---- several processors and short time slices: every call is counted ----
cat >slices.cc <<'C'
#include <cstdio>
unsigned int uDefaultPreemption() { return 1; }
static volatile long sink;
int leaf(int n) { sink = n; return n; }
int middle(int n) { return leaf(n) + leaf(n + 1); }
_Monitor box {
    long v;

  public:
    box() : v(0) {}
    long put(int i) { return v += i; }
};
_Task busy {
    box &b;
    void main()
    {
        for (int i = 0; i < 20000; i++) {
            middle(i);
            if (i % 100 == 0)
                b.put(1);
        }
    }

  public:
    busy(box & b) : b(b) {}
};
int main()
{
    uProcessor more[3];
    box b;
    {
        busy t1(b), t2(b), t3(b), t4(b);
    }
    printf("%ld\n", b.put(0));
}
C
calls() { poet calls --json slices.poet | json ".[].row | select(.function? | strings | startswith(\"$1 (\")) | .calls"; }
for kernel in "-nomulti -nodebug -O1" "-multi -nodebug -O1"; do
    # shellcheck disable=SC2086
    CXX=u++ poetcc++ -profile -quiet $kernel slices.cc -o slices 2>err || cat err
    rm -f slices.poet
    is "time slices of 1 ms, 4 processors, $kernel: the program's result" "$(POET_OUTPUT=slices.poet timeout 120 ./slices)" 800
    until_true finished slices.poet
    check "$kernel: poet check accepts the trace" poet check slices.poet
    is "$kernel: calls of tasks are counted exactly" "$(calls leaf) $(calls middle) $(calls box::put)" "160000 80000 801"
done

# ---- a deadlock ----
cat >stuck.cc <<'C'
_Task right;
_Task left {
    right *other;
    void main();

  public:
    void set(right *o) { other = o; }
    void visit() {}
};
_Task right {
    left *other;
    void main();

  public:
    void set(left *o) { other = o; }
    void visit() {}
};
void left::main()
{
    _Accept(set);
    other->visit();
}
void right::main()
{
    _Accept(set);
    other->visit();
}
int main()
{
    left l;
    right r;
    l.set(&r);
    r.set(&l);
}
C
CXX=u++ poetcc++ -trace -quiet stuck.cc -o stuck 2>err || cat err
POET_OUTPUT=stuck.poet timeout 60 ./stuck >/dev/null 2>&1
until_true finished stuck.poet
blocked=$(poet blocked stuck.poet)
like "a deadlock of two tasks is named" "$blocked" "DEADLOCK: 2 threads wait for each other"
like "with the place of the call" "$blocked" "T:left calls a member of T:right at stuck.cc:2[0-9]"
like "and the task main, which waits for one of them" "$blocked" "T:main waits for the end of T:[a-z]* at stuck.cc:3[0-9]"

# ---- the adapter ----
is "the adapter is built once for a kernel" "$(CXX=u++ poetcc++ -trace -quiet stuck.cc -o again 2>&1)" ""
is "a static program is refused with the reason" "$(CXX=u++ poetcc++ -trace -quiet -static stuck.cc -o again 2>&1)" \
    "poetcc++: -trace: not supported with -static or a sanitizer for uC++ (its adapter needs libpoet.so)"
is "a cache that cannot be written is an error" "$(XDG_CACHE_HOME=/dev/null CXX=u++ poetcc++ -trace -quiet stuck.cc -o again 2>&1 |
    grep -c 'the adapter for u++ could not be built: /dev/null/poet: cannot be written')" 1
done_testing

#!/bin/bash
# C++20 coroutines with a promise that derives from poet::traced_promise: their lines, with gcc and clang, resumptions on
# several threads, awaiters that do not suspend or resume another coroutine at once, and that the results are the same.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# The types of the events on each coroutine's line, a line of text for each.
marks() {
    poet dump --json "$1" | json 'map(select(.letter? == "C") | .line) as $lines | .[] | select(.event?) |
        {line: (.event | split(":")[0] | tonumber), type} | select(.line as $line | $lines | index($line)) | "\(.line) \(.type)"' |
        sort -s -k1,1n | awk '$1 != line { if (line) print text; line = $1; text = "" } { text = text " " $2 } END { print text }'
}
for compiler in g++ clang++; do
    echo '#include <coroutine>' | $compiler -std=c++20 -x c++ -fsyntax-only - 2>/dev/null || { skip "$compiler has no coroutines"; continue; }
    for level in -O0 -O2; do
        CXX=$compiler poetcc++ -std=c++20 -trace -g $level -Wall -Wextra -Werror "$root/examples/generators.cpp" -o generators || exit 1
        is "$compiler $level: the program's result" "$(POET_OUTPUT=generators.poet ./generators)" 14
        until_true finished generators.poet
        check "$compiler $level: poet check accepts the trace" poet check generators.poet
        is "$compiler $level: coroutines are named by their functions" \
            "$(poet dump --json generators.poet | json '.[] | select(.letter? == "C") | .name' | paste -sd' ')" "squares numbers"
        is "$compiler $level: creation, resumptions, suspensions and end of each" "$(marks generators.poet)" \
            " create resumed resume suspended suspend resumed resume suspended suspend resumed resume suspended suspend resumed resume suspended exit
 create resumed suspend resumed suspend resumed suspend resumed exit"
        rm -f generators.poet
    done
done

# ---- awaiters of all kinds ----
cat >awaits.cpp <<'C'
#include <poet_coroutine.hpp>
#include <cstdio>
struct task {
    struct promise_type : poet::traced_promise {
        std::coroutine_handle<> next = nullptr;
        int result = 0;
        task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        struct back {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept
            {
                return h.promise().next ? h.promise().next : std::noop_coroutine();
            }
            void await_resume() noexcept {}
        };
        auto final_suspend() noexcept { return traced_end(back()); }
        void return_value(int r) { result = r; }
        void unhandled_exception() { throw; }
    };
    std::coroutine_handle<promise_type> coroutine;
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) /* symmetric transfer */
    {
        coroutine.promise().next = h;
        return coroutine;
    }
    int await_resume()
    {
        int r = coroutine.promise().result;
        coroutine.destroy();
        return r;
    }
};
struct ready {
    bool await_ready() { return true; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return 5; }
};
struct refuses {
    bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<>) { return false; }
    int await_resume() { return 7; }
};
static task inner() { co_return co_await ready() + co_await refuses(); }
static task outer()
{
    int a = co_await inner(), b = co_await inner();
    co_return a * b;
}
int main()
{
    task t = outer();
    t.coroutine.resume();
    printf("%d\n", t.coroutine.promise().result);
    t.coroutine.destroy();
}
C
poetcc++ -std=c++20 -trace -g -O1 -Wall -Wextra awaits.cpp -o awaits || exit 1
is "awaiters: the program's result" "$(POET_OUTPUT=awaits.poet ./awaits)" 144
until_true finished awaits.poet
check "awaiters: poet check accepts the trace" poet check awaits.poet
is "awaiters: one that is ready does not suspend; one that refuses suspends and resumes; a transfer does both" "$(marks awaits.poet)" \
    " create resumed suspend resumed suspend resumed exit
 create resumed suspend resumed exit
 create resumed suspend resumed exit"
# ---- places ----
for level in -O0 -O2; do
    poetcc++ -std=c++20 -trace -g $level "$root/examples/generators.cpp" -o places || exit 1
    POET_QUIET=1 POET_OUTPUT=places.poet ./places >/dev/null
    until_true finished places.poet
    is "places are those of co_yield and of the end, $level" "$(poet dump places.poet | awk '/ (suspend|resume) / { print $NF }' | sort -u | paste -sd' ')" \
        "generators.cpp:39 generators.cpp:40 generators.cpp:46 generators.cpp:48"
    rm places.poet
done
done_testing

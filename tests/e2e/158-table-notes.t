#!/bin/bash
# Notes and formats of tables: widths of names, units, metrics without matches, unusable options.
. "$(dirname "$0")/lib.sh"

# ---- long names of C++ ----
cat >wide.cc <<'X'
#include <map>
#include <memory>
#include <string>
#include <vector>

using names = std::map<std::string, std::vector<std::pair<std::string, std::shared_ptr<std::string>>>>;

struct less_than {
    int v;
    __attribute__((noinline)) bool operator<(const less_than &o) const { return v < o.v; }
};

template <class T> __attribute__((noinline)) size_t fill_it(T &m, const names &)
{
    m["a"].emplace_back("b", nullptr);
    return m.size();
}

int main()
{
    names m;
    return fill_it(m, m) != 1 || less_than{2} < less_than{1};
}
X
poetcc++ -profile -g wide.cc -o wide || exit 1
(POET_OUTPUT=wide.poet ./wide) 2>/dev/null
until_true finished wide.poet
poet calls wide.poet >text
is "poet calls: no row is wider than 160 columns" "$(awk '!/^note:/ && length > 160' text)" ""
like "poet calls: template arguments are shortened" "$(cat text)" "fill_it<\.\.\.>.* \(wide.cc:13\)"
like "poet calls: operator names are not shortened" "$(cat text)" "less_than::operator<.* \(wide.cc:10\)"
like "poet calls: a note says that names are shortened" "$(cat text)" "^note: long names are shortened: --json and --csv have all of them"
like "poet calls --json: names are complete" "$(poet calls --json wide.poet)" "fill_it<std::.*shared_ptr<"

# ---- user-defined metrics ----
cat >counts.c <<'X'
#include <poet.h>
#include <pthread.h>

int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    poet_meter_t took = poet_meter("request", "ns", POET_DISTRIBUTION);
    for (int i = 0; i < 10; i++)
        poet_observe(took, 2000000);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}
X
poetcc -profile -g counts.c -o counts || exit 1
(POET_OUTPUT=counts.poet ./counts) 2>/dev/null
until_true finished counts.poet
like "poet metrics: percentiles have the unit of the other columns" "$(poet metrics counts.poet)" \
    "^request .* 2\.000 ms +2\.000 ms +2\.000 ms +2\.000 ms +2\.000 ms"
like "poet metrics --json: percentiles are numbers" "$(poet metrics --json counts.poet)" '"p50":2000000,"p90":2000000,"p99":2000000'
cat >w.meters <<'X'
metrics = (
    { name = "held"; start = "lock"; end = "released"; },
    { name = "no begin"; start = "nosuch"; end = "released"; },
    { name = "no end"; start = "lock"; end = "nosuch"; },
    { name = "backwards"; start = "released"; end = "lock"; },
    { name = "none"; count = "nosuch"; }
);
X
poet metrics -m w.meters counts.poet >text
is "poet metrics: no note about a metric that matched" "$(grep -c '^note: held' text)" 0
like "poet metrics: a note about a start type without events" "$(cat text)" "^note: no begin: no match: no event of type nosuch$"
like "poet metrics: a note about an end type without events" "$(cat text)" "^note: no end: no match: no event of type nosuch$"
like "poet metrics: a note about start events without a later end event" "$(cat text)" \
    "^note: backwards: no match: no thread performed an end event \(lock\) after a start event$"
like "poet metrics: a note about a counted type without events" "$(cat text)" "^note: none: no match: no event of type nosuch$"

# ---- memory ----
like "POET_MEASURE=memory without poet record: the message says what to do" "$(POET_MEASURE=memory POET_OUTPUT=heap.poet ./counts 2>&1)" \
    "^poet: POET_MEASURE: memory: .*memory is not traced; start the program with: poet record -m memory$"
is "poet record -m memory: no message about memory" \
    "$(poet record -m memory -o heap2.poet ./counts 2>&1 | grep -c 'memory is not traced')" 0

# ---- options ----
mutex=$(poet dump counts.poet | sed -n 's/.*<> \([0-9]*\):.*/\1/p' | head -n 1)
like "poet calls --threads with a line that is not a thread: the message says so" "$(poet calls --threads "$mutex" counts.poet 2>&1)" \
    "none of the selected lines is a thread with a function profile"
like "poet path --cpus: a note gives the bound of the speedup" "$(poet path --cpus=2 counts.poet)" \
    "^note: speedup on 2 CPUs is at most [0-9.]+$"
check "poet path --gains=N is accepted" poet path --gains=5 counts.poet
done_testing

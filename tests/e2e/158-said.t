# What tables say of themselves: widths, units, and that nothing matched.
. "$(dirname "$0")/lib.sh"

# ---- names of C++ ----
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
is "no row is wide" "$(awk '!/^note:/ && length > 160' text)" ""
like "a template is shortened" "$(cat text)" "fill_it<\.\.\.>.* \(wide.cc:13\)"
like "an operator is not" "$(cat text)" "less_than::operator<.* \(wide.cc:10\)"
like "that is said" "$(cat text)" "^note: long names are shortened: --json and --csv have all of them"
like "JSON has all of it" "$(poet calls --json wide.poet)" "fill_it<std::.*shared_ptr<"

# ---- metrics of one's own ----
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
like "percentiles have the unit of the rest" "$(poet metrics counts.poet)" \
    "^request .* 2\.000 ms +2\.000 ms +2\.000 ms +2\.000 ms +2\.000 ms"
like "in JSON they are numbers, too" "$(poet metrics --json counts.poet)" '"p50":2000000,"p90":2000000,"p99":2000000'
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
is "what matched is not said not to" "$(grep -c '^note: held' text)" 0
like "no event begins it" "$(cat text)" "^note: no begin: no match: no event of type nosuch$"
like "none ends it" "$(cat text)" "^note: no end: no match: no event of type nosuch$"
like "none ends it that comes later" "$(cat text)" \
    "^note: backwards: no match: no thread performed an end event \(lock\) after a start event$"
like "nothing to count" "$(cat text)" "^note: none: no match: no event of type nosuch$"

# ---- memory ----
like "what cannot be counted is said, and what to do" "$(POET_MEASURE=memory POET_OUTPUT=heap.poet ./counts 2>&1)" \
    "^poet: POET_MEASURE: memory: nothing is counted, .*; start it with: poet record -m memory$"
is "under record it is counted, and nothing is said" \
    "$(poet record -m memory -o heap2.poet ./counts 2>&1 | grep -c 'nothing is counted')" 0

# ---- options ----
mutex=$(poet dump counts.poet | sed -n 's/.*<> \([0-9]*\):.*/\1/p' | head -n 1)
like "a line that is no thread" "$(poet calls --threads "$mutex" counts.poet 2>&1)" \
    "none of the selected lines is a thread with a function profile"
like "what some processors could win" "$(poet path --cpus=2 counts.poet)" \
    "^note: speedup on 2 CPUs is at most [0-9.]+$"
check "as documented: --gains=5" poet path --gains=5 counts.poet
done_testing

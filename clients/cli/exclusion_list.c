#include "clients/cli/exclusion_list.h"

#include "clients/cli/profile_formats.h"
#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OFTEN 100000 /* up to this number, calls cost little in all */
#define WAITS 8 /* self time above this multiple of CPU time: it waits, is not just preempted */

struct measuring { /* what measuring all functions cost */
    int64_t calls, ns;
};

static struct measuring exclusion_list_overhead(const struct result_table *t)
{
    struct measuring all = {0};
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t ns = profile_format_number(t, i, "overhead_ns", -1);
        all.calls += ns >= 0 ? profile_format_number(t, i, "calls", 0) : 0;
        all.ns += ns >= 0 ? ns : 0;
    }
    return all;
}

/* Returns whether calls take less than twice the hooks' cost, in CPU time if known: time in which a
 * thread was preempted is not the function's. */
static bool exclusion_list_is_short(const struct result_table *t, uint32_t row, int64_t calls,
                                    double call_ns)
{
    int64_t self = profile_format_number(t, row, "self_ns", -1),
            cpu = profile_format_number(t, row, "cpu_ns", -1),
            own = cpu >= 0 && cpu < self ? cpu : self;
    return self >= 0 && self / WAITS <= own && (double)own < 2 * call_ns * (double)calls;
}

/* Returns the name as in the compiler's list, in new memory: without the arguments of C++, and the
 * suffix of a part of a function (".part.0"); "" if the list cannot have it. */
static char *exclusion_list_name(const struct table_names *names, const struct table_cell *cell)
{
    char *name = profile_format_scope(names, cell);
    name[strcspn(name, "(.")] = 0;
    if (!*name || strpbrk(name, " ,<?/"))
        *name = 0;
    return name;
}

static double exclusion_list_to_ms(double ns) { return ns / 1e6; }

static double exclusion_list_percent_of(double ns, int64_t of)
{
    return of > 0 ? 100 * ns / (double)of : 0;
}

/* Writes the instrumentation overhead of a function as a comment, and its name; the name alone is
 * in the comment if it has characters that a list cannot contain. */
static void exclusion_list_write_function(FILE *f, const char *name, const char *shown,
                                          int64_t calls, double cost_ns)
{
    if (*name)
        fprintf(f, "# %" PRId64 " calls, overhead about %.3f ms\n%s\n", calls,
                exclusion_list_to_ms(cost_ns), name);
    else
        fprintf(f, "# %" PRId64 " calls, overhead about %.3f ms, cannot be listed by name: %s\n",
                calls, exclusion_list_to_ms(cost_ns), shown);
}

void exclusion_list_write(FILE *f, const struct table_names *names, const struct result_table *t)
{
    struct measuring all = exclusion_list_overhead(t);
    double call_ns = all.calls ? (double)all.ns / (double)all.calls : 0, cost_ns = 0;
    uint32_t scope = result_table_find_column(t, "function");
    unsigned count = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t calls = profile_format_number(t, i, "calls", 0);
        if (calls <= OFTEN || !exclusion_list_is_short(t, i, calls, call_ns))
            continue;
        const struct table_cell *cell = &result_table_cells(t, i)[scope];
        char *name = exclusion_list_name(names, cell), *shown = profile_format_scope(names, cell);
        exclusion_list_write_function(f, name, shown, calls, (double)calls * call_ns);
        cost_ns += (double)calls * call_ns;
        count++;
        free(name);
        free(shown);
    }
    if (!all.calls)
        fprintf(f, "# instrumentation overhead unknown: no call was timed (POET_MEASURE=calls)\n");
    else
        fprintf(f,
                "# %u function%s with more than %d calls, each shorter than twice the "
                "instrumentation overhead of %.1f ns per call: about %.3f of %.3f ms overhead "
                "(%.2f %%)\n",
                count, count == 1 ? "" : "s", OFTEN, call_ns, exclusion_list_to_ms(cost_ns),
                exclusion_list_to_ms((double)all.ns), exclusion_list_percent_of(cost_ns, all.ns));
}

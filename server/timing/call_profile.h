/* Call profile of several threads: summed by function, by caller and callee (arcs), and by path (a
 * tree).
 *
 * Each thread has a tree of call contexts (call_contexts.h).  Contexts of one scope, a small number
 * assigned by the caller (0: the thread itself), are one function.  The self time of a function is
 * the sum over all of its contexts.  The total time is that of the outermost calls only, those with
 * contexts that are their own landing contexts (wire/profile_region.h), so no time of a thread is
 * counted twice.  Totals of several threads are added, even if one thread was created within the
 * function by another one (nested).  Calls that have not ended count with their time so far.
 * Functions that call each other recursively form a cycle: a strongly connected component (Tarjan,
 * Depth-first search and linear graph algorithms, 1972), numbered from 1.
 *
 * Net time is self time without measurement overhead: minus `enter` for each of its calls and
 * `exit` for each call that it made, but at least 0 (Friedman's FTN4TRA).  Times are ns. */
#ifndef SERVER_TIMING_CALL_PROFILE_H
#define SERVER_TIMING_CALL_PROFILE_H

#include "server/timing/call_contexts.h"

struct call_sums {
    uint64_t calls, concurrent, made; /* made: calls that it made */
    uint64_t open; /* calls that have not ended */
    /* Calls without an end, such as those in which exit() was called; 0 if that is not known.
     * Negative in a thread in which calls of a coroutine ended that began in another thread. */
    int64_t left;
    uint64_t samples, reached; /* samples in the function itself; also in what it called */
    bool sampled; /* its times are estimates, from samples */
    uint64_t counted; /* calls that were only counted; their time is part of the callers' time */
    /* when counting without timing began, by the program's clock; 0: never, or from the start */
    uint64_t since_ns;
    int64_t self_ns, total_ns, cpu_ns;
    /* Completed calls from outside the function itself, and their time: the basis of the mean. */
    uint64_t outer;
    int64_t outer_ns;
    /* the number of outer calls is not known, as other functions called it recursively */
    bool reentered;
    /* part of total: on threads that were created within other calls of the function */
    int64_t nested_ns;
    int64_t least_ns, most_ns, cpu_least_ns, cpu_most_ns; /* of completed calls */
    double cost_ps; /* measurement overhead in its self time */
    bool timed; /* times are known */
    bool ended; /* minimum and maximum are known, too */
    bool total; /* it was called from outside itself */
    bool cpu; /* the CPU time of self is known */
    bool blind; /* but not for all calls */
    /* part of self: of calls that have not ended, since the innermost one last returned; whether
     * the thread ran since then is not known */
    int64_t running_ns;
};

struct call_function {
    uint32_t scope;
    uint32_t cycle; /* 0: in no cycle */
    struct call_sums sums;
};

struct call_arc {
    uint32_t from, to; /* functions */
    struct call_sums sums; /* of `to`, called by `from` */
};

/* A path of calls.  A node comes after its parent. */
struct call_node {
    uint32_t parent, function;
    uint32_t child, sibling; /* nodes, 0 for none; unsorted */
    struct call_sums sums;
    /* With `by_site`, and of samples, this is the call site in the parent, after the call, or
     * (point) an instruction of the parent's function, which has the self time; else it is 0. */
    uint64_t address;
    uint32_t process;
    bool point;
};

/* A zero-initialized profile is empty.  Function 0 and node 0 are the threads themselves. */
struct call_profile {
    struct call_function *functions;
    size_t function_count, function_room;
    struct call_arc *arcs;
    size_t arc_count, arc_room;
    struct call_node *nodes;
    size_t node_count, node_room;
    uint32_t cycles;
    /* set before threads are added: calls of sampled threads from several sites are several nodes,
     * and instructions are nodes, too */
    bool by_site;
    struct map function_of, arc_of, node_of, site_of; /* to 1 + index; site_of: a number */
    const struct map
        *within; /* of the thread that is being added: scopes in which it was created; or NULL */
    /* by context: number of concurrent calls, if that is known more precisely; or NULL */
    const uint64_t *concurrent;
};

/* Returns how many calls of the thread were only counted, not timed. */
uint64_t call_profile_counted_only(const struct call_context_thread *thread);
/* Returns the self time of all calls of the thread, ns. */
int64_t call_profile_self(const struct call_context_thread *thread);
/* Returns the sums of one context of a thread. */
struct call_sums call_profile_for_context(const struct call_context_thread *thread,
                                          const struct call_context *c);
/* Adds a thread; `scopes` has the scope of each of its contexts. */
void call_profile_add(struct call_profile *calls, const struct call_context_thread *thread,
                      const uint32_t *scopes);
/* Numbers the cycles; must be called after all threads are added. */
void call_profile_find_cycles(struct call_profile *calls);
int64_t call_profile_net(const struct call_sums *sums);
void call_profile_sum(struct call_sums *to, const struct call_sums *sums); /* adds */
/* Returns whether the CPU time is known for at least 99 % of the time. */
bool call_profile_cpu_known(const struct call_sums *sums);
/* Returns the mean time of a call including its callees, or -1 if it is not known.  Recursive calls
 * are part of the outer ones and do not count. */
int64_t calls_mean_total(const struct call_sums *sums);
/* Returns the mean CPU time of a timed call, or -1 if there is none. */
int64_t calls_mean_cpu(const struct call_sums *sums);
struct call_sums call_profile_all(const struct call_profile *calls);
void call_profile_free(struct call_profile *calls); /* frees the memory; it is empty then */

#endif

/* The calls of several threads, added up: by function, by who called whom (arcs), and by path (a
 * tree).
 *
 * Each thread has a tree of calling contexts (call_contexts.h).  Contexts of one scope, a small
 * number that the caller gives (0: the thread itself), are one function.  What a function took
 * itself (self) is the sum over all of its contexts; its total is that of its outermost calls
 * alone, those that land in themselves (wire/profile_region.h), so no time of a thread is counted
 * twice; totals of several threads are added, also where one was made within the function by
 * another (nested).  Of calls that have not ended, what they took so far counts.  Functions that
 * call each other in a circle are a cycle:  strongly connected (Tarjan, Depth-first search and
 * linear graph algorithms, 1972), numbered from 1.
 *
 * Net is what self would be without being measured: less `enter` for each of its calls and `exit`
 * for each call that it made, and never below 0 (Friedman's FTN4TRA).  Times are ns. */
#ifndef SERVER_TIMING_CALL_PROFILE_H
#define SERVER_TIMING_CALL_PROFILE_H

#include "server/timing/call_contexts.h"

struct call_sums {
    uint64_t calls, concurrent, made; /* made: calls of others, in it */
    uint64_t open; /* calls that have not ended */
    /* Calls of which no end came, as of those in which exit() was called; 0 where it is not known.
     * Below 0 in a thread in which a coroutine's calls ended that began in another one. */
    int64_t left;
    uint64_t counted; /* of the calls: counted only, their time is their callers' */
    uint64_t since_ns; /* since when some are, by the program's clock; 0: none, or always */
    int64_t self_ns, total_ns, cpu_ns;
    /* Calls from outside of the function itself that are not under way, and what they took: of
     * these is the mean. */
    uint64_t outer;
    int64_t outer_ns;
    bool reentered; /* how many calls are outer ones is not known: others called it within itself */
    int64_t nested_ns; /* of total: on threads that were made within other calls of the function */
    int64_t least_ns, most_ns, cpu_least_ns, cpu_most_ns; /* of calls that ended */
    double cost_ps; /* of measuring: within its self */
    bool timed; /* times are known */
    bool ended; /* so are the least and the most */
    bool total; /* it was called from outside of itself */
    bool cpu; /* how much of self the processor worked for it is known */
    bool blind; /* but not of all of it */
    /* of self: of calls that have not ended, since the innermost one went on; whether it ran since
     * is not known */
    int64_t running_ns;
};

struct call_function {
    uint32_t scope;
    uint32_t cycle; /* 0: in none */
    struct call_sums sums;
};

struct call_arc {
    uint32_t from, to; /* functions */
    struct call_sums sums; /* of `to`, called by `from` */
};

/* A path of calls; one comes after its parent. */
struct call_node {
    uint32_t parent, function;
    uint32_t child, sibling; /* nodes, 0 none; in no order */
    struct call_sums sums;
};

/* Zero-initialised: nothing.  Function 0 and node 0 are the threads themselves. */
struct call_profile {
    struct call_function *functions;
    size_t function_count, function_room;
    struct call_arc *arcs;
    size_t arc_count, arc_room;
    struct call_node *nodes;
    size_t node_count, node_room;
    uint32_t cycles;
    struct map function_of, arc_of, node_of; /* to 1 + index */
    const struct map
        *within; /* of the thread that is added: scopes in which it was made; or NULL */
    const uint64_t *concurrent; /* of its contexts, if that is known better; or NULL */
};

/* How many calls of the thread were counted only, not timed. */
uint64_t call_profile_counted_only(const struct call_context_thread *thread);
int64_t
call_profile_self(const struct call_context_thread *thread); /* ns of all of them themselves */
/* What is known of one context of a thread. */
struct call_sums call_profile_for_context(const struct call_context_thread *thread,
                                          const struct call_context *c);
/* Adds a thread; scopes: of each of its contexts. */
void call_profile_add(struct call_profile *calls, const struct call_context_thread *thread,
                      const uint32_t *scopes);
/* Once all are added: numbers the cycles. */
void call_profile_find_cycles(struct call_profile *calls);
int64_t call_profile_net(const struct call_sums *sums);
void call_profile_sum(struct call_sums *to, const struct call_sums *sums); /* adds */
/* All functions but the threads themselves. */
/* Is the processor time known: of all of it, but for one part in a hundred? */
bool call_profile_cpu_known(const struct call_sums *sums);
/* What a call took on the average, with all that it called; -1: it is not known.  Calls that a
 * function makes of itself are within the outer ones: they count in none of the two. */
int64_t calls_mean_total(const struct call_sums *sums);
/* Of each call that was timed: its processor time on the average; -1: none was. */
int64_t calls_mean_cpu(const struct call_sums *sums);
struct call_sums call_profile_all(const struct call_profile *calls);
void call_profile_free(struct call_profile *calls); /* empties it */

#endif

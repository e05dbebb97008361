#include "server/timing/profile_consistency.h"

#include "base/alloc.h"

#include <stdlib.h>

const char *profile_account_name(enum account account)
{
    static const char *const words[PROFILE_ACCOUNTS] = {
        [PROFILE_ACCOUNT_ENDED] = "more returns than entries of a function",
        [PROFILE_ACCOUNT_ARCS] = "calls by all callers do not sum to the calls of the function",
        [PROFILE_ACCOUNT_PATHS] =
            "times of all call paths do not sum to the times of all functions",
        [PROFILE_ACCOUNT_SHARES] = "times by all callers do not sum to the time of the function",
        [PROFILE_ACCOUNT_LIFE] = "the functions of the thread took longer than its lifetime",
        [PROFILE_ACCOUNT_STEPS] =
            "the code segments of a record took longer than the time since the previous one",
        [PROFILE_ACCOUNT_LIVE] = "blocks allocated and not freed differ from those in use"};
    return words[account];
}

bool profile_consistency_check_counts(enum account account)
{
    return account == PROFILE_ACCOUNT_ENDED || account == PROFILE_ACCOUNT_ARCS ||
           account == PROFILE_ACCOUNT_LIVE;
}

/* Returns the open calls of the function in all threads of the process; negative if more have ended
 * than began. */
static int64_t open_calls(const struct call_contexts *all, uint32_t process,
                          const struct snapshot_context *of)
{
    int64_t open = 0;
    for (uint32_t k = 0; k < all->count; k++) {
        const struct call_context_thread *t = &all->threads[k];
        for (size_t i = 0; t->process == process && i < t->count; i++) {
            const struct snapshot_context *s = &t->items[i].sums;
            if (s->is.function == of->is.function && s->is.scope == of->is.scope)
                open += (int64_t)(s->calls - s->ended);
        }
    }
    return open;
}

/* Checks that no more calls ended than began: of all threads together, as a call on the stack of a
 * coroutine may begin in one thread and end in another. */
void profile_consistency_contexts(const struct call_contexts *all,
                                  const struct call_context_thread *thread, accounts_tell *tell,
                                  void *context)
{
    for (size_t i = 0; i < thread->count; i++) {
        const struct snapshot_context *s = &thread->items[i].sums;
        if (s->ended > s->calls && open_calls(all, thread->process, s) < 0)
            tell(context, PROFILE_ACCOUNT_ENDED, (int64_t)s->ended, (int64_t)s->calls);
    }
}

/* ---- one quantity, measured in several ways ---- */

static void profile_consistency_add_saturating(int64_t *to, int64_t ns)
{
    if (__builtin_add_overflow(*to, ns, to))
        *to = INT64_MAX;
}

static void profile_consistency_check_arcs(const struct call_profile *calls, accounts_tell *tell,
                                           void *context)
{
    struct call_sums *of = xcalloc(calls->function_count + 1, sizeof *of);
    for (size_t i = 0; i < calls->arc_count; i++) {
        const struct call_arc *arc = &calls->arcs[i];
        of[arc->to].calls += arc->sums.calls;
        profile_consistency_add_saturating(&of[arc->to].self_ns, arc->sums.self_ns);
    }
    for (size_t i = 1; i < calls->function_count; i++) {
        const struct call_sums *is = &calls->functions[i].sums;
        if (of[i].calls != is->calls)
            tell(context, PROFILE_ACCOUNT_ARCS, (int64_t)of[i].calls, (int64_t)is->calls);
        if (of[i].self_ns != is->self_ns)
            tell(context, PROFILE_ACCOUNT_SHARES, of[i].self_ns, is->self_ns);
    }
    free(of);
}

void profile_consistency_calls(const struct call_profile *calls, accounts_tell *tell, void *context)
{
    int64_t paths_ns = 0, functions_ns = call_profile_all(calls).self_ns;
    for (size_t i = 1; i < calls->node_count; i++)
        profile_consistency_add_saturating(&paths_ns, calls->nodes[i].sums.self_ns);
    if (paths_ns != functions_ns)
        tell(context, PROFILE_ACCOUNT_PATHS, paths_ns, functions_ns);
    profile_consistency_check_arcs(calls, tell, context);
}

/* ---- parts of a whole ---- */

static bool is_more(int64_t part_ns, int64_t whole_ns)
{
    return part_ns - whole_ns > PROFILE_ACCOUNTS_SLACK_NS + whole_ns / 1000;
}

void profile_consistency_life(const struct call_profile *calls, int64_t life_ns,
                              accounts_tell *tell, void *context)
{
    int64_t self_ns = call_profile_all(calls).self_ns;
    if (is_more(self_ns, life_ns))
        tell(context, PROFILE_ACCOUNT_LIFE, self_ns, life_ns);
}

void profile_consistency_steps(int64_t sum_ns, int64_t passed_ns, accounts_tell *tell,
                               void *context)
{
    if (is_more(sum_ns, passed_ns))
        tell(context, PROFILE_ACCOUNT_STEPS, sum_ns, passed_ns);
}

void profile_consistency_live(uint64_t taken, uint64_t freed, uint64_t left, accounts_tell *tell,
                              void *context)
{
    if (taken < freed || taken - freed != left)
        tell(context, PROFILE_ACCOUNT_LIVE, (int64_t)(taken - freed), (int64_t)left);
}

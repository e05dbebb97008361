/* Groups of similar waits, with the causes that their time is attributed to.
 *
 * A group is a sum, without representatives, so its contents do not depend on the order of its
 * waits.  If a wait lies partly in the range, that part counts, divided in the same proportions as
 * the whole.  Unattributed time, timeouts and wake-up latency are attributed to code segments of
 * their own.  Works in steps.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_WAIT_GROUPS_H
#define SERVER_ANALYSIS_WAIT_GROUPS_H

#include "server/analysis/wait_attribution.h"

enum wait_group_by {
    GROUP_PLACE, /* call site of the wait's begin, its type, and the kind of the awaited line */
    /* additionally: call site of the release, and the code segments that make up 95 % of it */
    GROUP_PATTERN,
    GROUP_OBJECT, /* the awaited trace line */
    GROUP_SITE, /* the call site alone */
    GROUP_THREAD, /* the waiting thread */
    GROUP_WAIT, /* each wait is a group */
    GROUP_CATEGORY, /* the category of the wait */
    GROUP_BYS
};

struct wait_grouping {
    enum wait_group_by by;
    enum path_list_kind which; /* reasons, or the overlap */
    bool direct; /* only causes in the awaited thread itself */
    int64_t from_ns; /* the range */
    /* by thread index: end of what counts; not after from_ns: the thread does not count; NULL: all
     * threads count */
    const int64_t *until_ns;
    uint32_t until_count;
    uint32_t object; /* only waits for this trace line; 0: all */
    /* Returns the kind of a line; 0: unknown; NULL: no kinds. */
    uint32_t (*kind)(const void *context, uint32_t line);
    uint32_t (*category)(const void *context,
                         const struct wait_record *wait); /* for GROUP_CATEGORY */
    const void *context;
};

struct wait_group_cause {
    uint32_t group, pair; /* wait_attribution_pair() */
    bool direct;
    int64_t ns;
};

struct wait_group {
    /* of its first wait: what all waits of the group have in common */
    uint32_t place, type, kind, about, thread;
    uint32_t released_by; /* the call site that released most of it, 0: unknown */
    uint8_t class; /* an enum wait_class, of its first wait */
    bool mixed; /* it has waits of other classes, too */
    bool several; /* its waits were for several objects */
    int64_t waited_ns, most_ns, unexplained_ns, released_ns;
    int64_t kinds[CAUSE_KINDS]; /* by enum cause_kind: attributed time */
    uint64_t waits, guessed; /* guessed: waits with an uncertain release */
    size_t first; /* index of the longest wait */
    uint32_t *causes, cause_count, cause_room; /* indices, unsorted until wait_groups_arrange() */
};

/* Zero-initialize it except `grouping` and `why`. */
struct wait_groups {
    struct wait_grouping grouping;
    struct wait_attribution *why; /* not owned */
    size_t done; /* waits processed */
    struct wait_group *items;
    uint32_t count;
    size_t room;
    struct wait_group_cause *causes;
    uint32_t cause_count;
    size_t cause_room;
    struct map of, cause_of, released;
    struct attribution charges;
    struct wait_group_charge *pending; /* scratch: of one wait */
    size_t pending_count, pending_room;
    struct accumulator steps; /* scratch */
};

/* Processes about `budget` waits.  Returns true when all known waits are processed. */
bool wait_groups_step(struct wait_groups *groups, uint64_t budget);
/* Sorts the causes of a group by attributed time, the largest first. */
void wait_groups_arrange(struct wait_groups *groups, struct wait_group *group);
/* Frees the memory and empties it, except grouping, why, and the mask of communication categories.
 */
void wait_groups_free(struct wait_groups *groups);

#endif

/* Groups: waits that are alike, and what is charged with them.
 *
 * What stands in a group does not depend on the order in which its waits came: it is a sum, and
 * there are no representatives.  Of a wait that lies in a range in part, that part counts, shared
 * out as the whole.  What nobody can explain, what the clock ended, and the way from a release to
 * going on are charged to steps of their own.  Computed in steps.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_WAIT_GROUPS_H
#define SERVER_ANALYSIS_WAIT_GROUPS_H

#include "server/analysis/attribution.h"

enum wait_group_by {
    GROUP_PLACE, /* of the wait's begin, its type, the kind of what it waited for */
    GROUP_PATTERN, /* besides: from where it was let go, and the steps that make 95 % of it */
    GROUP_OBJECT, /* the line that it waited for */
    GROUP_SITE, /* the place alone */
    GROUP_THREAD, /* who waited */
    GROUP_WAIT, /* each for itself */
    GROUP_CATEGORY, /* what kind of waiting it is */
    GROUP_BYS
};

struct wait_grouping {
    enum wait_group_by by;
    enum path_list_kind which; /* reasons, or what ran meanwhile */
    bool direct; /* only what the one who was waited for did itself is told */
    int64_t from_ns; /* the range */
    /* by thread's index, its end; not after from_ns: the thread does not count; NULL: all do */
    const int64_t *until_ns;
    uint32_t until_count;
    uint32_t object; /* only waits for this line; 0: all */
    uint32_t (*kind)(const void *context, uint32_t line); /* a code; 0: not known; NULL: never */
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
    uint32_t place, type, kind, about, thread; /* of its first wait: what the group has in common */
    uint32_t released_by; /* the place from where most of it was let go, 0: not known */
    uint8_t class; /* an enum wait_class, of its first wait */
    bool mixed; /* it has others, too */
    bool several; /* they were for several objects */
    int64_t waited_ns, most_ns, unexplained_ns, released_ns;
    int64_t kinds[CAUSE_KINDS]; /* shares of those that are explained */
    uint64_t waits, guessed; /* guessed: of so many it is not certain who let them go on */
    size_t first; /* a wait: the longest */
    uint32_t *causes, cause_count, cause_room; /* indices, not in order */
};

/* Zero-initialised but for `grouping` and `why`: nothing yet. */
struct wait_groups {
    struct wait_grouping grouping;
    struct wait_attribution *why; /* not owned */
    size_t done; /* waits looked at */
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

/* Goes on for about so many waits.  True: all that are known are in. */
bool wait_groups_step(struct wait_groups *groups, uint64_t budget);
/* A group's causes by what is charged to them, the most first. */
void wait_groups_arrange(struct wait_groups *groups, struct wait_group *group);
void wait_groups_free(
    struct wait_groups
        *groups); /* empties it, but for grouping, why, and which steps communicate */

#endif

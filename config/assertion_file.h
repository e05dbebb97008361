/* Files of assertions: patterns of events that no run may have, or that each event of a kind must
 * be in.  docs/find.md explains them. */
#ifndef CONFIG_ASSERTION_FILE_H
#define CONFIG_ASSERTION_FILE_H

#include "config/event_pattern.h"
#include "config/target.h"

#include <stdio.h>

enum assertion_kind {
    ASSERTION_NEVER, /* the pattern has no match */
    ASSERTION_ALWAYS, /* each event with the pattern's first name is in a match */
    ASSERTION_AT_MOST /* the pattern has no more than `most` matches */
};

struct assertion {
    enum assertion_kind kind;
    uint64_t most;
    char *name;
    char *text; /* of the pattern */
    struct event_pattern *pattern;
    int line; /* of the file */
};

struct assertions {
    struct assertion *items;
    uint32_t count;
};

/* Reads the assertions of a text; the name of its file is for messages.  Returns false after
 * printing "FILE:LINE: MESSAGE"; the assertions must be freed in any case. */
bool assertions_read(const char *text, const char *file, FILE *errors, struct assertions *all);
/* Reads a file in the same way. */
bool assertions_load(const char *file, FILE *errors, struct assertions *all);
/* Appends those of a target description. */
void assertions_add_target(struct assertions *all, const struct target *target);
void assertions_free(struct assertions *all);

#endif

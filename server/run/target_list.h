/* Target descriptions of a run: those of the environments that its programs use.
 *
 * A zero-initialized list is empty; it owns its descriptions.  Not thread-safe. */
#ifndef SERVER_RUN_TARGET_LIST_H
#define SERVER_RUN_TARGET_LIST_H

#include "config/target.h"

struct target_list {
    struct target **items; /* in the order in which they were received */
    char **texts; /* from which they were read */
    size_t count, room;
};

bool target_list_has(const struct target_list *targets, const char *name);
/* Adds a description from its text; returns false, and logs why, if it is invalid. */
bool target_list_add(struct target_list *targets, const char *name, const char *text);
/* Returns the description of a kind of line, or NULL. */
const struct target_line_type *target_list_line_type(const struct target_list *targets,
                                                     const char *kind);
/* Returns the description of an event on a kind of line, or NULL. */
const struct target_event *target_list_event(const struct target_list *targets, const char *kind,
                                             const char *type, enum relation relation);
void target_list_free(struct target_list *targets);

#endif

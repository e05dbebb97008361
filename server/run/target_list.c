#define _GNU_SOURCE
#include "server/run/target_list.h"

#include "base/alloc.h"
#include "config/description_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool target_list_has(const struct target_list *targets, const char *name)
{
    for (size_t i = 0; i < targets->count; i++)
        if (strcmp(targets->items[i]->name, name) == 0)
            return true;
    return false;
}

bool target_list_add(struct target_list *targets, const char *name, const char *text)
{
    struct target *target = target_read(text, name, stderr);
    if (!target)
        return false;
    target_update_installed(target);
    targets->items =
        array_reserve(targets->items, &targets->room, targets->count + 1, sizeof *targets->items);
    targets->texts = xreallocarray(targets->texts, targets->count + 1, sizeof *targets->texts);
    targets->texts[targets->count] = xstrdup(text);
    targets->items[targets->count++] = target;
    return true;
}

const struct target_line_type *target_list_line_type(const struct target_list *targets,
                                                     const char *kind)
{
    const struct target_line_type *found = NULL;
    for (size_t i = 0; i < targets->count && !found; i++)
        found = target_line_type(targets->items[i], kind);
    return found;
}

/* Searches the descriptions that know the kind of line first. */
const struct target_event *target_list_event(const struct target_list *targets, const char *kind,
                                             const char *type, enum relation relation)
{
    const struct target_event *found = NULL;
    for (int knows = 1; knows >= 0 && !found; knows--)
        for (size_t i = 0; i < targets->count && !found; i++)
            if ((target_line_type(targets->items[i], kind) != NULL) == knows)
                found = target_event(targets->items[i], kind, type, relation);
    return found;
}

void target_list_free(struct target_list *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        target_free(targets->items[i]);
        free(targets->texts[i]);
    }
    free(targets->items);
    free(targets->texts);
}

#include "config/function_scopes.h"

#include "config/description_values.h"
#include "base/alloc.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const target_categories[CATEGORIES + 1] = {
    "none", "send",   "receive", "collective", "barrier", "lock",     "condition", "semaphore",
    "join", "system", "timeout", "signal",     "library", "parallel", "local",     NULL};

static struct target_scope *function_scopes_find_scope(const struct target *target,
                                                       const char *match)
{
    for (size_t i = 0; i < target->scope_count; i++)
        if (strcmp(target->scopes[i].match, match) == 0)
            return &target->scopes[i];
    return NULL;
}

static struct target_scope *function_scopes_add_scope(struct description_reader *reader,
                                                      struct target *target, const char *match)
{
    target->scopes = xreallocarray(target->scopes, target->scope_count + 1, sizeof *target->scopes);
    struct target_scope *scope = &target->scopes[target->scope_count++];
    *scope = (struct target_scope){.match = description_copy_text(reader, match)};
    return scope;
}

static void read_scope(struct description_reader *reader, const config_setting_t *s,
                       struct target *target)
{
    static const char *const keys[] = {"match", "category", NULL};
    description_check_keys(reader, s, keys);
    const char *match = description_get_text(reader, s, "match", true);
    if (!config_setting_get_member(s, "category"))
        WRONG(s, "a scope needs \"category\"");
    struct target_scope *scope = function_scopes_find_scope(target, match ? match : "");
    if (scope && scope->part == reader->part)
        WRONG(s, "duplicate scope \"%s\"", scope->match);
    scope = scope ? scope : function_scopes_add_scope(reader, target, match ? match : "");
    scope->part = reader->part;
    scope->category =
        (uint8_t)description_get_word(reader, s, "category", target_categories, scope->category);
    if (scope->category == CATEGORY_CLOCK || scope->category == CATEGORY_SIGNAL)
        WRONG(s, "the category \"%s\" is for events, not for functions",
              target_categories[scope->category]);
}

void function_scopes_parse(struct description_reader *reader, const config_setting_t *root,
                           struct target *target)
{
    const config_setting_t *list = description_get_groups(reader, root, "function_categories");
    for (int i = 0; list && i < config_setting_length(list); i++)
        read_scope(reader, config_setting_get_elem(list, (unsigned)i), target);
}

uint8_t target_scope_category(const struct target *target, const char *name)
{
    for (size_t i = 0; target && i < target->scope_count; i++)
        if (fnmatch(target->scopes[i].match, name, 0) == 0)
            return target->scopes[i].category;
    return CATEGORY_NONE;
}

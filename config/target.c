#define _GNU_SOURCE
#include "config/target.h"

#include "config/metric_rules.h"

#include "base/alloc.h"
#include "config/description_values.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void target_free(struct target *target)
{
    if (!target)
        return;
    free(target->kinds);
    free(target->events);
    free(target->clusters);
    free(target->scopes);
    free(target->patterns);
    free(target->assertions);
    free(target->meters);
    free(target->sources.items);
    arena_free(&target->texts);
    free(target);
}

const struct target_names *target_ended_by(const struct target_event *event)
{
    return event->causes.count ? &event->causes : &event->woken_by;
}

const struct target_line_type *target_line_type(const struct target *target, const char *kind)
{
    for (size_t i = 0; target && i < target->kind_count; i++)
        if (strcmp(target->kinds[i].name, kind) == 0)
            return &target->kinds[i];
    return NULL;
}

bool target_has_line_type(const struct target_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

const struct target_event *target_event(const struct target *target, const char *kind,
                                        const char *type, enum relation relation)
{
    const struct target_event *best = NULL;
    int best_fit = -1;
    for (size_t i = 0; target && i < target->event_count; i++) {
        const struct target_event *event = &target->events[i];
        if (strcmp(event->name, type) != 0 ||
            (event->on.count && !target_has_line_type(&event->on, kind)))
            continue;
        int fit = (event->relation == relation         ? 2
                   : event->relation == RELATION_COUNT ? 1
                                                       : 0) +
                  (event->on.count ? 3 : 0);
        if (fit > best_fit) {
            best = event;
            best_fit = fit;
        }
    }
    return best;
}

/* ---- categories of functions ---- */

const char *const target_categories[CATEGORIES + 1] = {
    "none", "send",   "receive", "collective", "barrier", "lock",     "condition", "semaphore",
    "join", "system", "timeout", "signal",     "library", "parallel", "local",     NULL};

uint8_t target_scope_category(const struct target *target, const char *name)
{
    for (size_t i = 0; target && i < target->scope_count; i++)
        if (fnmatch(target->scopes[i].match, name, 0) == 0)
            return target->scopes[i].category;
    return CATEGORY_NONE;
}

/* ---- rows ---- */

struct named_lines {
    uint32_t line;
    const char *name;
};

static int by_name(const void *a, const void *b)
{
    const struct named_lines *x = a, *y = b;
    int names = strverscmp(x->name, y->name);
    return names ? names : x->line < y->line ? -1 : x->line > y->line;
}

void target_sort(uint32_t *lines, size_t count, const struct target_lines *look)
{
    struct named_lines *named = xcalloc(count + 1, sizeof *named);
    bool *sorted = xcalloc(count + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct target_line_type *kind = look->kind(look->context, lines[i]);
        sorted[i] = kind && kind->sorted;
        if (sorted[i])
            named[n++] = (struct named_lines){lines[i], look->name(look->context, lines[i])};
    }
    qsort(named, n, sizeof *named, by_name);
    n = 0;
    for (size_t i = 0; i < count; i++)
        if (sorted[i])
            lines[i] = named[n++].line;
    free(named);
    free(sorted);
}

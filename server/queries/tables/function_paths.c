#include "server/queries/tables/function_paths.h"

#include "base/alloc.h"
#include "server/run/activity_store.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

static bool function_paths_add(struct function_paths *w, const struct table_view *view,
                               const char *text)
{
    char *end;
    uint32_t process = (uint32_t)strtoul(text, &end, 16);
    uint64_t address = *end == ':' ? strtoull(end + 1, &end, 16) : 0;
    if (!address || *end)
        return false;
    w->ones[w->count++] = (struct within_one){.key = call_sites_key(view->run, process, address)};
    return true;
}

bool function_paths_begin(struct function_paths *w, const struct table_view *view)
{
    const struct table_request *r = view->request;
    bool good = true;
    for (uint32_t i = 0; i < r->option_count && w->count < FUNCTION_PATHS_MAX && good; i++) {
        if (strcmp(r->options[i].key, "function") == 0)
            good = function_paths_add(w, view, r->options[i].value);
        else if (strcmp(r->options[i].key, "type") == 0)
            w->ones[w->count++] = (struct within_one){.type = r->options[i].value};
    }
    return good && w->count;
}

static uint64_t function_paths_all(const struct function_paths *w)
{
    return w->count < 64 ? (UINT64_C(1) << w->count) - 1 : UINT64_MAX;
}

/* ---- call paths ---- */

static bool function_paths_matches(const struct table_view *view, const struct within_one *one,
                                   const struct activity_path *path)
{
    if (one->type)
        return path->scope == SCOPE_WAITED &&
               strcmp(run_type_name(view->run, path->type), one->type) == 0;
    if (path->scope != SCOPE_FUNCTION && path->scope != SCOPE_NAMED)
        return false;
    struct call_site_key key = call_sites_key(view->run, path->process, path->function);
    return key.space == one->key.space && key.offset == one->key.offset;
}

/* Returns the bits of a path. Computes all up to it, since a parent has a smaller number than its
 * children. */
static uint64_t function_paths_on(struct function_paths *w, const struct table_view *view,
                                  uint32_t path)
{
    w->on = array_reserve_zeroed(w->on, &w->room, (size_t)path + 1, sizeof *w->on);
    for (size_t p = w->known + 1; p <= path; p++) {
        const struct activity_path *is = activity_path(view->run, (uint32_t)p);
        w->on[p] = w->on[is->parent];
        for (uint32_t i = 0; i < w->count; i++)
            w->on[p] |= (uint64_t)function_paths_matches(view, &w->ones[i], is) << i;
    }
    w->known = path > w->known ? path : w->known;
    return w->on[path];
}

int function_paths_step(struct function_paths *w, const struct table_view *view, uint32_t code)
{
    const struct code_segments *steps = &view->measured->steps;
    if (!code || code > steps->count || code_segments_at(steps, code).is != STEP_CALLS)
        return -1;
    return function_paths_on(w, view, code_segments_at(steps, code).from) == function_paths_all(w);
}

int function_paths_event(struct function_paths *w, const struct table_view *view, uint64_t position)
{
    const struct run *run = view->run;
    struct order_event e = order_event(run->order, position);
    const struct site *site = site_table_at(&run->sites, e.site);
    uint32_t path = site && site->thread ? activity_path_of(run, site->thread, site->context)
                                         : ACTIVITY_NO_PATH;
    if (path == ACTIVITY_NO_PATH)
        return -1;
    uint64_t on = function_paths_on(w, view, path);
    for (uint32_t i = 0; i < w->count; i++)
        if (w->ones[i].type && strcmp(run_type_name(run, e.type), w->ones[i].type) == 0)
            on |= UINT64_C(1) << i;
    return on == function_paths_all(w);
}

void function_paths_free(struct function_paths *w)
{
    free(w->on);
    *w = (struct function_paths){0};
}

#include "server/queries/tables/scope_numbers.h"

#include "base/alloc.h"
#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"
#include "wire/profile_region.h"

#include <stdlib.h>

static uint32_t scope_numbers_assign(struct scope_numbers *scopes, struct call_site_key key,
                                     struct scope scope)
{
    uint64_t space = key.space << 2 | scope.is;
    return 1 + (uint32_t)MAP_INDEX(&scopes->numbers, space, key.offset, scopes->items,
                                   scopes->count, scopes->room, scope);
}

static uint32_t scope_numbers_of_context(struct scope_numbers *scopes, const struct run *run,
                                         const struct call_context_thread *thread,
                                         const struct call_context *c)
{
    const struct snapshot_scope *is = &c->sums.is;
    uint8_t what = snapshot_scope_is_function(is) ? SCOPE_FUNCTION : (uint8_t)is->scope;
    struct scope scope = {.is = what, .type = c->type};
    if (is->scope == SCOPE_WAITED)
        return scope_numbers_assign(scopes, (struct call_site_key){0, c->type}, scope);
    if (is->scope == SCOPE_OTHER)
        return scope_numbers_assign(scopes, (struct call_site_key){0}, scope);
    scope.place = (struct table_place){thread->process, is->function};
    return scope_numbers_assign(scopes, call_sites_key(run, thread->process, is->function), scope);
}

uint32_t *scope_numbers_of(struct scope_numbers *scopes, const struct run *run,
                           const struct call_context_thread *thread)
{
    uint32_t *numbers = xcalloc(thread->count + 1, sizeof *numbers);
    for (size_t i = 1; i < thread->count; i++) {
        const struct snapshot_scope *is = &thread->items[i].sums.is;
        numbers[i] = is->scope == SCOPE_EDGE ? 0
                     : is->scope == SCOPE_POINT
                         ? numbers[is->parent]
                         : scope_numbers_of_context(scopes, run, thread, &thread->items[i]);
    }
    return numbers;
}

uint32_t scope_numbers_find(const struct scope_numbers *scopes, const struct run *run,
                            struct table_place place)
{
    struct call_site_key key = call_sites_key(run, place.process, place.address);
    static const uint8_t kinds[] = {SCOPE_FUNCTION, SCOPE_NAMED};
    for (size_t i = 0; i < sizeof kinds; i++) {
        uintptr_t known =
            (uintptr_t)map_get(&scopes->numbers, key.space << 2 | kinds[i], key.offset);
        if (known)
            return (uint32_t)known;
    }
    return 0;
}

struct table_cell scope_numbers_cell(const struct scope_numbers *scopes, const struct run *run,
                                     uint32_t number)
{
    if (!number)
        return table_cell_text("(thread)");
    const struct scope *scope = &scopes->items[number - 1];
    if (scope->is == SCOPE_OTHER)
        return table_cell_text("(other)");
    if (scope->is == SCOPE_WAITED)
        return table_cell_text(scope->type ? run_type_name(run, scope->type) : "(a call)");
    return (struct table_cell){.is = scope->is == SCOPE_NAMED ? CELL_NAME : CELL_PLACE,
                               .place = scope->place};
}

void scope_numbers_free(struct scope_numbers *scopes)
{
    free(scopes->items);
    map_free(&scopes->numbers);
    *scopes = (struct scope_numbers){0};
}

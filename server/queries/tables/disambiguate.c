#include "server/queries/tables/disambiguate.h"

#include "base/map.h"

static bool disambiguate_has_caller(const struct table_cell *cell)
{
    return cell->is == CELL_STEP && cell->between.caller.address;
}

static uint64_t disambiguate_key(struct table_place place)
{
    return place.address + place.process * 0x9e3779b97f4a7c15u;
}

static void *disambiguate_find_cell(const struct map *map, const struct table_cell *cell)
{
    return map_get(map, disambiguate_key(cell->between.from), disambiguate_key(cell->between.to));
}

static void disambiguate_put_cell(struct map *map, struct table_cell *cell)
{
    map_put(map, disambiguate_key(cell->between.from), disambiguate_key(cell->between.to), cell);
}

/* Records the first cell of each name, and the names that have several callers. */
static void disambiguate_note_cell(struct map *first, struct map *several, struct table_cell *cell)
{
    const struct table_cell *other = disambiguate_find_cell(first, cell);
    if (!other)
        disambiguate_put_cell(first, cell);
    else if (disambiguate_key(other->between.caller) != disambiguate_key(cell->between.caller))
        disambiguate_put_cell(several, cell);
}

void disambiguate_names(struct result_table *t)
{
    struct map first = {0}, several = {0};
    size_t count = (size_t)t->row_count * t->column_count;
    struct table_cell *cells = t->row_count ? result_table_cells(t, 0) : NULL;
    for (size_t i = 0; i < count; i++)
        if (disambiguate_has_caller(&cells[i]))
            disambiguate_note_cell(&first, &several, &cells[i]);
    for (size_t i = 0; i < count; i++)
        if (disambiguate_has_caller(&cells[i]) && !disambiguate_find_cell(&several, &cells[i]))
            cells[i].between.caller = (struct table_place){0};
    map_free(&first);
    map_free(&several);
}

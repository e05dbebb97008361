#include "clients/connection/function_categories.h"

#include "base/alloc.h"
#include "wire/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool function_categories_wanted(const struct trace_metadata *book)
{
    for (size_t i = 0; i < book->target_count; i++)
        if (book->targets[i]->scope_count)
            return true;
    return false;
}

uint8_t function_categories_of(const struct table_names *names, const struct table_cell *cell)
{
    struct table_place place = cell->place;
    const char *text = cell->is == CELL_NAME
                           ? symbolizer_location_text(names->sites, place.process, place.address)
                           : NULL;
    struct symbol_location site =
        text ? (struct symbol_location){0} : symbolize(names->sites, place.process, place.address);
    uint8_t category = CATEGORY_NONE;
    for (size_t i = 0; i < names->book->target_count && !category; i++)
        category = target_scope_category(names->book->targets[i], text ? text : site.function);
    return category;
}

/* Functions beyond the maximum length of an option get no category. */
char *function_categories_named(const struct table_names *names, const struct result_table *calls)
{
    uint32_t scope = result_table_find_column(calls, "function");
    char *sentence = NULL;
    size_t size = 0, written = 0;
    FILE *f = scope < calls->column_count ? open_memstream(&sentence, &size) : NULL;
    for (uint32_t i = 0; f && i < calls->row_count && written < LIMIT_OPTION_BYTES - 64; i++) {
        const struct table_cell *cell = &result_table_cells(calls, i)[scope];
        bool named = cell->is == CELL_PLACE || cell->is == CELL_NAME;
        uint8_t category = named ? function_categories_of(names, cell) : CATEGORY_NONE;
        if (category)
            written += (size_t)fprintf(f, "%s%u:%llu=%s", written ? "," : "", cell->place.process,
                                       (unsigned long long)cell->place.address,
                                       target_categories[category]);
    }
    if (f)
        fclose(f);
    if (sentence && !written) {
        free(sentence);
        sentence = NULL;
    }
    return sentence;
}

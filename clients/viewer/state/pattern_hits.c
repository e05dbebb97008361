#include "clients/viewer/state/pattern_hits.h"

#include "clients/connection/pattern_names.h"
#include "config/event_pattern.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static bool pattern_hits_type_is_known(const struct trace_metadata *book, const char *type)
{
    for (uint32_t i = 1; i <= book->type_count; i++)
        if (strcmp(metadata_type_name(book, i), type) == 0)
            return true;
    for (size_t t = 0; t < book->target_count; t++)
        for (size_t i = 0; i < book->targets[t]->event_count; i++)
            if (strcmp(book->targets[t]->events[i].name, type) == 0)
                return true;
    return false;
}

bool pattern_hits_is_pattern(const char *text, const struct trace_metadata *book)
{
    struct pattern_error error;
    bool known = event_pattern_is_likely(text);
    struct event_pattern *p = known ? event_pattern_read(text, &error) : NULL;
    for (uint32_t i = 0; p && i < p->event_count; i++)
        for (uint32_t k = 0; k < p->events[i].type_count; k++)
            known &= pattern_hits_type_is_known(book, p->events[i].types[k]);
    event_pattern_free(p);
    return known;
}

void pattern_hits_encode(struct encoder *body, const char *text, const struct trace_metadata *book,
                         struct symbolizer *symbols, const struct search_site *sites,
                         uint32_t site_count, char **error)
{
    struct pattern_error problem = {0};
    struct event_pattern *p = event_pattern_read(text, &problem);
    struct pattern_site *places = g_new(struct pattern_site, site_count + 1);
    for (uint32_t i = 0; i < site_count; i++)
        places[i] = (struct pattern_site){sites[i].process, sites[i].address};
    char *numbers =
        p ? pattern_names_replace(text, p, book, symbols, places, site_count, &problem) : NULL;
    *error = numbers ? NULL : g_strdup_printf("Column %u: %s", problem.column, problem.text);
    struct table_option option = {(char[]){"pattern"}, numbers};
    struct table_request request = {.what = (char[]){"matches"},
                                    .by = (char[]){""},
                                    .sort = (char[]){""},
                                    .options = &option,
                                    .option_count = 1};
    if (numbers)
        encode_table_request(body, &request);
    free(numbers);
    g_free(places);
    event_pattern_free(p);
}

static int pattern_hits_by_position(const void *a, const void *b)
{
    const struct search_hit *x = a, *y = b;
    return x->position < y->position ? -1 : x->position > y->position;
}

void pattern_hits_read(const struct result_table *t, struct search_result *found, uint64_t *matches)
{
    uint32_t event = result_table_find_column(t, "event"),
             position = result_table_find_column(t, "position"),
             match = result_table_find_column(t, "match"), kept = 0;
    bool good = event < t->column_count && position < t->column_count && match < t->column_count;
    *found = (struct search_result){.done = true, .looked = t->known};
    *matches = good && t->total && t->total[match].is == CELL_NUMBER
                   ? (uint64_t)t->total[match].number
                   : 0;
    found->hits = malloc((t->row_count + 1u) * sizeof *found->hits);
    for (uint32_t i = 0; good && found->hits && i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        if (cells[event].is == CELL_EVENT && cells[position].is == CELL_NUMBER)
            found->hits[found->hit_count++] =
                (struct search_hit){cells[event].event, (uint64_t)cells[position].number};
    }
    if (found->hit_count)
        qsort(found->hits, found->hit_count, sizeof *found->hits, pattern_hits_by_position);
    for (uint32_t i = 0; i < found->hit_count; i++)
        if (!kept || found->hits[kept - 1].position != found->hits[i].position)
            found->hits[kept++] = found->hits[i];
    found->count = found->hit_count = kept;
}

/* ---- patterns of selected events ---- */

static uint32_t pattern_hits_object(const struct event_info *e)
{
    bool paired = e->relation == RELATION_SYNC && e->partner_count == 1;
    return e->about                  ? e->about
           : e->at.line != e->thread ? e->at.line
           : paired                  ? e->partners[0].line
                                     : 0;
}

/* Returns the type of an event, in quotes unless it is one word. */
static char *pattern_hits_type(const struct trace_metadata *book, const struct event_info *e)
{
    const char *type = metadata_type_name(book, e->type);
    size_t word = strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    bool plain = *type && !type[word] && !g_ascii_isdigit(*type);
    return plain ? g_strdup(type) : g_strdup_printf("\"%s\"", type);
}

static char *pattern_hits_like_one(const struct trace_metadata *book, const struct event_info *e,
                                   const char *place)
{
    char *type = pattern_hits_type(book, e), *text;
    if (*place)
        text = g_strdup_printf("a: %s(place = \"%s\")", type, place);
    else
        text = g_strdup_printf("a: %s(line = %u)", type, e->at.line);
    g_free(type);
    return text;
}

char *pattern_hits_like(const struct trace_metadata *book, const struct event_info *a,
                        const struct event_info *b, int relation, const char *place)
{
    static const char *const relations[] = {[ORDER_BEFORE] = "b -> a",
                                            [ORDER_AFTER] = "a -> b",
                                            [ORDER_CONCURRENT] = "a || b",
                                            [ORDER_SAME] = "a = b"};
    if (!b)
        return pattern_hits_like_one(book, a, place);
    if (relation < 0 || relation >= (int)G_N_ELEMENTS(relations) || !relations[relation])
        return NULL;
    bool object = pattern_hits_object(a) && pattern_hits_object(a) == pattern_hits_object(b),
         thread = a->thread && a->thread == b->thread;
    char *first = pattern_hits_type(book, a), *second = pattern_hits_type(book, b);
    char *text = g_strdup_printf("a: %s; b: %s; %s%s%s", first, second, relations[relation],
                                 object ? "; a.object = b.object" : "",
                                 thread ? "; a.thread = b.thread" : "");
    g_free(first);
    g_free(second);
    return text;
}

/* Texts for predicted bugs. */
#include "clients/connection/finding_text.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

struct finding_text_row {
    const struct table_names *names;
    const struct result_table *table;
    uint32_t row;
};

static const struct table_cell *finding_text_find_cell(const struct finding_text_row *r,
                                                       const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(r->table, name);
    return column < r->table->column_count ? &result_table_cells(r->table, r->row)[column]
                                           : &nothing;
}

static const char *finding_text_line_label(const struct finding_text_row *r, const char *name)
{
    const struct table_cell *c = finding_text_find_cell(r, name);
    return c->is == CELL_LINE ? metadata_label(r->names->book, c->line) : "(unknown)";
}

/* Returns " at f.c:12 (event 3:4)" in new memory. */
static char *finding_text_place_text(const struct finding_text_row *r, const char *place,
                                     const char *event)
{
    const struct table_cell *p = finding_text_find_cell(r, place),
                            *e = finding_text_find_cell(r, event);
    char at[48] = "",
         *sentence = p->is == CELL_PLACE ? result_table_place_text(r->names, p->place, "") : NULL;
    if (e->is == CELL_EVENT)
        event_id_print(at, sizeof at, e->event);
    char *all = xasprintf("%s%s%s%s%s", sentence && *sentence ? " at " : "",
                          sentence ? sentence : "", *at ? " (event " : "", at, *at ? ")" : "");
    free(sentence);
    return all;
}

/* Expands a format: %T the thread, %L and %M the two objects, %l and %m the two locations. New
 * memory. */
static char *finding_text_participant_text(struct finding_text_row *r, const char *format)
{
    char *first = finding_text_place_text(r, "location", "event"),
         *then = finding_text_place_text(r, "second_location", "second_event"), *sentence = NULL,
         text[1000];
    size_t n = 0;
    for (const char *c = format; *c && n < sizeof text - 1; c++) {
        const char *put = *c != '%'     ? NULL
                          : *++c == 'T' ? finding_text_line_label(r, "thread")
                          : *c == 'L'   ? finding_text_line_label(r, "object")
                          : *c == 'M'   ? finding_text_line_label(r, "second_object")
                          : *c == 'l'   ? first
                                        : then;
        n += (size_t)(put ? snprintf(text + n, sizeof text - n, "%s", put)
                          : snprintf(text + n, sizeof text - n, "%c", *c));
        n = n < sizeof text ? n : sizeof text - 1;
    }
    text[n] = 0;
    sentence = xstrdup(text);
    free(first);
    free(then);
    return sentence;
}

char *finding_text_participant(const struct table_names *names, const struct result_table *t,
                               uint32_t row, enum finding_kind kind)
{
    const struct finding_kind_row *texts = &finding_kinds[kind];
    struct finding_text_row r = {names, t, row};
    uint32_t nth = 0, last = 0;
    while (nth < row && t->rows[row - nth - 1].depth)
        nth++;
    while (last < 2 && texts->participants[last + 1])
        last++;
    bool single = finding_text_find_cell(&r, "second_event")->is != CELL_EVENT;
    const char *text = texts->participants[nth < last ? nth : last];
    if (single && texts->single && (nth || !last))
        text = texts->single;
    return finding_text_participant_text(&r, text ? text : "%T also locked %L%l");
}

enum finding_kind finding_text_kind(const struct result_table *t, uint32_t row)
{
    const struct table_cell *c = &result_table_cells(t, row)[result_table_find_column(t, "kind")];
    const struct finding_kind_row *kind =
        c->is == CELL_TEXT ? finding_kind_named(c->text, strlen(c->text), FINDINGS_PREDICTED)
                           : NULL;
    return kind ? (enum finding_kind)(kind - finding_kinds) : FINDING_KIND_COUNT;
}

char *finding_text_summary(const struct result_table *t, uint32_t row)
{
    const struct finding_text_row r = {NULL, t, row};
    const struct finding_kind_row *kind = &finding_kinds[finding_text_kind(t, row)];
    long long times = (long long)finding_text_find_cell(&r, "count")->number;
    const char *name = kind->name ? kind->name : "", *text = kind->name ? kind->explanation : "";
    return times > 1 ? xasprintf("%s (%lld occurrences): %s", name, times, text)
                     : xasprintf("%s: %s", name, text);
}

char *finding_text_kinds(unsigned groups)
{
    char *all = xstrdup("");
    for (const struct finding_kind_row *kind = finding_kinds; kind->name; kind++) {
        if (!(kind->group & groups))
            continue;
        char *more = xasprintf("%s%s%s", all, *all ? ", " : "", kind->name);
        free(all);
        all = more;
    }
    return all;
}

bool finding_text_kinds_are_known(const char *list, unsigned groups)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        if (!finding_kind_named(list, n, groups))
            return false;
        list += n + (list[n] == ',');
    }
    return true;
}

/* What else a run could have done, in words. */
#include "clients/source/otherwise.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[][2] = {
    {"inversion", "each holds what the next one asks for: if they meet there, a deadlock"},
    {"lost", "nothing keeps the call from coming before the wait, and then nobody hears it"},
    {"missed", "the call wakes one, and more could wait"},
    {"message", "the receive takes any, and luck decided which came first"},
    {"unheard", "luck decided which came first; the other way round the call is not heard, unless "
                "who waits looks first whether it must"},
    {"between", "nothing keeps the one visit from coming between the two others"},
    {"first", "luck decided which came first, and it was never the other"},
    {NULL, NULL}};

static const char *finding_text_kind_text(const char *kind)
{
    for (size_t i = 0; kinds[i][0]; i++)
        if (strcmp(kinds[i][0], kind) == 0)
            return kinds[i][1];
    return "";
}

/* ---- in words ---- */

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
    return c->is == CELL_LINE ? metadata_label(r->names->book, c->line) : "somebody";
}

/* " at f.c:12 (3:4)", new memory. */
static char *finding_text_place_text(const struct finding_text_row *r, const char *place,
                                     const char *event)
{
    const struct table_cell *p = finding_text_find_cell(r, place),
                            *e = finding_text_find_cell(r, event);
    char at[48] = "",
         *said = p->is == CELL_PLACE ? result_table_place_text(r->names, p->place, "") : NULL;
    if (e->is == CELL_EVENT)
        event_id_print(at, sizeof at, e->event);
    char *all = xasprintf("%s%s%s%s%s", said && *said ? " at " : "", said ? said : "",
                          *at ? " (" : "", at, *at ? ")" : "");
    free(said);
    return all;
}

/* What a thread did, in words with one place for its name and each of two lines and where it was
 * there. */
static char *finding_text_participant_text(struct finding_text_row *r, const char *format)
{
    char *first = finding_text_place_text(r, "where", "event"),
         *then = finding_text_place_text(r, "then_where", "then_event"), *said = NULL, text[1000];
    size_t n = 0;
    for (const char *c = format; *c && n < sizeof text - 1; c++) {
        const char *put = *c != '%'     ? NULL
                          : *++c == 'T' ? finding_text_line_label(r, "thread")
                          : *c == 'L'   ? finding_text_line_label(r, "line")
                          : *c == 'M'   ? finding_text_line_label(r, "then_line")
                          : *c == 'l'   ? first
                                        : then;
        n += (size_t)(put ? snprintf(text + n, sizeof text - n, "%s", put)
                          : snprintf(text + n, sizeof text - n, "%c", *c));
        n = n < sizeof text ? n : sizeof text - 1;
    }
    text[n] = 0;
    said = xstrdup(text);
    free(first);
    free(then);
    return said;
}

char *finding_text_participant(const struct table_names *names, const struct result_table *t,
                               uint32_t row, const char *kind)
{
    static const char *const ways[][3] = {
        {"inversion", "%T took %L%l, then asked for %M%m", NULL},
        {"lost", "%T took %L%l, then waited for %M%m", "%T called who waits for %L%l"},
        {"missed", "%T called who waits for %L%l", "%T took %L%l, then waited for %M%m"},
        {"message", "%T sent to %L%l, received%m", "%T sent to %L%l, received only%m"},
        {"unheard", "%T took %L%l, then waited for %M%m",
         "%T took %L%l, then called who waits for %M%m"},
        {"between", "%T took %L%l, and again%m", "%T took %L%l"},
        {"first", "%T took %L%l", "%T took %L%l after that"},
    };
    struct finding_text_row r = {names, t, row};
    bool first = row && !t->rows[row - 1].depth,
         then = finding_text_find_cell(&r, "then_event")->is == CELL_EVENT;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i][0], kind) == 0 &&
            (first || !ways[i][2] || then || strcmp(kind, "missed") != 0))
            return finding_text_participant_text(&r,
                                                 first || !ways[i][2] ? ways[i][1] : ways[i][2]);
    return finding_text_participant_text(&r, "%T took %L%l, too");
}

const char *finding_text_kind(const struct result_table *t, uint32_t row)
{
    const struct table_cell *c = &result_table_cells(t, row)[result_table_find_column(t, "kind")];
    return c->is == CELL_TEXT ? c->text : "";
}

char *finding_text_summary(const struct result_table *t, uint32_t row)
{
    const struct finding_text_row r = {NULL, t, row};
    const char *kind = finding_text_kind(t, row);
    long long times = (long long)finding_text_find_cell(&r, "times")->number;
    return times > 1 ? xasprintf("%s (%lld times): %s", kind, times, finding_text_kind_text(kind))
                     : xasprintf("%s: %s", kind, finding_text_kind_text(kind));
}

char *finding_text_kinds(void)
{
    char *all = NULL;
    for (size_t i = 0; kinds[i][0]; i++) {
        char *more = xasprintf("%s%s%s", all ? all : "", all ? ", " : "", kinds[i][0]);
        free(all);
        all = more;
    }
    return all;
}

bool finding_text_kinds_are_known(const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        bool known = false;
        for (size_t i = 0; kinds[i][0]; i++)
            known |= strlen(kinds[i][0]) == n && strncmp(kinds[i][0], list, n) == 0;
        if (!known)
            return false;
        list += n + (list[n] == ',');
    }
    return true;
}

#include "clients/connection/view_state.h"

#include "base/alloc.h"
#include "clients/symbols/safe_open.h"

#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t count, size_t bytes)
{
    return count ? memcpy(xmalloc(count * bytes), from, count * bytes) : NULL;
}

void view_state_copy(struct view_state *to, const struct view_state *from)
{
    struct view_state copy = *from;
    copy.rows = copy_of(from->rows, from->row_count, sizeof *from->rows);
    copy.moves = copy_of(from->moves, from->move_count, sizeof *from->moves);
    copy.lit = from->lit ? xstrdup(from->lit) : NULL;
    copy.range = view_state_range_copy(&from->range);
    view_state_free(to);
    *to = copy;
}

void view_state_free(struct view_state *place)
{
    free(place->rows);
    free(place->moves);
    free(place->lit);
    free(place->range.lines);
    *place = (struct view_state){0};
}

static bool same_rows(const struct view_state *a, const struct view_state *b)
{
    for (uint32_t i = 0; i < a->row_count && i < b->row_count; i++)
        if (a->rows[i].line != b->rows[i].line || a->rows[i].joins != b->rows[i].joins ||
            a->rows[i].hidden != b->rows[i].hidden || a->rows[i].pinned != b->rows[i].pinned)
            return false;
    return a->row_count == b->row_count;
}

static bool same_moves(const struct view_state *a, const struct view_state *b)
{
    for (uint32_t i = 0; i < a->move_count && i < b->move_count; i++)
        if (a->moves[i].line != b->moves[i].line || a->moves[i].to != b->moves[i].to ||
            a->moves[i].events != b->moves[i].events)
            return false;
    return a->move_count == b->move_count;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

struct view_state_range view_state_range_copy(const struct view_state_range *range)
{
    struct view_state_range copy = *range;
    copy.lines = copy_of(range->lines, range->line_count, sizeof *range->lines);
    return copy;
}

bool view_state_range_equal(const struct view_state_range *a, const struct view_state_range *b)
{
    return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->by_order == b->by_order &&
           a->line_count == b->line_count &&
           (!a->line_count || memcmp(a->lines, b->lines, a->line_count * sizeof *a->lines) == 0);
}

static bool same_cursors(const struct view_state *a, const struct view_state *b)
{
    for (uint32_t i = 0; i < a->cursor_count && i < b->cursor_count; i++)
        if (a->cursors_ns[i] != b->cursors_ns[i])
            return false;
    return a->cursor_count == b->cursor_count;
}

bool view_state_equal(const struct view_state *a, const struct view_state *b)
{
    return a->anchor == b->anchor && event_id_equal(a->event, b->event) &&
           a->position == b->position && a->time_ns == b->time_ns && a->from == b->from &&
           a->shift_pt == b->shift_pt && a->rise_pt == b->rise_pt && a->zoom == b->zoom &&
           a->follow == b->follow && a->overview == b->overview &&
           a->overview_from == b->overview_from && a->overview_to == b->overview_to &&
           a->fold == b->fold && a->column_ns == b->column_ns &&
           event_id_equal(a->selected, b->selected) && event_id_equal(a->second, b->second) &&
           a->color_relations == b->color_relations && a->hide == b->hide &&
           same_text(a->lit, b->lit) && view_state_range_equal(&a->range, &b->range) &&
           same_cursors(a, b) && same_rows(a, b) && same_moves(a, b);
}

void view_state_request(const struct view_state *place, struct window_request *request)
{
    *request = (struct window_request){.anchor = place->anchor,
                                       .event = place->event,
                                       .position = place->position,
                                       .time_ns = place->time_ns,
                                       .from = place->from,
                                       .columns = place->columns ? place->columns : 1,
                                       .fold = place->fold && !place->column_ns,
                                       .column_ns = place->column_ns,
                                       .middle = place->from,
                                       .moves = place->moves,
                                       .move_count = place->move_count};
    request->rows = xcalloc(place->row_count + 1, sizeof *request->rows);
    request->joined = xcalloc(place->row_count + 1, 1);
    bool open = false; /* the current line group has a visible row */
    for (uint32_t i = 0; i < place->row_count; i++) {
        const struct view_state_row *row = &place->rows[i];
        open &= row->joins;
        if (row->hidden)
            continue;
        request->joined[request->row_count] = row->joins && open;
        request->rows[request->row_count++] = row->line;
        open = true;
    }
}

void place_leave_end(struct view_state *place)
{
    place->follow = false;
    place->anchor = place->column_ns && place->time_ns ? ANCHOR_TIME : ANCHOR_POSITION;
}

void view_state_pinned_first(struct view_state *place)
{
    struct view_state_row *rows = xcalloc(place->row_count + 1, sizeof *rows);
    uint32_t n = 0;
    for (uint32_t i = 1; i < place->row_count; i++)
        if (place->rows[i].joins)
            place->rows[i].pinned = place->rows[i - 1].pinned;
    for (int others = 0; others < 2; others++)
        for (uint32_t i = 0; i < place->row_count; i++)
            if (place->rows[i].pinned != others)
                rows[n++] = place->rows[i];
    free(place->rows);
    place->rows = rows;
}

void view_state_move(struct view_state *place, uint32_t line, int64_t events)
{
    struct layout_move *last = place->move_count ? &place->moves[place->move_count - 1] : NULL;
    if (last && last->line == line && !last->to) {
        last->events += events;
        place->move_count -= last->events == 0;
        return;
    }
    place->moves = xreallocarray(place->moves, place->move_count + 1, sizeof *place->moves);
    place->moves[place->move_count++] = (struct layout_move){line, false, events};
}

/* ---- writing views, in the syntax of libconfig ---- */

static void add_int(config_setting_t *to, const char *name, int64_t value)
{
    config_setting_set_int64(config_setting_add(to, name, CONFIG_TYPE_INT64), value);
}

static void add_bool(config_setting_t *to, const char *name, bool value)
{
    config_setting_set_bool(config_setting_add(to, name, CONFIG_TYPE_BOOL), value);
}

static void add_real(config_setting_t *to, const char *name, double value)
{
    config_setting_set_float(config_setting_add(to, name, CONFIG_TYPE_FLOAT), value);
}

static void add_text(config_setting_t *to, const char *name, const char *value)
{
    config_setting_set_string(config_setting_add(to, name, CONFIG_TYPE_STRING), value);
}

static void add_ref(config_setting_t *to, const char *name, struct event_id ref)
{
    char s[48];
    event_id_print(s, sizeof s, ref);
    if (ref.line)
        add_text(to, name, s);
}

static void write_where(config_setting_t *root, const struct view_state *p)
{
    config_setting_t *to = config_setting_add(root, "where", CONFIG_TYPE_GROUP);
    add_int(to, "anchor", p->anchor);
    add_ref(to, "event", p->event);
    add_int(to, "position", (int64_t)p->position);
    add_int(to, "time_ns", p->time_ns);
    add_int(to, "from", p->from);
    add_int(to, "columns", p->columns);
    add_real(to, "shift", p->shift_pt);
    add_real(to, "rise", p->rise_pt);
    add_real(to, "zoom", p->zoom);
    add_bool(to, "far", p->overview);
    add_real(to, "far_from", p->overview_from);
    add_real(to, "far_to", p->overview_to);
    config_setting_t *moves = config_setting_add(to, "moves", CONFIG_TYPE_LIST);
    for (uint32_t i = 0; i < p->move_count; i++) {
        config_setting_t *move = config_setting_add(moves, NULL, CONFIG_TYPE_GROUP);
        add_int(move, "line", p->moves[i].line);
        add_bool(move, "to", p->moves[i].to);
        add_int(move, "events", p->moves[i].events);
    }
}

static void write_rows(config_setting_t *root, const struct view_state *p,
                       const struct trace_metadata *book, struct symbolizer *sites)
{
    config_setting_t *rows = config_setting_add(root, "rows", CONFIG_TYPE_LIST);
    for (uint32_t i = 0; i < p->row_count; i++) {
        const struct line_metadata *line = metadata_line(book, p->rows[i].line);
        config_setting_t *row = config_setting_add(rows, NULL, CONFIG_TYPE_GROUP);
        add_int(row, "line", p->rows[i].line);
        add_text(row, "kind", line ? line->is.kind : "");
        add_text(row, "name", line ? line_label_text(book, sites, p->rows[i].line) : "");
        if (p->rows[i].joins)
            add_bool(row, "joins", true);
        if (p->rows[i].hidden)
            add_bool(row, "hidden", true);
        if (p->rows[i].pinned)
            add_bool(row, "pinned", true);
    }
}

bool view_file_write(const struct view_state *p, const struct view_style *look,
                     const struct trace_metadata *book, struct symbolizer *sites, FILE *f)
{
    config_t config;
    config_init(&config);
    config_setting_t *root = config_root_setting(&config);
    add_int(root, "view", 1);
    add_text(root, "run", book->run.name ? book->run.name : "");
    add_int(root, "wall_ns", (int64_t)book->run.wall_ns);
    write_where(root, p);
    add_bool(root, "fold", p->fold);
    add_int(root, "column_ns", (int64_t)p->column_ns);
    add_ref(root, "selected", p->selected);
    add_ref(root, "second", p->second);
    add_bool(root, "color_relations", p->color_relations);
    add_int(root, "hide", p->hide);
    add_int(root, "labels", look->labels);
    add_bool(root, "grayscale", look->grey);
    add_bool(root, "dark", look->dark);
    add_bool(root, "hairlines", look->hairlines);
    add_bool(root, "legend", look->legend);
    add_bool(root, "squeeze", look->squeeze);
    add_bool(root, "vertical", look->vertical);
    add_bool(root, "no_order", look->no_order);
    add_int(root, "threshold_ns", look->threshold_ns);
    write_rows(root, p, book, sites);
    config_write(&config, f);
    config_destroy(&config);
    return !ferror(f);
}

/* ---- reading views; members that are missing or of another type are not changed ---- */

static int64_t get_int(const config_setting_t *from, const char *name, int64_t otherwise)
{
    const config_setting_t *s = config_setting_get_member(from, name);
    return s && config_setting_is_number(s) && config_setting_type(s) != CONFIG_TYPE_FLOAT
               ? config_setting_get_int64(s)
               : otherwise;
}

static bool get_flag(const config_setting_t *from, const char *name)
{
    const config_setting_t *s = config_setting_get_member(from, name);
    return s && config_setting_type(s) == CONFIG_TYPE_BOOL && config_setting_get_bool(s);
}

static double get_real(const config_setting_t *from, const char *name, double least, double most)
{
    const config_setting_t *s = config_setting_get_member(from, name);
    double v = s && config_setting_is_number(s) ? config_setting_get_float(s) : 0;
    return v >= least && v <= most ? v : least;
}

static struct event_id get_event_of(const config_setting_t *from, const char *name)
{
    const char *text = NULL;
    struct event_id ref = {0, 0};
    if (!config_setting_lookup_string(from, name, &text) || !event_id_parse(text, &ref))
        return (struct event_id){0, 0};
    return ref;
}

static void read_where(struct view_state *p, const config_setting_t *from)
{
    int64_t anchor = get_int(from, "anchor", 0), first = get_int(from, "from", 0),
            columns = get_int(from, "columns", 1);
    p->anchor = (uint8_t)(anchor >= 0 && anchor < ANCHORS ? anchor : ANCHOR_START);
    p->event = get_event_of(from, "event");
    p->position = (uint64_t)get_int(from, "position", 0);
    p->time_ns = get_int(from, "time_ns", 0);
    p->from = (int32_t)(first > -(1 << 29) && first < 1 << 29 ? first : 0);
    p->columns = (uint32_t)(columns > 0 && columns <= 200000 ? columns : 1);
    p->shift_pt = get_real(from, "shift", 0, 1e6);
    p->rise_pt = get_real(from, "rise", 0, 1e9);
    p->zoom = get_real(from, "zoom", 0.05, 20);
    p->overview = get_flag(from, "far");
    p->overview_from = get_real(from, "far_from", -1e18, 1e18);
    p->overview_to = get_real(from, "far_to", -1e18, 1e18);
    config_setting_t *moves = config_setting_get_member(from, "moves");
    for (int i = 0; moves && i < config_setting_length(moves); i++) {
        const config_setting_t *m = config_setting_get_elem(moves, (unsigned)i);
        p->moves = xreallocarray(p->moves, p->move_count + 1, sizeof *p->moves);
        p->moves[p->move_count++] = (struct layout_move){
            (uint32_t)get_int(m, "line", 0), get_flag(m, "to"), get_int(m, "events", 0)};
    }
}

static bool view_file_is_line_used(const struct view_state *p, uint32_t line)
{
    for (uint32_t i = 0; i < p->row_count; i++)
        if (p->rows[i].line == line)
            return true;
    return false;
}

/* Returns the line of that number if its kind and name match, or else the first unused one that
 * does; 0: none. */
static uint32_t find_line(const struct view_state *p, const struct trace_metadata *book,
                          struct symbolizer *sites, uint32_t number, const char *kind,
                          const char *name)
{
    const struct line_metadata *line = metadata_line(book, number);
    if (line && strcmp(line->is.kind, kind) == 0 &&
        strcmp(line_label_text(book, sites, number), name) == 0 &&
        !view_file_is_line_used(p, number))
        return number;
    for (uint32_t i = 1; i <= book->line_count; i++)
        if ((line = metadata_line(book, i)) != NULL && strcmp(line->is.kind, kind) == 0 &&
            strcmp(line_label_text(book, sites, i), name) == 0 && !view_file_is_line_used(p, i))
            return i;
    return 0;
}

static void read_rows(struct view_state *p, const config_setting_t *rows,
                      const struct trace_metadata *book, struct symbolizer *sites)
{
    for (int i = 0; rows && i < config_setting_length(rows); i++) {
        const config_setting_t *row = config_setting_get_elem(rows, (unsigned)i);
        const char *kind = "", *name = "";
        config_setting_lookup_string(row, "kind", &kind);
        config_setting_lookup_string(row, "name", &name);
        uint32_t line = find_line(p, book, sites, (uint32_t)get_int(row, "line", 0), kind, name);
        if (!line)
            continue;
        p->rows = xreallocarray(p->rows, p->row_count + 1, sizeof *p->rows);
        p->rows[p->row_count++] = (struct view_state_row){
            line, get_flag(row, "joins"), get_flag(row, "hidden"), get_flag(row, "pinned")};
    }
    view_state_pinned_first(p);
}

static void view_file_read_style(struct view_style *look, const config_setting_t *root)
{
    int64_t labels = get_int(root, "labels", LABELS_ADDRESS);
    look->labels = labels >= 0 && labels <= LABELS_ADDRESS ? (enum labels)labels : LABELS_ADDRESS;
    look->grey = get_flag(root, "grayscale");
    look->dark = get_flag(root, "dark");
    look->hairlines = get_flag(root, "hairlines");
    look->legend = get_flag(root, "legend");
    look->squeeze = get_flag(root, "squeeze");
    look->vertical = get_flag(root, "vertical");
    look->no_order = get_flag(root, "no_order");
    look->threshold_ns = get_int(root, "threshold_ns", 0);
}

#define VIEW_BYTES (1u << 20)

/* Reads a view file, which cannot include other files. */
static bool read_config(config_t *config, const char *file, struct error *error)
{
    char *text = safe_open_read(file, VIEW_BYTES, NULL);
    bool ok = false;
    if (!text)
        error_set(error, "%s: %s", file, errno == EINVAL ? "not a regular file" : strerror(errno));
    else if (strstr(text, "@include"))
        error_set(error, "%s: a view cannot include other files", file);
    else if (!(ok = config_read_string(config, text)))
        error_set(error, "%s:%d: %s", file, config_error_line(config), config_error_text(config));
    free(text);
    return ok;
}

bool view_file_read(struct view_state *place, struct view_style *look,
                    const struct trace_metadata *book, struct symbolizer *sites, const char *file,
                    struct error *error)
{
    config_t config;
    struct view_state p = {.zoom = 1};
    config_init(&config);
    bool ok = read_config(&config, file, error);
    const config_setting_t *root = ok ? config_root_setting(&config) : NULL;
    if (ok && get_int(root, "view", 0) != 1) {
        error_set(error, "%s: not a view file of Poet", file);
        ok = false;
    }
    if (ok) {
        const char *run = "";
        const config_setting_t *where = config_setting_get_member(root, "where");
        config_setting_lookup_string(root, "run", &run);
        read_rows(&p, config_setting_get_member(root, "rows"), book, sites);
        view_file_read_style(look, root);
        p.fold = get_flag(root, "fold");
        if (where && (uint64_t)get_int(root, "wall_ns", 0) == book->run.wall_ns &&
            strcmp(run, book->run.name) == 0) {
            read_where(&p, where);
            p.column_ns = (uint64_t)get_int(root, "column_ns", 0);
            p.selected = get_event_of(root, "selected");
            p.second = get_event_of(root, "second");
            p.color_relations = get_flag(root, "color_relations");
            p.hide = (uint8_t)get_int(root, "hide", 0);
        }
        view_state_free(place);
        *place = p;
    }
    config_destroy(&config);
    return ok;
}

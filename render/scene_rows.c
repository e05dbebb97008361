#define _GNU_SOURCE
#include "render/scene_rows.h"

#include "base/alloc.h"
#include "render/painter.h"
#include "render/scene_times.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct target_color grey = {0.35, 0.35, 0.35}, black = {0, 0, 0};

struct worker_row_columns {
    uint32_t processor, cluster, task, from, took, came;
};

static bool worker_rows_find_columns(struct worker_row_columns *c, const struct result_table *t)
{
    uint32_t n = t->column_count;
    *c = (struct worker_row_columns){
        result_table_find_column(t, "worker"),   result_table_find_column(t, "cluster"),
        result_table_find_column(t, "thread"),   result_table_find_column(t, "from"),
        result_table_find_column(t, "duration"), result_table_find_column(t, "migrated_from")};
    return c->processor < n && c->cluster < n && c->task < n && c->from < n && c->took < n &&
           c->came < n;
}

static const char *worker_rows_text(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? cell->text : "";
}

/* Adds a worker thread unless it is the last one: the placements of one thread are adjacent in the
 * table. */
static void worker_rows_receive_carrier(struct worker_rows *c, const char *name,
                                        const char *cluster)
{
    const struct worker_row *last = c->count ? &c->items[c->count - 1] : NULL;
    if (last && strcmp(last->name, name) == 0 && strcmp(last->cluster, cluster) == 0)
        return;
    struct worker_row row = {xstrdup(name), xstrdup(cluster)};
    ARRAY_PUSH(c->items, c->count, row);
}

/* Returns the new index of each row: rows of one cluster together, clusters in order of their first
 * rows. */
static uint32_t *worker_rows_order_by_group(const struct worker_rows *c)
{
    uint32_t *place = xcalloc(c->count + 1, sizeof *place), next = 0;
    uint8_t *done = xcalloc(c->count + 1, 1);
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = i; k < c->count && !done[i]; k++)
            if (!done[k] && strcmp(c->items[k].cluster, c->items[i].cluster) == 0) {
                place[k] = next++;
                done[k] = k != i;
            }
    free(done);
    return place;
}

static int by_carrier(const void *a, const void *b)
{
    const struct worker_placement *x = a, *y = b;
    if (x->carrier != y->carrier)
        return x->carrier < y->carrier ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void worker_rows_sort_rows(struct worker_rows *c)
{
    uint32_t *place = worker_rows_order_by_group(c);
    struct worker_row *items = xmalloc((c->count + 1) * sizeof *items);
    for (uint32_t i = 0; i < c->count; i++)
        items[place[i]] = c->items[i];
    for (uint32_t i = 0; i < c->placement_count; i++)
        c->placements[i].carrier = place[c->placements[i].carrier];
    if (c->placement_count)
        qsort(c->placements, c->placement_count, sizeof *c->placements, by_carrier);
    free(c->items);
    free(place);
    c->items = items;
}

void worker_rows_read(struct worker_rows *c, const struct result_table *t)
{
    struct worker_row_columns at;
    worker_rows_free(c);
    if (!worker_rows_find_columns(&at, t))
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        if (cells[at.task].is != CELL_LINE || cells[at.from].is != CELL_NUMBER ||
            cells[at.took].is != CELL_NUMBER || cells[at.took].number < 0)
            continue;
        worker_rows_receive_carrier(c, worker_rows_text(&cells[at.processor]),
                                    worker_rows_text(&cells[at.cluster]));
        struct worker_placement placement = {.carrier = c->count - 1,
                                             .task = cells[at.task].line,
                                             .from_ns = cells[at.from].number,
                                             .came = cells[at.came].is == CELL_TEXT};
        if (__builtin_add_overflow(placement.from_ns, cells[at.took].number, &placement.to_ns))
            placement.to_ns = INT64_MAX;
        ARRAY_PUSH(c->placements, c->placement_count, placement);
    }
    worker_rows_sort_rows(c);
}

void worker_rows_free(struct worker_rows *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->items[i].name);
        free(c->items[i].cluster);
    }
    free(c->items);
    free(c->placements);
    *c = (struct worker_rows){0};
}

/* ---- in a scene ---- */

/* narrower bars are merged into one per BIN_PT, with their share of it as height */
#define BIN_PT 1.5
#define BUSY_PT 0.5 /* width of a bin of a cluster's bars */
#define BAR_PT 13.0 /* height of a bar with share 1 */
#define TEXT_PT 7.0
#define BESIDE_PT 42.0

static const struct target_color several = {0.55, 0.55, 0.55};

static const struct worker_rows *worker_row_scene_carriers(const struct builder *b)
{
    const struct worker_rows *c = b->options->carriers;
    return c && c->count && b->window->by_time ? c : NULL;
}

static void worker_row_scene_add_row(struct builder *b, const char *kind_name, char *name,
                                     double *widest)
{
    struct scene *scene = b->scene;
    const struct target_line_type *kind = metadata_line_type_named(b->book, kind_name);
    struct scene_row row = {.y_pt =
                                scene->top_pt + scene->row_pt * scene->row_count + scene->line_pt,
                            .color = kind ? kind->color : grey};
    char *label = kind && *kind->letter ? xasprintf("%s:%s", kind->letter, name) : xstrdup(name);
    row.own_label = scene->vertical
                        ? scene_builder_fit_text(b, label, SCENE_NAME_PT, scene->row_pt - 10)
                        : xstrdup(label);
    row.label = row.own_label;
    *widest = fmax(*widest, scene_builder_text_width(b, row.label, SCENE_NAME_PT, false));
    ARRAY_PUSH(scene->rows, scene->row_count, row);
    free(label);
    free(name);
}

static bool worker_rows_begins_cluster(const struct worker_rows *c, uint32_t i)
{
    return *c->items[i].cluster &&
           (!i || strcmp(c->items[i].cluster, c->items[i - 1].cluster) != 0);
}

/* Adds the rows after those of lines; *widest: of the names. */
static void worker_row_scene_build(struct builder *b, double *widest)
{
    const struct worker_rows *c = worker_row_scene_carriers(b);
    for (uint32_t i = 0; c && i < c->count; i++) {
        if (worker_rows_begins_cluster(c, i))
            worker_row_scene_add_row(b, "cluster", xstrdup(c->items[i].cluster), widest);
        worker_row_scene_add_row(b, "processor", xstrdup(c->items[i].name), widest);
    }
}

/* ---- bars ---- */

/* Returns the color of a task, so that neighbors differ: by its row, or by its number if it has
 * none. */
static struct target_color color_of(const struct builder *b, uint32_t task)
{
    static const struct target_color colors[] = {
        {0.62, 0.77, 0.91}, {0.98, 0.80, 0.58}, {0.72, 0.87, 0.68}, {0.93, 0.71, 0.73},
        {0.80, 0.75, 0.89}, {0.87, 0.83, 0.62}, {0.65, 0.87, 0.86}, {0.88, 0.75, 0.85}};
    int32_t row = scene_builder_row(b, task);
    return colors[(row >= 0 ? (uint32_t)row : task) % (sizeof colors / sizeof *colors)];
}

struct drawing_row {
    struct builder *b;
    uint32_t row;
    /* the merged bar: where it begins, and how much of it is filled */
    double bin_pt, filled_pt;
};

static void worker_row_scene_flush_bin(struct drawing_row *d)
{
    struct scene_bar bar = {.row = d->row,
                            .from_pt = d->bin_pt,
                            .to_pt = d->bin_pt + BIN_PT,
                            .share = fmin(1, d->filled_pt / BIN_PT),
                            .color = several};
    if (d->filled_pt > 0)
        ARRAY_PUSH(d->b->scene->bars, d->b->scene->bar_count, bar);
    d->filled_pt = 0;
}

static void add_narrow(struct drawing_row *d, double from, double to)
{
    while (from < to) {
        if (d->filled_pt > 0 && (from < d->bin_pt || from >= d->bin_pt + BIN_PT))
            worker_row_scene_flush_bin(d);
        if (d->filled_pt <= 0)
            d->bin_pt = from;
        double end = fmin(to, d->bin_pt + BIN_PT);
        d->filled_pt += fmax(end - from, 1e-6);
        from = end + (end <= from ? 1e-6 : 0);
    }
}

static void add_wide(struct drawing_row *d, const struct worker_placement *placement, double from,
                     double to)
{
    const char *label = metadata_label(d->b->book, placement->task),
               *address = strstr(label, " (0x");
    struct scene_bar bar = {.row = d->row,
                            .from_pt = from,
                            .to_pt = to,
                            .share = 1,
                            .task = placement->task,
                            .ns = placement->to_ns - placement->from_ns,
                            .color = color_of(d->b, placement->task)};
    worker_row_scene_flush_bin(d);
    char *name = xstrndup(label, address ? (size_t)(address - label) : strlen(label));
    /* text beside the bar, if that is as long as letters are high */
    bool vertical = d->b->scene->vertical;
    double room = !vertical ? to - from - 4 : to - from > TEXT_PT ? BESIDE_PT : 0;
    bar.text = scene_builder_fit_text(d->b, name, TEXT_PT, fmax(room, 0));
    if ((unsigned char)bar.text[0] >= 0x80) /* nothing but the ellipsis */
        bar.text[0] = 0;
    free(name);
    ARRAY_PUSH(d->b->scene->bars, d->b->scene->bar_count, bar);
}

/* Adds the bars of the worker thread of placement i. Returns the index of the next thread's first
 * placement. */
static uint32_t add_carrier(struct builder *b, const struct scene_times *times, uint32_t row,
                            uint32_t i)
{
    const struct worker_rows *c = b->options->carriers;
    struct drawing_row d = {.b = b, .row = row};
    uint32_t carrier = c->placements[i].carrier;
    for (; i < c->placement_count && c->placements[i].carrier == carrier; i++) {
        double from = scene_times_x(times, c->placements[i].from_ns),
               to = scene_times_x(times, c->placements[i].to_ns);
        if (to - from < BIN_PT)
            add_narrow(&d, from, to);
        else
            add_wide(&d, &c->placements[i], from, to);
    }
    worker_row_scene_flush_bin(&d);
    return i;
}

/* The share of a cluster's worker threads that run a task, by bins of BUSY_PT; adjacent bins with
 * the same share are drawn as one bar. */
struct worker_busy_time {
    float *share;
    uint32_t count; /* bins */
    double from_pt;
};

static void add_busy(struct worker_busy_time *busy, double from, double to, uint32_t carriers)
{
    double at = (from - busy->from_pt) / BUSY_PT, end = (to - busy->from_pt) / BUSY_PT;
    while (at < end && at < busy->count) {
        double next = fmin(floor(at) + 1, end);
        busy->share[(uint32_t)at] += (float)((next - at) / carriers);
        at = next;
    }
}

static void flush_busy(struct builder *b, const struct worker_busy_time *busy, uint32_t row,
                       struct target_color color)
{
    for (uint32_t i = 0, end; i < busy->count; i = end) {
        for (end = i + 1; end < busy->count && fabsf(busy->share[end] - busy->share[i]) < 0.01f;)
            end++;
        struct scene_bar bar = {.row = row,
                                .from_pt = busy->from_pt + i * BUSY_PT,
                                .to_pt = busy->from_pt + end * BUSY_PT,
                                .share = fmin(1, (double)busy->share[i]),
                                .color = color};
        if (bar.share > 0.001)
            ARRAY_PUSH(b->scene->bars, b->scene->bar_count, bar);
    }
}

static void add_cluster(struct builder *b, const struct scene_times *times, uint32_t row,
                        uint32_t first, uint32_t placement)
{
    const struct worker_rows *c = b->options->carriers;
    uint32_t end = first + 1;
    while (end < c->count && !worker_rows_begins_cluster(c, end) && *c->items[end].cluster)
        end++;
    struct worker_busy_time busy = {
        .from_pt = times->left_pt,
        .count = (uint32_t)((times->right_pt - times->left_pt) / BUSY_PT) + 1};
    busy.share = xcalloc(busy.count, sizeof *busy.share);
    for (uint32_t i = placement; i < c->placement_count && c->placements[i].carrier < end; i++)
        add_busy(&busy, scene_times_x(times, c->placements[i].from_ns),
                 scene_times_x(times, c->placements[i].to_ns), end - first);
    const struct target_line_type *kind = metadata_line_type_named(b->book, "cluster");
    flush_busy(b, &busy, row, kind ? kind->color : grey);
    free(busy.share);
}

/* ---- migrations ---- */

static int by_task(const void *a, const void *b)
{
    const struct worker_placement *x = *(const struct worker_placement *const *)a,
                                  *y = *(const struct worker_placement *const *)b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return x->to_ns < y->to_ns ? -1 : x->to_ns > y->to_ns;
}

static void add_migration(struct builder *b, const struct scene_times *times,
                          const uint32_t *row_of, const struct worker_placement *from,
                          const struct worker_placement *to)
{
    const struct target_event *look = metadata_target_event(b->book, "processor", "migrate");
    struct scene_link link = {.kind = ARROW_MIGRATE,
                              .x0_pt = scene_times_x(times, from->to_ns),
                              .y0_pt = b->scene->rows[row_of[from->carrier]].y_pt,
                              .x1_pt = scene_times_x(times, to->from_ns),
                              .y1_pt = b->scene->rows[row_of[to->carrier]].y_pt,
                              .head = true,
                              .color = look ? look->color : grey};
    ARRAY_PUSH(b->scene->links, b->scene->link_count, link);
}

/* With more arrows the diagram would be unreadable; the table of placements lists each
 * migration. */
#define MIGRATIONS_MOST 2000u

static void add_migrations(struct builder *b, const struct scene_times *times,
                           const uint32_t *row_of)
{
    const struct worker_rows *c = b->options->carriers;
    const struct worker_placement **sorted = xmalloc((c->placement_count + 1) * sizeof *sorted);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->placement_count; i++) {
        sorted[i] = &c->placements[i];
        count += c->placements[i].came;
    }
    qsort(sorted, c->placement_count, sizeof *sorted, by_task);
    for (uint32_t i = 1; i < c->placement_count && count <= MIGRATIONS_MOST; i++)
        if (sorted[i]->came && sorted[i]->task == sorted[i - 1]->task &&
            sorted[i]->carrier != sorted[i - 1]->carrier)
            add_migration(b, times, row_of, sorted[i - 1], sorted[i]);
    free(sorted);
}

void worker_row_scene_placements(struct builder *b)
{
    const struct worker_rows *c = worker_row_scene_carriers(b);
    if (!c || !c->placement_count)
        return;
    struct scene_times times;
    uint32_t *row_of = xcalloc(c->count, sizeof *row_of), row = b->window->row_count, next = 0;
    scene_times_make(&times, b->scene);
    for (uint32_t i = 0; i < c->count; i++) {
        if (worker_rows_begins_cluster(c, i))
            add_cluster(b, &times, row++, i, next);
        row_of[i] = row++;
        next = add_carrier(b, &times, row_of[i], next);
    }
    add_migrations(b, &times, row_of);
    free(row_of);
    scene_times_free(&times);
}

/* ---- painting ---- */

/* Sets a color that is light enough for text on it; in gray, adjacent tasks differ, too. */
static void set_fill(const struct painter *p, const struct scene_bar *bar)
{
    static const double lights[] = {0.86, 0.74, 0.93, 0.8};
    double v = lights[bar->task % (sizeof lights / sizeof *lights)];
    v = p->theme->dark ? 1 - 0.75 * v : v;
    if (bar->task && p->theme->grey)
        cairo_set_source_rgb(p->cr, v, v, v);
    else if (bar->task && p->theme->dark)
        cairo_set_source_rgb(p->cr, 0.5 * bar->color.red, 0.5 * bar->color.green,
                             0.5 * bar->color.blue);
    else
        painter_color(p, bar->color);
}

static void paint_bar(const struct painter *p, const struct scene_bar *bar)
{
    double y = p->scene->rows[bar->row].y_pt, high = BAR_PT * bar->share,
           from = fmax(bar->from_pt, p->from), to = fmin(bar->to_pt, p->to);
    set_fill(p, bar);
    cairo_rectangle(p->cr, from, y + BAR_PT / 2 - high, to - from, high);
    cairo_fill(p->cr);
    if (!bar->task)
        return;
    painter_background(p); /* a gap between this bar and the next */
    cairo_rectangle(p->cr, bar->to_pt - 0.4, y - BAR_PT / 2, 0.4, BAR_PT);
    cairo_fill(p->cr);
    double ink = p->theme->dark ? 0.95 : 0.05;
    cairo_set_source_rgb(p->cr, ink, ink, ink);
    if (bar->text && *bar->text && p->scene->vertical)
        painter_text(p, bar->from_pt, y + BAR_PT / 2 + 3, bar->text, TEXT_PT, false);
    else if (bar->text && *bar->text)
        painter_text(p, bar->from_pt + 2, y - TEXT_PT * 0.65, bar->text, TEXT_PT, false);
}

void worker_row_scene_paint(const struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->bar_count; i++) {
        const struct scene_bar *bar = &p->scene->bars[i];
        if (painter_sees_row(p, bar->row) && bar->to_pt > p->from && bar->from_pt < p->to)
            paint_bar(p, bar);
    }
}

/* ---- rows of lines ---- */

int scene_rows_name_bytes(const char *label)
{
    const char *address = strstr(label, " (0x");
    return (int)(address ? (size_t)(address - label) : strlen(label));
}

/* Like scene_rows_name_bytes(), but without the number that distinguishes lines of one name. */
static int bare_bytes(const struct builder *b, uint32_t line)
{
    const struct line_metadata *l = metadata_line(b->book, line);
    const char *label = metadata_label(b->book, line);
    int n = scene_rows_name_bytes(label), end = n;
    while (l && l->twin > 1 && end > 0 && label[--end] != '#') {
    }
    return l && l->twin > 1 && end > 0 ? end : n;
}

/* Returns the line group of the description that a line belongs to, by the name in its label. */
static const struct target_line_group *cluster_of(const struct builder *b, uint32_t line)
{
    const char *label = metadata_label(b->book, line), *colon = strchr(label, ':');
    const char *from = colon ? colon + 1 : label;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(label + bare_bytes(b, line) - from), from);
    return metadata_line_group(b->book, line, name);
}

/* Returns the label of a line group: "{T:worker ×4}", "{T:producer… ×3}" if its lines have several
 * names, or the group's name in the description; NULL for a row of a single line. */
static char *cluster_label(const struct builder *b, const struct row_info *row)
{
    const char *first = metadata_label(b->book, row->line);
    int bytes = bare_bytes(b, row->line);
    bool same = true;
    char *label = NULL;
    const struct target_line_group *cluster = row->member_count ? cluster_of(b, row->line) : NULL;
    for (uint32_t i = 0; i < row->member_count; i++) {
        cluster = cluster && cluster_of(b, row->members[i]) == cluster ? cluster : NULL;
        const char *other = metadata_label(b->book, row->members[i]);
        same &=
            bare_bytes(b, row->members[i]) == bytes && strncmp(first, other, (size_t)bytes) == 0;
    }
    if (cluster)
        bytes = (int)strlen(first = cluster->name), same = true;
    if (row->member_count)
        label = xasprintf("{%.*s%s ×%u}", bytes, first, same ? "" : "…", row->member_count + 1);
    return label;
}

static const char *heading_of(const struct builder *b, uint32_t row)
{
    for (uint32_t i = 0; i < b->options->heading_count; i++)
        if (b->options->headings[i].row == row)
            return b->options->headings[i].text;
    return NULL;
}

void scene_rows_build(struct builder *b)
{
    struct scene *scene = b->scene;
    double widest = 0;
    b->line_room = b->book->line_count;
    b->row_of = xmalloc((b->line_room + 1) * sizeof *b->row_of);
    for (uint32_t i = 0; i < b->line_room; i++)
        b->row_of[i] = -1;
    for (uint32_t i = 0; i < b->window->row_count; i++) {
        uint32_t line = b->window->rows[i].line;
        const struct target_line_type *kind = metadata_line_type(b->book, line);
        const char *heading = heading_of(b, i);
        struct scene_row row = {.line = line,
                                .y_pt = scene->top_pt + scene->row_pt * i + scene->line_pt,
                                .own_label = cluster_label(b, &b->window->rows[i]),
                                .label = heading ? heading : metadata_label(b->book, line),
                                .heading = heading,
                                .color = kind      ? kind->color
                                         : heading ? black
                                                   : grey,
                                .away = kind && kind->away && !b->window->rows[i].member_count};
        if (scene->vertical && !row.own_label)
            row.own_label = xstrndup(row.label, (size_t)scene_rows_name_bytes(row.label));
        if (scene->vertical) {
            char *cut = scene_builder_fit_text(b, row.own_label, SCENE_NAME_PT, scene->row_pt - 10);
            free(row.own_label);
            row.own_label = cut;
        }
        if (!row.own_label) /* a copy, since the metadata may replace its label */
            row.own_label = xstrdup(row.label);
        row.label = row.own_label;
        double width = scene_builder_text_width(b, row.label, SCENE_NAME_PT, row.heading);
        widest = width > widest ? width : widest;
        ARRAY_PUSH(scene->rows, scene->row_count, row);
        if (line && line <= b->line_room)
            b->row_of[line - 1] = (int32_t)i;
        for (uint32_t k = 0; k < b->window->rows[i].member_count; k++) {
            uint32_t member = b->window->rows[i].members[k];
            if (member && member <= b->line_room)
                b->row_of[member - 1] = (int32_t)i;
        }
    }
    worker_row_scene_build(b, &widest);
    scene->names_pt = scene->vertical ? scene->names_pt + SCENE_NAME_PT * 2.4 : widest + 16;
    scene->bottom_pt = scene->top_pt + scene->row_pt * scene->row_count;
}

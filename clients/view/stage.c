/* The scene that is shown, and where on the screen it is. */
#include "clients/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- geometry: points of the scene, pixels of the canvas ---- */

/* Lines may run down: then along is downwards, and across to the right.  From far they run right. */
bool stage_vertical(const struct view *view)
{
    return view->settings.look.vertical && !view->place.far;
}

double stage_along_px(const struct view *view)
{
    return stage_vertical(view) ? gtk_widget_get_height(view->canvas) : gtk_widget_get_width(view->canvas);
}

double stage_across_px(const struct view *view)
{
    return stage_vertical(view) ? gtk_widget_get_width(view->canvas) : gtk_widget_get_height(view->canvas);
}

double stage_row_pt(const struct view *view) { return stage_vertical(view) ? SCENE_LANE_PT : SCENE_ROW_PT; }

double stage_line_pt(const struct view *view)
{
    return stage_vertical(view) && view->stage.scene ? view->stage.scene->line_pt : stage_row_pt(view) / 2;
}

double stage_names_px(const struct view *view)
{
    double width = stage_along_px(view);
    if (stage_vertical(view))
        return SCENE_NAME_PT * 2.6 * MIN(view->place.zoom, 1.6) + NAMES_GAP_PX;
    double own = view->stage.scene ? view->stage.scene->names_pt * MIN(view->place.zoom, 1.6) : 140;
    double names = view->settings.names_px ? view->settings.names_px : MIN(own, width * 0.3);
    return MIN(names, width * 0.6) + NAMES_GAP_PX;
}

double stage_width(const struct view *view)
{
    double px = stage_along_px(view) - stage_names_px(view);
    return MAX(px, 40) / view->place.zoom;
}

uint32_t stage_columns(const struct view *view)
{
    double columns = stage_width(view) / SCENE_COLUMN_PT + 1;
    return (uint32_t)CLAMP(columns, 4, 4000);
}

double stage_height_pt(const struct view *view)
{
    const struct scene *s = view->stage.scene;
    return s ? s->top_pt + view->stage.row_total * stage_row_pt(view) + 4 : 0;
}

static double column_left(const struct scene_column *c) { return c->x_pt - c->left_pt; }

double stage_left(const struct view *view)
{
    const struct scene *s = view->stage.scene;
    if (!s || !s->column_count)
        return s ? s->names_pt : 0;
    int64_t i = (int64_t)view->place.from - s->columns[0].column;
    if (i < 0)
        return column_left(&s->columns[0]) + (double)i * SCENE_COLUMN_PT + view->place.shift_pt;
    if (i >= s->column_count) {
        const struct scene_column *last = &s->columns[s->column_count - 1];
        return last->x_pt + last->right_pt + (double)(i - s->column_count) * SCENE_COLUMN_PT +
               view->place.shift_pt;
    }
    return column_left(&s->columns[i]) + view->place.shift_pt;
}

/* The place whose left edge is at x. */
void stage_set_left(struct view *view, double x)
{
    const struct scene *s = view->stage.scene;
    struct place *p = &view->place;
    if (!s || !s->column_count)
        return;
    double begin = column_left(&s->columns[0]);
    const struct scene_column *last = &s->columns[s->column_count - 1];
    double end = last->x_pt + last->right_pt;
    uint32_t low = 0, high = s->column_count;
    if (x < begin || x >= end) {
        double over = x < begin ? x - begin : x - end;
        double columns = floor(over / SCENE_COLUMN_PT);
        p->from = s->columns[0].column + (x < begin ? 0 : (int32_t)s->column_count) + (int32_t)columns;
        p->shift_pt = over - columns * SCENE_COLUMN_PT;
        return;
    }
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        if (column_left(&s->columns[middle]) <= x)
            low = middle;
        else
            high = middle;
    }
    p->from = s->columns[low].column;
    p->shift_pt = x - column_left(&s->columns[low]);
}

double stage_x_px(const struct view *view, const struct scene_mark *mark)
{
    return stage_names_px(view) + (mark->x_pt - stage_left(view)) * view->place.zoom;
}

double stage_y_px(const struct view *view, uint32_t row)
{
    const struct scene *s = view->stage.scene;
    return (s->rows[row].y_pt + view->stage.row_base * stage_row_pt(view) - view->place.rise_pt) *
           view->place.zoom;
}

int stage_row_at(const struct view *view, double y_px)
{
    const struct scene *s = view->stage.scene;
    if (!s)
        return -1;
    double y = y_px / view->place.zoom + view->place.rise_pt - s->top_pt;
    double row = floor(y / stage_row_pt(view)) - view->stage.row_base;
    return row < 0 || row >= s->row_count ? -1 : (int)row;
}

const struct scene_mark *stage_mark(const struct view *view, struct ref at)
{
    const struct scene *s = view->stage.scene;
    for (uint32_t i = 0; s && at.line && i < s->mark_count; i++)
        if (ref_equal(s->marks[i].event->at, at))
            return &s->marks[i];
    return NULL;
}

const struct scene_mark *stage_hit(const struct view *view, double x_px, double y_px)
{
    const struct stage *stage = &view->stage;
    double names = stage_names_px(view), zoom = view->place.zoom;
    if (!stage->scene || x_px < names)
        return NULL;
    return scene_hit(stage->scene, (x_px - names) / zoom + stage_left(view),
                     y_px / zoom + view->place.rise_pt - stage->row_base * stage_row_pt(view), 9);
}

const struct scene_link *stage_hit_link(const struct view *view, double x_px, double y_px)
{
    const struct stage *stage = &view->stage;
    double names = stage_names_px(view), zoom = view->place.zoom;
    if (!stage->scene || x_px < names)
        return NULL;
    return scene_hit_link(stage->scene, (x_px - names) / zoom + stage_left(view),
                          y_px / zoom + view->place.rise_pt - stage->row_base * stage_row_pt(view), 4);
}

bool stage_sees(const struct view *view, const struct scene_mark *m)
{
    double x = stage_x_px(view, m), y = stage_y_px(view, m->row);
    return x >= stage_names_px(view) && x <= stage_along_px(view) && y >= 0 &&
           y <= stage_across_px(view);
}

void stage_positions(const struct view *view, uint64_t *first, uint64_t *last)
{
    const struct scene *s = view->stage.scene;
    double left = stage_left(view), right = left + stage_width(view);
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; s && i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        uint64_t at = m->event->position;
        if (m->x_pt < left || m->x_pt > right || at == NO_POSITION)
            continue;
        *first = at < *first ? at : *first;
        *last = at > *last ? at : *last;
    }
    if (*first > *last)
        *first = *last = view->place.position;
}

/* ---- what stands out ---- */

struct paint_selection stage_selection(const struct view *view)
{
    const struct place *p = &view->place;
    return (struct paint_selection){
        .selected = p->selected,
        .second = p->second,
        .stands = p->stands && p->selected.line && view->stage.coloured,
        .past = !(p->hide & HIDE_PAST),
        .future = !(p->hide & HIDE_FUTURE),
        .concurrent = !(p->hide & HIDE_CONCURRENT),
        .found = view->finder.hits,
        .found_count = view->finder.hit_count,
        .chain = view->ties.chain,
        .chain_count = view->ties.chain_count,
    };
}

struct paint_theme stage_theme(const struct view *view)
{
    const struct settings *s = &view->settings;
    return (struct paint_theme){.grey = s->look.grey, .dark = s->look.dark, .tint = s->tint,
                                .hairlines = s->look.hairlines};
}

void stage_stale(struct view *view)
{
    view->stage.serial++;
    gtk_widget_queue_draw(view->canvas);
}

/* ---- new ones ---- */

static bool build(struct view *view)
{
    struct stage *stage = &view->stage;
    struct scene_options options = {.measure = lettering_width,
                                    .legend = view->settings.look.legend,
                                    .legend_width_pt = stage_along_px(view) / 1.25 - 20,
                                    .vertical = stage_vertical(view),
                                    .column_ns = view->place.column_ns,
                                    .squeeze = view->settings.look.squeeze,
                                    .threshold_ns = view->settings.look.threshold_ns};
    scene_free(stage->scene);
    stage->scene = scene_build(&stage->window, the_book(view), &options);
    stage->serial++;
    return stage->scene != NULL;
}

void stage_rebuild(struct view *view)
{
    if (!view->stage.scene)
        return;
    build(view);
    gtk_widget_queue_draw(view->canvas);
}

void stage_take(struct view *view, struct shown_window *window)
{
    struct stage *stage = &view->stage;
    struct place *p = &view->place;
    inquiry_cancel(view, &stage->standing);
    shown_window_free(&stage->window);
    stage->window = *window;
    stage->coloured = false;
    if (!build(view))
        return;
    if (p->anchor == ANCHOR_EVENT || p->anchor == ANCHOR_START ||
        (p->anchor == ANCHOR_TIME && !p->column_ns)) {
        p->anchor = ANCHOR_POSITION; /* from here on it is a fixed place */
        p->position = window->anchor;
    }
    if (p->follow)
        p->position = window->anchor;
    if (!view->stage.row_total || stage->row_total < window->row_count)
        stage->row_total = stage->row_base + window->row_count;
    motion_settle(view);
    canvas_bars(view);
    if (view->link.fresh)
        rows_default(view);
    view->link.fresh = false;
    panels_tell(view, NEWS_PICTURE);
    legend_show(view);
    gtk_widget_queue_draw(view->canvas);
    gtk_widget_queue_draw(view->map);
}

void stage_coloured(struct view *view)
{
    struct stage *stage = &view->stage;
    stage->coloured = true;
    gtk_widget_queue_draw(view->legend);
    stage->coloured_by = view->place.selected;
    stage_stale(view);
    panels_tell(view, NEWS_STANDS);
}

void stage_free(struct stage *stage)
{
    for (unsigned i = 0; i < TILES; i++)
        if (stage->tiles[i].surface)
            cairo_surface_destroy(stage->tiles[i].surface);
    shown_window_free(&stage->window);
    shown_density_free(&stage->far);
    scene_free(stage->scene);
    *stage = (struct stage){.serial = stage->serial + 1};
}

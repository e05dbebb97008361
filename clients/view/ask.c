/* What is asked of the server.  At most one window is under way; the newest wish replaces any that
 * waits. */
#include "clients/view/view.h"

#include "wire/asked.h"
#include "wire/limits.h"

#include <stdlib.h>

void link_send(struct view *view, struct out *out)
{
    if (view->link.connected)
        source_send(&view->link.source, out);
    else
        out_free(out);
}

void link_ask(struct view *view, enum message type)
{
    struct out out = {0};
    source_ask(&out, type);
    link_send(view, &out);
}

void link_select(struct view *view, const char *run)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_SELECT);
    put_string(&out, run);
    put_u8(&out, SELECT_NAMED_LINES);
    out_end(&out);
    link_send(view, &out);
}

static void ask_window(struct view *view, const struct window_request *request)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_WINDOW);
    put_window_request(&out, request);
    out_end(&out);
    link_send(view, &out);
}

/* The window that is wanted now, with room on either side to scroll into. */
static void want(struct view *view, struct window_request *request)
{
    uint32_t columns = stage_columns(view), beside = columns;
    const struct place *p = &view->place;
    place_request(p, request);
    rows_for_request(view, request);
    if (p->follow) {
        request->anchor = ANCHOR_END;
        request->move_count = 0;
        request->from = -(int32_t)(columns + beside);
        request->columns = columns + beside;
    } else {
        request->from = p->from - (int32_t)beside;
        request->columns = columns + 2 * beside;
    }
    request->columns = MIN(request->columns, LIMIT_COLUMNS);
}

static void free_request(struct window_request *request)
{
    free(request->rows);
    free(request->joined);
}

void link_window(struct view *view)
{
    struct link *l = &view->link;
    struct window_request request;
    if (!l->connected || !l->has_run)
        return;
    if (view->place.far) {
        link_far(view);
        return;
    }
    if (l->asked) {
        l->ask_again = true;
        return;
    }
    if (l->colour_asked) { /* of another picture; what was placed for it serves this one */
        link_cancel(view, REQUEST_COLOUR);
        l->colour_asked = l->colour_again = false;
    }
    want(view, &request);
    request.id = REQUEST_VIEW;
    l->asked = true;
    ask_window(view, &request);
    free_request(&request);
}

/* The same window as the one that is shown. */
void link_colour(struct view *view)
{
    struct link *l = &view->link;
    const struct shown_window *w = &view->stage.window;
    struct window_request request;
    if (!l->connected || !view->stage.scene || !view->place.selected.line || !view->place.stands)
        return;
    if (l->colour_asked) {
        l->colour_again = true;
        return;
    }
    want(view, &request);
    request.id = REQUEST_COLOUR;
    request.from = w->from;
    request.columns = w->columns;
    request.about = view->place.selected;
    l->colour_asked = true;
    ask_window(view, &request);
    free_request(&request);
}

/* Just what is seen, without room beside it. */
void link_print(struct view *view)
{
    struct window_request request;
    place_request(&view->place, &request);
    rows_for_request(view, &request);
    request.id = REQUEST_PRINT;
    request.columns = stage_columns(view);
    request.about = view->place.stands ? view->place.selected : (struct ref){0, 0};
    if (request.anchor == ANCHOR_END)
        request.anchor = ANCHOR_POSITION;
    view->link.print_asked = view->link.connected;
    ask_window(view, &request);
    free_request(&request);
}

static void ask_density(struct view *view, struct density_request *request)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_DENSITY);
    put_density_request(&out, request);
    out_end(&out);
    link_send(view, &out);
}

#define MAP_STRIPS 24u

/* All lines, in as many strips as can be seen. */
void link_map(struct view *view)
{
    struct link *l = &view->link;
    int width = gtk_widget_get_width(view->map);
    if (!l->connected || !l->has_run || l->map_asked || width < 10)
        return;
    struct window_request rows;
    place_request(&view->place, &rows);
    if (!rows_for_density(view, &rows)) {
        free_request(&rows);
        return;
    }
    if (rows.row_count > MAP_STRIPS)
        for (uint32_t i = 1; i < rows.row_count; i++)
            rows.joined[i] = i * MAP_STRIPS / rows.row_count == (i - 1) * MAP_STRIPS / rows.row_count;
    struct density_request request = {.id = REQUEST_MAP, .pixels = (uint32_t)width,
                                      .by_time = view->place.column_ns > 0, .rows = rows.rows,
                                      .joined = rows.joined, .row_count = rows.row_count};
    l->map_asked = true;
    ask_density(view, &request);
    free_request(&rows);
}

void link_far(struct view *view)
{
    struct link *l = &view->link;
    if (!l->connected || !l->has_run)
        return;
    if (l->far_asked) {
        l->far_again = true;
        return;
    }
    double width = stage_along_px(view) - stage_names_px(view);
    struct window_request rows;
    place_request(&view->place, &rows);
    if (!rows_for_density(view, &rows)) {
        free_request(&rows);
        return;
    }
    struct density_request request = {.id = REQUEST_FAR, .pixels = (uint32_t)MAX(width, 16),
                                      .by_time = view->place.column_ns > 0,
                                      .from = (int64_t)view->place.far_from,
                                      .to = (int64_t)view->place.far_to, .rows = rows.rows,
                                      .joined = rows.joined, .row_count = rows.row_count};
    request.blocked = request.to - request.from < 2000000;
    l->far_asked = true;
    ask_density(view, &request);
    free_request(&rows);
}

void link_why(struct view *view)
{
    struct link *l = &view->link;
    struct ref ends[2] = {view->place.selected, view->place.second};
    if (!l->connected || !ends[0].line || !ends[1].line)
        return;
    l->why_again = l->why_asked > 0;
    if (l->why_asked)
        return;
    l->why_asked = 3;
    for (int i = 0; i < 3; i++) { /* how they stand, then the chain, whichever way it goes */
        struct out out = {0};
        out_begin(&out, i ? MESSAGE_WHY : MESSAGE_ORDER);
        put_ref(&out, ends[i == 2]);
        put_ref(&out, ends[i != 2]);
        out_end(&out);
        link_send(view, &out);
    }
}

void link_count(struct view *view)
{
    struct link *l = &view->link;
    struct out out = {0};
    if (!l->connected || !view->place.selected.line)
        return;
    l->count_again = l->count_asked;
    if (l->count_asked)
        return;
    l->count_asked = true;
    out_begin(&out, MESSAGE_COUNT);
    put_ref(&out, view->place.selected);
    out_end(&out);
    link_send(view, &out);
}

void link_step(struct view *view, enum asked_step step)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_STEP);
    put_ref(&out, view->place.selected);
    put_u8(&out, (uint8_t)step);
    out_end(&out);
    view->link.stepping = view->link.connected;
    link_send(view, &out);
}

void link_list(struct view *view, uint64_t position, uint32_t count)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_LIST);
    put_u64(&out, position);
    put_u32(&out, count);
    out_end(&out);
    link_send(view, &out);
}

void link_recorded(struct view *view, uint64_t from, bool back, bool shown)
{
    const struct shown_window *w = &view->stage.window;
    struct out out = {0};
    struct search_request request = {.id = REQUEST_STEP, .from = from, .backwards = back, .limit = 1,
                                     .text = (char *)(guintptr)""};
    uint32_t lines = 0;
    for (uint32_t i = 0; i < w->row_count; i++)
        lines += 1 + w->rows[i].member_count;
    request.lines = g_new(uint32_t, lines + 1);
    for (uint32_t i = 0; shown && i < w->row_count; i++) {
        request.lines[request.line_count++] = w->rows[i].line;
        for (uint32_t k = 0; k < w->rows[i].member_count; k++)
            request.lines[request.line_count++] = w->rows[i].members[k];
    }
    out_begin(&out, MESSAGE_SEARCH);
    put_search_request(&out, &request);
    out_end(&out);
    g_free(request.lines);
    view->link.stepping = view->link.connected;
    link_send(view, &out);
}

void link_search(struct view *view, struct search_request *request)
{
    struct out out = {0};
    request->id = REQUEST_FIND;
    out_begin(&out, MESSAGE_SEARCH);
    put_search_request(&out, request);
    out_end(&out);
    link_send(view, &out);
}

void link_cancel(struct view *view, enum request id)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_CANCEL);
    put_u32(&out, id);
    out_end(&out);
    link_send(view, &out);
}

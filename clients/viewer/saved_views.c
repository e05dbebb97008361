#include "clients/viewer/saved_views.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"
#include "wire/endpoint.h"
#include "wire/request.h"

#include <errno.h>
#include <stdio.h>

/* By time, returns the number of columns of a window: synchronization points, and empty stretches
 * between them. */
static uint32_t columns_by_time(const struct scene *s, int32_t from, double right_pt)
{
    uint32_t halves = 0;
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->columns[s->marks[i].column].column >= from && s->marks[i].x_pt < right_pt)
            halves += s->marks[i].event->relation == RELATION_SYNC ? 1 : 2;
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].column >= from && s->columns[i].x_pt < right_pt)
            halves += i > 0 && s->columns[i].column != s->columns[i - 1].column ? 2 : 0;
    return (halves + 1) / 2;
}

/* Gets the visible columns as a view state that does not follow the run. */
static void saved_views_visible_place(const struct view *view, struct view_state *place)
{
    const struct scene *s = view->scene_cache.scene;
    double right = viewport_left_pt(&view->viewport) + viewport_width_pt(&view->viewport);
    view_state_copy(place, &view->viewport.place);
    if (place->follow || place->anchor == ANCHOR_END)
        place_leave_end(place);
    place->overview = false;
    place->columns = 1;
    for (uint32_t i = 0; s && i < s->column_count; i++)
        if (s->columns[i].column >= place->from && s->columns[i].x_pt < right)
            place->columns = (uint32_t)(s->columns[i].column - place->from) + 1;
    if (s && place->column_ns)
        place->columns = columns_by_time(s, place->from, right) + 1;
}

bool saved_views_write_as(struct view *view, const char *file, const struct view_style *look,
                          uint32_t columns)
{
    struct view_state place = {0};
    saved_views_visible_place(view, &place);
    if (columns) {
        scroll_anchor_forget_moves(&place);
        place.anchor = ANCHOR_START;
        place.from = 0;
        place.columns = columns;
    }
    FILE *f = fopen(file, "we");
    bool ok = f && view_file_write(&place, look, view_metadata(view), view->server_link.sites, f);
    ok = (!f || fclose(f) == 0) && ok;
    view_state_free(&place);
    if (!ok)
        status_line_show(&view->status_line, "%s: %s", file, g_strerror(errno));
    return ok;
}

bool saved_views_write(struct view *view, const char *file)
{
    return saved_views_write_as(view, file, &view->viewer_settings.look, 0);
}

/* ---- loading, and choosing a file ---- */

static bool saved_views_load_file(struct view *view, const char *file)
{
    struct view_state place = {0};
    struct view_style look = view->viewer_settings.look;
    struct error error;
    if (!view_file_read(&place, &look, view_metadata(view), view->server_link.sites, file,
                        &error)) {
        status_line_show_problem(&view->status_line, NULL, "%s", error.text);
        return false;
    }
    history_mark(&view->history, "load");
    if (!place.columns) { /* of another run: takes only its rows, and keeps the place */
        struct view_state here = {0};
        view_state_copy(&here, &view->viewport.place);
        g_free(here.rows);
        here.rows = place.rows;
        here.row_count = place.row_count;
        here.fold = place.fold;
        place.rows = NULL;
        view_state_free(&place);
        place = here;
    }
    view->viewer_settings.look = look;
    server_link_rename_all_lines(&view->server_link, look.labels);
    view_state_copy(&view->viewport.place, &place);
    view_state_free(&place);
    notifier_emit(&view->notifier, NOTIFY_ROWS);
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
    return true;
}

static void on_save(void *user, const char *path)
{
    struct view *view = user;
    if (path && saved_views_write(view, path))
        status_line_show(&view->status_line, "Saved %s", path);
}

static void on_load(void *user, const char *path)
{
    if (path)
        saved_views_load_file(user, path);
}

void saved_views_save(struct view *view)
{
    if (!view->server_link.has_run)
        return;
    char *name = g_strdup_printf("%s.view", view_metadata(view)->run.name);
    compat_choose_file(
        &(struct compat_file){
            .parent = GTK_WINDOW(view->window), .title = "Save view", .saves = true, .name = name},
        on_save, view);
    g_free(name);
}

void saved_views_load(struct view *view)
{
    if (view->server_link.has_run)
        compat_choose_file(
            &(struct compat_file){.parent = GTK_WINDOW(view->window), .title = "Load view"},
            on_load, view);
}

char *saved_views_directory(void)
{
    char *directory = g_build_filename(g_get_user_state_dir(), "poet", "views", NULL);
    g_mkdir_with_parents(directory, 0700);
    return directory;
}

/* ---- arrangement for the next run of the program ---- */

static char *arrangement_file(struct view *view)
{
    char *directory = saved_views_directory(), *name = g_strdup(view_metadata(view)->run.name);
    g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.", '_');
    char *with = g_strdup_printf("program-%s.view", name),
         *file = g_build_filename(directory, with, NULL);
    g_free(with);
    g_free(name);
    g_free(directory);
    return file;
}

void saved_views_keep_arrangement(struct view *view)
{
    if (!view->viewport.place.row_count || !view_metadata(view)->run.name)
        return;
    char *file = arrangement_file(view);
    saved_views_write(view, file);
    g_free(file);
}

void saved_views_offer_arrangement(struct view *view)
{
    char *file = arrangement_file(view);
    if (g_file_test(file, G_FILE_TEST_EXISTS))
        status_line_offer(&view->status_line, "Restore _layout",
                          "Line layout of the last run of this program available.");
    g_free(file);
}

void saved_views_apply_arrangement(struct view *view)
{
    char *file = arrangement_file(view);
    saved_views_load_file(view, file);
    g_free(file);
}

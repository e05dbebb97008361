#include "clients/view/views.h"

#include "clients/source/place.h"
#include "clients/source/viewfile.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/compat.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/asked.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <stdio.h>

/* Placed by time a window reaches over so many points of the order, and what is empty between them. */
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

/* The columns that are seen, as a place that does not follow. */
static void seen_place(const struct view *view, struct place *place)
{
    const struct scene *s = view->stage.scene;
    double right = camera_left_pt(&view->camera) + camera_width_pt(&view->camera);
    place_copy(place, &view->camera.place);
    if (place->follow || place->anchor == ANCHOR_END)
        place_leave_end(place);
    place->far = false;
    place->columns = 1;
    for (uint32_t i = 0; s && i < s->column_count; i++)
        if (s->columns[i].column >= place->from && s->columns[i].x_pt < right)
            place->columns = (uint32_t)(s->columns[i].column - place->from) + 1;
    if (s && place->column_ns)
        place->columns = columns_by_time(s, place->from, right) + 1;
}

bool views_write_as(struct view *view, const char *file, const struct look *look, uint32_t columns)
{
    struct place place = {0};
    seen_place(view, &place);
    if (columns) {
        hold_forget_moves(&place);
        place.anchor = ANCHOR_START;
        place.from = 0;
        place.columns = columns;
    }
    FILE *f = fopen(file, "we");
    bool ok = f && place_write(&place, look, the_book(view), view->link.sites, f);
    ok = (!f || fclose(f) == 0) && ok;
    place_free(&place);
    if (!ok)
        status_say(&view->status, "%s: %s", file, g_strerror(errno));
    return ok;
}

bool views_write(struct view *view, const char *file)
{
    return views_write_as(view, file, &view->settings.look, 0);
}

/* ---- loading, and asking for a file ---- */

static bool load(struct view *view, const char *file)
{
    struct place place = {0};
    struct look look = view->settings.look;
    struct error error;
    if (!place_read(&place, &look, the_book(view), view->link.sites, file, &error)) {
        status_trouble(&view->status, NULL, "%s", error.text);
        return false;
    }
    history_mark(&view->history, "load");
    if (!place.columns) { /* of another run: its rows alone, where we are */
        struct place here = {0};
        place_copy(&here, &view->camera.place);
        g_free(here.rows);
        here.rows = place.rows;
        here.row_count = place.row_count;
        here.fold = place.fold;
        place.rows = NULL;
        place_free(&place);
        place = here;
    }
    view->settings.look = look;
    link_name_again(&view->link, look.labels);
    place_copy(&view->camera.place, &place);
    place_free(&place);
    news_tell(&view->news, NEWS_ROWS);
    news_tell(&view->news, NEWS_SETTINGS);
    return true;
}

static void on_save(void *user, const char *path)
{
    struct view *view = user;
    if (path && views_write(view, path))
        status_say(&view->status, "Saved %s", path);
}

static void on_load(void *user, const char *path)
{
    if (path)
        load(user, path);
}

void views_save(struct view *view)
{
    if (!view->link.has_run)
        return;
    char *name = g_strdup_printf("%s.view", the_book(view)->run.name);
    compat_ask_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                          .title = "Save the view",
                                          .saves = true,
                                          .name = name},
                    on_save, view);
    g_free(name);
}

void views_load(struct view *view)
{
    if (view->link.has_run)
        compat_ask_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                              .title = "Load a view"},
                        on_load, view);
}

char *views_directory(void)
{
    char *directory = g_build_filename(g_get_user_state_dir(), "poet", "views", NULL);
    g_mkdir_with_parents(directory, 0700);
    return directory;
}

/* ---- for the next run of the program ---- */

static char *arrangement_file(struct view *view)
{
    char *directory = views_directory(), *name = g_strdup(the_book(view)->run.name);
    g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.", '_');
    char *with = g_strdup_printf("program-%s.view", name),
         *file = g_build_filename(directory, with, NULL);
    g_free(with);
    g_free(name);
    g_free(directory);
    return file;
}

void views_keep_arrangement(struct view *view)
{
    if (!view->camera.place.row_count || !the_book(view)->run.name)
        return;
    char *file = arrangement_file(view);
    views_write(view, file);
    g_free(file);
}

void views_offer_arrangement(struct view *view)
{
    char *file = arrangement_file(view);
    if (g_file_test(file, G_FILE_TEST_EXISTS))
        status_offer(&view->status, "As _last time",
                     "The lines of this program were arranged the last time.");
    g_free(file);
}

void views_apply_arrangement(struct view *view)
{
    char *file = arrangement_file(view);
    load(view, file);
    g_free(file);
}

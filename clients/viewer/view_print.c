#include "clients/viewer/view_print.h"

#include "clients/connection/client_requests.h"
#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/viewport.h"
#include "render/document.h"
#include "render/scene.h"
#include "render/scene_text.h"
#include "render/text_cache.h"
#include "wire/layout_results.h"
#include "wire/message.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdio.h>
#include <stdlib.h>

enum print_mode { PRINT_PAPER, PRINT_TEXT, PRINT_SCENE };

struct view_print {
    enum print_mode what;
    FILE *file; /* of a scene, until it is printed; or NULL */
    struct window_info window;
    struct event_relations relations; /* relations of its events */
    struct request_slot asked;
    struct scene *scene; /* while it is printed */
};

static const struct viewer_addon view_print_addon = {"view_print", sizeof(struct view_print)};

static struct view_print *view_print_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &view_print_addon);
}

static void view_print_set_mode(struct view *view, enum print_mode what)
{
    struct view_print *printing = view_print_find(view);
    if (!printing)
        printing = viewer_addons_add(&view->addons, &view_print_addon);
    printing->what = what;
}

static struct scene *view_print_visible_scene(struct view *view, bool measured)
{
    struct scene_options options = {.title = view_metadata(view)->run.name,
                                    .legend = view->viewer_settings.look.legend,
                                    .order_arrows = !view->viewer_settings.look.no_order,
                                    .vertical = viewport_vertical(&view->viewport) && measured,
                                    .column_ns = view->viewport.place.column_ns,
                                    .squeeze = view->viewer_settings.look.squeeze,
                                    .threshold_ns = view->viewer_settings.look.threshold_ns,
                                    .noted = view->run_notes.scene,
                                    .noted_count = view->run_notes.notes.count,
                                    .stuck = view->selection_relations.stuck,
                                    .stuck_count = view->selection_relations.stuck_count,
                                    .measure = measured ? text_cache_width : NULL};
    return scene_build(&view_print_find(view)->window, view_metadata(view), &options);
}

static struct document_options view_print_get_page(struct view *view, GtkPrintContext *context)
{
    struct document_options page = {.format = DOCUMENT_PDF,
                                    .title = view_metadata(view)->run.name,
                                    .theme = viewer_settings_theme(&view->viewer_settings),
                                    .selection = canvas_selection(view),
                                    .paper_width_pt = gtk_print_context_get_width(context),
                                    .paper_height_pt = gtk_print_context_get_height(context)};
    page.theme.dark = false;
    return page;
}

static void on_begin_print(GtkPrintOperation *operation, GtkPrintContext *context, gpointer data)
{
    struct view *view = data;
    struct document_options page = view_print_get_page(view, context);
    struct view_print *printing = view_print_find(view);
    printing->scene = view_print_visible_scene(view, true);
    gtk_print_operation_set_n_pages(operation, (int)document_count(printing->scene, &page));
}

static void on_draw_page(GtkPrintOperation *operation, GtkPrintContext *context, int number,
                         gpointer data)
{
    struct view *view = data;
    struct document_options page = view_print_get_page(view, context);
    (void)operation;
    document_paint(gtk_print_context_get_cairo_context(context), view_print_find(view)->scene,
                   &page, (unsigned)number);
}

static void on_end_print(GtkPrintOperation *operation, GtkPrintContext *context, gpointer data)
{
    struct view *view = data;
    (void)operation;
    (void)context;
    struct view_print *printing = view_print_find(view);
    scene_free(printing->scene);
    printing->scene = NULL;
}

static void print_now(struct view *view)
{
    GtkPrintOperation *operation = gtk_print_operation_new();
    GtkPageSetup *setup = gtk_page_setup_new();
    GError *error = NULL;
    gtk_page_setup_set_orientation(setup, GTK_PAGE_ORIENTATION_LANDSCAPE);
    gtk_print_operation_set_default_page_setup(operation, setup);
    gtk_print_operation_set_unit(operation, GTK_UNIT_POINTS);
    gtk_print_operation_set_job_name(operation, view_metadata(view)->run.name);
    g_signal_connect(operation, "begin-print", G_CALLBACK(on_begin_print), view);
    g_signal_connect(operation, "draw-page", G_CALLBACK(on_draw_page), view);
    g_signal_connect(operation, "end-print", G_CALLBACK(on_end_print), view);
    if (gtk_print_operation_run(operation, GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG,
                                GTK_WINDOW(view->window),
                                &error) == GTK_PRINT_OPERATION_RESULT_ERROR)
        status_line_show_problem(&view->status_line, NULL, "Printing: %s", error->message);
    g_clear_error(&error);
    g_object_unref(setup);
    g_object_unref(operation);
}

static void copy_text_now(struct view *view)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct scene *scene = view_print_visible_scene(view, false);
    scene_text_write(scene, view_metadata(view), &(struct text_options){0}, f);
    fclose(f);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), text);
    status_line_show(&view->status_line, "Copied %zu bytes of text", size);
    scene_free(scene);
    free(text);
}

static void view_print_close_file(struct view_print *printing)
{
    if (printing->file)
        fclose(printing->file);
    printing->file = NULL;
}

static void write_scene_now(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    struct view_print *printing = view_print_find(view);
    struct scene *scene = p->overview ? NULL : view_print_visible_scene(view, true);
    fprintf(printing->file,
            "from %d shift %.3f rise %.3f zoom %.4f time %llu follow %d far %d %.1f %.1f\n",
            p->from, p->shift_pt, p->rise_pt, p->zoom, (unsigned long long)p->column_ns, p->follow,
            p->overview, p->overview_from, p->overview_to);
    if (scene)
        scene_print(scene, printing->file);
    scene_free(scene);
    view_print_close_file(printing);
}

/* Outputs the scene, which is complete. */
static void view_print_output_scene(struct view *view)
{
    struct view_print *printing = view_print_find(view);
    if (printing->what == PRINT_TEXT)
        copy_text_now(view);
    else if (printing->what == PRINT_SCENE)
        write_scene_now(view);
    else
        print_now(view);
}

static void view_print_request_relations(struct view *view);

static void view_print_receive_relations(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    event_relations_receive(&view_print_find(view)->relations, answer);
    if (answer->last && !answer->in->error)
        view_print_request_relations(view);
}

static void view_print_request_relations(struct view *view)
{
    struct view_print *printing = view_print_find(view);
    struct encoder body = {0};
    bool wanted = view->viewport.place.color_relations && view->viewport.place.selected.line;
    if (wanted &&
        event_relations_request(&printing->relations, view->viewport.place.selected, &body))
        request_slot_send(&view->server_link, &printing->asked, REQUEST_RELATIONS, &body,
                          view_print_receive_relations, view);
    else
        view_print_output_scene(view);
}

static void view_print_receive_window(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct window_info window;
    if (!request_slot_read_window(answer, &window))
        return;
    struct view_print *printing = view_print_find(view);
    window_info_free(&printing->window);
    printing->window = window;
    printing->relations = (struct event_relations){&printing->window, 0};
    view_print_request_relations(view);
}

static void view_print_request_window(struct view *view)
{
    struct window_request request;
    struct view_state place = view->viewport.place; /* a shallow copy, not freed */
    if (place.anchor == ANCHOR_END)
        place_leave_end(&place);
    view_state_request(&place, &request);
    row_requests_for_request(view, &request);
    request.columns = viewport_columns(&view->viewport);
    request_slot_request_window(&view->server_link, &view_print_find(view)->asked, &request,
                                view_print_receive_window, view);
}

void view_print_to_file(struct view *view, FILE *f)
{
    view_print_set_mode(view, PRINT_SCENE);
    struct view_print *printing = view_print_find(view);
    view_print_close_file(printing);
    printing->file = f;
    if (view->viewport.place.overview)
        write_scene_now(view);
    else
        view_print_request_window(view);
}

static void view_print_request_output(struct view *view, enum print_mode what)
{
    if (!view->scene_cache.scene || !view->server_link.connected || view->viewport.place.overview) {
        status_line_show(&view->status_line, view->viewport.place.overview
                                                 ? "Zoom in until events are visible"
                                                 : "No diagram yet");
        return;
    }
    view_print_set_mode(view, what);
    view_print_request_window(view);
}

void view_print_paper(struct view *view) { view_print_request_output(view, PRINT_PAPER); }
void view_print_to_clipboard(struct view *view) { view_print_request_output(view, PRINT_TEXT); }

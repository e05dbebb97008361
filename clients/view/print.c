#include "clients/view/print.h"

#include "clients/source/place.h"
#include "clients/source/stands.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/settings.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/canvas.h"
#include "clients/view/picture/rows.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/page.h"
#include "render/scene.h"
#include "render/text.h"
#include "wire/ask.h"
#include "wire/asked.h"
#include "wire/message.h"
#include "wire/placed.h"
#include "wire/shown.h"

#include <stdio.h>
#include <stdlib.h>

enum print_what { PRINT_PAPER, PRINT_TEXT, PRINT_SCENE };

struct printing {
    enum print_what what;
    char *file; /* of a scene */
    struct shown_window window;
    struct stands stands; /* of its events */
    struct inquiry asked;
    struct scene *scene; /* while it is printed */
};

static void begin(struct view *view, enum print_what what)
{
    if (!view->printing)
        view->printing = g_new0(struct printing, 1);
    view->printing->what = what;
}

static struct scene *seen_scene(struct view *view, bool measured)
{
    struct scene_options options = {.title = the_book(view)->run.name,
                                    .legend = view->settings.look.legend,
                                    .order_arrows = !view->settings.look.no_order,
                                    .vertical = camera_vertical(&view->camera) && measured,
                                    .column_ns = view->camera.place.column_ns,
                                    .squeeze = view->settings.look.squeeze,
                                    .threshold_ns = view->settings.look.threshold_ns,
                                    .noted = view->noted.scene,
                                    .noted_count = view->noted.notes.count,
                                    .stuck = view->ties.stuck,
                                    .stuck_count = view->ties.stuck_count,
                                    .measure = measured ? lettering_width : NULL};
    return scene_build(&view->printing->window, the_book(view), &options);
}

static struct page_options page_of(struct view *view, GtkPrintContext *context)
{
    struct page_options page = {.format = PAGE_PDF,
                                .title = the_book(view)->run.name,
                                .theme = settings_theme(&view->settings),
                                .selection = canvas_selection(view),
                                .paper_width_pt = gtk_print_context_get_width(context),
                                .paper_height_pt = gtk_print_context_get_height(context)};
    page.theme.dark = false;
    return page;
}

static void on_begin_print(GtkPrintOperation *operation, GtkPrintContext *context, gpointer data)
{
    struct view *view = data;
    struct page_options page = page_of(view, context);
    view->printing->scene = seen_scene(view, true);
    gtk_print_operation_set_n_pages(operation, (int)page_count(view->printing->scene, &page));
}

static void on_draw_page(GtkPrintOperation *operation, GtkPrintContext *context, int number,
                         gpointer data)
{
    struct view *view = data;
    struct page_options page = page_of(view, context);
    (void)operation;
    page_paint(gtk_print_context_get_cairo_context(context), view->printing->scene, &page,
               (unsigned)number);
}

static void on_end_print(GtkPrintOperation *operation, GtkPrintContext *context, gpointer data)
{
    struct view *view = data;
    (void)operation;
    (void)context;
    scene_free(view->printing->scene);
    view->printing->scene = NULL;
}

static void print_now(struct view *view)
{
    GtkPrintOperation *operation = gtk_print_operation_new();
    GtkPageSetup *setup = gtk_page_setup_new();
    GError *error = NULL;
    gtk_page_setup_set_orientation(setup, GTK_PAGE_ORIENTATION_LANDSCAPE);
    gtk_print_operation_set_default_page_setup(operation, setup);
    gtk_print_operation_set_unit(operation, GTK_UNIT_POINTS);
    gtk_print_operation_set_job_name(operation, the_book(view)->run.name);
    g_signal_connect(operation, "begin-print", G_CALLBACK(on_begin_print), view);
    g_signal_connect(operation, "draw-page", G_CALLBACK(on_draw_page), view);
    g_signal_connect(operation, "end-print", G_CALLBACK(on_end_print), view);
    if (gtk_print_operation_run(operation, GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG,
                                GTK_WINDOW(view->window),
                                &error) == GTK_PRINT_OPERATION_RESULT_ERROR)
        status_trouble(&view->status, NULL, "Printing: %s", error->message);
    g_clear_error(&error);
    g_object_unref(setup);
    g_object_unref(operation);
}

static void copy_text_now(struct view *view)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct scene *scene = seen_scene(view, false);
    text_write(scene, the_book(view), &(struct text_options){0}, f);
    fclose(f);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), text);
    status_say(&view->status, "Copied %zu bytes of text", size);
    scene_free(scene);
    free(text);
}

static void write_scene_now(struct view *view)
{
    const struct place *p = &view->camera.place;
    struct scene *scene = p->far ? NULL : seen_scene(view, true);
    FILE *f = fopen(view->printing->file, "we");
    if (f) {
        fprintf(f, "from %d shift %.3f rise %.3f zoom %.4f time %llu follow %d far %d %.1f %.1f\n",
                p->from, p->shift_pt, p->rise_pt, p->zoom, (unsigned long long)p->column_ns,
                p->follow, p->far, p->far_from, p->far_to);
        if (scene)
            scene_print(scene, f);
        fclose(f);
    }
    scene_free(scene);
}

/* All of it is here. */
static void use(struct view *view)
{
    if (view->printing->what == PRINT_TEXT)
        copy_text_now(view);
    else if (view->printing->what == PRINT_SCENE)
        write_scene_now(view);
    else
        print_now(view);
}

static void ask_stands(struct view *view);

static void take_stands(void *user, const struct answer *answer)
{
    struct view *view = user;
    stands_take(&view->printing->stands, answer);
    if (answer->last && !answer->in->error)
        ask_stands(view);
}

static void ask_stands(struct view *view)
{
    struct printing *printing = view->printing;
    struct out body = {0};
    bool wanted = view->camera.place.stands && view->camera.place.selected.line;
    if (wanted && stands_ask(&printing->stands, view->camera.place.selected, &body))
        inquiry_ask(&view->link, &printing->asked, ASK_STANDS, &body, take_stands, view);
    else
        use(view);
}

static void take_window(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_window window;
    if (!inquiry_window_read(answer, &window))
        return;
    shown_window_free(&view->printing->window);
    view->printing->window = window;
    view->printing->stands = (struct stands){&view->printing->window, 0};
    ask_stands(view);
}

static void ask_window(struct view *view)
{
    struct window_request request;
    struct place place = view->camera.place; /* what it points to is borrowed */
    if (place.anchor == ANCHOR_END)
        place_leave_end(&place);
    place_request(&place, &request);
    rows_for_request(view, &request);
    request.columns = camera_columns(&view->camera);
    inquiry_window(&view->link, &view->printing->asked, &request, take_window, view);
}

void print_to_file(struct view *view, const char *file)
{
    begin(view, PRINT_SCENE);
    g_free(view->printing->file);
    view->printing->file = g_strdup(file);
    if (view->camera.place.far)
        write_scene_now(view);
    else
        ask_window(view);
}

static void ask(struct view *view, enum print_what what)
{
    if (!view->stage.scene || !view->link.connected || view->camera.place.far) {
        status_say(&view->status, view->camera.place.far ? "Zoom in to the marks first"
                                                         : "There is no picture yet");
        return;
    }
    begin(view, what);
    ask_window(view);
}

void print_paper(struct view *view) { ask(view, PRINT_PAPER); }
void print_to_clipboard(struct view *view) { ask(view, PRINT_TEXT); }

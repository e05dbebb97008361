/* Preview of a saved diagram: `poet export` runs in the background with the same settings, and the
 * result is shown as an image or as text.
 *
 * New settings, Cancel and the end of the dialog stop a running command. */
#include "clients/viewer/diagram_export.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>

#define SOON_MS 250 /* delay after a change, during which more may follow */
#define COLUMNS_MOST 120u /* of a whole run */
#define COLUMNS_FITTED 600u /* of one that is fitted to a width, and so becomes smaller */
#define SIDE_MOST_PX 6000
#define TEXT_MOST_BYTES 100000
#define PNG_DPI 144.0
#define SCREEN_DPI 96.0

struct export_preview_job {
    struct export_preview *preview; /* NULL: no longer wanted */
    GSubprocess *process;
    char *directory, *file, *view_file, *complaints;
    enum export_format format;
    GBytes *pixels; /* of the picture, scaled down for display */
    int width_px, height_px, stride;
    double width_mm, height_mm;
};

struct export_preview {
    struct view *view;
    struct diagram_export wanted;
    GtkWidget *box, *stack, *picture, *text, *words, *runs, *size, *warning;
    guint timer;
    struct export_preview_job *job; /* NULL: none runs */
};

/* ---- jobs ---- */

static void remove_files(const struct export_preview_job *job)
{
    g_unlink(job->file);
    if (job->view_file)
        g_unlink(job->view_file);
    g_rmdir(job->directory);
}

static void free_job(struct export_preview_job *job)
{
    remove_files(job);
    g_clear_object(&job->process);
    g_clear_pointer(&job->pixels, g_bytes_unref);
    g_free(job->directory);
    g_free(job->file);
    g_free(job->view_file);
    g_free(job->complaints);
    g_free(job);
}

/* Stops the job, which frees itself when its process has ended. */
static void export_preview_stop_job(struct export_preview *p)
{
    g_clear_handle_id(&p->timer, g_source_remove);
    if (!p->job)
        return;
    p->job->preview = NULL;
    g_subprocess_send_signal(p->job->process, SIGTERM);
    remove_files(p->job);
    p->job = NULL;
}

static void show_runs(struct export_preview *p, bool runs)
{
    gtk_widget_set_visible(p->runs, runs);
}

static void export_preview_show_message(struct export_preview *p, const char *words)
{
    gtk_label_set_text(GTK_LABEL(p->words), words);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "words");
}

static void export_preview_finish_job(struct export_preview_job *job)
{
    job->preview->job = NULL;
    show_runs(job->preview, false);
    free_job(job);
}

/* ---- results ---- */

/* Runs in a separate thread, since the picture may be large. */
static void read_picture(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
    struct export_preview_job *job = data;
    (void)object;
    (void)cancellable;
    cairo_surface_t *all = cairo_image_surface_create_from_png(job->file);
    int width = cairo_image_surface_get_width(all), height = cairo_image_surface_get_height(all);
    double scale = MIN(1, (double)SIDE_MOST_PX / MAX(MAX(width, height), 1));
    job->width_mm = width / PNG_DPI * 25.4;
    job->height_mm = height / PNG_DPI * 25.4;
    job->width_px = (int)ceil(width * scale);
    job->height_px = (int)ceil(height * scale);
    if (cairo_surface_status(all) == CAIRO_STATUS_SUCCESS && width && height) {
        cairo_surface_t *small =
            cairo_image_surface_create(CAIRO_FORMAT_ARGB32, job->width_px, job->height_px);
        cairo_t *cr = cairo_create(small);
        cairo_scale(cr, scale, scale);
        cairo_set_source_surface(cr, all, 0, 0);
        cairo_paint(cr);
        cairo_destroy(cr);
        cairo_surface_flush(small);
        job->stride = cairo_image_surface_get_stride(small);
        job->pixels = g_bytes_new(cairo_image_surface_get_data(small),
                                  (gsize)job->stride * (gsize)job->height_px);
        cairo_surface_destroy(small);
    }
    cairo_surface_destroy(all);
    g_task_return_boolean(task, TRUE);
}

static void show_picture(struct export_preview *p, const struct export_preview_job *job)
{
    double scale = SCREEN_DPI / 25.4;
    char *size = g_strdup_printf("%.0f × %.0f mm", job->width_mm, job->height_mm),
         *paper = g_strdup_printf("Paper: %s", export_papers[p->wanted.paper].size);
    GdkTexture *texture =
        gdk_memory_texture_new(job->width_px, job->height_px, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED,
                               job->pixels, (gsize)job->stride);
    gtk_picture_set_paintable(GTK_PICTURE(p->picture), GDK_PAINTABLE(texture));
    gtk_widget_set_size_request(p->picture, (int)MIN(job->width_mm * scale, SIDE_MOST_PX),
                                (int)MIN(job->height_mm * scale, SIDE_MOST_PX));
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "picture");
    gtk_label_set_text(GTK_LABEL(p->size), p->wanted.size == EXPORT_PAPER ? paper
                                           : p->wanted.range == EXPORT_WHOLE
                                               ? "Start of the run, at final size"
                                               : size);
    g_object_unref(texture);
    g_free(size);
    g_free(paper);
}

static void on_picture(GObject *object, GAsyncResult *result, gpointer data)
{
    struct export_preview_job *job = data;
    (void)object;
    (void)result;
    if (!job->preview) {
        free_job(job);
        return;
    }
    if (job->pixels)
        show_picture(job->preview, job);
    else
        export_preview_show_message(job->preview, "Cannot read the preview");
    export_preview_finish_job(job);
}

static void name_text(struct export_preview *p)
{
    accessible_name_set(p->text, "Preview of the text");
}

static void show_text(struct export_preview *p, const struct export_preview_job *job)
{
    char *text = NULL;
    gsize length = 0;
    FILE *f = fopen(job->file, "re");
    text = g_malloc(TEXT_MOST_BYTES + 1);
    length = f ? fread(text, 1, TEXT_MOST_BYTES, f) : 0;
    text[length] = 0;
    if (f)
        fclose(f);
    char *valid = g_utf8_make_valid(text, -1);
    gtk_label_set_text(GTK_LABEL(p->text), valid);
    name_text(p); /* otherwise its accessible name would be the whole text */
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "text");
    g_free(valid);
    g_free(text);
}

static void show_page(struct export_preview *p, const struct export_preview_job *job)
{
    GStatBuf about;
    char *words =
        g_stat(job->file, &about) == 0
            ? g_strdup_printf("Web page of %.0f kB; it can be scrolled, searched and analyzed.",
                              (double)about.st_size / 1000)
            : g_strdup("");
    export_preview_show_message(p, words);
    g_free(words);
}

static void export_preview_show_result(struct export_preview *p, struct export_preview_job *job,
                                       bool good)
{
    const char *complaints = diagram_export_strip_prefix(job->complaints);
    gtk_label_set_text(GTK_LABEL(p->warning), good ? complaints : "");
    gtk_widget_set_visible(p->warning, good && *complaints);
    if (!good) {
        export_preview_show_message(p, *complaints ? complaints : "No preview");
    } else if (job->format == EXPORT_TEXT) {
        show_text(p, job);
    } else if (job->format == EXPORT_PAGE) {
        show_page(p, job);
    } else {
        GTask *task = g_task_new(NULL, NULL, on_picture, job);
        g_task_set_task_data(task, job, NULL);
        g_task_run_in_thread(task, read_picture);
        g_object_unref(task);
        return;
    }
    export_preview_finish_job(job);
}

static void on_done(GObject *object, GAsyncResult *result, gpointer data)
{
    struct export_preview_job *job = data;
    GSubprocess *process = G_SUBPROCESS(object);
    GError *error = NULL;
    bool good =
        g_subprocess_communicate_utf8_finish(process, result, NULL, &job->complaints, &error) &&
        g_subprocess_get_if_exited(process) && g_subprocess_get_exit_status(process) == 0;
    if (!job->complaints)
        job->complaints = g_strdup(error ? error->message : "");
    g_strstrip(job->complaints);
    g_clear_error(&error);
    if (job->preview)
        export_preview_show_result(job->preview, job, good);
    else
        free_job(job);
}

/* ---- start ---- */

static gboolean on_soon(gpointer data)
{
    struct export_preview *p = data;
    struct export_preview_job *job = g_new0(struct export_preview_job, 1);
    GError *error = NULL;
    bool drawn = p->wanted.format != EXPORT_TEXT && p->wanted.format != EXPORT_PAGE;
    p->timer = 0;
    job->preview = p;
    job->format = p->wanted.format;
    job->directory = g_dir_make_tmp("poet-XXXXXX", &error);
    if (job->directory) {
        char *name = g_strconcat(
            "preview", diagram_export_suffix(drawn ? EXPORT_PNG : p->wanted.format), NULL);
        job->file = g_build_filename(job->directory, name, NULL);
        job->process =
            diagram_export_start(p->view, &p->wanted, job->file,
                                 p->wanted.size == EXPORT_WIDTH ? COLUMNS_FITTED : COLUMNS_MOST,
                                 &job->view_file, &error);
        g_free(name);
    } else {
        job->directory = g_strdup("");
        job->file = g_strdup("");
    }
    if (job->process) {
        p->job = job;
        g_subprocess_communicate_utf8_async(job->process, NULL, NULL, on_done, job);
    } else {
        export_preview_show_message(p, error->message);
        show_runs(p, false);
        free_job(job);
    }
    g_clear_error(&error);
    return G_SOURCE_REMOVE;
}

void export_preview_request(struct export_preview *p, const struct diagram_export *d)
{
    export_preview_stop_job(p);
    show_runs(p, d != NULL);
    gtk_label_set_text(GTK_LABEL(p->size), "");
    gtk_widget_set_visible(p->warning, FALSE);
    if (!d)
        return;
    diagram_export_free(&p->wanted);
    p->wanted = *d;
    p->wanted.last = g_strdup(d->last);
    p->wanted.width = g_strdup(d->width);
    p->wanted.caption = g_strdup(d->caption);
    p->timer = g_timeout_add(SOON_MS, on_soon, p);
}

/* ---- widget ---- */

static void on_cancel(GtkButton *button, gpointer data)
{
    struct export_preview *p = data;
    (void)button;
    export_preview_stop_job(p);
    show_runs(p, false);
    export_preview_show_message(p, "No preview (canceled)");
}

static GtkWidget *export_preview_new_scrolled(GtkWidget *child)
{
    GtkWidget *window = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(window), child);
    return window;
}

static GtkWidget *export_preview_new_progress_box(struct export_preview *p)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8), *spinner = gtk_spinner_new(),
              *cancel = gtk_button_new_with_label("No preview");
    gtk_spinner_start(GTK_SPINNER(spinner));
    gtk_box_append(GTK_BOX(box), spinner);
    gtk_box_append(GTK_BOX(box), gtk_label_new("Drawing…"));
    gtk_box_append(GTK_BOX(box), cancel);
    g_signal_connect(cancel, "clicked", G_CALLBACK(on_cancel), p);
    return box;
}

static GtkWidget *line_new(void)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    return label;
}

static GtkWidget *stack_new(struct export_preview *p)
{
    GtkWidget *stack = gtk_stack_new();
    p->picture = gtk_picture_new();
    p->text = gtk_label_new(
        ""); /* no text view, which requests a size during size allocation: GTK warns */
    p->words = gtk_label_new("");
    accessible_name_set(p->picture, "Preview of the diagram");
    g_object_set(p->picture, "halign", GTK_ALIGN_CENTER, "valign", GTK_ALIGN_CENTER, NULL);
    g_object_set(p->text, "selectable", TRUE, "halign", GTK_ALIGN_START, "valign", GTK_ALIGN_START,
                 "margin-start", 8, "margin-top", 8, NULL);
    gtk_widget_add_css_class(p->text, "monospace");
    name_text(p);
    gtk_label_set_wrap(GTK_LABEL(p->words), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(p->words), 40);
    gtk_stack_add_named(GTK_STACK(stack), p->words, "words");
    gtk_stack_add_named(GTK_STACK(stack), export_preview_new_scrolled(p->picture), "picture");
    gtk_stack_add_named(GTK_STACK(stack), export_preview_new_scrolled(p->text), "text");
    gtk_widget_set_vexpand(stack, TRUE);
    gtk_widget_set_hexpand(stack, TRUE);
    return stack;
}

struct export_preview *export_preview_new(struct view *view)
{
    struct export_preview *p = g_new0(struct export_preview, 1);
    GtkWidget *frame = gtk_frame_new(NULL), *foot = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    p->view = view;
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    p->stack = stack_new(p);
    p->size = line_new();
    p->runs = export_preview_new_progress_box(p);
    p->warning = line_new();
    gtk_widget_set_hexpand(p->size, TRUE);
    gtk_widget_add_css_class(p->size, "dim-label");
    gtk_widget_add_css_class(p->warning, "warning");
    gtk_frame_set_child(GTK_FRAME(frame), p->stack);
    gtk_widget_set_size_request(foot, -1, 36); /* so that nothing moves when its button appears */
    gtk_box_append(GTK_BOX(foot), p->size);
    gtk_box_append(GTK_BOX(foot), p->runs);
    gtk_box_append(GTK_BOX(p->box), frame);
    gtk_box_append(GTK_BOX(p->box), p->warning);
    gtk_box_append(GTK_BOX(p->box), foot);
    return p;
}

GtkWidget *export_preview_widget(struct export_preview *p) { return p->box; }

void export_preview_free(struct export_preview *p)
{
    export_preview_stop_job(p);
    diagram_export_free(&p->wanted);
    g_free(p);
}

#include "clients/viewer/clipboard_save.h"

#include "clients/viewer/diagram_export.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/saved_views.h"
#include "wire/event_types.h"

#include <glib/gstdio.h>
#include <signal.h>

#define HTML_WHOLE_MOST 20000u /* events of a run that a page holds (WEBPAGE_EVENTS) */

/* ---- export command ---- */

struct export
{
    struct view *view;
    char *file, *view_file;
};

static void free_export(struct export *e)
{
    if (e->view_file)
        g_unlink(e->view_file);
    g_free(e->file);
    g_free(e->view_file);
    g_free(e);
}

static void on_exported(GObject *object, GAsyncResult *result, gpointer data)
{
    struct export *e = data;
    GSubprocess *process = G_SUBPROCESS(object);
    char *complaints = NULL;
    GError *error = NULL;
    if (e->view->exporting == process)
        g_clear_object(&e->view->exporting);
    bool ok = g_subprocess_communicate_utf8_finish(process, result, NULL, &complaints, &error) &&
              g_subprocess_get_if_exited(process) && g_subprocess_get_exit_status(process) == 0;
    status_line_show_progress(&e->view->status_line, NULL, 0);
    g_strstrip(complaints ? complaints : (complaints = g_strdup("")));
    if (ok) /* there may be warnings */
        status_line_show(&e->view->status_line, "Saved %s%s%s", e->file, *complaints ? " — " : "",
                         diagram_export_strip_prefix(complaints));
    else if (error && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        status_line_show_problem(&e->view->status_line, NULL, "%s: %s", e->file, error->message);
    else if (!error)
        status_line_show_problem(&e->view->status_line, NULL, "%s",
                                 *complaints ? diagram_export_strip_prefix(complaints)
                                             : "not saved");
    g_clear_error(&error);
    g_free(complaints);
    free_export(e);
}

bool save_is_running(const struct view *view) { return view->exporting != NULL; }

void save_cancel(struct view *view)
{
    g_subprocess_send_signal(view->exporting, SIGINT);
    g_clear_object(&view->exporting);
}

void save_diagram_as(struct view *view, const struct diagram_export *diagram, const char *file)
{
    struct export *e = g_new0(struct export, 1);
    GError *error = NULL;
    e->view = view;
    e->file = g_strdup(file);
    GSubprocess *process = diagram_export_start(view, diagram, file, 0, &e->view_file, &error);
    if (process) {
        status_line_show_progress(&view->status_line, file, -1);
        g_subprocess_communicate_utf8_async(process, NULL, NULL, on_exported, e);
        view->exporting = process;
    } else {
        status_line_show_problem(&view->status_line, NULL, "%s: %s", file, error->message);
        free_export(e);
    }
    g_clear_error(&error);
}

void save_diagram(struct view *view, const char *file, bool whole)
{
    struct diagram_export diagram;
    diagram_export_of_view(view, &diagram, whole);
    save_diagram_as(view, &diagram, file);
    diagram_export_free(&diagram);
}

/* ---- web page ---- */

static void save_on_html_chosen(void *user, const char *path)
{
    struct view *view = user;
    if (!path)
        return;
    char *file =
        g_str_has_suffix(path, ".html") ? g_strdup(path) : g_strconcat(path, ".html", NULL);
    save_diagram(view, file, view_metadata(view)->run.events <= HTML_WHOLE_MOST);
    g_free(file);
}

void save_ask_html(struct view *view)
{
    if (!view->scene_cache.scene || !view->server_link.has_run) {
        status_line_show(&view->status_line, "Nothing to export yet");
        return;
    }
    char *name = g_strdup_printf("%s.html", view_metadata(view)->run.name);
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                             .title = "Export as HTML",
                                             .saves = true,
                                             .name = name},
                       save_on_html_chosen, view);
    g_free(name);
}

/* ---- clipboard ---- */

void save_copy_image(struct view *view)
{
    int scale = 2, width = gtk_widget_get_width(view->canvas),
        height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    canvas_draw(view, cr, width, height);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    int stride = cairo_image_surface_get_stride(surface);
    GBytes *bytes =
        g_bytes_new(cairo_image_surface_get_data(surface), (gsize)stride * (gsize)(height * scale));
    GdkTexture *texture = gdk_memory_texture_new(
        width * scale, height * scale, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, (gsize)stride);
    gdk_clipboard_set_texture(gtk_widget_get_clipboard(view->canvas), texture);
    status_line_show(&view->status_line, "Copied the image");
    g_object_unref(texture);
    g_bytes_unref(bytes);
    cairo_surface_destroy(surface);
}

void save_copy_command(struct view *view)
{
    if (!view->scene_cache.scene)
        return;
    char *directory = saved_views_directory(),
         *name = g_strdup_printf("%016llx.view", (unsigned long long)g_get_real_time());
    char *file = g_build_filename(directory, name, NULL),
         *source = diagram_export_source_name(view);
    if (saved_views_write(view, file)) {
        char *quoted = g_shell_quote(source), *quoted_file = g_shell_quote(file);
        char *command =
            g_strdup_printf("poet export %s --view %s -o diagram.pdf", quoted, quoted_file);
        gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), command);
        status_line_show(&view->status_line, "Copied: %s", command);
        g_free(command);
        g_free(quoted);
        g_free(quoted_file);
    }
    g_free(source);
    g_free(file);
    g_free(name);
    g_free(directory);
}

void save_copy_id(struct view *view)
{
    char at[48];
    if (!view->viewport.place.selected.line) {
        status_line_show(&view->status_line, "Select an event first");
        return;
    }
    event_id_print(at, sizeof at, view->viewport.place.selected);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), at);
    status_line_show(&view->status_line, "Copied: %s", at);
}

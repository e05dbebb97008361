#include "clients/view/save.h"

#include "clients/book/book.h"
#include "clients/source/installed.h"
#include "clients/source/source.h"
#include "clients/view/dialog.h"
#include "clients/view/panels/notes.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/canvas.h"
#include "clients/view/picture/view.h"
#include "clients/view/views.h"
#include "wire/event.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- the command that saves ---- */

static char *poet_program(void)
{
    char path[PATH_MAX];
    return g_strdup(installed_path("bin/poet", X_OK, path, sizeof path) ? path : "poet");
}

static char *source_argument(struct view *view)
{
    const struct source *source = &view->link.source;
    return source->is_file ? g_strdup(source->name)
                           : g_strdup_printf("%.*s#%u", (int)strcspn(source->name, "#"),
                                             source->name, the_book(view)->run.number);
}

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
    g_clear_object(&e->view->exporting);
    bool ok = g_subprocess_communicate_utf8_finish(process, result, NULL, &complaints, &error) &&
              g_subprocess_get_if_exited(process) && g_subprocess_get_exit_status(process) == 0;
    status_busy(&e->view->status, NULL, 0);
    g_strstrip(complaints ? complaints : (complaints = g_strdup("")));
    if (ok)
        status_say(&e->view->status, "Saved %s", e->file);
    else if (error && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        status_trouble(&e->view->status, NULL, "%s: %s", e->file, error->message);
    else if (!error)
        status_trouble(&e->view->status, NULL, "%s", *complaints ? complaints : "it was not saved");
    g_clear_error(&error);
    g_free(complaints);
    free_export(e);
}

bool save_runs(const struct view *view) { return view->exporting != NULL; }

void save_cancel(struct view *view)
{
    g_subprocess_send_signal(view->exporting, SIGINT);
    g_clear_object(&view->exporting);
}

static void export_to(struct view *view, const char *file, bool whole, const char *from,
                      const char *to)
{
    struct export *e = g_new0(struct export, 1);
    GError *error = NULL;
    char *program = poet_program(), *source = source_argument(view);
    int fd = g_file_open_tmp("poet-XXXXXX.view", &e->view_file, &error);
    e->view = view;
    e->file = g_strdup(file);
    if (fd >= 0)
        close(fd);
    GPtrArray *arguments = g_ptr_array_new();
    const char *const always[] = {program, "export", source, "-o", file, "--view", e->view_file};
    for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
        g_ptr_array_add(arguments, (gpointer)(guintptr)always[i]);
    if (whole)
        g_ptr_array_add(arguments, (gpointer)(guintptr) "--all");
    if (from) {
        g_ptr_array_add(arguments, (gpointer)(guintptr) "--from");
        g_ptr_array_add(arguments, (gpointer)(guintptr)from);
        g_ptr_array_add(arguments, (gpointer)(guintptr) "--to");
        g_ptr_array_add(arguments, (gpointer)(guintptr)to);
    }
    g_ptr_array_add(arguments, NULL);
    GSubprocess *process = fd >= 0 && views_write(view, e->view_file, whole || from)
                               ? g_subprocess_newv((const char *const *)arguments->pdata,
                                                   G_SUBPROCESS_FLAGS_STDERR_PIPE, &error)
                               : NULL;
    if (process) {
        status_busy(&view->status, file, -1);
        g_subprocess_communicate_utf8_async(process, NULL, NULL, on_exported, e);
        view->exporting = process;
    } else {
        status_trouble(&view->status, NULL, "%s: %s", file,
                       error ? error->message : "the view could not be written");
        free_export(e);
    }
    g_clear_error(&error);
    g_ptr_array_free(arguments, TRUE);
    g_free(program);
    g_free(source);
}

void save_export(struct view *view, const char *file, bool whole)
{
    export_to(view, file, whole, NULL, NULL);
}

/* From the first note to the last, in the order of the log. */
static bool between_notes(struct view *view, char *from, char *to, size_t size)
{
    struct ref ends[2];
    if (!notes_ends(view, ends))
        return false;
    ref_print(from, size, ends[0]);
    ref_print(to, size, ends[1]);
    return true;
}

static void on_save(GtkNativeDialog *dialog, int response, gpointer data)
{
    struct view *view = data;
    char from[48], to[48];
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *chosen = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        const char *range = gtk_file_chooser_get_choice(GTK_FILE_CHOOSER(dialog), "range");
        char *file = g_file_get_path(chosen);
        bool marks = g_strcmp0(range, "marks") == 0;
        if (marks && !between_notes(view, from, to, sizeof from))
            status_trouble(&view->status, NULL, "Write two notes first (Ctrl+D)");
        else if (file)
            export_to(view, file, g_strcmp0(range, "whole") == 0, marks ? from : NULL, to);
        g_free(file);
        g_object_unref(chosen);
    }
    g_object_unref(dialog);
}

void save_diagram(struct view *view)
{
    static const char *ranges[] = {"seen", "whole", "marks", NULL};
    static const char *labels[] = {"What is seen", "The whole run",
                                   "Between the first and the last note", NULL};
    if (!view->stage.scene || !view->link.has_run) {
        status_say(&view->status, "There is no diagram to save yet");
        return;
    }
    char *name = g_strdup_printf("%s.pdf", the_book(view)->run.name);
    GtkFileChooser *dialog = dialog_chooser(GTK_WINDOW(view->window), "Save the diagram",
                                            GTK_FILE_CHOOSER_ACTION_SAVE, name);
    gtk_file_chooser_add_choice(dialog, "range", "Range", ranges, labels);
    gtk_file_chooser_set_choice(dialog, "range", "seen");
    g_signal_connect(dialog, "response", G_CALLBACK(on_save), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    g_free(name);
}

/* ---- the clipboard ---- */

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
    status_say(&view->status, "Copied the picture");
    g_object_unref(texture);
    g_bytes_unref(bytes);
    cairo_surface_destroy(surface);
}

void save_copy_command(struct view *view)
{
    if (!view->stage.scene)
        return;
    char *directory = views_directory(),
         *name = g_strdup_printf("%016llx.view", (unsigned long long)g_get_real_time());
    char *file = g_build_filename(directory, name, NULL), *source = source_argument(view);
    if (views_write(view, file, false)) {
        char *quoted = g_shell_quote(source), *quoted_file = g_shell_quote(file);
        char *command =
            g_strdup_printf("poet export %s --view %s -o diagram.pdf", quoted, quoted_file);
        gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), command);
        status_say(&view->status, "Copied: %s", command);
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
    if (!view->camera.place.selected.line) {
        status_say(&view->status, "Select an event first");
        return;
    }
    ref_print(at, sizeof at, view->camera.place.selected);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), at);
    status_say(&view->status, "Copied: %s", at);
}

/* Out of the viewer: diagrams, traces, paper, the clipboard, views in files.
 *
 * A diagram is saved by `poet export` from a view in a file, so that it is what that command gives. */
#include "clients/view/view.h"

#include "render/text.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- views ---- */

/* The columns that are seen, as a place that does not follow. */
static void seen_place(const struct view *view, struct place *place)
{
    const struct scene *s = view->stage.scene;
    double right = stage_left(view) + stage_width(view);
    place_copy(place, &view->place);
    if (place->follow || place->anchor == ANCHOR_END)
        place->anchor = ANCHOR_POSITION;
    place->follow = place->far = false;
    place->columns = 1;
    for (uint32_t i = 0; s && i < s->column_count; i++)
        if (s->columns[i].column >= place->from && s->columns[i].x_pt < right)
            place->columns = (uint32_t)(s->columns[i].column - place->from) + 1;
}

static bool write_view(struct view *view, const char *file, bool whole)
{
    struct place place = {0};
    seen_place(view, &place);
    if (whole)
        place.columns = 0;
    FILE *f = fopen(file, "we");
    bool ok = f && place_write(&place, &view->settings.look, the_book(view), view->link.sites, f);
    ok = (!f || fclose(f) == 0) && ok;
    place_free(&place);
    if (!ok)
        window_say(view, "%s: %s", file, g_strerror(errno));
    return ok;
}

/* ---- the command that saves ---- */

static char *poet_program(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *directory = g_path_get_dirname(self);
    char *program = g_build_filename(directory, "..", "..", "bin", "poet", NULL);
    if (!g_file_test(program, G_FILE_TEST_IS_EXECUTABLE)) {
        g_free(program);
        program = g_strdup("poet");
    }
    g_free(directory);
    return program;
}

static char *source_argument(struct view *view)
{
    const struct source *source = &view->link.source;
    return source->is_file ? g_strdup(source->name)
                           : g_strdup_printf("%.*s#%u", (int)strcspn(source->name, "#"), source->name,
                                             the_book(view)->run.number);
}

struct export {
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
    bool ok = g_subprocess_communicate_utf8_finish(process, result, NULL, &complaints, &error) &&
              g_subprocess_get_if_exited(process) && g_subprocess_get_exit_status(process) == 0;
    window_busy(e->view, NULL, 0);
    g_strstrip(complaints ? complaints : (complaints = g_strdup("")));
    if (ok)
        window_say(e->view, "Saved %s", e->file);
    else if (error && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        window_trouble(e->view, NULL, "%s: %s", e->file, error->message);
    else if (!error)
        window_trouble(e->view, NULL, "%s", *complaints ? complaints : "it was not saved");
    g_clear_error(&error);
    g_free(complaints);
    free_export(e);
}

static void export_to(struct view *view, const char *file, bool whole, const char *from, const char *to)
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
        g_ptr_array_add(arguments, (gpointer)(guintptr)"--all");
    if (from) {
        g_ptr_array_add(arguments, (gpointer)(guintptr)"--from");
        g_ptr_array_add(arguments, (gpointer)(guintptr)from);
        g_ptr_array_add(arguments, (gpointer)(guintptr)"--to");
        g_ptr_array_add(arguments, (gpointer)(guintptr)to);
    }
    g_ptr_array_add(arguments, NULL);
    GSubprocess *process =
        fd >= 0 && write_view(view, e->view_file, whole || from)
            ? g_subprocess_newv((const char *const *)arguments->pdata, G_SUBPROCESS_FLAGS_STDERR_PIPE, &error)
            : NULL;
    if (process) {
        window_busy(view, file, -1);
        g_subprocess_communicate_utf8_async(process, NULL, NULL, on_exported, e);
        view->exporting = process;
    } else {
        window_trouble(view, NULL, "%s: %s", file, error ? error->message : "the view could not be written");
        free_export(e);
    }
    g_clear_error(&error);
    g_ptr_array_free(arguments, TRUE);
    g_free(program);
    g_free(source);
}

void save_export(struct view *view, const char *file, bool whole) { export_to(view, file, whole, NULL, NULL); }

bool save_view_to(struct view *view, const char *file) { return write_view(view, file, false); }

/* From the first bookmark to the last, in the order of the log. */
static bool between_bookmarks(struct view *view, char *from, char *to, size_t size)
{
    struct ref ends[2];
    if (!bookmarks_ends(view, ends))
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
        if (marks && !between_bookmarks(view, from, to, sizeof from))
            window_trouble(view, NULL, "Set two bookmarks first (Ctrl+D)");
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
    static const char *labels[] = {"What is seen", "The whole run", "Between the bookmarks", NULL};
    if (!view->stage.scene || !view->link.has_run) {
        window_say(view, "There is no diagram to save yet");
        return;
    }
    char *name = g_strdup_printf("%s.pdf", the_book(view)->run.name);
    GtkFileChooser *dialog = window_chooser(view, "Save the diagram", GTK_FILE_CHOOSER_ACTION_SAVE, name);
    gtk_file_chooser_add_choice(dialog, "range", "Range", ranges, labels);
    gtk_file_chooser_set_choice(dialog, "range", "seen");
    g_signal_connect(dialog, "response", G_CALLBACK(on_save), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    g_free(name);
}

/* ---- the trace ---- */

static void take_bytes(void *user, const struct answer *answer);

static void fetch(struct view *view, uint64_t offset)
{
    struct out body = {0};
    put_u64(&body, offset);
    inquiry_ask(view, &view->fetching, ASK_FETCH, &body, take_bytes);
}

static void end_trace(struct view *view, const char *why)
{
    if (fclose(view->trace) != 0 && !why)
        why = g_strerror(errno);
    view->trace = NULL;
    window_busy(view, NULL, 0);
    if (why)
        window_trouble(view, NULL, "%s: %s", view->save_as, why);
    else
        window_say(view, "Saved %s", view->save_as);
    if (why)
        g_unlink(view->save_as);
}

static void take_bytes(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct in *in = answer->in;
    if (answer->part != PART_BYTES)
        return;
    uint64_t offset = get_u64(in), size = get_u64(in);
    char *why = get_name(in, LIMIT_TEXT_BYTES);
    uint32_t n = get_count(in, 1);
    const uint8_t *bytes = get_bytes(in, n);
    if (view->trace && offset == 0)
        view->trace_size = size; /* as it is now; it may be growing */
    if (!view->trace)
        ;
    else if (!in_done(in) || (why && *why))
        end_trace(view, why && *why ? why : "the answer is damaged");
    else if (n && fwrite(bytes, 1, n, view->trace) != n)
        end_trace(view, g_strerror(errno));
    else if (!n || offset + n >= view->trace_size)
        end_trace(view, NULL);
    else
        fetch(view, offset + n);
    if (view->trace && size)
        window_busy(view, view->save_as, (double)offset / (double)size);
    free(why);
}

void save_trace_to(struct view *view, const char *file)
{
    char *own = the_book(view)->run.file ? g_canonicalize_filename(the_book(view)->run.file, NULL) : NULL;
    if (file != view->save_as) {
        g_free(view->save_as);
        view->save_as = g_strdup(file);
    }
    if (g_strcmp0(own, view->save_as) == 0)
        window_say(view, "%s is the trace itself", view->save_as);
    else if ((view->trace = fopen(view->save_as, "wbe")) != NULL)
        fetch(view, 0);
    else
        window_trouble(view, NULL, "%s: %s", view->save_as, g_strerror(errno));
    g_free(own);
}

static void on_save_trace(GtkNativeDialog *dialog, int response, gpointer data)
{
    struct view *view = data;
    if (response == GTK_RESPONSE_ACCEPT && view->link.connected && !view->trace) {
        GFile *chosen = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        char *file = g_file_get_path(chosen);
        if (file)
            save_trace_to(view, file);
        g_free(file);
        g_object_unref(chosen);
    }
    g_object_unref(dialog);
}

void save_trace(struct view *view)
{
    if (!view->link.connected || !view->link.has_run) {
        window_say(view, "There is no trace to save");
        return;
    }
    char *name = g_strdup_printf("%s.poet", the_book(view)->run.name);
    GtkFileChooser *dialog = window_chooser(view, "Save the trace", GTK_FILE_CHOOSER_ACTION_SAVE, name);
    g_signal_connect(dialog, "response", G_CALLBACK(on_save_trace), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    g_free(name);
}

/* ---- what is seen, as a scene of its own ---- */

static struct scene *seen_scene(struct view *view, bool measured)
{
    struct scene_options options = {.title = the_book(view)->run.name,
                                    .legend = view->settings.look.legend,
                                    .vertical = stage_vertical(view) && measured,
                                    .column_ns = view->place.column_ns,
                                    .squeeze = view->settings.look.squeeze,
                                    .threshold_ns = view->settings.look.threshold_ns,
                                    .measure = measured ? lettering_width : NULL};
    return scene_build(&view->print, the_book(view), &options);
}

static struct page_options page_of(struct view *view, GtkPrintContext *context)
{
    struct page_options page = {.format = PAGE_PDF, .title = the_book(view)->run.name,
                                .theme = stage_theme(view), .selection = stage_selection(view),
                                .paper_width_pt = gtk_print_context_get_width(context),
                                .paper_height_pt = gtk_print_context_get_height(context)};
    page.theme.dark = false;
    return page;
}

static void on_begin_print(GtkPrintOperation *operation, GtkPrintContext *context, gpointer data)
{
    struct view *view = data;
    struct page_options page = page_of(view, context);
    view->print_scene = seen_scene(view, true);
    gtk_print_operation_set_n_pages(operation, (int)page_count(view->print_scene, &page));
}

static void on_draw_page(GtkPrintOperation *operation, GtkPrintContext *context, int number, gpointer data)
{
    struct view *view = data;
    struct page_options page = page_of(view, context);
    (void)operation;
    page_paint(gtk_print_context_get_cairo_context(context), view->print_scene, &page, (unsigned)number);
}

static void on_end_print(GtkPrintOperation *operation, GtkPrintContext *context, gpointer data)
{
    struct view *view = data;
    (void)operation;
    (void)context;
    scene_free(view->print_scene);
    view->print_scene = NULL;
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
                                GTK_WINDOW(view->window), &error) == GTK_PRINT_OPERATION_RESULT_ERROR)
        window_trouble(view, NULL, "Printing: %s", error->message);
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
    window_say(view, "Copied %zu bytes of text", size);
    scene_free(scene);
    free(text);
}

static void write_scene_now(struct view *view)
{
    const struct place *p = &view->place;
    struct scene *scene = p->far ? NULL : seen_scene(view, true);
    FILE *f = fopen(view->scene_file, "we");
    if (f) {
        fprintf(f, "from %d shift %.3f rise %.3f zoom %.4f time %llu follow %d far %d %.1f %.1f\n", p->from,
                p->shift_pt, p->rise_pt, p->zoom, (unsigned long long)p->column_ns, p->follow, p->far,
                p->far_from, p->far_to);
        if (scene)
            scene_print(scene, f);
        fclose(f);
    }
    scene_free(scene);
}

/* The window that was asked for is here. */
void save_print_window(struct view *view)
{
    if (view->print_for == PRINT_TEXT)
        copy_text_now(view);
    else if (view->print_for == PRINT_SCENE)
        write_scene_now(view);
    else
        print_now(view);
}

void save_scene(struct view *view, const char *file)
{
    g_free(view->scene_file);
    view->scene_file = g_strdup(file);
    view->print_for = PRINT_SCENE;
    if (view->place.far)
        write_scene_now(view);
    else
        link_print(view);
}

static void ask(struct view *view, enum print_for what)
{
    if (!view->stage.scene || !view->link.connected || view->place.far) {
        window_say(view, view->place.far ? "Zoom in to the marks first" : "There is no picture yet");
        return;
    }
    view->print_for = what;
    link_print(view);
}

void save_print(struct view *view) { ask(view, PRINT_PAPER); }
void save_copy_text(struct view *view) { ask(view, PRINT_TEXT); }

/* ---- the clipboard ---- */

void save_copy_image(struct view *view)
{
    int scale = 2, width = gtk_widget_get_width(view->canvas), height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    canvas_draw(view, cr, width, height);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    int stride = cairo_image_surface_get_stride(surface);
    GBytes *bytes = g_bytes_new(cairo_image_surface_get_data(surface), (gsize)stride * (gsize)(height * scale));
    GdkTexture *texture = gdk_memory_texture_new(width * scale, height * scale, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED,
                                                 bytes, (gsize)stride);
    gdk_clipboard_set_texture(gtk_widget_get_clipboard(view->canvas), texture);
    window_say(view, "Copied the picture");
    g_object_unref(texture);
    g_bytes_unref(bytes);
    cairo_surface_destroy(surface);
}

static char *views_directory(void)
{
    char *directory = g_build_filename(g_get_user_state_dir(), "poet", "views", NULL);
    g_mkdir_with_parents(directory, 0700);
    return directory;
}

void save_copy_command(struct view *view)
{
    if (!view->stage.scene)
        return;
    char *directory = views_directory(), *name = g_strdup_printf("%016llx.view",
        (unsigned long long)g_get_real_time());
    char *file = g_build_filename(directory, name, NULL), *source = source_argument(view);
    if (write_view(view, file, false)) {
        char *quoted = g_shell_quote(source), *quoted_file = g_shell_quote(file);
        char *command = g_strdup_printf("poet export %s --view %s -o diagram.pdf", quoted, quoted_file);
        gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), command);
        window_say(view, "Copied: %s", command);
        g_free(command);
        g_free(quoted);
        g_free(quoted_file);
    }
    g_free(source);
    g_free(file);
    g_free(name);
    g_free(directory);
}

/* ---- views in files ---- */

static bool load(struct view *view, const char *file)
{
    struct place place = {0};
    struct look look = view->settings.look;
    struct error error;
    if (!place_read(&place, &look, the_book(view), view->link.sites, file, &error)) {
        window_trouble(view, NULL, "%s", error.text);
        return false;
    }
    history_mark(view, "load");
    if (!place.columns) { /* of another run: its rows alone, where we are */
        struct place here = {0};
        place_copy(&here, &view->place);
        g_free(here.rows);
        here.rows = place.rows;
        here.row_count = place.row_count;
        here.fold = place.fold;
        place.rows = NULL;
        place_free(&place);
        place = here;
    }
    view->settings.look = look;
    label_again(the_book(view), view->link.sites, &view->link.known, look.labels);
    place_copy(&view->place, &place);
    place_free(&place);
    link_window(view);
    map_ask(view);
    settings_apply(view);
    return true;
}

static void on_view(GtkNativeDialog *dialog, int response, gpointer data)
{
    struct view *view = data;
    bool saves = gtk_file_chooser_get_action(GTK_FILE_CHOOSER(dialog)) == GTK_FILE_CHOOSER_ACTION_SAVE;
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *chosen = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        char *file = g_file_get_path(chosen);
        if (saves && write_view(view, file, false))
            window_say(view, "Saved %s", file);
        else if (!saves)
            load(view, file);
        g_free(file);
        g_object_unref(chosen);
    }
    g_object_unref(dialog);
}

static void view_dialog(struct view *view, GtkFileChooserAction action)
{
    if (!view->link.has_run)
        return;
    char *name = g_strdup_printf("%s.view", the_book(view)->run.name);
    bool saves = action == GTK_FILE_CHOOSER_ACTION_SAVE;
    GtkFileChooser *dialog = window_chooser(view, saves ? "Save the view" : "Load a view", action, saves ? name : NULL);
    g_signal_connect(dialog, "response", G_CALLBACK(on_view), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    g_free(name);
}

void save_view(struct view *view) { view_dialog(view, GTK_FILE_CHOOSER_ACTION_SAVE); }
void save_load_view(struct view *view) { view_dialog(view, GTK_FILE_CHOOSER_ACTION_OPEN); }

/* ---- for the next run of the program ---- */

static char *arrangement_file(struct view *view)
{
    char *directory = views_directory(), *name = g_strdup(the_book(view)->run.name);
    g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.", '_');
    char *with = g_strdup_printf("program-%s.view", name), *file = g_build_filename(directory, with, NULL);
    g_free(with);
    g_free(name);
    g_free(directory);
    return file;
}

void save_arrangement(struct view *view)
{
    if (!view->place.row_count || !the_book(view)->run.name)
        return;
    char *file = arrangement_file(view);
    write_view(view, file, false);
    g_free(file);
}

bool save_offer_arrangement(struct view *view)
{
    char *file = arrangement_file(view);
    bool there = g_file_test(file, G_FILE_TEST_EXISTS);
    if (there)
        window_offer(view, "As _last time", "The lines of this program were arranged the last time.");
    g_free(file);
    return there;
}

void save_apply_arrangement(struct view *view)
{
    char *file = arrangement_file(view);
    load(view, file);
    g_free(file);
}

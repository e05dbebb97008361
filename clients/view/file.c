#include "clients/view/view.h"

#include <string.h>

static void on_open(GtkNativeDialog *dialog, int response, gpointer data)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        char *path = g_file_get_path(file);
        if (path)
            link_open(data, path);
        g_free(path);
        g_object_unref(file);
    }
    g_object_unref(dialog);
}

void file_open(struct view *view)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        "Open a trace", GTK_WINDOW(view->window), GTK_FILE_CHOOSER_ACTION_OPEN, "_Open", "_Cancel");
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Poet traces (*.poet)");
    gtk_file_filter_add_pattern(filter, "*.poet");
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    g_object_unref(filter);
    g_signal_connect(dialog, "response", G_CALLBACK(on_open), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void on_endpoint(GtkEntry *entry, gpointer data)
{
    struct view *view = data;
    GtkWidget *popup = GTK_WIDGET(gtk_widget_get_root(GTK_WIDGET(entry)));
    char *what = g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry)));
    gtk_window_destroy(GTK_WINDOW(popup));
    if (*what && !endpoint_is(what))
        window_say(view, "%s: write unix:PATH or tcp:HOST:PORT", what);
    else
        link_open(view, *what ? what : NULL);
    g_free(what);
}

void file_connect(struct view *view)
{
    GtkWidget *popup = gtk_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8);
    GtkWidget *label = gtk_label_new("Endpoint of an event server; empty for the default one"),
              *entry = gtk_entry_new();
    char endpoint[400] = "";
    struct error error;
    if (endpoint_default(endpoint, sizeof endpoint, &error))
        gtk_entry_set_placeholder_text(GTK_ENTRY(entry), endpoint);
    gtk_window_set_title(GTK_WINDOW(popup), "Connect to a server");
    gtk_window_set_transient_for(GTK_WINDOW(popup), GTK_WINDOW(view->window));
    gtk_window_set_modal(GTK_WINDOW(popup), TRUE);
    gtk_widget_set_size_request(entry, 420, -1);
    g_object_set(box, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14,
                 NULL);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), entry);
    gtk_window_set_child(GTK_WINDOW(popup), box);
    g_signal_connect(entry, "activate", G_CALLBACK(on_endpoint), view);
    gtk_window_present(GTK_WINDOW(popup));
}

static const char *write_scene(struct view *view, struct shown_window *window, const char *path)
{
    struct scene_options options = {.title = view->source.book.run.name, .legend = true,
                                    .measure = lettering_width};
    struct scene *scene = scene_build(window, &view->source.book, &options);
    if (!scene)
        return "out of memory";
    struct page_options page = {.title = view->source.book.run.name,
                                .date = (time_t)(view->source.book.run.wall_ns / 1000000000u)};
    page.format = g_str_has_suffix(path, ".svg")   ? PAGE_SVG
                  : g_str_has_suffix(path, ".png") ? PAGE_PNG
                                                   : PAGE_PDF;
    if (page.format == PAGE_PDF &&
        (scene->column_count > 400 || scene->width_pt > PAGE_LIMIT_PT ||
         scene->height_pt > PAGE_LIMIT_PT)) {
        page.paper_width_pt = 841.89;
        page.paper_height_pt = 595.28;
    }
    const char *why = page_write(scene, &page, path);
    scene_free(scene);
    return why;
}

void file_write(struct view *view, struct shown_window *window)
{
    const char *why = write_scene(view, window, view->save_path);
    if (why)
        window_say(view, "%s: %s", view->save_path, why);
    else
        window_say(view, "Saved %s", view->save_path);
    if (window != &view->shown)
        shown_window_free(window);
}

static void on_save(GtkNativeDialog *dialog, int response, gpointer data)
{
    struct view *view = data;
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        const char *range = gtk_file_chooser_get_choice(GTK_FILE_CHOOSER(dialog), "range");
        g_free(view->save_path);
        view->save_path = g_file_get_path(file);
        g_object_unref(file);
        if (range && strcmp(range, "seen") == 0)
            file_write(view, &view->shown);
        else
            link_ask_save(view);
    }
    g_object_unref(dialog);
}

void file_save(struct view *view)
{
    static const char *ranges[] = {"whole", "seen", NULL};
    static const char *labels[] = {"The whole run", "What is seen", NULL};
    if (!view->scene) {
        window_say(view, "There is no diagram to save yet");
        return;
    }
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        "Save the diagram", GTK_WINDOW(view->window), GTK_FILE_CHOOSER_ACTION_SAVE, "_Save",
        "_Cancel");
    char *name = g_strdup_printf("%s.pdf", view->source.book.run.name);
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    gtk_file_chooser_add_choice(GTK_FILE_CHOOSER(dialog), "range", "Range", ranges, labels);
    gtk_file_chooser_set_choice(GTK_FILE_CHOOSER(dialog), "range", "whole");
    char *directory = g_get_current_dir();
    GFile *here = g_file_new_for_path(directory);
    gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(dialog), here, NULL);
    g_object_unref(here);
    g_free(directory);
    g_free(name);
    g_signal_connect(dialog, "response", G_CALLBACK(on_save), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

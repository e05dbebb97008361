#include "clients/viewer/state/compat.h"

#define ASKED "compat-asked"

/* An open dialog; freed when it ends. */
struct compat_dialog {
    GtkWindow *parent; /* refers to this by ASKED; NULL: destroyed */
    void (*answer)(void *user, const char *path);
    void *user;
    gulong parent_gone;
    /* closes the dialog: a GCancellable; before GTK 4.10, the dialog itself */
    GObject *dialog;
};

static GtkFileFilter *filter_new(const struct compat_file *file)
{
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, file->kind);
    gtk_file_filter_add_pattern(filter, file->pattern);
    return filter;
}

static GFile *working_directory(void)
{
    char *path = g_get_current_dir();
    GFile *directory = g_file_new_for_path(path);
    g_free(path);
    return directory;
}

static struct compat_dialog *compat_dialog_new_state(const struct compat_file *file,
                                                     void (*answer)(void *user, const char *path),
                                                     void *user)
{
    struct compat_dialog *asked = g_new0(struct compat_dialog, 1);
    *asked = (struct compat_dialog){.parent = file->parent, .answer = answer, .user = user};
    g_object_set_data(G_OBJECT(file->parent), ASKED, asked);
    return asked;
}

static void compat_dialog_detach(struct compat_dialog *asked)
{
    g_signal_handler_disconnect(asked->parent, asked->parent_gone);
    g_object_set_data(G_OBJECT(asked->parent), ASKED, NULL);
    asked->parent = NULL;
}

static void compat_dialog_free(struct compat_dialog *asked)
{
    g_object_unref(asked->dialog);
    g_free(asked);
}

static void compat_dialog_answer(struct compat_dialog *asked, GFile *file)
{
    struct compat_dialog was = *asked;
    char *path = file ? g_file_get_path(file) : NULL;
    if (asked->parent)
        compat_dialog_detach(asked);
    compat_dialog_free(asked);
    if (was.parent)
        was.answer(was.user, path);
    g_free(path);
}

#if GTK_CHECK_VERSION(4, 10, 0)

static void on_parent_gone(GtkWidget *parent, gpointer data)
{
    struct compat_dialog *asked = data;
    (void)parent;
    compat_dialog_detach(asked);
    g_cancellable_cancel(G_CANCELLABLE(asked->dialog));
}

static void on_opened(GObject *dialog, GAsyncResult *result, gpointer data)
{
    GFile *file = gtk_file_dialog_open_finish(GTK_FILE_DIALOG(dialog), result, NULL);
    compat_dialog_answer(data, file);
    g_clear_object(&file);
}

static void on_saved(GObject *dialog, GAsyncResult *result, gpointer data)
{
    GFile *file = gtk_file_dialog_save_finish(GTK_FILE_DIALOG(dialog), result, NULL);
    compat_dialog_answer(data, file);
    g_clear_object(&file);
}

static void set_filter(GtkFileDialog *dialog, const struct compat_file *file)
{
    GListStore *filters = g_list_store_new(GTK_TYPE_FILE_FILTER);
    GtkFileFilter *filter = filter_new(file);
    g_list_store_append(filters, filter);
    gtk_file_dialog_set_filters(dialog, G_LIST_MODEL(filters));
    g_object_unref(filter);
    g_object_unref(filters);
}

static void dialog_show(const struct compat_file *file, struct compat_dialog *asked)
{
    GtkFileDialog *dialog = gtk_file_dialog_new();
    GCancellable *ends = g_cancellable_new();
    GFile *here = working_directory();
    asked->dialog = G_OBJECT(ends);
    gtk_file_dialog_set_title(dialog, file->title);
    gtk_file_dialog_set_initial_folder(dialog, here);
    if (file->name)
        gtk_file_dialog_set_initial_name(dialog, file->name);
    if (file->pattern)
        set_filter(dialog, file);
    if (file->saves)
        gtk_file_dialog_save(dialog, file->parent, ends, on_saved, asked);
    else
        gtk_file_dialog_open(dialog, file->parent, ends, on_opened, asked);
    g_object_unref(here);
    g_object_unref(dialog);
}

void compat_show_file(GtkWindow *parent, const char *path)
{
    GFile *file = g_file_new_for_path(path);
    GtkFileLauncher *launcher = gtk_file_launcher_new(file);
    gtk_file_launcher_launch(launcher, parent, NULL, NULL, NULL);
    g_object_unref(launcher);
    g_object_unref(file);
}

#else

static void on_parent_gone(GtkWidget *parent, gpointer data)
{
    struct compat_dialog *asked = data;
    (void)parent;
    compat_dialog_detach(asked);
    gtk_native_dialog_destroy(GTK_NATIVE_DIALOG(asked->dialog));
    compat_dialog_free(asked);
}

static void on_response(GtkNativeDialog *dialog, int response, gpointer data)
{
    GFile *file = response == GTK_RESPONSE_ACCEPT
                      ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                      : NULL;
    compat_dialog_answer(data, file);
    g_clear_object(&file);
}

static void add_folder(GtkFileChooser *dialog, const char *path)
{
    GFile *folder = g_file_new_for_path(path);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        gtk_file_chooser_add_shortcut_folder(dialog, folder, NULL);
    g_object_unref(folder);
}

static void dialog_show(const struct compat_file *file, struct compat_dialog *asked)
{
    GtkFileChooserNative *native = gtk_file_chooser_native_new(
        file->title, file->parent,
        file->saves ? GTK_FILE_CHOOSER_ACTION_SAVE : GTK_FILE_CHOOSER_ACTION_OPEN,
        file->saves ? "_Save" : "_Open", "_Cancel");
    GtkFileChooser *dialog = GTK_FILE_CHOOSER(native);
    GFile *here = working_directory();
    asked->dialog = G_OBJECT(native);
    gtk_file_chooser_set_current_folder(dialog, here, NULL);
    if (file->name)
        gtk_file_chooser_set_current_name(dialog, file->name);
    if (file->pattern) {
        GtkFileFilter *filter = filter_new(file);
        gtk_file_chooser_add_filter(dialog, filter);
        g_object_unref(filter);
    }
    if (file->folder)
        add_folder(dialog, file->folder);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(native), TRUE);
    g_signal_connect(native, "response", G_CALLBACK(on_response), asked);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(native));
    g_object_unref(here);
}

void compat_show_file(GtkWindow *parent, const char *path)
{
    char *uri = g_filename_to_uri(path, NULL, NULL);
    gtk_show_uri(parent, uri, GDK_CURRENT_TIME);
    g_free(uri);
}

#endif

void compat_choose_file(const struct compat_file *file,
                        void (*answer)(void *user, const char *path), void *user)
{
    if (g_object_get_data(G_OBJECT(file->parent), ASKED))
        return;
    struct compat_dialog *asked = compat_dialog_new_state(file, answer, user);
    asked->parent_gone =
        g_signal_connect(file->parent, "destroy", G_CALLBACK(on_parent_gone), asked);
    dialog_show(file, asked);
}

void compat_load_css(GtkCssProvider *provider, const char *css)
{
#if GTK_CHECK_VERSION(4, 12, 0)
    gtk_css_provider_load_from_string(provider, css);
#else
    gtk_css_provider_load_from_data(provider, css, -1);
#endif
}

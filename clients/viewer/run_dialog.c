#include "clients/viewer/run_dialog.h"

#include "clients/viewer/dialogs.h"
#include "clients/viewer/measurement_form.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/toast.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/program_start.h"
#include "config/description_path.h"
#include "config/metric_rules.h"
#include "config/description_read.h"
#include "config/target.h"
#include "wire/request_body.h"
#include "wire/profile_region.h"

#include <stdlib.h>

struct run_dialog {
    struct view *view;
    GtkWidget *window, *program, *arguments, *directory, *wrong;
    struct measurement_form *form;
};

/* The last input, kept while the viewer runs. */
static struct {
    char *program, *arguments, *directory;
    struct measurement_spec measure;
    bool known;
} last = {.measure = {.wanted = WANTED_METERS, .waits = true}};

static const char *text_view_of(GtkWidget *entry)
{
    return gtk_editable_get_text(GTK_EDITABLE(entry));
}

static void run_dialog_keep_text(char **kept, const char *text)
{
    g_free(*kept);
    *kept = g_strdup(text);
}

static void run_dialog_show_problem(struct run_dialog *r, char *wrong)
{
    gtk_label_set_text(GTK_LABEL(r->wrong), wrong);
    gtk_widget_set_visible(r->wrong, TRUE);
    g_free(wrong);
}

static void on_start(GtkWidget *widget, gpointer data)
{
    struct run_dialog *r = data;
    (void)widget;
    run_dialog_keep_text(&last.program, text_view_of(r->program));
    run_dialog_keep_text(&last.arguments, text_view_of(r->arguments));
    run_dialog_keep_text(&last.directory, text_view_of(r->directory));
    char *wrong = measurement_form_problem(r->form);
    if (wrong) {
        run_dialog_show_problem(r, g_strdup(wrong));
        free(wrong);
        return;
    }
    measurement_spec_free(&last.measure);
    last.measure = measurement_form_get(r->form);
    wrong = program_start_begin(r->view, &(struct program_start){last.program, last.arguments,
                                                                 last.directory, last.measure});
    if (wrong)
        run_dialog_show_problem(r, wrong);
    else
        gtk_window_destroy(GTK_WINDOW(r->window));
}

/* ---- saving as a file ---- */

static void on_file(void *user, const char *path)
{
    struct run_dialog *r = user;
    if (!path)
        return;
    struct measurement_spec measure = measurement_form_get(r->form);
    char *text = measurement_spec_write(&measure), *wrong = measurement_form_problem(r->form);
    GError *error = NULL;
    if (wrong) {
        run_dialog_show_problem(r, g_strdup(wrong));
    } else if (!g_file_set_contents(path, text, -1, &error)) {
        run_dialog_show_problem(r, g_strdup(error->message));
        g_error_free(error);
    }
    measurement_spec_free(&measure);
    free(wrong);
    free(text);
}

static void on_save(GtkButton *button, gpointer data)
{
    struct run_dialog *r = data;
    (void)button;
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(r->window),
                                             .title = "Save as",
                                             .saves = true,
                                             .name = "meters.conf"},
                       on_file, r);
}

/* ---- window ---- */

/* Adds the metrics of a target description. */
static void add_described(void *user, const char *name)
{
    GPtrArray *names = user;
    char *path = NULL, *text = target_load(name, &path);
    struct target *target = text ? target_read(text, name, NULL) : NULL;
    for (size_t i = 0; target && i < target->meter_count; i++)
        if (!g_ptr_array_find_with_equal_func(names, target->meters[i].name, g_str_equal, NULL))
            g_ptr_array_add(names, g_strdup(target->meters[i].name));
    target_free(target);
    free(text);
    free(path);
}

static GtkWidget *run_dialog_new_described_label(void)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    target_each(add_described, names);
    guint count = names->len;
    g_ptr_array_add(names, NULL);
    char *all = g_strjoinv(", ", (char **)names->pdata),
         *sentence = g_strdup_printf("Always included, from target descriptions: %s", all);
    GtkWidget *label = gtk_label_new(count ? sentence : "");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_widget_add_css_class(label, "dim-label");
    g_free(sentence);
    g_free(all);
    g_ptr_array_unref(names);
    return label;
}

static GtkWidget *entry_new(struct run_dialog *r, const char *text)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), text ? text : "");
    g_signal_connect(entry, "activate", G_CALLBACK(on_start), r);
    return entry;
}

static GtkWidget *run_dialog_program_names(struct run_dialog *r)
{
    GtkWidget *grid = gtk_grid_new();
    char *here = g_get_current_dir();
    r->program = entry_new(r, last.program);
    r->arguments = entry_new(r, last.arguments);
    r->directory = entry_new(r, last.directory ? last.directory : here);
    g_free(here);
    gtk_widget_set_size_request(r->program, 420, -1);
    g_object_set(grid, "row-spacing", 6, "column-spacing", 12, NULL);
    measurement_form_add_row(grid, 0, "Pro_gram", r->program);
    measurement_form_add_row(grid, 1, "_Arguments", r->arguments);
    measurement_form_add_row(grid, 2, "_Directory", r->directory);
    return grid;
}

static GtkWidget *run_dialog_new_button(const char *title, GCallback does, struct run_dialog *r,
                                        bool suggested)
{
    GtkWidget *b = gtk_button_new_with_mnemonic(title);
    if (suggested)
        gtk_widget_add_css_class(b, "suggested-action");
    g_signal_connect(b, "clicked", does, r);
    return b;
}

static void on_cancel(GtkButton *b, gpointer data)
{
    struct run_dialog *r = data;
    (void)b;
    gtk_window_destroy(GTK_WINDOW(r->window));
}

static struct run_dialog *run_dialog_new_window(struct view *view, const char *title,
                                                GtkWidget *box)
{
    struct run_dialog *r = g_new0(struct run_dialog, 1);
    r->view = view;
    r->window = dialog_new(view, title);
    r->wrong = g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_ALERT, NULL);
    gtk_label_set_xalign(GTK_LABEL(r->wrong), 0);
    gtk_label_set_wrap(GTK_LABEL(r->wrong), TRUE);
    gtk_widget_add_css_class(r->wrong, "error");
    gtk_widget_set_visible(r->wrong, FALSE);
    g_object_set(box, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14,
                 NULL);
    gtk_window_set_modal(GTK_WINDOW(r->window), TRUE);
    gtk_window_set_child(GTK_WINDOW(r->window), box);
    g_object_set_data_full(G_OBJECT(r->window), "running", r, g_free);
    return r;
}

void run_dialog_show(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12),
              *fields = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12),
              *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    struct run_dialog *r = run_dialog_new_window(view, "Run program", box);
    r->form = measurement_form_new(&last.measure, true);
    gtk_widget_set_halign(buttons, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("Save as _file…", G_CALLBACK(on_save), r, false));
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("Cance_l", G_CALLBACK(on_cancel), r, false));
    gtk_box_append(GTK_BOX(buttons), run_dialog_new_button("_Run", G_CALLBACK(on_start), r, true));
    gtk_box_append(GTK_BOX(fields), run_dialog_program_names(r));
    gtk_box_append(GTK_BOX(fields), measurement_form_widget(r->form));
    gtk_box_append(GTK_BOX(fields), run_dialog_new_described_label());
    gtk_box_append(GTK_BOX(box), dialog_scrolled(fields));
    gtk_box_append(GTK_BOX(box), r->wrong);
    gtk_box_append(GTK_BOX(box), buttons);
    gtk_window_present(GTK_WINDOW(r->window));
    gtk_widget_grab_focus(r->program);
}

/* ---- settings of a running program ---- */

#define CHANGEABLE                                                                                 \
    (WANTED_COUNTS | WANTED_REAL | WANTED_CPU | WANTED_EVERY | WANTED_STATES | WANTED_METERS |     \
     WANTED_THROTTLE)

static void run_dialog_on_metrics_table(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    if (answer->part != RESPONSE_MEASURED_PROGRAMS)
        return;
    bool any = decode_u32(answer->in) != 0;
    toast_show(&view->toast,
               any ? "The new settings are in effect" : "No program of this run is connected", NULL,
               NULL, NULL);
}

static void on_apply(GtkWidget *widget, gpointer data)
{
    struct run_dialog *r = data;
    (void)widget;
    struct measurement_spec measure = measurement_form_get(r->form);
    struct measurement_request request = {.mask = CHANGEABLE, .bits = measure.wanted & CHANGEABLE};
    struct encoder body = {0};
    encode_measurement_request(&body, &request);
    if (!server_link_request(&r->view->server_link, REQUEST_SET_MEASUREMENT, &body,
                             run_dialog_on_metrics_table, r->view)) {
        run_dialog_show_problem(r, g_strdup("Not connected to a server."));
        return;
    }
    last.measure.wanted = measure.wanted; /* the rest was chosen at the start */
    last.measure.waits = measure.waits;
    gtk_window_destroy(GTK_WINDOW(r->window));
}

/* For a run without connected programs: it is too late for changes, and the initial settings are
 * not stored. */
static void run_dialog_show_run_over(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12),
              *label = gtk_label_new("No program of this run is connected: its settings cannot be "
                                     "changed. A trace does not record its initial settings; the "
                                     "results are in the analysis pane (F6)."),
              *close;
    struct run_dialog *r = run_dialog_new_window(view, "Measurement settings", box);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 48);
    close = run_dialog_new_button("_Close", G_CALLBACK(on_cancel), r, true);
    gtk_widget_set_halign(close, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), r->wrong);
    gtk_box_append(GTK_BOX(box), close);
    gtk_window_present(GTK_WINDOW(r->window));
    gtk_widget_grab_focus(close);
}

void run_dialog_edit_measurement(struct view *view)
{
    if (!view->server_link.has_run || !view_metadata(view)->run.connected) {
        run_dialog_show_run_over(view);
        return;
    }
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12),
              *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    struct run_dialog *r = run_dialog_new_window(view, "Measurement settings", box);
    r->form = measurement_form_new(&last.measure, false);
    gtk_widget_set_halign(buttons, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("Cance_l", G_CALLBACK(on_cancel), r, false));
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("A_pply", G_CALLBACK(on_apply), r, true));
    gtk_box_append(GTK_BOX(box), measurement_form_widget(r->form));
    gtk_box_append(GTK_BOX(box), r->wrong);
    gtk_box_append(GTK_BOX(box), buttons);
    gtk_window_present(GTK_WINDOW(r->window));
}

/* The dialog that starts a program, and the one for the measurements of a running program. */
#include "clients/viewer/dialogs.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/program_start.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "config/description_path.h"
#include "config/description_read.h"
#include "config/metric_rules.h"
#include "config/target.h"
#include "wire/endpoint.h"
#include "wire/profile_region.h"
#include "wire/request.h"

#include <stdlib.h>

/* ---- form for what is measured: statistical and exact measurements with their options ---- */

#define FORM_COUNTS WANTED_COUNTS
#define FORM_REAL (FORM_COUNTS | WANTED_REAL)
#define FORM_CPU (FORM_REAL | WANTED_CPU)
#define FORM_EVERY (FORM_CPU | WANTED_EVERY)

/* Levels of measuring calls, of which one is chosen. */
static const struct {
    const char *title;
    uint32_t wanted;
} form_levels[] = {{"_Off", 0},
                   {"Co_unts", FORM_COUNTS},
                   {"R_eal time", FORM_REAL},
                   {"Real time and _CPU", FORM_CPU},
                   {"E_very call", FORM_EVERY}};
#define FORM_LEVELS G_N_ELEMENTS(form_levels)

static const struct {
    const char *title, *tip;
    uint32_t wanted; /* 0: waits, which follow from the order */
} form_switches[] = {
    {"S_tates", "CPU state at each event", WANTED_STATES},
    {"_Memory", "Heap allocations not freed", WANTED_MEMORY},
    {"_Waits", "Wait causes; derived from the event order, no overhead", 0},
    {"Program-defi_ned metrics", "Metrics that the program records (poet.h)", WANTED_METERS},
    {"S_ystem resources", "OS resource usage, reported by threads and programs at exit",
     WANTED_USAGE},
    {"T_hrottle", "Stop timing hot, short functions (count only)", WANTED_THROTTLE},
    {"Calls of libraries", "Also calls of libraries' functions by measured code",
     WANTED_LIBRARIES}};
#define FORM_SWITCHES G_N_ELEMENTS(form_switches)

struct measurement_form {
    GtkWidget *box, *sampled, *rate;
    GtkWidget *level[FORM_LEVELS], *on[FORM_SWITCHES], *list[MEASURE_LISTS];
};

/* Adds a label above or before a widget, which names it for keyboard and screen-reader users. */
static void form_add_row(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget)
{
    GtkWidget *label = gtk_label_new_with_mnemonic(mnemonic);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
    accessible_name_from(widget, label);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *form_new_frame(const char *title, GtkWidget *child)
{
    GtkWidget *frame = gtk_frame_new(title);
    g_object_set(child, "margin-top", 8, "margin-bottom", 8, "margin-start", 10, "margin-end", 10,
                 NULL);
    gtk_frame_set_child(GTK_FRAME(frame), child);
    return frame;
}

static void form_on_sampled(GtkCheckButton *button, gpointer data)
{
    gtk_widget_set_sensitive(data, gtk_check_button_get_active(button));
}

static GtkWidget *form_new_sampling_box(struct measurement_form *f,
                                        const struct measurement_spec *first)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    f->sampled = gtk_check_button_new_with_mnemonic("Sam_ples per second:");
    f->rate = gtk_spin_button_new_with_range(1, MEASURE_RATE_MOST, 1);
    gtk_check_button_set_active(GTK_CHECK_BUTTON(f->sampled), first->rate != 0);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(f->rate), first->rate ? first->rate : 100);
    gtk_widget_set_sensitive(f->rate, first->rate != 0);
    accessible_name_set(f->rate, "Samples per second, 1 to 1000");
    g_signal_connect(f->sampled, "toggled", G_CALLBACK(form_on_sampled), f->rate);
    gtk_box_append(GTK_BOX(box), f->sampled);
    gtk_box_append(GTK_BOX(box), f->rate);
    return form_new_frame("Statistical", box);
}

static GtkWidget *form_new_calls_box(struct measurement_form *f, uint32_t wanted)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
    size_t chosen = 0;
    gtk_box_append(GTK_BOX(box), gtk_label_new("Calls:"));
    for (size_t i = 0; i < FORM_LEVELS; i++) {
        f->level[i] = gtk_check_button_new_with_mnemonic(form_levels[i].title);
        gtk_check_button_set_group(GTK_CHECK_BUTTON(f->level[i]),
                                   i ? GTK_CHECK_BUTTON(f->level[0]) : NULL);
        gtk_box_append(GTK_BOX(box), f->level[i]);
        if ((wanted & form_levels[i].wanted) == form_levels[i].wanted)
            chosen = i;
    }
    gtk_check_button_set_active(GTK_CHECK_BUTTON(f->level[chosen]), TRUE);
    gtk_widget_set_tooltip_text(box, "Needs programs compiled with poetcc -profile or "
                                     "-finstrument-functions");
    return box;
}

static GtkWidget *form_new_exact_box(struct measurement_form *f,
                                     const struct measurement_spec *first)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    gtk_box_append(GTK_BOX(box), form_new_calls_box(f, first->wanted));
    for (size_t i = 0; i < FORM_SWITCHES; i++) {
        bool on = form_switches[i].wanted ? first->wanted & form_switches[i].wanted : first->waits;
        f->on[i] = gtk_check_button_new_with_mnemonic(form_switches[i].title);
        gtk_check_button_set_active(GTK_CHECK_BUTTON(f->on[i]), on);
        gtk_widget_set_tooltip_text(f->on[i], form_switches[i].tip);
        gtk_box_append(GTK_BOX(box), f->on[i]);
    }
    return form_new_frame("Exact", box);
}

static GtkWidget *form_new_function_lists(struct measurement_form *f,
                                          const struct measurement_spec *first)
{
    static const char *const titles[MEASURE_LISTS] = {[MEASURE_IGNORE] = "_Ignored:",
                                                      [MEASURE_ONLY] = "Only the_se:",
                                                      [MEASURE_COUNT] = "_But count only:"};
    GtkWidget *grid = gtk_grid_new();
    g_object_set(grid, "row-spacing", 6, "column-spacing", 12, NULL);
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        f->list[i] = gtk_entry_new();
        gtk_editable_set_text(GTK_EDITABLE(f->list[i]), first->lists[i] ? first->lists[i] : "");
        gtk_widget_set_tooltip_text(f->list[i],
                                    "Function names, separated by commas; * matches any "
                                    "characters, ? one");
        form_add_row(grid, (int)i, titles[i], f->list[i]);
    }
    return form_new_frame("Function calls", grid);
}

/* Returns what is wrong with the lists, which the caller frees; NULL: nothing. */
static char *measurement_form_problem(const struct measurement_form *f)
{
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        char *wrong = f->list[i]
                          ? measurement_spec_error(gtk_editable_get_text(GTK_EDITABLE(f->list[i])))
                          : NULL;
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* Returns a new form, which is owned by its widget. rate: include the sampling rate and lists of
 * functions, which are chosen before the start. */
static struct measurement_form *measurement_form_new(const struct measurement_spec *first,
                                                     bool rate)
{
    struct measurement_form *f = g_new0(struct measurement_form, 1);
    f->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10);
    if (rate)
        gtk_box_append(GTK_BOX(f->box), form_new_sampling_box(f, first));
    gtk_box_append(GTK_BOX(f->box), form_new_exact_box(f, first));
    if (rate)
        gtk_box_append(GTK_BOX(f->box), form_new_function_lists(f, first));
    g_object_set_data_full(G_OBJECT(f->box), "form", f, g_free);
    return f;
}

/* Returns what was entered, to be freed with measurement_spec_free. */
static struct measurement_spec measurement_form_get(const struct measurement_form *f)
{
    struct measurement_spec m = {0};
    for (size_t i = 0; i < FORM_LEVELS; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(f->level[i])))
            m.wanted |= form_levels[i].wanted;
    for (size_t i = 0; i < FORM_SWITCHES; i++) {
        bool on = gtk_check_button_get_active(GTK_CHECK_BUTTON(f->on[i]));
        m.wanted |= on ? form_switches[i].wanted : 0;
        m.waits |= on && !form_switches[i].wanted;
    }
    if (m.wanted & WANTED_LIBRARIES && !(m.wanted & FORM_EVERY)) /* as calls=libraries alone */
        m.wanted |= FORM_CPU;
    if (f->sampled && gtk_check_button_get_active(GTK_CHECK_BUTTON(f->sampled)))
        m.rate = (uint32_t)gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(f->rate));
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        const char *list = f->list[i] ? gtk_editable_get_text(GTK_EDITABLE(f->list[i])) : "";
        m.lists[i] = *list ? g_strdup(list) : NULL; /* GLib allocates by malloc */
    }
    return m;
}

/* ---- start ---- */

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
} run_dialog_last = {.measure = {.wanted = WANTED_METERS, .waits = true}};

static const char *run_dialog_text(GtkWidget *entry)
{
    return gtk_editable_get_text(GTK_EDITABLE(entry));
}

static void run_dialog_keep_text(char **kept, const char *text)
{
    g_free(*kept);
    *kept = g_strdup(text);
}

static void run_dialog_show_problem(struct run_dialog *r, const char *wrong)
{
    gtk_label_set_text(GTK_LABEL(r->wrong), wrong);
    gtk_widget_set_visible(r->wrong, TRUE);
}

static void run_dialog_on_start(GtkWidget *widget, gpointer data)
{
    struct run_dialog *r = data;
    (void)widget;
    run_dialog_keep_text(&run_dialog_last.program, run_dialog_text(r->program));
    run_dialog_keep_text(&run_dialog_last.arguments, run_dialog_text(r->arguments));
    run_dialog_keep_text(&run_dialog_last.directory, run_dialog_text(r->directory));
    char *wrong = measurement_form_problem(r->form);
    if (wrong) {
        run_dialog_show_problem(r, wrong);
        free(wrong);
        return;
    }
    measurement_spec_free(&run_dialog_last.measure);
    run_dialog_last.measure = measurement_form_get(r->form);
    struct error error;
    if (!program_start_begin(
            r->view,
            &(struct program_start){run_dialog_last.program, run_dialog_last.arguments,
                                    run_dialog_last.directory, run_dialog_last.measure},
            &error))
        run_dialog_show_problem(r, error.text);
    else
        gtk_window_destroy(GTK_WINDOW(r->window));
}

/* ---- saving as a file ---- */

static void run_dialog_on_file(void *user, const char *path)
{
    struct run_dialog *r = user;
    if (!path)
        return;
    struct measurement_spec measure = measurement_form_get(r->form);
    char *text = measurement_spec_write(&measure), *wrong = measurement_form_problem(r->form);
    GError *error = NULL;
    if (wrong) {
        run_dialog_show_problem(r, wrong);
    } else if (!g_file_set_contents(path, text, -1, &error)) {
        run_dialog_show_problem(r, error->message);
        g_error_free(error);
    }
    measurement_spec_free(&measure);
    free(wrong);
    free(text);
}

static void run_dialog_on_save(GtkButton *button, gpointer data)
{
    struct run_dialog *r = data;
    (void)button;
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(r->window),
                                             .title = "Save as",
                                             .saves = true,
                                             .name = "meters.conf"},
                       run_dialog_on_file, r);
}

/* ---- window ---- */

/* Adds the metrics of a target description. */
static void run_dialog_add_described(void *user, const char *name)
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
    target_each(run_dialog_add_described, names);
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

static GtkWidget *run_dialog_new_entry(struct run_dialog *r, const char *text)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), text ? text : "");
    g_signal_connect(entry, "activate", G_CALLBACK(run_dialog_on_start), r);
    return entry;
}

static GtkWidget *run_dialog_program_names(struct run_dialog *r)
{
    GtkWidget *grid = gtk_grid_new();
    char *here = g_get_current_dir();
    r->program = run_dialog_new_entry(r, run_dialog_last.program);
    r->arguments = run_dialog_new_entry(r, run_dialog_last.arguments);
    r->directory =
        run_dialog_new_entry(r, run_dialog_last.directory ? run_dialog_last.directory : here);
    g_free(here);
    gtk_widget_set_size_request(r->program, 420, -1);
    g_object_set(grid, "row-spacing", 6, "column-spacing", 12, NULL);
    form_add_row(grid, 0, "Pro_gram", r->program);
    form_add_row(grid, 1, "_Arguments", r->arguments);
    form_add_row(grid, 2, "_Directory", r->directory);
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

static void run_dialog_on_cancel(GtkButton *b, gpointer data)
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
    r->form = measurement_form_new(&run_dialog_last.measure, true);
    gtk_widget_set_halign(buttons, GTK_ALIGN_END);
    gtk_box_append(
        GTK_BOX(buttons),
        run_dialog_new_button("Save as _file…", G_CALLBACK(run_dialog_on_save), r, false));
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("Cance_l", G_CALLBACK(run_dialog_on_cancel), r, false));
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("_Run", G_CALLBACK(run_dialog_on_start), r, true));
    gtk_box_append(GTK_BOX(fields), run_dialog_program_names(r));
    gtk_box_append(GTK_BOX(fields), r->form->box);
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

static void run_dialog_on_apply(GtkWidget *widget, gpointer data)
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
    run_dialog_last.measure.wanted = measure.wanted; /* the rest was chosen at the start */
    run_dialog_last.measure.waits = measure.waits;
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
    close = run_dialog_new_button("_Close", G_CALLBACK(run_dialog_on_cancel), r, true);
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
    r->form = measurement_form_new(&run_dialog_last.measure, false);
    gtk_widget_set_halign(buttons, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("Cance_l", G_CALLBACK(run_dialog_on_cancel), r, false));
    gtk_box_append(GTK_BOX(buttons),
                   run_dialog_new_button("A_pply", G_CALLBACK(run_dialog_on_apply), r, true));
    gtk_box_append(GTK_BOX(box), r->form->box);
    gtk_box_append(GTK_BOX(box), r->wrong);
    gtk_box_append(GTK_BOX(box), buttons);
    gtk_window_present(GTK_WINDOW(r->window));
}

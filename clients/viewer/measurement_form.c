#include "clients/viewer/measurement_form.h"

#include "wire/profile_region.h"

#define COUNTS WANTED_COUNTS
#define REAL (COUNTS | WANTED_REAL)
#define CPU (REAL | WANTED_CPU)
#define EVERY (CPU | WANTED_EVERY)

/* Levels of measuring calls, of which one is chosen. */
static const struct {
    const char *title;
    uint32_t wanted;
} levels[] = {{"_Off", 0},
              {"Co_unts", COUNTS},
              {"R_eal time", REAL},
              {"Real time and _CPU", CPU},
              {"E_very call", EVERY}};
#define LEVELS G_N_ELEMENTS(levels)

static const struct {
    const char *title, *tip;
    uint32_t wanted; /* 0: waits, which follow from the order */
} switches[] = {
    {"S_tates", "CPU state at each event", WANTED_STATES},
    {"_Memory", "Heap allocations not freed", WANTED_MEMORY},
    {"_Waits", "Wait causes; derived from the event order, no overhead", 0},
    {"Program-defi_ned metrics", "Metrics that the program records (poet.h)", WANTED_METERS},
    {"S_ystem resources", "OS resource usage, reported by threads and programs at exit",
     WANTED_USAGE},
    {"T_hrottle", "Stop timing hot, short functions (count only)", WANTED_THROTTLE}};
#define SWITCHES G_N_ELEMENTS(switches)

struct measurement_form {
    GtkWidget *box, *sampled, *rate;
    GtkWidget *level[LEVELS], *on[SWITCHES], *list[MEASURE_LISTS];
};

void measurement_form_add_row(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget)
{
    GtkWidget *label = gtk_label_new_with_mnemonic(mnemonic);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY,
                                   label, NULL, -1);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *frame_new(const char *title, GtkWidget *child)
{
    GtkWidget *frame = gtk_frame_new(title);
    g_object_set(child, "margin-top", 8, "margin-bottom", 8, "margin-start", 10, "margin-end", 10,
                 NULL);
    gtk_frame_set_child(GTK_FRAME(frame), child);
    return frame;
}

/* ---- sampling ---- */

static void on_sampled(GtkCheckButton *button, gpointer data)
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
    gtk_accessible_update_property(GTK_ACCESSIBLE(f->rate), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Samples per second, 1 to 1000", -1);
    g_signal_connect(f->sampled, "toggled", G_CALLBACK(on_sampled), f->rate);
    gtk_box_append(GTK_BOX(box), f->sampled);
    gtk_box_append(GTK_BOX(box), f->rate);
    return frame_new("Statistical", box);
}

/* ---- calls and switches ---- */

static GtkWidget *form_new_calls_box(struct measurement_form *f, uint32_t wanted)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
    size_t chosen = 0;
    gtk_box_append(GTK_BOX(box), gtk_label_new("Calls:"));
    for (size_t i = 0; i < LEVELS; i++) {
        f->level[i] = gtk_check_button_new_with_mnemonic(levels[i].title);
        gtk_check_button_set_group(GTK_CHECK_BUTTON(f->level[i]),
                                   i ? GTK_CHECK_BUTTON(f->level[0]) : NULL);
        gtk_box_append(GTK_BOX(box), f->level[i]);
        if ((wanted & levels[i].wanted) == levels[i].wanted)
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
    for (size_t i = 0; i < SWITCHES; i++) {
        bool on = switches[i].wanted ? first->wanted & switches[i].wanted : first->waits;
        f->on[i] = gtk_check_button_new_with_mnemonic(switches[i].title);
        gtk_check_button_set_active(GTK_CHECK_BUTTON(f->on[i]), on);
        gtk_widget_set_tooltip_text(f->on[i], switches[i].tip);
        gtk_box_append(GTK_BOX(box), f->on[i]);
    }
    return frame_new("Exact", box);
}

/* ---- functions ---- */

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
        measurement_form_add_row(grid, (int)i, titles[i], f->list[i]);
    }
    return frame_new("Function calls", grid);
}

char *measurement_form_problem(const struct measurement_form *f)
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

struct measurement_form *measurement_form_new(const struct measurement_spec *first, bool rate)
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

GtkWidget *measurement_form_widget(struct measurement_form *form) { return form->box; }

struct measurement_spec measurement_form_get(const struct measurement_form *f)
{
    struct measurement_spec m = {0};
    for (size_t i = 0; i < LEVELS; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(f->level[i])))
            m.wanted |= levels[i].wanted;
    for (size_t i = 0; i < SWITCHES; i++) {
        bool on = gtk_check_button_get_active(GTK_CHECK_BUTTON(f->on[i]));
        m.wanted |= on ? switches[i].wanted : 0;
        m.waits |= on && !switches[i].wanted;
    }
    if (f->sampled && gtk_check_button_get_active(GTK_CHECK_BUTTON(f->sampled)))
        m.rate = (uint32_t)gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(f->rate));
    for (unsigned i = 0; i < MEASURE_LISTS; i++) {
        const char *list = f->list[i] ? gtk_editable_get_text(GTK_EDITABLE(f->list[i])) : "";
        m.lists[i] = *list ? g_strdup(list) : NULL; /* GLib allocates by malloc */
    }
    return m;
}

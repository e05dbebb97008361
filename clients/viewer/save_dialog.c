/* The dialog for saving a diagram: part of the run, format and preview; then the file. */
#include "clients/viewer/dialogs.h"

#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram_export.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/status_line.h"

struct save_dialog {
    struct view *view;
    struct diagram_export diagram;
    struct export_preview *preview;
    GtkWidget *window, *formats[EXPORT_FORMATS], *ranges[EXPORT_RANGES], *sizes[EXPORT_SIZES];
    GtkWidget *last, *width, *paper, *caption, *wrong_last, *wrong_width;
    GtkWidget *grey, *dark, *title, *legend, *notes, *save;
    bool filling; /* the widgets are being set: changes are not the user's */
};

/* ---- reading and checking the widgets ---- */

static int save_dialog_selected_index(GtkWidget *const *buttons, int count)
{
    for (int i = 0; i < count; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(buttons[i])))
            return i;
    return 0;
}

static void save_dialog_read_text(char **to, GtkWidget *entry)
{
    g_free(*to);
    *to = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
}

static void read_widgets(struct save_dialog *s)
{
    struct diagram_export *d = &s->diagram;
    d->format = (enum export_format)save_dialog_selected_index(s->formats, EXPORT_FORMATS);
    d->range = (enum export_range)save_dialog_selected_index(s->ranges, EXPORT_RANGES);
    d->size = (enum export_size)save_dialog_selected_index(s->sizes, EXPORT_SIZES);
    d->paper = (int)gtk_drop_down_get_selected(GTK_DROP_DOWN(s->paper));
    save_dialog_read_text(&d->last, s->last);
    save_dialog_read_text(&d->width, s->width);
    save_dialog_read_text(&d->caption, s->caption);
    d->grey = gtk_check_button_get_active(GTK_CHECK_BUTTON(s->grey));
    d->dark = gtk_check_button_get_active(GTK_CHECK_BUTTON(s->dark));
    d->title = gtk_check_button_get_active(GTK_CHECK_BUTTON(s->title));
    d->legend = gtk_check_button_get_active(GTK_CHECK_BUTTON(s->legend));
    d->notes = gtk_check_button_get_active(GTK_CHECK_BUTTON(s->notes));
}

/* Shows what is wrong with an entry; NULL: nothing. */
static void save_dialog_show_problem(GtkWidget *entry, GtkWidget *label, const char *wrong)
{
    gtk_label_set_text(GTK_LABEL(label), wrong ? wrong : "");
    gtk_widget_set_visible(label, wrong != NULL);
    if (wrong)
        gtk_widget_add_css_class(entry, "error");
    else
        gtk_widget_remove_css_class(entry, "error");
    gtk_accessible_update_state(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_STATE_INVALID,
                                wrong ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE,
                                -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   wrong ? wrong : "", -1);
}

/* Enables the options of the format: a text and a web page have no size and no colors, a web page
 * has its own legend. */
static void follow_format(struct save_dialog *s)
{
    bool drawn = s->diagram.format != EXPORT_TEXT && s->diagram.format != EXPORT_PAGE;
    for (int i = 0; i < EXPORT_SIZES; i++)
        gtk_widget_set_sensitive(s->sizes[i], drawn);
    gtk_widget_set_sensitive(s->width, drawn);
    gtk_widget_set_sensitive(s->paper, drawn);
    gtk_widget_set_sensitive(s->grey, drawn);
    gtk_widget_set_sensitive(s->dark, drawn);
    gtk_widget_set_sensitive(s->legend, s->diagram.format != EXPORT_PAGE);
}

static void save_dialog_apply_change(struct save_dialog *s)
{
    if (s->filling)
        return;
    read_widgets(s);
    const struct diagram_export *d = &s->diagram;
    bool drawn = d->format != EXPORT_TEXT && d->format != EXPORT_PAGE;
    const char *last = d->range == EXPORT_LAST ? diagram_export_last_problem(d->last) : NULL,
               *width =
                   drawn && d->size == EXPORT_WIDTH ? diagram_export_width_problem(d->width) : NULL;
    save_dialog_show_problem(s->last, s->wrong_last, last);
    save_dialog_show_problem(s->width, s->wrong_width, width);
    follow_format(s);
    gtk_widget_set_sensitive(s->save, !last && !width);
    export_preview_request(s->preview, last || width ? NULL : d);
}

static void on_toggled(GtkCheckButton *button, gpointer data)
{
    struct save_dialog *s = data;
    GtkWidget *widget = GTK_WIDGET(button);
    bool of_group = widget != s->grey && widget != s->dark && widget != s->title &&
                    widget != s->legend && widget != s->notes;
    if (!of_group ||
        gtk_check_button_get_active(button)) /* of a group, two buttons change: reacts once */
        save_dialog_apply_change(s);
}

static void on_typed(GtkEditable *entry, gpointer data)
{
    (void)entry;
    save_dialog_apply_change(data);
}

/* Typing a number selects its button. */
static void on_number(GtkEditable *entry, gpointer data)
{
    struct save_dialog *s = data;
    GtkWidget *button =
        GTK_WIDGET(entry) == s->last ? s->ranges[EXPORT_LAST] : s->sizes[EXPORT_WIDTH];
    if (!s->filling && !gtk_check_button_get_active(GTK_CHECK_BUTTON(button)))
        gtk_check_button_set_active(GTK_CHECK_BUTTON(button), TRUE);
    else
        save_dialog_apply_change(s);
}

static void on_paper(GtkDropDown *papers, GParamSpec *spec, gpointer data)
{
    struct save_dialog *s = data;
    GtkCheckButton *button = GTK_CHECK_BUTTON(s->sizes[EXPORT_PAPER]);
    (void)papers;
    (void)spec;
    if (!s->filling && !gtk_check_button_get_active(button))
        gtk_check_button_set_active(button, TRUE);
    else
        save_dialog_apply_change(s);
}

/* ---- file ---- */

static void on_chosen(void *user, const char *path)
{
    struct save_dialog *s = user;
    enum export_format format;
    if (!path)
        return;
    char *name = diagram_export_suffix_of(path, &format)
                     ? g_strdup(path)
                     : g_strconcat(path, diagram_export_suffix(s->diagram.format), NULL);
    diagram_export_save(&s->diagram);
    save_diagram_as(s->view, &s->diagram, name);
    gtk_window_destroy(GTK_WINDOW(s->window));
    g_free(name);
}

static void on_save(GtkButton *button, gpointer data)
{
    struct save_dialog *s = data;
    (void)button;
    char *name = g_strconcat(view_metadata(s->view)->run.name,
                             diagram_export_suffix(s->diagram.format), NULL);
    compat_choose_file(
        &(struct compat_file){
            .parent = GTK_WINDOW(s->window), .title = "Save as", .saves = true, .name = name},
        on_chosen, s);
    g_free(name);
}

/* ---- widgets ---- */

static GtkWidget *save_dialog_new_heading(const char *text)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, "heading");
    gtk_widget_set_margin_top(label, 6);
    return label;
}

static GtkWidget *save_dialog_new_check(struct save_dialog *s, const char *text, bool on)
{
    GtkWidget *button = gtk_check_button_new_with_mnemonic(text);
    char **name = g_strsplit(text, "_", 2), *plain = g_strjoinv("", name);
    gtk_check_button_set_active(GTK_CHECK_BUTTON(button), on);
    accessible_name_set(button, plain);
    g_strfreev(name);
    g_free(plain);
    g_signal_connect(button, "toggled", G_CALLBACK(on_toggled), s);
    return button;
}

static void save_dialog_new_choices(struct save_dialog *s, GtkWidget **buttons,
                                    const char *const *texts, int count, int on)
{
    for (int i = 0; i < count; i++) {
        buttons[i] = save_dialog_new_check(s, texts[i], false);
        if (i)
            gtk_check_button_set_group(GTK_CHECK_BUTTON(buttons[i]), GTK_CHECK_BUTTON(buttons[0]));
    }
    gtk_check_button_set_active(GTK_CHECK_BUTTON(buttons[on]), TRUE);
}

static GtkWidget *entry_new(struct save_dialog *s, const char *name, const char *text, int chars)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), text);
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), chars);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), chars);
    gtk_entry_set_activates_default(GTK_ENTRY(entry), TRUE);
    accessible_name_set(entry, name);
    g_signal_connect(entry, "changed", G_CALLBACK(chars ? on_number : on_typed), s);
    return entry;
}

/* Focuses the number when the mnemonic of its button is pressed. */
static gboolean on_mnemonic(GtkWidget *button, gboolean cycles, gpointer entry)
{
    (void)cycles;
    gtk_check_button_set_active(GTK_CHECK_BUTTON(button), TRUE);
    gtk_widget_grab_focus(entry);
    return TRUE;
}

static GtkWidget *save_dialog_new_problem_label(void)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 34);
    gtk_widget_add_css_class(label, "error");
    gtk_widget_set_visible(label, FALSE);
    return label;
}

static GtkWidget *side_by_side(GtkWidget *left, GtkWidget *right)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_box_append(GTK_BOX(box), left);
    gtk_box_append(GTK_BOX(box), right);
    return box;
}

static void add_formats(struct save_dialog *s, GtkWidget *to)
{
    static const char *const texts[] = {"_PDF", "S_VG", "P_NG", "Te_xt", "_HTML"};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    save_dialog_new_choices(s, s->formats, texts, EXPORT_FORMATS, (int)s->diagram.format);
    for (int i = 0; i < EXPORT_FORMATS; i++)
        gtk_box_append(GTK_BOX(box), s->formats[i]);
    gtk_box_append(GTK_BOX(to), save_dialog_new_heading("Format"));
    gtk_box_append(GTK_BOX(to), box);
}

static void add_ranges(struct save_dialog *s, GtkWidget *to)
{
    static const char *const texts[] = {"Vi_sible part",
                                        "_Whole run",
                                        "Selected range of ti_me",
                                        "Between s_elected events",
                                        "Between first and last n_ote",
                                        "_Last columns:"};
    enum export_range on = time_range_is_set(s->view) ? EXPORT_TIMES : s->diagram.range;
    if (diagram_export_range_problem(s->view, on))
        on = diagram_export_range_problem(s->view, EXPORT_SEEN) ? EXPORT_WHOLE : EXPORT_SEEN;
    save_dialog_new_choices(s, s->ranges, texts, EXPORT_RANGES, (int)on);
    s->last = entry_new(s, "Number of columns", s->diagram.last, 7);
    s->wrong_last = save_dialog_new_problem_label();
    g_signal_connect(s->ranges[EXPORT_LAST], "mnemonic-activate", G_CALLBACK(on_mnemonic), s->last);
    gtk_box_append(GTK_BOX(to), save_dialog_new_heading("Range"));
    for (int i = 0; i < EXPORT_RANGES; i++) {
        const char *none = diagram_export_range_problem(s->view, (enum export_range)i);
        gtk_widget_set_sensitive(s->ranges[i], !none);
        gtk_widget_set_tooltip_text(s->ranges[i], none);
        gtk_box_append(GTK_BOX(to),
                       i == EXPORT_LAST ? side_by_side(s->ranges[i], s->last) : s->ranges[i]);
    }
    gtk_box_append(GTK_BOX(to), s->wrong_last);
}

static void add_papers(struct save_dialog *s)
{
    const char *names[EXPORT_PAPERS + 1] = {NULL};
    for (int i = 0; i < EXPORT_PAPERS; i++)
        names[i] = export_papers[i].words;
    s->paper = gtk_drop_down_new_from_strings(names);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(s->paper), (guint)s->diagram.paper);
    accessible_name_set(s->paper, "Paper");
    g_signal_connect(s->paper, "notify::selected", G_CALLBACK(on_paper), s);
}

static void add_sizes(struct save_dialog *s, GtkWidget *to)
{
    static const char *const texts[] = {"Natural si_ze", "W_idth in mm:", "Pape_r pages:"};
    save_dialog_new_choices(s, s->sizes, texts, EXPORT_SIZES, (int)s->diagram.size);
    s->width = entry_new(s, "Width in millimeters", s->diagram.width, 7);
    s->wrong_width = save_dialog_new_problem_label();
    add_papers(s);
    g_signal_connect(s->sizes[EXPORT_WIDTH], "mnemonic-activate", G_CALLBACK(on_mnemonic),
                     s->width);
    gtk_box_append(GTK_BOX(to), save_dialog_new_heading("Size"));
    gtk_box_append(GTK_BOX(to), s->sizes[EXPORT_AS_DRAWN]);
    gtk_box_append(GTK_BOX(to), side_by_side(s->sizes[EXPORT_WIDTH], s->width));
    gtk_box_append(GTK_BOX(to), s->wrong_width);
    gtk_box_append(GTK_BOX(to), side_by_side(s->sizes[EXPORT_PAPER], s->paper));
}

static void save_dialog_add_style_options(struct save_dialog *s, GtkWidget *to)
{
    const struct diagram_export *d = &s->diagram;
    GtkWidget *grid = gtk_grid_new(), *label = gtk_label_new_with_mnemonic("_Caption");
    s->title = save_dialog_new_check(s, "_Title", d->title);
    s->legend = save_dialog_new_check(s, "Le_gend", d->legend);
    s->notes = save_dialog_new_check(s, "Show note _flags", d->notes);
    s->grey = save_dialog_new_check(s, "Gra_yscale", d->grey);
    s->dark = save_dialog_new_check(s, "Dar_k background", d->dark);
    s->caption = entry_new(s, "Caption", d->caption, 0);
    gtk_entry_set_placeholder_text(GTK_ENTRY(s->caption), "below the diagram");
    gtk_widget_set_hexpand(s->caption, TRUE);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), s->caption);
    GtkWidget *const checks[] = {s->title, s->legend, s->notes, s->grey, s->dark};
    gtk_grid_set_column_spacing(GTK_GRID(grid), 18);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 4);
    for (int i = 0; i < (int)G_N_ELEMENTS(checks); i++)
        gtk_grid_attach(GTK_GRID(grid), checks[i], i / 3, i % 3, 1, 1);
    gtk_box_append(GTK_BOX(to), save_dialog_new_heading("Style"));
    gtk_box_append(GTK_BOX(to), grid);
    gtk_box_append(GTK_BOX(to), side_by_side(label, s->caption));
}

static GtkWidget *buttons_new(struct save_dialog *s)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
              *cancel = gtk_button_new_with_label("Cancel");
    s->save = gtk_button_new_with_mnemonic("Save _as…");
    gtk_widget_add_css_class(s->save, "suggested-action");
    gtk_widget_set_halign(box, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(box), cancel);
    gtk_box_append(GTK_BOX(box), s->save);
    g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(gtk_window_destroy), s->window);
    g_signal_connect(s->save, "clicked", G_CALLBACK(on_save), s);
    return box;
}

static void free_saving(gpointer data)
{
    struct save_dialog *s = data;
    export_preview_free(s->preview);
    diagram_export_free(&s->diagram);
    g_free(s);
}

static GtkWidget *content_new(struct save_dialog *s)
{
    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12),
              *across = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18),
              *left = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    g_object_set(all, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14,
                 NULL);
    gtk_widget_set_hexpand(left, FALSE); /* the preview gets the space */
    add_formats(s, left);
    add_ranges(s, left);
    add_sizes(s, left);
    save_dialog_add_style_options(s, left);
    gtk_box_append(GTK_BOX(across), dialog_scrolled(left));
    gtk_box_append(GTK_BOX(across), export_preview_widget(s->preview));
    gtk_box_append(GTK_BOX(all), across);
    gtk_box_append(GTK_BOX(all), buttons_new(s));
    return all;
}

void save_dialog_show(struct view *view)
{
    if (!view->scene_cache.scene || !view->server_link.has_run || save_is_running(view)) {
        status_line_show(&view->status_line, save_is_running(view)
                                                 ? "Another diagram is still being saved"
                                                 : "There is no diagram to save yet");
        return;
    }
    struct save_dialog *s = g_new0(struct save_dialog, 1);
    s->view = view;
    s->filling = true;
    diagram_export_load(&s->diagram);
    s->window = dialog_new(view, "Export diagram");
    s->preview = export_preview_new(view);
    gtk_window_set_modal(GTK_WINDOW(s->window), TRUE);
    gtk_window_set_destroy_with_parent(GTK_WINDOW(s->window), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(s->window), 940, 600);
    gtk_window_set_child(GTK_WINDOW(s->window), content_new(s));
    gtk_window_set_default_widget(GTK_WINDOW(s->window), s->save);
    g_object_set_data_full(G_OBJECT(s->window), "saving", s, free_saving);
    s->filling = false;
    save_dialog_apply_change(s);
    gtk_window_present(GTK_WINDOW(s->window));
    gtk_widget_grab_focus(s->formats[s->diagram.format]);
}

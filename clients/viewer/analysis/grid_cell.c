#include "clients/viewer/analysis/grid_cell.h"

static bool is_figure(unsigned kind)
{
    return kind == TABLE_NS || kind == TABLE_FINE || kind == TABLE_COUNT || kind == TABLE_SHARE;
}

/* Creates a label: numbers are aligned and never cut, texts are ellipsized in the middle. */
static GtkWidget *label_of(const struct table_column *column)
{
    GtkWidget *label = gtk_label_new("");
    bool figure = is_figure(column->kind);
    gtk_label_set_xalign(GTK_LABEL(label), figure ? 1 : 0);
    gtk_label_set_single_line_mode(GTK_LABEL(label), TRUE);
    if (figure) {
        gtk_widget_add_css_class(label, "numeric");
    } else {
        bool wide = column->kind == TABLE_STEP || column->kind == TABLE_PLACE;
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
        bool line = column->kind == TABLE_LINE; /* part of its name must be visible */
        gtk_label_set_width_chars(GTK_LABEL(label), wide ? 18 : line ? 14 : 9);
        gtk_label_set_max_width_chars(GTK_LABEL(label), wide ? 48 : 24);
    }
    gtk_widget_set_hexpand(label, TRUE);
    return label;
}

void grid_cell_widen(GtkListItem *item, const struct table_column *column, glong chars)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    bool wide = column->kind == TABLE_STEP || column->kind == TABLE_PLACE;
    int most = wide ? 40 : column->kind == TABLE_LINE ? 34 : 24;
    if (is_figure(column->kind) || chars <= gtk_label_get_width_chars(GTK_LABEL(label)))
        return;
    gtk_label_set_width_chars(GTK_LABEL(label), (int)MIN(chars, most));
    gtk_label_set_max_width_chars(GTK_LABEL(label), MAX(most, wide ? 48 : 24));
}

void grid_cell_setup(GtkListItem *item, const struct table_column *column, bool first)
{
    GtkWidget *label = label_of(column), *child = label;
    if (first) {
        child = gtk_tree_expander_new();
        gtk_tree_expander_set_child(GTK_TREE_EXPANDER(child), label);
    }
    gtk_list_item_set_child(item, child);
    g_object_set_data(G_OBJECT(item), "label", label);
}

void grid_cell_bind(GtkListItem *item, bool deep)
{
    GtkWidget *child = gtk_list_item_get_child(item);
    if (!GTK_IS_TREE_EXPANDER(child))
        return;
    gtk_tree_expander_set_list_row(GTK_TREE_EXPANDER(child), gtk_list_item_get_item(item));
    gtk_tree_expander_set_indent_for_icon(GTK_TREE_EXPANDER(child), deep);
}

void grid_cell_fill(GtkListItem *item, const char *text)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(label)), text) == 0)
        return;
    gtk_label_set_text(GTK_LABEL(label), text);
    gtk_widget_set_tooltip_text(label, gtk_label_get_ellipsize(GTK_LABEL(label)) ? text : NULL);
}

void grid_cell_set_sentences(GtkListItem *item)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(label), 40);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 160);
}

void grid_cell_set_code(GtkListItem *item)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    gtk_widget_add_css_class(label, "monospace");
    grid_cell_set_sentences(item);
}

void grid_cell_set_shade(GtkListItem *item, double grey)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    PangoAttrList *list = pango_attr_list_new();
    if (grey > 0.02) {
        pango_attr_list_insert(list, pango_attr_background_new(0x7000, 0x7000, 0x7000));
        pango_attr_list_insert(list, pango_attr_background_alpha_new((guint16)(grey * 0xb000)));
    }
    gtk_label_set_attributes(GTK_LABEL(label), list);
    pango_attr_list_unref(list);
}

#define BAR_CHARS 6

void grid_cell_set_bar(GtkListItem *item, double part)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    int n = (int)(part * BAR_CHARS * 8 + 0.5);
    GString *s = g_string_new(NULL);
    for (int i = 0; i < n / 8; i++)
        g_string_append(s, "█");
    g_string_append(s, eighths[n % 8]);
    gtk_label_set_text(GTK_LABEL(label), s->str);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_width_chars(GTK_LABEL(label), BAR_CHARS);
    gtk_widget_add_css_class(label, "dim-label");
    g_string_free(s, TRUE);
}

bool grid_cell_is_number(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER || cell->is == CELL_REAL;
}

static double grid_cell_number_value(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? (double)cell->number
           : cell->is == CELL_REAL ? cell->real
                                   : -G_MAXDOUBLE;
}

int grid_cell_compare(const struct table_cell *a, const struct table_cell *b)
{
    double x = grid_cell_number_value(a), y = grid_cell_number_value(b);
    return x < y ? -1 : x > y;
}

static guint64 place_key(struct table_place place) { return place.address * 31 + place.process; }

guint64 grid_cell_key(const struct table_cell *cell, unsigned kind)
{
    if (is_figure(kind))
        return 0;
    switch (cell->is) {
    case CELL_TEXT: /* "imbalance 60 %" contains a number, too */
        return strchr(cell->text, '%') ? 1 : g_str_hash(cell->text);
    case CELL_LINE:
        return cell->line * 7919u + 2;
    case CELL_PLACE:
        return place_key(cell->place) + 3;
    case CELL_STEP:
        return place_key(cell->between.from) * 17 + place_key(cell->between.to) + cell->step;
    default:
        return 4;
    }
}

#include "clients/viewer/script_analysis.h"

#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/overview_states.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/tab_export.h"
#include "clients/viewer/diagram/viewer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_event(FILE *f, struct event_id at)
{
    char s[48];
    event_id_print(s, sizeof s, at);
    fprintf(f, " %s", s);
}

static void write_table(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    tab_print(analysis_pane_current_tab(view), f);
    fclose(f);
}

static void write_marks(struct view *view, const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        return;
    fprintf(f, "events");
    for (uint32_t i = 0; i < view->highlights.event_count; i++)
        write_event(f, view->highlights.events[i]);
    fprintf(f, " lines");
    for (uint32_t i = 0; i < view->highlights.line_count; i++)
        fprintf(f, " %u", view->highlights.lines[i]);
    fprintf(f, "\n");
    fclose(f);
}

/* Writes the events of the diagram that have a breakpoint. */
static void write_stops(struct view *view, const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        return;
    fprintf(f, "stops");
    for (uint32_t i = 0; i < view->breakpoint_marks.event_count; i++)
        write_event(f, view->breakpoint_marks.events[i]);
    fprintf(f, "\n");
    fclose(f);
}

static void write_overlay(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    if (view->viewport.place.overview) {
        overview_overlay_print(view, f);
    } else {
        path_overlay_print(view, f);
        wait_coloring_print(view, f);
        function_highlight_print(view, f);
    }
    fclose(f);
}

static void write_bands(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    overview_states_are_shown(view) ? overview_states_print(view, f) : band_rows_print(view, f);
    fclose(f);
}

static void write_curve(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    metric_page_print(view, tab_definition(analysis_pane_current_tab(view))->name, f);
    fclose(f);
}

static void show_page(struct view *view, const char *page)
{
    analysis_pane_open(view, page);
    const char *text = tab_message(analysis_pane_current_tab(view));
    g_print("%s: %s\n", page, text ? text : "rows");
}

static void script_analysis_print_cause(struct view *view)
{
    const char *text = wait_cause_sentence(view, NULL);
    g_print("reason: %s\n", text ? text : "none");
}

/* Selects a row; "-1": none. Ignores invalid numbers. */
static void select_row(struct view *view, const char *given)
{
    char *end;
    errno = 0;
    long row = strtol(given, &end, 10);
    if (end == given || *end || errno || row < -1 || row > INT_MAX)
        fprintf(stderr, "poet view: row: \"%s\" is no row\n", given);
    else
        tab_select(analysis_pane_current_tab(view), (int)row);
}

static void script_analysis_write_lower_bands(GtkWidget *widget, FILE *f)
{
    if (GTK_IS_LABEL(widget) && gtk_widget_get_mapped(widget))
        fprintf(f, "%s\n", gtk_label_get_text(GTK_LABEL(widget)));
    for (GtkWidget *w = gtk_widget_get_first_child(widget); w; w = gtk_widget_get_next_sibling(w))
        script_analysis_write_lower_bands(w, f);
}

/* Writes the labels of the visible panel, line by line. */
static void write_labels(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f) {
        fprintf(stderr, "poet view: %s: %s\n", file, g_strerror(errno));
        return;
    }
    script_analysis_write_lower_bands(view->panels, f);
    fclose(f);
}

bool script_analysis_perform(struct view *view, const char *what, const char *given)
{
    if (strcmp(what, "drawer") == 0)
        strcmp(given, "none") == 0 ? analysis_pane_close(view) : analysis_pane_open(view, given);
    else if (strcmp(what, "look") == 0)
        show_page(view, given);
    else if (strcmp(what, "row") == 0)
        select_row(view, given);
    else if (strcmp(what, "enter-row") == 0)
        tab_enter(analysis_pane_current_tab(view));
    else if (strcmp(what, "table") == 0)
        write_table(view, given);
    else if (strcmp(what, "save-page") == 0)
        tab_export_write(view, given);
    else if (strcmp(what, "marks") == 0)
        write_marks(view, given);
    else if (strcmp(what, "stops") == 0)
        write_stops(view, given);
    else if (strcmp(what, "overlay") == 0)
        write_overlay(view, given);
    else if (strcmp(what, "bands") == 0)
        write_bands(view, given);
    else if (strcmp(what, "curve") == 0)
        write_curve(view, given);
    else if (strcmp(what, "labels") == 0)
        write_labels(view, given);
    else if (strcmp(what, "reason") == 0)
        script_analysis_print_cause(view);
    else
        return false;
    return true;
}

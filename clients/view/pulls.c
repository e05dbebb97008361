#include "clients/view/pulls.h"

#include "clients/view/drawer/bands.h"
#include "clients/view/drawer/drawer.h"
#include "clients/view/drawer/figured.h"
#include "clients/view/drawer/shares.h"
#include "clients/view/picture/afar.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/reason.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/tint.h"
#include "clients/view/savepage.h"
#include "clients/view/picture/view.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_event(FILE *f, struct ref at)
{
    char s[48];
    ref_print(s, sizeof s, at);
    fprintf(f, " %s", s);
}

static void write_table(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    page_print(drawer_page(view), f);
    fclose(f);
}

static void write_marks(struct view *view, const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        return;
    fprintf(f, "events");
    for (uint32_t i = 0; i < view->marked.event_count; i++)
        write_event(f, view->marked.events[i]);
    fprintf(f, " lines");
    for (uint32_t i = 0; i < view->marked.line_count; i++)
        fprintf(f, " %u", view->marked.lines[i]);
    fprintf(f, "\n");
    fclose(f);
}

/* The events in the picture that have a breakpoint. */
static void write_stops(struct view *view, const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        return;
    fprintf(f, "stops");
    for (uint32_t i = 0; i < view->stops.event_count; i++)
        write_event(f, view->stops.events[i]);
    fprintf(f, "\n");
    fclose(f);
}

static void write_overlay(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    if (view->camera.place.far) {
        afar_print(view, f);
    } else {
        thick_print(view, f);
        tint_print(view, f);
        lit_print(view, f);
    }
    fclose(f);
}

static void write_bands(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    shares_wanted(view) ? shares_print(view, f) : bands_print(view, f);
    fclose(f);
}

static void write_curve(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    figured_print(view, page_of(drawer_page(view))->name, f);
    fclose(f);
}

static void show_page(struct view *view, const char *page)
{
    drawer_open(view, page);
    const char *said = page_said(drawer_page(view));
    g_print("%s: %s\n", page, said ? said : "rows");
}

static void tell_reason(struct view *view)
{
    const char *said = reason_said(view, NULL);
    g_print("reason: %s\n", said ? said : "none");
}

/* "-1" for none; what is no row selects nothing. */
static void select_row(struct view *view, const char *given)
{
    char *end;
    errno = 0;
    long row = strtol(given, &end, 10);
    if (end == given || *end || errno || row < -1 || row > INT_MAX)
        fprintf(stderr, "poet view: row: \"%s\" is no row\n", given);
    else
        page_select(drawer_page(view), (int)row);
}

static void write_below(GtkWidget *widget, FILE *f)
{
    if (GTK_IS_LABEL(widget) && gtk_widget_get_mapped(widget))
        fprintf(f, "%s\n", gtk_label_get_text(GTK_LABEL(widget)));
    for (GtkWidget *w = gtk_widget_get_first_child(widget); w; w = gtk_widget_get_next_sibling(w))
        write_below(w, f);
}

/* What the page beside the picture says, a line for each label. */
static void write_labels(struct view *view, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f) {
        fprintf(stderr, "poet view: %s: %s\n", file, g_strerror(errno));
        return;
    }
    write_below(view->panels, f);
    fclose(f);
}

bool pulls_perform(struct view *view, const char *what, const char *given)
{
    if (strcmp(what, "drawer") == 0)
        strcmp(given, "none") == 0 ? drawer_close(view) : drawer_open(view, given);
    else if (strcmp(what, "look") == 0)
        show_page(view, given);
    else if (strcmp(what, "row") == 0)
        select_row(view, given);
    else if (strcmp(what, "enter-row") == 0)
        page_enter(drawer_page(view));
    else if (strcmp(what, "table") == 0)
        write_table(view, given);
    else if (strcmp(what, "save-page") == 0)
        savepage_to(view, given);
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
        tell_reason(view);
    else
        return false;
    return true;
}

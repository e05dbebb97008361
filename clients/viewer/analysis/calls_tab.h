/* The parts of the tab Calls: its icicle and its call graph, and the marks of a function in the
 * diagram. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALLS_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_CALLS_TAB_H

#include "clients/connection/result_table.h"
#include "render/document.h"
#include "wire/trace_view.h"

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdio.h>

struct view;

/* ---- marks of events ---- */

/* The functions of a row, and of those above it, the innermost first. */
struct call_marks {
    struct call_marks_function {
        struct table_place place; /* address 0: a call that waits, or several */
        char *name; /* of an event type, for a call that waits; or of a function */
    } *in;
    uint32_t count;
};

void call_marks_set_row(struct call_marks *marks, const struct table_names *names,
                        const struct result_table *table, int row); /* -1: none */
/* Marks the events in the diagram that were made there. The caller sends NOTIFY_HITS. */
void call_marks_mark(struct view *view, const struct call_marks *marks);
void call_marks_free(struct call_marks *marks); /* leaves it empty */

/* Returns the row in which an event was made, -1: none. deep: the table is a tree; else each row is
 * a function. */
int call_marks_find_row(const struct result_table *table, const struct table_names *names,
                        const struct event_info *event, bool deep);
/* Returns the row of a function, the first one of depth 0, else of any depth; -1: none. */
int call_marks_find_function_row(const struct result_table *table, const struct table_names *names,
                                 struct table_place function);

/* ---- highlight of the share of a function (diagram/function_highlight.h) ---- */

/* Returns the highlight of a row: its function, within those above it, of the thread that they are
 * about; allocated by GLib. NULL: the row has no function. */
char *call_highlight_of_row(const struct table_names *names, const struct result_table *table,
                            int row);

/* ---- callgraph view ---- */

struct callgraph_view;

/* selected: called with a row of the table; -1: none. */
struct callgraph_view *callgraph_view_new(struct view *view,
                                          void (*selected)(struct view *view, int row));
GtkWidget *callgraph_view_widget(struct callgraph_view *graphed);
/* Shows a table of calls with the option `graph`; the table is not kept. */
void callgraph_view_show(struct callgraph_view *graphed, const struct result_table *table);
void callgraph_view_select(struct callgraph_view *graphed,
                           int row); /* of the table; does not call `selected` */
/* Prints one line per box: name, time, * before the selected one; then arrows: from, to, count; for
 * tests. */
void callgraph_view_print(struct callgraph_view *graphed, FILE *f);
bool callgraph_view_write(struct callgraph_view *graphed, const struct document_options *options,
                          const char *file, const char **why);

/* ---- icicle view ---- */

struct icicle_widget;

struct icicle_callbacks {
    void (*selected)(struct view *view, int row); /* of the table; -1: none, or the root */
};

struct icicle_widget *icicle_view_new(struct view *view, const struct icicle_callbacks *ears);
GtkWidget *icicle_view_widget(struct icicle_widget *boxed);
void icicle_view_show(struct icicle_widget *boxed,
                      const struct result_table *table); /* borrowed until the next call */
void icicle_view_highlight(struct icicle_widget *boxed, const char *text); /* "": no highlighting */
/* of the table; does not call `selected` */
void icicle_view_select(struct icicle_widget *boxed, int row);
void icicle_view_enter(struct icicle_widget *boxed); /* the selected one */
/* Prints one line per box: depth, share of the width in 1/1000, path, amount, * before the selected
 * one; for tests. */
void icicle_view_print(struct icicle_widget *boxed, FILE *f);
/* Writes the visible chart with everything below it; returns false with the reason in *why. */
bool icicle_view_write(struct icicle_widget *boxed, const struct document_options *options,
                       const char *file, const char **why);

#endif

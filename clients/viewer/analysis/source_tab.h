/* The tab Source: its interface for other parts, and the header above the lines of a source: file
 * chooser, message and search entry. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_TAB_H

#include "clients/sourcefile/line_costs.h"
#include "clients/sourcefile/source_files.h"

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* Ctrl+F: starts a text search. Returns false if the tab does not have the focus. */
bool source_tab_find(struct view *view);

/* ---- source header ---- */

struct source_header {
    GtkWidget *box, *entry;
    void (*chosen)(void *user, uint32_t file); /* index of the file */
    void (*sought)(void *user, const char *text); /* Enter */
    void (*left)(void *user); /* Escape */
    void *user;
    GtkWidget *files, *label; /* private, like the following */
    GtkStringList *names;
    bool quiet; /* the list of files is being filled */
};

/* The callbacks and the user pointer must be set. */
void source_header_build(struct source_header *head);
/* Shows the files, most expensive first, such as "worker.c — 41.2 %"; at: the chosen one. */
void source_header_show_files(struct source_header *head, const struct line_costs *costs,
                              uint32_t at);
void source_header_show_message(struct source_header *head, const char *text);
/* Shows the state of the file: missing, or changed since. */
void source_header_show_file_state(struct source_header *head, const struct line_costs_file *file,
                                   const struct source_file_text *written, int64_t began_ns);

#endif

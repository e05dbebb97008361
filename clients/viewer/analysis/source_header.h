/* What stands above the lines of a source: which file it is, what is to be said of it, and what to
 * look for in it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_HEADER_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_HEADER_H

#include "clients/sourcefile/line_costs.h"
#include "clients/sourcefile/source_files.h"

#include <gtk/gtk.h>

struct source_header {
    GtkWidget *box, *entry;
    void (*chosen)(void *user, uint32_t file); /* by its place among the files */
    void (*sought)(void *user, const char *text); /* Enter */
    void (*left)(void *user); /* Escape */
    void *user;
    GtkWidget *files, *said; /* private, as the next */
    GtkStringList *names;
    bool quiet; /* the list of files is being filled */
};

/* With the callbacks and the user set. */
void source_header_build(struct source_header *head);
/* "worker.c — 41.2 %": what weighs most stands first; at: the chosen one. */
void source_header_show_files(struct source_header *head, const struct line_costs *costs,
                              uint32_t at);
void source_header_show_message(struct source_header *head, const char *text);
/* The same, of the file itself: that it is gone, or another one by now. */
void source_header_show_file_state(struct source_header *head, const struct line_costs_file *file,
                                   const struct source_file_text *written, int64_t began_ns);

#endif

/* Downloading the trace file of a run from the server, in its present state. */
#ifndef CLIENTS_VIEWER_TRACE_DOWNLOAD_H
#define CLIENTS_VIEWER_TRACE_DOWNLOAD_H

#include <stdbool.h>

struct view;

void trace_download_choose_file(struct view *view); /* asks for the file */
void trace_download_start(struct view *view, const char *file);
bool trace_download_is_running(const struct view *view);
void trace_download_cancel(struct view *view); /* the partial file is removed */

#endif

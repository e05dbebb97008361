/* The list of all tabs of the analysis pane, in display order; each is in the file of its name. */
#ifndef CLIENTS_VIEWER_ANALYSIS_TAB_LIST_H
#define CLIENTS_VIEWER_ANALYSIS_TAB_LIST_H

#include "clients/viewer/analysis/tab.h"

#define PAGES(X)                                                                                   \
    X(states)                                                                                      \
    X(threads) X(waits) X(path) X(calls) X(source) X(memory) X(resources) X(meters) X(predictions)
#define PAGE_DECLARE(name) extern const struct tab page_##name;
PAGES(PAGE_DECLARE)

#endif

#include "clients/view/pattern.h"

#include "clients/view/dialog.h"
#include "clients/view/picture/arrange.h"
#include "clients/view/picture/cluster.h"
#include "clients/view/picture/view.h"

void pattern_join(struct view *view)
{
    if (view->link.has_run)
        dialog_ask(
            view, "Join lines",
            "Lines whose names match become one row: * stands for anything, ? for one letter",
            "worker*", cluster_by_pattern);
}

void pattern_hide(struct view *view)
{
    if (view->link.has_run)
        dialog_ask(view, "Hide lines",
                   "Lines whose names match: * stands for anything, ? for one letter", "worker*",
                   arrange_hide_pattern);
}

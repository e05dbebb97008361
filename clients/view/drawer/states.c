/* How each thread spent its life; where the picture is placed by time, in bands below it. */
#include "clients/view/drawer/bands.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/picture/view.h"

/* It stays in its place, but for the table. */
static GtkWidget *instead(struct view *view)
{
    return bands_wanted(view) ? bands_widget(view) : NULL;
}

const struct page page_states = {
    .name = "states",
    .title = "States",
    .what = "states",
    .by = "",
    .nothing = "No thread is known yet.",
    .about = "How each thread spent its life: ready, running, blocked",
    .instead = instead,
    .take = bands_take,
    .clear = bands_clear,
};

/* How each thread spent its life; where the picture is placed by time, or is of strips, in bands below it. */
#include "clients/view/drawer/bands.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/drawer/shares.h"
#include "clients/view/picture/view.h"

/* It stays in its place, but for the table. */
static GtkWidget *instead(struct view *view)
{
    return shares_wanted(view)  ? shares_widget(view)
           : bands_wanted(view) ? bands_widget(view)
                                : NULL;
}

static void take(struct view *view, enum news news)
{
    bands_take(view, news);
    shares_take(view, news);
}

const struct page page_states = {
    .name = "states",
    .title = "States",
    .what = "states",
    .by = "",
    .nothing = "No thread is known yet.",
    .about = "How each thread spent its life: ready, running, blocked",
    .instead = instead,
    .take = take,
    .clear = bands_clear,
};

#include "clients/viewer/sidebar/violation_rows.h"

#include "clients/connection/violation_text.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"

#include <stdlib.h>

#define REQUESTED_EVERY_US 2000000
#define VIOLATIONS_SHOWN 20u

static void violation_rows_on_table(void *user)
{
    struct violation_rows *rows = user;
    if (rows->model.fresh)
        rows->on_change(rows->view);
}

void violation_rows_request(struct violation_rows *rows, bool again)
{
    bool early = again && g_get_monotonic_time() - rows->model.asked_us < REQUESTED_EVERY_US;
    if (early || table_model_is_running(&rows->model) ||
        !violation_text_possible(view_metadata(rows->view)))
        return;
    struct table_request request = table_model_request("violations", "");
    rows->model.link = &rows->view->server_link;
    rows->model.on_table = violation_rows_on_table;
    rows->model.user = rows;
    request.top = VIOLATIONS_SHOWN;
    table_model_send(&rows->model, &request);
}

uint32_t violation_rows_count(const struct violation_rows *rows)
{
    return rows->model.table.problem ? 0 : rows->model.table.row_count;
}

void violation_rows_add(const struct violation_rows *rows, GtkWidget *list)
{
    const struct result_table *t = &rows->model.table;
    struct table_names names = {view_metadata(rows->view), rows->view->server_link.sites};
    for (uint32_t i = 0; i < violation_rows_count(rows); i++) {
        char *sentence = violation_text_sentence(&names, t, i),
             *place = violation_text_place(&names, t, i), at[48];
        event_id_print(at, sizeof at, violation_text_cell(t, i, "event")->event);
        char *markup =
            g_markup_printf_escaped("<b>" VIOLATION_HEAD " %s</b>\n<small>%s%s%sevent "
                                    "%s</small>",
                                    sentence, *place ? "at " : "", place, *place ? ", " : "", at);
        row_list_add(list, markup, t->rows[i].event);
        g_free(markup);
        free(sentence);
        free(place);
    }
}

void violation_rows_clear(struct violation_rows *rows) { table_model_clear(&rows->model); }

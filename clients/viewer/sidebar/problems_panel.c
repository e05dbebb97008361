/* The panel Problems: inconsistent and pending events. */
#include "clients/metadata/event_text.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/request.h"
#include "wire/text.h"
#include "wire/trace_view.h"

#include <stdlib.h>

struct problems_panel {
    GtkWidget *list;
    struct request_slot asked;
};

static void problems_panel_add_problem(GtkWidget *list, struct decoder *in)
{
    struct inconsistency_info t = {.at = decode_event_id(in)};
    char at[48], with[48];
    t.with = decode_event_id(in);
    t.why = decode_name(in, LIMIT_TEXT_BYTES);
    event_id_print(at, sizeof at, t.at);
    event_id_print(with, sizeof with, t.with);
    char *text = g_markup_printf_escaped("<b>Inconsistent</b> %s: %s%s%s", at, t.why ? t.why : "",
                                         t.with.line ? ", with " : "", t.with.line ? with : "");
    if (!in->error)
        row_list_add(list, text, t.at);
    g_free(text);
    free(t.why);
}

static void add_pending(struct view *view, GtkWidget *list, struct decoder *in)
{
    struct event_info event;
    decode_event_info(in, &event);
    if (decoder_finish(in)) {
        char *sentence = event_text(view_metadata(view), &event),
             *text = g_markup_printf_escaped("<b>Pending</b> %s", sentence);
        row_list_add(list, text, event.at);
        g_free(text);
        g_free(sentence);
    }
    event_info_free(&event);
}

static void problems_panel_receive_problems(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct problems_panel *state = panel_state(view, &panel_trouble);
    if (answer->part == RESPONSE_STAT)
        row_list_clear(state->list);
    else if (answer->part == RESPONSE_INCONSISTENCY)
        problems_panel_add_problem(state->list, answer->in);
    else if (answer->part == RESPONSE_EVENT)
        add_pending(view, state->list, answer->in);
}

static void problems_panel_on_notification(struct view *view, enum notification what)
{
    struct problems_panel *state = panel_state(view, &panel_trouble);
    if (what == NOTIFY_TAB_SHOWN)
        request_slot_send(&view->server_link, &state->asked, REQUEST_STAT, NULL,
                          problems_panel_receive_problems, view);
}

static GtkWidget *problems_panel_create(struct view *view)
{
    struct problems_panel *state = g_new0(struct problems_panel, 1);
    panel_keep(view, &panel_trouble, state);
    return row_list_new(view, &state->list, "No pending or inconsistent events.");
}

const struct panel panel_trouble = {"trouble", "Problems", problems_panel_create,
                                    problems_panel_on_notification, NULL};

/* What went wrong: contradictions, and what is pending. */
#include "clients/book/book.h"
#include "clients/book/say.h"
#include "clients/view/panels/list.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/picture/view.h"
#include "wire/ask.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/ref.h"
#include "wire/shown.h"
#include "wire/text.h"

#include <stdlib.h>

struct troubles {
    GtkWidget *list;
    struct inquiry asked;
};

static void add_trouble(GtkWidget *list, struct in *in)
{
    struct shown_trouble t = {.at = get_ref(in)};
    char at[48], with[48];
    t.with = get_ref(in);
    t.why = get_name(in, LIMIT_TEXT_BYTES);
    ref_print(at, sizeof at, t.at);
    ref_print(with, sizeof with, t.with);
    char *text = g_markup_printf_escaped("<b>contradiction</b> %s: %s%s%s", at, t.why ? t.why : "",
                                         t.with.line ? ", with " : "", t.with.line ? with : "");
    if (!in->error)
        list_add(list, text, t.at);
    g_free(text);
    free(t.why);
}

static void add_pending(struct view *view, GtkWidget *list, struct in *in)
{
    struct shown_event event;
    get_event(in, &event);
    if (in_done(in)) {
        char *said = say_event(the_book(view), &event),
             *text = g_markup_printf_escaped("<b>pending</b> %s", said);
        list_add(list, text, event.at);
        g_free(text);
        g_free(said);
    }
    shown_event_free(&event);
}

static void take_troubles(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct troubles *state = panel_state(view, &panel_trouble);
    if (answer->part == PART_STAT)
        list_empty(state->list);
    else if (answer->part == PART_TROUBLE)
        add_trouble(state->list, answer->in);
    else if (answer->part == PART_EVENT)
        add_pending(view, state->list, answer->in);
}

static void take(struct view *view, enum news news)
{
    struct troubles *state = panel_state(view, &panel_trouble);
    if (news == NEWS_SHOWN)
        inquiry_ask(&view->link, &state->asked, ASK_STAT, NULL, take_troubles, view);
}

static GtkWidget *build(struct view *view)
{
    struct troubles *state = g_new0(struct troubles, 1);
    panel_keep(view, &panel_trouble, state);
    return list_new(view, &state->list, "Nothing is pending, and no event contradicts the others.");
}

const struct panel panel_trouble = {"trouble", "Trouble", build, take, NULL};

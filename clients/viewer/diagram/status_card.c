#include "clients/viewer/diagram/status_card.h"

#include "base/units.h"
#include "clients/metadata/event_text.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/legend.h"
#include "wire/trace_view.h"

#include <math.h>
#include <stdlib.h>

/* The time of one of the selected events, kept in case it is no longer in the scene. */
struct status_card_moment {
    struct event_id at;
    int64_t time_ns;
};

struct status_card {
    struct status_card_moment first, second;
    char *text; /* shown last; NULL: none, or cleared */
};

static const struct viewer_addon status_card_addon = {"status_card", sizeof(struct status_card)};

static struct status_card *status_card_state(struct view *view)
{
    struct status_card *state = viewer_addons_find(&view->addons, &status_card_addon);
    return state ? state : viewer_addons_add(&view->addons, &status_card_addon);
}

/* Returns "5.5 ms": three significant digits. */
static char *status_card_duration_text(int64_t ns)
{
    struct time_unit unit = time_unit_for(ns);
    double v = fabs((double)ns) / (double)unit.ns;
    return g_strdup_printf(v < 1000 ? "%.3g %s" : "%.0f %s", v, unit.name);
}

/* Returns the event, if the causal chain or the scene contains it. */
static const struct event_info *known_event(const struct view *view, struct event_id at)
{
    for (uint32_t i = 0; i < view->selection_relations.chain_count; i++)
        if (event_id_equal(view->selection_relations.events[i].at, at))
            return &view->selection_relations.events[i];
    return scene_cache_find_event(&view->scene_cache, at);
}

/* Returns false if the time is not known yet. */
static bool status_card_update_moment(const struct view *view, struct status_card_moment *moment,
                                      struct event_id at)
{
    const struct event_info *e = known_event(view, at);
    if (e)
        *moment = (struct status_card_moment){at, e->time_ns};
    return event_id_equal(moment->at, at);
}

/* Returns "T:main: signal (1:5) about CV:more — 3.71 ms, crawler.c:19"; NULL: not known yet. */
static char *status_card_event_text(struct view *view, struct event_id at)
{
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, at);
    if (!e)
        return NULL;
    char *sentence = event_text(view_metadata(view), e),
         *time = status_card_duration_text(e->time_ns);
    const char *place =
        e->site ? symbolize(view->server_link.sites, e->process, e->site).place : "";
    const char *why = wait_cause_sentence(view, &at);
    char *text = g_strdup_printf("%s — %s%s%s%s%s", sentence, time, *place ? ", " : "", place,
                                 why ? "; " : "", why ? why : "");
    g_free(time);
    free(sentence);
    return text;
}

/* Returns how the selected events are related, their distance in time, and the hops of the chain;
 * NULL: not known yet. */
static char *status_card_pair_text(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    struct status_card *card = status_card_state(view);
    int related = view->selection_relations.related;
    bool first = status_card_update_moment(view, &card->first, p->selected),
         times = status_card_update_moment(view, &card->second, p->second) && first;
    char a[48], b[48];
    if (related < 0 || related > 4)
        return NULL;
    event_id_print(a, sizeof a, p->selected);
    event_id_print(b, sizeof b, p->second);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s %s %s", a, legend_relation_verbs[related], b);
    if (times && related != ORDER_SAME) {
        char *between = status_card_duration_text(card->second.time_ns - card->first.time_ns);
        g_string_append_printf(s, " — %s", between);
        g_free(between);
    }
    if (related <= ORDER_AFTER && view->selection_relations.chain_count > 1)
        g_string_append_printf(s, ", %u hop%s", view->selection_relations.chain_count - 1,
                               view->selection_relations.chain_count > 2 ? "s" : "");
    return g_string_free(s, FALSE);
}

void status_card_clear(struct view *view)
{
    g_clear_pointer(&status_card_state(view)->text, g_free);
    status_line_show(&view->status_line, "%s", "");
}

/* Shows each text only once, so as not to overwrite later messages. */
static void status_card_show_text(struct view *view)
{
    struct status_card *card = status_card_state(view);
    const struct view_state *p = &view->viewport.place;
    char *text =
        p->second.line ? status_card_pair_text(view) : status_card_event_text(view, p->selected);
    if (text && g_strcmp0(text, card->text) != 0) {
        g_free(card->text);
        card->text = g_strdup(text);
        status_line_show(&view->status_line, "%s", text);
    }
    g_free(text);
}

void status_card_on_notification(struct view *view, enum notification what)
{
    const struct view_state *p = &view->viewport.place;
    if (what != NOTIFY_SELECTION && what != NOTIFY_DIAGRAM && what != NOTIFY_SELECTION_RELATIONS &&
        what != NOTIFY_WAIT_CAUSE)
        return;
    if (p->selected.line) {
        status_card_update_moment(view, &status_card_state(view)->first, p->selected);
        status_card_show_text(view);
    } else if (status_card_state(view)->text) {
        status_card_clear(view);
    }
}

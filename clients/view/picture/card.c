#include "clients/view/picture/card.h"

#include "clients/book/say.h"
#include "clients/site/site.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/reason.h"
#include "clients/view/picture/view.h"
#include "wire/shown.h"

#include <math.h>
#include <stdlib.h>

/* When one of the two selected events was: it may be far from what is on the stage by now. */
struct moment {
    struct ref at;
    int64_t time_ns;
};

struct card {
    struct moment first, second;
    char *said; /* last; NULL: nothing that still holds */
};

static struct card *card_of(struct view *view)
{
    if (!view->card)
        view->card = g_new0(struct card, 1);
    return view->card;
}

/* "5.5 ms": three digits are enough for people. */
static char *duration(int64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    double v = fabs((double)ns);
    size_t u = 0;
    while (u < 3 && v < units[u].ns)
        u++;
    v /= units[u].ns;
    return g_strdup_printf(v < 1000 ? "%.3g %s" : "%.0f %s", v, units[u].unit);
}

/* The event, if anything that is here has it. */
static const struct shown_event *known_event(const struct view *view, struct ref at)
{
    for (uint32_t i = 0; i < view->ties.chain_count; i++)
        if (ref_equal(view->ties.events[i].at, at))
            return &view->ties.events[i];
    return stage_event(&view->stage, at);
}

/* False: it is not known yet. */
static bool learn(const struct view *view, struct moment *moment, struct ref at)
{
    const struct shown_event *e = known_event(view, at);
    if (e)
        *moment = (struct moment){at, e->time_ns};
    return ref_equal(moment->at, at);
}

/* "T:main: signal (1:5) about Q:more — 3.71 ms, crawler.c:19"; NULL: it is not known yet. */
static char *say_one(struct view *view, struct ref at)
{
    const struct shown_event *e = stage_event(&view->stage, at);
    if (!e)
        return NULL;
    char *said = say_event(the_book(view), e), *time = duration(e->time_ns);
    const char *place = e->site ? sites_call(view->link.sites, e->process, e->site).place : "";
    const char *why = reason_said(view, &at);
    char *text = g_strdup_printf("%s — %s%s%s%s%s", said, time, *place ? ", " : "", place,
                                 why ? "; " : "", why ? why : "");
    g_free(time);
    free(said);
    return text;
}

/* "1:5 is before 7:29 — 5.5 ms, 3 steps" */
static char *say_two(struct view *view)
{
    static const char *const words[] = {"is before", "is after", "is concurrent with",
                                        "is the same point as", "may stand either way to"};
    const struct place *p = &view->camera.place;
    struct card *card = card_of(view);
    int related = view->ties.related;
    bool times = learn(view, &card->first, p->selected) & learn(view, &card->second, p->second);
    char a[48], b[48];
    if (related < 0 || related > 4)
        return NULL;
    ref_print(a, sizeof a, p->selected);
    ref_print(b, sizeof b, p->second);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s %s %s", a, words[related], b);
    if (times && related != ORDER_SAME) {
        char *between = duration(card->second.time_ns - card->first.time_ns);
        g_string_append_printf(s, " — %s", between);
        g_free(between);
    }
    if (related <= ORDER_AFTER && view->ties.chain_count > 1)
        g_string_append_printf(s, ", %u step%s", view->ties.chain_count - 1,
                               view->ties.chain_count > 2 ? "s" : "");
    return g_string_free(s, FALSE);
}

void card_clear(struct view *view)
{
    g_clear_pointer(&card_of(view)->said, g_free);
    status_say(&view->status, "%s", "");
}

/* Once each: what others say meanwhile is not talked over. */
static void say(struct view *view)
{
    struct card *card = card_of(view);
    const struct place *p = &view->camera.place;
    char *text = p->second.line ? say_two(view) : say_one(view, p->selected);
    if (text && g_strcmp0(text, card->said) != 0) {
        g_free(card->said);
        card->said = g_strdup(text);
        status_say(&view->status, "%s", text);
    }
    g_free(text);
}

void card_take(struct view *view, enum news news)
{
    const struct place *p = &view->camera.place;
    if (news != NEWS_SELECTED && news != NEWS_PICTURE && news != NEWS_RELATED &&
        news != NEWS_REASON)
        return;
    if (p->selected.line) {
        learn(view, &card_of(view)->first, p->selected);
        say(view);
    } else if (card_of(view)->said) {
        card_clear(view);
    }
}

#include "clients/view/panels/related.h"

#include "clients/book/fate.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/view.h"
#include "wire/event.h"
#include "wire/shown.h"
#include "wire/unseen.h"

#include <stdlib.h>

#define KINDS_SAID 8u

/* "&lt;a href="event:2:17"&gt;2:17&lt;/a&gt; T:producer" */
void related_link(GString *s, const struct book *book, struct ref at)
{
    char text[48];
    ref_print(text, sizeof text, at);
    char *label = g_markup_escape_text(at.line & HIDDEN_LINE ? "" : book_label(book, at.line), -1);
    if (at.line & HIDDEN_LINE)
        g_string_append(s, text);
    else
        g_string_append_printf(s, "<a href=\"event:%s\">%s</a> %s", text, text, label);
    g_free(label);
}

/* What a count that was broken off knows are lower bounds. */
char *related_counts(const struct shown_count *c, bool counting)
{
    const char *least = c->whole ? "" : "at least ";
    GString *s = g_string_new(NULL);
    g_string_append_printf(s,
                           "<span foreground=\"#0072B2\">◀ %s%'llu before</span>   "
                           "<span foreground=\"#D55E00\">%s%'llu after ▶</span>",
                           least, (unsigned long long)c->before, least,
                           (unsigned long long)c->after);
    if (c->whole || c->concurrent)
        g_string_append_printf(s, "\n%s%'llu concurrent", least, (unsigned long long)c->concurrent);
    if (c->unknown)
        g_string_append_printf(s, "   <span foreground=\"#007E5A\">%s%'llu not known</span>", least,
                               (unsigned long long)c->unknown);
    if (c->whole && c->same > 1)
        g_string_append(s, ", and its partner is the same point");
    if (counting)
        g_string_append(s, "\n<small>counting…</small>");
    return g_string_free(s, FALSE);
}

static void add_kind(GString *s, struct view *view, const struct shown_kind *kind, bool first)
{
    char *type = g_markup_escape_text(book_type(the_book(view), kind->type), -1);
    g_string_append_printf(s, "%s%'llu %s", first ? "" : ", ", (unsigned long long)kind->events,
                           type);
    g_free(type);
}

static int by_events(const void *a, const void *b)
{
    const struct shown_kind *x = a, *y = b;
    return x->events != y->events ? (x->events < y->events ? 1 : -1)
                                  : (x->type > y->type) - (x->type < y->type);
}

/* What lies between them: time, and events by type, the most frequent first. */
static void tell_span(struct view *view, GString *s)
{
    struct shown_span *span = &view->ties.span;
    const struct place *p = &view->camera.place;
    if (!span->known || !ref_equal(span->from, p->selected) || !ref_equal(span->to, p->second))
        return;
    char time[32];
    fate_duration(time, sizeof time, span->ns);
    g_string_append_printf(s, "\n%s %s; %s%'llu events were recorded between them", time,
                           span->ns < 0 ? "earlier" : "later", span->whole ? "" : "at least ",
                           (unsigned long long)span->events);
    if (span->kind_count)
        qsort(span->kinds, span->kind_count, sizeof *span->kinds, by_events);
    g_string_append(s, span->kind_count ? "\n<small>" : "");
    for (uint32_t i = 0; i < span->kind_count && i < KINDS_SAID; i++)
        add_kind(s, view, &span->kinds[i], i == 0);
    if (span->kind_count > KINDS_SAID)
        g_string_append_printf(s, ", and %u other types", span->kind_count - KINDS_SAID);
    g_string_append(s, span->kind_count ? "</small>" : "");
}

static void tell_chain(struct view *view, GString *s)
{
    const struct ties *r = &view->ties;
    for (uint32_t i = 0; i < r->chain_count; i++) {
        const struct shown_event *e = &r->events[i];
        if (e->at.line & HIDDEN_LINE)
            continue;
        char *type = g_markup_escape_text(book_type(the_book(view), e->type), -1);
        g_string_append(s, i ? "\n→ " : "\n\n");
        related_link(s, the_book(view), e->at);
        if (e->type)
            g_string_append_printf(s, " %s", type);
        g_free(type);
    }
}

/* Why it is not known, or what else may order what is concurrent. */
static void tell_reasons(const struct view *view, GString *s)
{
    bool known = view->ties.related != ORDER_UNKNOWN;
    if (view->ties.related < 0)
        return;
    for (unsigned reason = 1; reason < 32; reason++)
        if (view->ties.reasons & UNSEEN_BIT(reason))
            g_string_append_printf(s, "\n<small>%s%s</small>", known ? "as far as is seen: " : "",
                                   unseen_text(reason));
}

char *related_text(struct view *view)
{
    static const char *const words[] = {"is before", "is after", "is concurrent with",
                                        "is the same point as", "may stand either way to"};
    const struct place *p = &view->camera.place;
    if (!p->second.line)
        return NULL;
    GString *s = g_string_new(NULL);
    int related = view->ties.related;
    related_link(s, the_book(view), p->selected);
    g_string_append_printf(s, "\n<b>%s</b>\n", related >= 0 && related < 5 ? words[related] : "…");
    related_link(s, the_book(view), p->second);
    tell_span(view, s);
    tell_reasons(view, s);
    tell_chain(view, s);
    return g_string_free(s, FALSE);
}

#include "clients/viewer/sidebar/event_relations.h"

#include "clients/metadata/hang_text.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"
#include "wire/untraced.h"
#include "render/legend.h"

#include <stdlib.h>

#define TYPES_SHOWN 8u

/* Appends <a href="event:2:17">2:17</a> T:producer */
void event_relations_append_link(GString *s, const struct trace_metadata *book, struct event_id at)
{
    char text[48];
    event_id_print(text, sizeof text, at);
    char *label =
        g_markup_escape_text(at.line & HIDDEN_LINE ? "" : metadata_label(book, at.line), -1);
    if (at.line & HIDDEN_LINE)
        g_string_append(s, text);
    else
        g_string_append_printf(s, "<a href=\"event:%s\">%s</a> %s", text, text, label);
    g_free(label);
}

/* The numbers of an incomplete count are lower bounds. */
char *event_relations_counts_text(const struct relation_counts *c, bool counting)
{
    const char *least = c->whole ? "" : "at least ";
    GString *s = g_string_new(NULL);
    g_string_append_printf(s,
                           "<span foreground=\"#0072B2\">◀ past %s%'llu</span>   "
                           "<span foreground=\"#D55E00\">future %s%'llu ▶</span>",
                           least, (unsigned long long)c->before, least,
                           (unsigned long long)c->after);
    if (c->whole || c->concurrent)
        g_string_append_printf(s, "\nconcurrent %s%'llu", least, (unsigned long long)c->concurrent);
    if (c->unknown)
        g_string_append_printf(s, "   <span foreground=\"#007E5A\">unknown %s%'llu</span>", least,
                               (unsigned long long)c->unknown);
    if (c->whole && c->same > 1)
        g_string_append(s, ", simultaneous with its partner");
    if (counting)
        g_string_append(s, "\n<small>counting…</small>");
    return g_string_free(s, FALSE);
}

static void add_kind(GString *s, struct view *view, const struct type_count *kind, bool first)
{
    char *type = g_markup_escape_text(metadata_type_name(view_metadata(view), kind->type), -1);
    g_string_append_printf(s, "%s%'llu %s", first ? "" : ", ", (unsigned long long)kind->events,
                           type);
    g_free(type);
}

static int event_relations_compare_events(const void *a, const void *b)
{
    const struct type_count *x = a, *y = b;
    return x->events != y->events ? (x->events < y->events ? 1 : -1)
                                  : (x->type > y->type) - (x->type < y->type);
}

/* Appends the time and the events between them, by type, the most frequent first. */
static void event_relations_append_between(struct view *view, GString *s)
{
    struct between_info *span = &view->selection_relations.span;
    const struct view_state *p = &view->viewport.place;
    if (!span->known || !event_id_equal(span->from, p->selected) ||
        !event_id_equal(span->to, p->second))
        return;
    char time[32];
    duration_text(time, sizeof time, span->ns);
    g_string_append_printf(s, "\n%s %s; %s%'llu events in between (trace order)", time,
                           span->ns < 0 ? "earlier" : "later", span->whole ? "" : "at least ",
                           (unsigned long long)span->events);
    if (span->kind_count)
        qsort(span->kinds, span->kind_count, sizeof *span->kinds, event_relations_compare_events);
    g_string_append(s, span->kind_count ? "\n<small>" : "");
    for (uint32_t i = 0; i < span->kind_count && i < TYPES_SHOWN; i++)
        add_kind(s, view, &span->kinds[i], i == 0);
    if (span->kind_count > TYPES_SHOWN)
        g_string_append_printf(s, ", and %u other types", span->kind_count - TYPES_SHOWN);
    g_string_append(s, span->kind_count ? "</small>" : "");
}

static void event_relations_append_chain(struct view *view, GString *s)
{
    const struct selection_relations *r = &view->selection_relations;
    for (uint32_t i = 0; i < r->chain_count; i++) {
        const struct event_info *e = &r->events[i];
        if (e->at.line & HIDDEN_LINE)
            continue;
        char *type = g_markup_escape_text(metadata_type_name(view_metadata(view), e->type), -1);
        g_string_append(s, i ? "\n→ " : "\n\n");
        event_relations_append_link(s, view_metadata(view), e->at);
        if (e->type)
            g_string_append_printf(s, " %s", type);
        g_free(type);
    }
}

/* Appends why the order is unknown, or what else may order concurrent events. */
static void event_relations_append_reasons(const struct view *view, GString *s)
{
    bool known = view->selection_relations.related != ORDER_UNKNOWN;
    if (view->selection_relations.related < 0)
        return;
    for (unsigned reason = 1; reason < 32; reason++)
        if (view->selection_relations.reasons & UNTRACED_BIT(reason))
            g_string_append_printf(s, "\n<small>%s%s</small>",
                                   known ? "considering traced synchronization: " : "",
                                   untraced_text(reason));
}

char *event_relations_text(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    if (!p->second.line)
        return NULL;
    GString *s = g_string_new(NULL);
    int related = view->selection_relations.related;
    event_relations_append_link(s, view_metadata(view), p->selected);
    g_string_append_printf(s, "\n<b>%s</b>\n",
                           related >= 0 && related < 5 ? legend_relation_verbs[related] : "…");
    event_relations_append_link(s, view_metadata(view), p->second);
    event_relations_append_between(view, s);
    event_relations_append_reasons(view, s);
    event_relations_append_chain(view, s);
    return g_string_free(s, FALSE);
}

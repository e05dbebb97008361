#include "clients/view/picture/stops.h"

#include "clients/book/book.h"
#include "clients/site/site.h"
#include "clients/source/breaks.h"
#include "clients/view/parts/news.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>

char *stops_trace(struct view *view)
{
    const char *file = the_book(view)->run.file, *name = view->link.source.name;
    if (file && g_file_test(file, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(file, NULL);
    if (name && g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(name, NULL);
    return NULL;
}

/* Of those for the n-th arrival only the debugger knows which that is. */
static bool is_stop(struct view *view, const struct break_is *b, const struct shown_event *e)
{
    if (b->at.line)
        return ref_equal(b->at, e->at);
    if (b->arrival || !e->site || !e->thread ||
        !break_is_thread(b, e->thread, book_label(the_book(view), e->thread)))
        return false;
    return break_is_site(b, sites_call(view->link.sites, e->process, e->site).place);
}

static int by_ref(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void find_events(struct view *view)
{
    struct stops *s = &view->stops;
    const struct scene *scene = view->stage.scene;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct ref));
    for (uint32_t i = 0; s->count && view->link.sites && scene && i < scene->mark_count; i++)
        for (uint32_t k = 0; k < s->count; k++)
            if (is_stop(view, &s->items[k], scene->marks[i].event)) {
                g_array_append_val(events, scene->marks[i].event->at);
                break;
            }
    g_free(s->events);
    s->event_count = events->len;
    s->events = (struct ref *)(void *)g_array_free(events, FALSE);
    if (s->event_count)
        qsort(s->events, s->event_count, sizeof *s->events, by_ref);
}

void stops_free(struct view *view)
{
    struct stops *s = &view->stops;
    for (uint32_t i = 0; i < s->count; i++)
        break_free(&s->items[i]);
    g_free(s->items);
    g_free(s->events);
    *s = (struct stops){0};
}

void stops_read(struct view *view)
{
    struct stops *s = &view->stops;
    struct breaks kept;
    char *trace = stops_trace(view);
    stops_free(view);
    if (trace) {
        breaks_read(&kept, trace);
        s->items = g_new0(struct break_is, kept.count + 1);
        for (size_t i = 0; i < kept.count; i++)
            s->count += break_parse(&s->items[s->count], kept.items[i]);
        breaks_free(&kept);
    }
    g_free(trace);
    find_events(view);
    news_tell(&view->news, NEWS_LOOK);
}

void stops_take(struct view *view, enum news news)
{
    if (news == NEWS_PICTURE)
        find_events(view);
}

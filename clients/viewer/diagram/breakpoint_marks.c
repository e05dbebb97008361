#include "clients/viewer/diagram/breakpoint_marks.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/symbolizer.h"
#include "clients/connection/breakpoint_file.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/diagram/viewer.h"

#include <stdlib.h>

char *breakpoint_marks_trace_file(struct view *view)
{
    const char *file = view_metadata(view)->run.file, *name = view->server_link.source.name;
    if (file && g_file_test(file, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(file, NULL);
    if (name && g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(name, NULL);
    return NULL;
}

/* Ignores breakpoints for the n-th arrival, which only the debugger can count. */
static bool breakpoint_marks_is_breakpoint(struct view *view, const struct breakpoint_spec *b,
                                           const struct event_info *e)
{
    if (b->at.line)
        return event_id_equal(b->at, e->at);
    if (b->arrival || !e->site || !e->thread ||
        !breakpoint_is_for_thread(b, e->thread, metadata_label(view_metadata(view), e->thread)))
        return false;
    return breakpoint_is_at_site(b, symbolize(view->server_link.sites, e->process, e->site).place);
}

static int breakpoint_marks_compare_ref(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void find_events(struct view *view)
{
    struct breakpoint_marks *s = &view->breakpoint_marks;
    const struct scene *scene = view->scene_cache.scene;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct event_id));
    for (uint32_t i = 0; s->count && view->server_link.sites && scene && i < scene->mark_count; i++)
        for (uint32_t k = 0; k < s->count; k++)
            if (breakpoint_marks_is_breakpoint(view, &s->items[k], scene->marks[i].event)) {
                g_array_append_val(events, scene->marks[i].event->at);
                break;
            }
    g_free(s->events);
    s->event_count = events->len;
    s->events = (struct event_id *)(void *)g_array_free(events, FALSE);
    if (s->event_count)
        qsort(s->events, s->event_count, sizeof *s->events, breakpoint_marks_compare_ref);
}

void breakpoint_marks_free(struct view *view)
{
    struct breakpoint_marks *s = &view->breakpoint_marks;
    for (uint32_t i = 0; i < s->count; i++)
        breakpoint_free(&s->items[i]);
    g_free(s->items);
    g_free(s->events);
    *s = (struct breakpoint_marks){0};
}

void breakpoint_marks_read(struct view *view)
{
    struct breakpoint_marks *s = &view->breakpoint_marks;
    struct breakpoint_list kept;
    char *trace = breakpoint_marks_trace_file(view);
    breakpoint_marks_free(view);
    if (trace) {
        breakpoint_file_read(&kept, trace);
        s->items = g_new0(struct breakpoint_spec, kept.count + 1);
        for (size_t i = 0; i < kept.count; i++)
            s->count += breakpoint_parse(&s->items[s->count], kept.items[i]);
        breakpoint_file_free(&kept);
    }
    g_free(trace);
    find_events(view);
    notifier_emit(&view->notifier, NOTIFY_LOOK);
}

void breakpoint_marks_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_DIAGRAM)
        find_events(view);
}

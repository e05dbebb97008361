#include "clients/viewer/diagram/breakpoints.h"

#include "clients/connection/breakpoint_file.h"
#include "clients/connection/install_paths.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/viewer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- marks ---- */

char *breakpoints_trace_file(struct view *view)
{
    const char *file = view_metadata(view)->run.file, *name = view->server_link.source.name;
    if (file && g_file_test(file, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(file, NULL);
    if (name && g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(name, NULL);
    return NULL;
}

/* Ignores breakpoints for the n-th arrival, which only the debugger can count. */
static bool breakpoints_match(struct view *view, const struct breakpoint_spec *b,
                              const struct event_info *e)
{
    if (b->at.line)
        return event_id_equal(b->at, e->at);
    if (b->arrival || !e->site || !e->thread ||
        !breakpoint_is_for_thread(b, e->thread, metadata_label(view_metadata(view), e->thread)))
        return false;
    return breakpoint_is_at_site(b, symbolize(view->server_link.sites, e->process, e->site).place);
}

static int breakpoints_compare_events(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void breakpoints_find_events(struct view *view)
{
    struct breakpoint_marks *s = &view->breakpoint_marks;
    const struct scene *scene = view->scene_cache.scene;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct event_id));
    for (uint32_t i = 0; s->count && view->server_link.sites && scene && i < scene->mark_count; i++)
        for (uint32_t k = 0; k < s->count; k++)
            if (breakpoints_match(view, &s->items[k], scene->marks[i].event)) {
                g_array_append_val(events, scene->marks[i].event->at);
                break;
            }
    g_free(s->events);
    s->event_count = events->len;
    s->events = (struct event_id *)(void *)g_array_free(events, FALSE);
    if (s->event_count)
        qsort(s->events, s->event_count, sizeof *s->events, breakpoints_compare_events);
}

void breakpoints_free(struct view *view)
{
    struct breakpoint_marks *s = &view->breakpoint_marks;
    for (uint32_t i = 0; i < s->count; i++)
        breakpoint_free(&s->items[i]);
    g_free(s->items);
    g_free(s->events);
    *s = (struct breakpoint_marks){0};
}

void breakpoints_read(struct view *view)
{
    struct breakpoint_marks *s = &view->breakpoint_marks;
    struct breakpoint_list kept;
    char *trace = breakpoints_trace_file(view);
    breakpoints_free(view);
    if (trace) {
        breakpoint_file_read(&kept, trace);
        s->items = g_new0(struct breakpoint_spec, kept.count + 1);
        for (size_t i = 0; i < kept.count; i++)
            s->count += breakpoint_parse(&s->items[s->count], kept.items[i]);
        breakpoint_file_free(&kept);
    }
    g_free(trace);
    breakpoints_find_events(view);
    notifier_emit(&view->notifier, NOTIFY_LOOK);
}

void breakpoints_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_DIAGRAM)
        breakpoints_find_events(view);
}

/* ---- changes ---- */

/* Returns the trace file; NULL: none, as the status line says. */
static char *breakpoints_require_trace(struct view *view)
{
    char *trace = breakpoints_trace_file(view);
    if (!trace)
        status_line_show(&view->status_line, "The trace of this run is not a local file");
    return trace;
}

/* Returns whether an event is selected; if not, the status line says so. */
static bool breakpoints_require_selected(struct view *view)
{
    if (!view->viewport.place.selected.line)
        status_line_show(&view->status_line, "Select an event first");
    return view->viewport.place.selected.line != 0;
}

static void breakpoints_toggle_at(struct view *view, const char *what)
{
    struct error error;
    bool set;
    char *trace = breakpoints_require_trace(view);
    if (!trace)
        return;
    if (!breakpoint_file_toggle(trace, what, &set, &error))
        status_line_show(&view->status_line, "%s", error.text);
    else
        status_line_show(&view->status_line, set ? "Breakpoint set: %s" : "Breakpoint removed: %s",
                         what);
    breakpoints_read(view);
    g_free(trace);
}

void breakpoints_toggle_event(struct view *view)
{
    char event[48];
    if (!breakpoints_require_selected(view))
        return;
    event_id_print(event, sizeof event, view->viewport.place.selected);
    breakpoints_toggle_at(view, event);
}

void breakpoints_toggle_place(struct view *view)
{
    if (!breakpoints_require_selected(view))
        return;
    const struct event_info *e =
        scene_cache_find_event(&view->scene_cache, view->viewport.place.selected);
    if (!e || !e->site || !e->thread) {
        status_line_show(&view->status_line, "The selected event has no call site");
        return;
    }
    struct symbol_location site = symbolize(view->server_link.sites, e->process, e->site);
    char *quoted =
             strpbrk(site.place, " \t\"'\\") ? g_shell_quote(site.place) : g_strdup(site.place),
         *what = g_strdup_printf("%s thread %u", quoted, e->thread);
    breakpoints_toggle_at(view, what);
    g_free(what);
    g_free(quoted);
}

/* ---- debugger ---- */

/* Returns the command of $TERMINAL, which may have arguments, or of Debian's default terminal;
 * NULL: not found, as the status line says. */
static char **debugger_find_terminal(struct view *view, const char *trace, const char *event)
{
    const char *named = g_getenv("TERMINAL");
    bool is_named = named && *named;
    char **words = NULL;
    g_shell_parse_argv(is_named ? named : "x-terminal-emulator", NULL, &words, NULL);
    char *path = words ? g_find_program_in_path(words[0]) : NULL;
    if (path) {
        g_free(words[0]);
        words[0] = path;
        return words;
    }
    g_strfreev(words);
    if (is_named)
        status_line_show(&view->status_line, "$TERMINAL: %s: no such program", named);
    else
        status_line_show(&view->status_line,
                         "No x-terminal-emulator found: set $TERMINAL, or run in a terminal: "
                         "poet debug %s %s",
                         trace, event);
    return NULL;
}

/* Keeps the terminal open after a failure, so that its message can be read. */
#define DEBUGGER_KEPT_OPEN                                                                         \
    "\"$@\" || { printf '\\nExited with status %s. Press Enter to close this window. ' $?; "       \
    "read -r _; }"

static void debugger_start_terminal(struct view *view, char **terminal, char *trace, char *event)
{
    char poet[PATH_MAX];
    GError *error = NULL;
    if (!install_path_find("bin/poet", X_OK, poet, sizeof poet)) {
        status_line_show(&view->status_line, "bin/poet: not installed");
        return;
    }
    /* gnome-terminal takes only one argument after -e */
    bool gnome = g_str_has_suffix(terminal[0], "/gnome-terminal");
    const char *const behind[] = {
        gnome ? "--" : "-e", "sh",  "-c", DEBUGGER_KEPT_OPEN, "poet", poet, "debug", "-x",
        "poet follow",       trace, event};
    GStrvBuilder *words = g_strv_builder_new();
    g_strv_builder_addv(words, (const char **)terminal);
    for (size_t i = 0; i < G_N_ELEMENTS(behind); i++)
        g_strv_builder_add(words, behind[i]);
    char **all = g_strv_builder_end(words);
    if (!g_spawn_async(NULL, all, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &error))
        status_line_show(&view->status_line, "%s: %s", terminal[0], error->message);
    else
        status_line_show(&view->status_line, "The debugger runs to %s", event);
    g_clear_error(&error);
    g_strfreev(all);
    g_strv_builder_unref(words);
}

void breakpoints_start_debugger(struct view *view)
{
    char event[48];
    char *trace = breakpoints_require_selected(view) ? breakpoints_require_trace(view) : NULL;
    event_id_print(event, sizeof event, view->viewport.place.selected);
    char **terminal = trace ? debugger_find_terminal(view, trace, event) : NULL;
    if (terminal)
        debugger_start_terminal(view, terminal, trace, event);
    g_strfreev(terminal);
    g_free(trace);
}

#include "clients/view/panels/debug.h"

#include "clients/site/site.h"
#include "clients/source/breaks.h"
#include "clients/source/installed.h"
#include "clients/view/picture/view.h"

#include <limits.h>
#include <unistd.h>

/* The file of the run, as long as it is here; NULL: the status line says why there is none. */
static char *trace_of(struct view *view)
{
    const char *file = the_book(view)->run.file, *name = view->link.source.name;
    if (file && g_file_test(file, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(file, NULL);
    if (name && g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(name, NULL);
    status_say(&view->status, "The trace of this run is not a file here");
    return NULL;
}

static bool any_selected(struct view *view)
{
    if (!view->camera.place.selected.line)
        status_say(&view->status, "Select an event first");
    return view->camera.place.selected.line != 0;
}

/* $TERMINAL, else Debian's; NULL: there is none. */
static char *find_terminal(struct view *view)
{
    const char *named = g_getenv("TERMINAL");
    char *path = g_find_program_in_path(named && *named ? named : "x-terminal-emulator");
    if (!path && named && *named)
        status_say(&view->status, "$TERMINAL: %s: there is no such program", named);
    else if (!path)
        status_say(&view->status, "There is no x-terminal-emulator: set $TERMINAL");
    return path;
}

static void start(struct view *view, char *terminal, char *trace, char *event)
{
    char poet[PATH_MAX];
    GError *error = NULL;
    if (!installed_path("bin/poet", X_OK, poet, sizeof poet)) {
        status_say(&view->status, "bin/poet: not installed");
        return;
    }
    char *words[] = {terminal, (char[]){"-e"}, poet, (char[]){"debug"}, trace, event, NULL};
    if (!g_spawn_async(NULL, words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &error))
        status_say(&view->status, "%s: %s", terminal, error->message);
    else
        status_say(&view->status, "The debugger goes to %s", event);
    g_clear_error(&error);
}

void debug_here(struct view *view)
{
    char event[48];
    char *trace = any_selected(view) ? trace_of(view) : NULL;
    char *terminal = trace ? find_terminal(view) : NULL;
    ref_print(event, sizeof event, view->camera.place.selected);
    if (terminal)
        start(view, terminal, trace, event);
    g_free(terminal);
    g_free(trace);
}

static void toggle(struct view *view, const char *what)
{
    struct error error;
    bool set;
    char *trace = trace_of(view);
    if (!trace)
        return;
    if (!breaks_toggle(trace, what, &set, &error))
        status_say(&view->status, "%s", error.text);
    else
        status_say(&view->status, set ? "Breakpoint: %s" : "No breakpoint any more: %s", what);
    g_free(trace);
}

void debug_break(struct view *view)
{
    char event[48];
    if (!any_selected(view))
        return;
    ref_print(event, sizeof event, view->camera.place.selected);
    toggle(view, event);
}

void debug_break_place(struct view *view)
{
    if (!any_selected(view))
        return;
    const struct shown_event *e = stage_event(&view->stage, view->camera.place.selected);
    if (!e || !e->site || !e->thread) {
        status_say(&view->status, "The selected event has no call site");
        return;
    }
    struct site_is site = sites_call(view->link.sites, e->process, e->site);
    char *quoted = g_shell_quote(site.place),
         *what = g_strdup_printf("%s thread %u", quoted, e->thread);
    toggle(view, what);
    g_free(what);
    g_free(quoted);
}

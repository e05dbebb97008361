#include "clients/viewer/sidebar/debug_panel.h"

#include "clients/symbols/symbolizer.h"
#include "clients/connection/breakpoint_file.h"
#include "clients/connection/install_paths.h"
#include "clients/viewer/diagram/viewer.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Returns the trace file; NULL: none, as the status line says. */
static char *trace_of(struct view *view)
{
    char *trace = breakpoint_marks_trace_file(view);
    if (!trace)
        status_line_show(&view->status_line, "The trace of this run is not a local file");
    return trace;
}

static bool any_selected(struct view *view)
{
    if (!view->viewport.place.selected.line)
        status_line_show(&view->status_line, "Select an event first");
    return view->viewport.place.selected.line != 0;
}

/* Returns the command of $TERMINAL, which may have arguments, or of Debian's default terminal;
 * NULL: not found, as the status line says. */
static char **find_terminal(struct view *view, const char *trace, const char *event)
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
#define KEPT_OPEN                                                                                  \
    "\"$@\" || { printf '\\nExited with status %s. Press Enter to close this window. ' $?; "       \
    "read -r _; }"

static void debug_panel_start_terminal(struct view *view, char **terminal, char *trace, char *event)
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
        gnome ? "--" : "-e", "sh",  "-c", KEPT_OPEN, "poet", poet, "debug", "-x",
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

void debug_panel_start(struct view *view)
{
    char event[48];
    char *trace = any_selected(view) ? trace_of(view) : NULL;
    event_id_print(event, sizeof event, view->viewport.place.selected);
    char **terminal = trace ? find_terminal(view, trace, event) : NULL;
    if (terminal)
        debug_panel_start_terminal(view, terminal, trace, event);
    g_strfreev(terminal);
    g_free(trace);
}

static void debug_panel_toggle_at(struct view *view, const char *what)
{
    struct error error;
    bool set;
    char *trace = trace_of(view);
    if (!trace)
        return;
    if (!breakpoint_file_toggle(trace, what, &set, &error))
        status_line_show(&view->status_line, "%s", error.text);
    else
        status_line_show(&view->status_line, set ? "Breakpoint set: %s" : "Breakpoint removed: %s",
                         what);
    breakpoint_marks_read(view);
    g_free(trace);
}

void debug_panel_toggle_breakpoint(struct view *view)
{
    char event[48];
    if (!any_selected(view))
        return;
    event_id_print(event, sizeof event, view->viewport.place.selected);
    debug_panel_toggle_at(view, event);
}

void debug_panel_toggle_place(struct view *view)
{
    if (!any_selected(view))
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
    debug_panel_toggle_at(view, what);
    g_free(what);
    g_free(quoted);
}

#include "clients/viewer/diagram/source_editor.h"

#include "clients/viewer/state/compat.h"
#include "clients/viewer/diagram/viewer.h"

/* +LINE is what vi, emacs, nano, gedit and others understand. */
static void source_editor_spawn(struct view *view, const char *editor, const char *path, int line)
{
    GError *error = NULL;
    char *quoted = g_shell_quote(path);
    char *command = g_strdup_printf("%s +%d %s", editor, line, quoted);
    if (!g_spawn_command_line_async(command, &error))
        status_line_show(&view->status_line, "%s: %s", editor, error->message);
    g_clear_error(&error);
    g_free(command);
    g_free(quoted);
}

void source_editor_open(struct view *view, const char *path, int line)
{
    const char *editor = view->viewer_settings.editor && *view->viewer_settings.editor
                             ? view->viewer_settings.editor
                         : g_getenv("VISUAL") ? g_getenv("VISUAL")
                                              : g_getenv("EDITOR");
    if (editor) {
        source_editor_spawn(view, editor, path, line);
        return;
    }
    compat_show_file(GTK_WINDOW(view->window), path);
}

#include "clients/view/picture/editor.h"

#include "clients/view/parts/compat.h"
#include "clients/view/picture/view.h"

/* +LINE is what vi, emacs, nano, gedit and others understand. */
static void start(struct view *view, const char *editor, const char *path, int line)
{
    GError *error = NULL;
    char *quoted = g_shell_quote(path);
    char *command = g_strdup_printf("%s +%d %s", editor, line, quoted);
    if (!g_spawn_command_line_async(command, &error))
        status_say(&view->status, "%s: %s", editor, error->message);
    g_clear_error(&error);
    g_free(command);
    g_free(quoted);
}

void editor_open(struct view *view, const char *path, int line)
{
    const char *editor = view->settings.editor && *view->settings.editor ? view->settings.editor
                         : g_getenv("VISUAL")                            ? g_getenv("VISUAL")
                                                                         : g_getenv("EDITOR");
    if (editor) {
        start(view, editor, path, line);
        return;
    }
    compat_show_file(GTK_WINDOW(view->window), path);
}

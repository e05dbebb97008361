#include "clients/viewer/tab_export.h"

#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/viewer.h"

bool tab_export_is_possible(struct view *view)
{
    return view->viewer_settings.drawer && analysis_pane_has_focus(view) &&
           tab_has_rows(analysis_pane_current_tab(view));
}

static bool is_picture(const char *file)
{
    return g_str_has_suffix(file, ".pdf") || g_str_has_suffix(file, ".svg") ||
           g_str_has_suffix(file, ".png");
}

void tab_export_write(struct view *view, const char *file)
{
    char *named = is_picture(file) ? g_strdup(file) : g_strdup_printf("%s.pdf", file);
    const char *why = tab_has_rows(analysis_pane_current_tab(view))
                          ? tab_save(analysis_pane_current_tab(view), named)
                          : "the tab is empty";
    if (why)
        status_line_show_problem(&view->status_line, NULL, "%s: %s", named, why);
    else
        status_line_show(&view->status_line, "Saved %s", named);
    g_free(named);
}

static void on_chosen(void *view, const char *path)
{
    if (path)
        tab_export_write(view, path);
}

void tab_export_ask(struct view *view)
{
    char *name = g_strdup_printf("%s-%s.pdf", view_metadata(view)->run.name,
                                 tab_definition(analysis_pane_current_tab(view))->name);
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                             .title = "Export tab as .pdf, .svg or .png",
                                             .saves = true,
                                             .name = name},
                       on_chosen, view);
    g_free(name);
}

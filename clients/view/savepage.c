#include "clients/view/savepage.h"

#include "clients/view/drawer/drawer.h"
#include "clients/view/parts/compat.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"

bool savepage_can(struct view *view)
{
    return view->settings.drawer && drawer_has_focus(view) && page_has_rows(drawer_page(view));
}

static bool is_picture(const char *file)
{
    return g_str_has_suffix(file, ".pdf") || g_str_has_suffix(file, ".svg") ||
           g_str_has_suffix(file, ".png");
}

void savepage_to(struct view *view, const char *file)
{
    char *named = is_picture(file) ? g_strdup(file) : g_strdup_printf("%s.pdf", file);
    const char *why = page_has_rows(drawer_page(view)) ? page_save(drawer_page(view), named)
                                                       : "there is nothing on the page";
    if (why)
        status_trouble(&view->status, NULL, "%s: %s", named, why);
    else
        status_say(&view->status, "Saved %s", named);
    g_free(named);
}

static void on_chosen(void *view, const char *path)
{
    if (path)
        savepage_to(view, path);
}

void savepage_ask(struct view *view)
{
    char *name =
        g_strdup_printf("%s-%s.pdf", the_book(view)->run.name, page_of(drawer_page(view))->name);
    compat_ask_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                          .title = "Save the page as .pdf, .svg or .png",
                                          .saves = true,
                                          .name = name},
                    on_chosen, view);
    g_free(name);
}

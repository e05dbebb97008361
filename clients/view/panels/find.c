/* Finding events by type, line, text or call site.  Types, lines and call sites are compared here, where
 * their names are known; the server looks through the events. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "clients/view/view.h"

#include "wire/limits.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum where { ANYWHERE, IN_TYPES, IN_LINES, IN_TEXTS, IN_SITES };

/* ---- names here ---- */

struct pattern {
    const char *plain;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

static bool begin_pattern(struct view *view, struct pattern *p, const char *text, bool expression)
{
    int error;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[200];
    *p = (struct pattern){.plain = text};
    if (!expression)
        return true;
    p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_CASELESS, &error, &at, NULL);
    if (!p->code) {
        pcre2_get_error_message(error, why, sizeof why);
        char *problem = g_strdup_printf("At character %zu: %s", at + 1, (char *)why);
        gtk_label_set_text(GTK_LABEL(view->finder.summary), problem);
        g_free(problem);
        return false;
    }
    p->match = pcre2_match_data_create(1, NULL);
    p->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(p->limits, 100000);
    return true;
}

static void end_pattern(struct pattern *p)
{
    pcre2_code_free(p->code);
    pcre2_match_data_free(p->match);
    pcre2_match_context_free(p->limits);
}

static bool matches(const struct pattern *p, const char *text)
{
    if (p->code)
        return pcre2_match(p->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, p->match, p->limits) >= 0;
    char *a = g_utf8_casefold(text, -1), *b = g_utf8_casefold(p->plain, -1);
    bool found = strstr(a, b) != NULL;
    g_free(a);
    g_free(b);
    return found;
}

static void add_types(struct view *view, const struct pattern *p, struct search_request *r)
{
    const struct book *book = the_book(view);
    r->types = g_new(uint32_t, book->type_count + 1);
    for (uint32_t i = 1; i <= book->type_count; i++)
        if (matches(p, book_type(book, i)))
            r->types[r->type_count++] = i;
}

static void add_lines(struct view *view, const struct pattern *p, struct search_request *r)
{
    const struct book *book = the_book(view);
    r->lines = g_new(uint32_t, book->line_count + 1);
    for (uint32_t i = 1; i <= book->line_count; i++)
        if (book_line(book, i) && matches(p, book_label(book, i)))
            r->lines[r->line_count++] = i;
}

static void add_sites(struct view *view, const struct pattern *p, struct search_request *r)
{
    const struct finder *f = &view->finder;
    r->sites = g_new(struct asked_site, f->site_count + 1);
    for (uint32_t i = 0; i < f->site_count; i++) {
        struct site_is site = sites_call(view->link.sites, f->sites[i].process, f->sites[i].address);
        char *words = g_strdup_printf("%s %s", site.function, site.place);
        if (matches(p, words))
            r->sites[r->site_count++] = f->sites[i];
        g_free(words);
    }
}

/* ---- asking ---- */

static void forget(struct finder *f)
{
    g_clear_pointer(&f->hits, g_free);
    g_clear_pointer(&f->positions, g_free);
    g_clear_pointer(&f->by_position, g_free);
    f->hit_count = 0;
    f->count = f->looked = 0;
    f->running = false;
}

static void clear(struct view *view)
{
    struct finder *f = &view->finder;
    forget(f);
    g_clear_pointer(&f->sites, g_free);
    f->site_count = 0;
    f->sites_here = false;
    events_clear(view);
    if (f->summary)
        gtk_label_set_text(GTK_LABEL(f->summary), "");
}

static bool empty_of(const struct search_request *r)
{
    return !r->type_count && !r->line_count && !r->site_count && !*r->text;
}

static void take_found(void *user, const struct answer *answer);
static void take_sites(void *user, const struct answer *answer);

void find_start(struct view *view)
{
    struct finder *f = &view->finder;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(f->entry));
    enum where where = gtk_drop_down_get_selected(GTK_DROP_DOWN(f->where));
    bool expression = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(f->expression));
    struct pattern p;
    struct out body = {0};
    forget(f);
    inquiry_cancel(view, &f->searching);
    stage_stale(view);
    events_count(view);
    gtk_label_set_text(GTK_LABEL(f->summary), "");
    if (!*text || !view->link.has_run)
        return;
    if ((where == ANYWHERE || where == IN_SITES) && !f->sites_here) {
        if (!inquiry_runs(view, &f->listing_sites))
            inquiry_ask(view, &f->listing_sites, ASK_SITES, NULL, take_sites);
        return; /* it goes on when they are here */
    }
    if (!begin_pattern(view, &p, text, expression))
        return;
    struct search_request r = {.any = where == ANYWHERE, .count = true, .expression = expression,
                               .limit = LIMIT_HITS, .text = (char *)(guintptr)""};
    if (where == ANYWHERE || where == IN_TYPES)
        add_types(view, &p, &r);
    if (where == ANYWHERE || where == IN_LINES)
        add_lines(view, &p, &r);
    if (where == ANYWHERE || where == IN_SITES)
        add_sites(view, &p, &r);
    if (where == ANYWHERE || where == IN_TEXTS)
        r.text = (char *)(guintptr)text;
    if (empty_of(&r)) {
        gtk_label_set_text(GTK_LABEL(f->summary), "No hits");
    } else {
        f->running = f->jump = true;
        put_search_request(&body, &r);
        inquiry_ask(view, &f->searching, ASK_SEARCH, &body, take_found);
    }
    g_free(r.types);
    g_free(r.lines);
    g_free(r.sites);
    end_pattern(&p);
}

static void take_sites(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct finder *f = &view->finder;
    struct in *in = answer->in;
    if (answer->part != PART_SITES)
        return;
    uint32_t n = get_count(in, 12);
    g_free(f->sites);
    f->sites = g_new(struct asked_site, n + 1);
    for (f->site_count = 0; f->site_count < n; f->site_count++) {
        f->sites[f->site_count].process = get_u32(in);
        f->sites[f->site_count].address = get_u64(in);
    }
    f->sites_here = true;
    find_start(view);
}

/* ---- hits ---- */

static int by_ref(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void tell(struct view *view)
{
    const struct finder *f = &view->finder;
    char *text;
    if (f->running)
        text = g_strdup_printf("%'llu hits, %.0f %% looked at…", (unsigned long long)f->count,
                               view->link.count ? 100.0 * (double)f->looked / (double)view->link.count : 0);
    else
        text = g_strdup_printf(f->count > f->hit_count ? "%'llu hits, the first %'u marked" : "%'llu hits",
                               (unsigned long long)f->count, f->hit_count);
    gtk_label_set_text(GTK_LABEL(f->summary), text);
    g_free(text);
}

static void add_hits(struct view *view, const struct shown_found *found)
{
    struct finder *f = &view->finder;
    uint32_t n = f->hit_count + found->hit_count;
    f->hits = g_renew(struct ref, f->hits, n + 1);
    f->by_position = g_renew(struct ref, f->by_position, n + 1);
    f->positions = g_renew(uint64_t, f->positions, n + 1);
    for (uint32_t i = 0; i < found->hit_count; i++) {
        f->by_position[f->hit_count] = f->hits[f->hit_count] = found->hits[i].at;
        f->positions[f->hit_count++] = found->hits[i].position;
    }
    if (found->hit_count)
        qsort(f->hits, f->hit_count, sizeof *f->hits, by_ref);
    f->count = found->count;
    f->looked = found->looked;
    f->running = !found->done;
    tell(view);
    if (found->problem && *found->problem)
        gtk_label_set_text(GTK_LABEL(f->summary), found->problem);
    stage_stale(view);
    events_count(view);
    if (f->jump && f->hit_count) {
        f->jump = false;
        find_next(view, 0);
    }
}

static void take_found(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_found found;
    if (answer->part != PART_FOUND) {
        view->finder.running = false;
        return;
    }
    get_found(answer->in, &found);
    if (in_done(answer->in))
        add_hits(view, &found);
    shown_found_free(&found);
}

/* From the selected event, else from what is seen: 1 the next hit, -1 the one before, 0 the next or this. */
void find_next(struct view *view, int step)
{
    struct finder *f = &view->finder;
    const struct scene_mark *m = stage_mark(view, view->place.selected);
    uint64_t here, last;
    if (!f->hit_count) {
        find_focus(view);
        return;
    }
    stage_positions(view, &here, &last);
    if (m && m->event->position != NO_POSITION)
        here = m->event->position + (step > 0);
    uint32_t i = 0;
    while (i < f->hit_count && f->positions[i] < here)
        i++;
    if (step < 0)
        i = i ? i - 1 : f->hit_count - 1;
    i = i == f->hit_count ? 0 : i;
    motion_to_event(view, f->by_position[i], f->positions[i]);
    char *text = g_strdup_printf("Hit %u of %'llu", i + 1, (unsigned long long)f->count);
    gtk_label_set_text(GTK_LABEL(f->summary), text);
    g_free(text);
}

void find_focus(struct view *view)
{
    panel_show(view, panel_find.name);
    gtk_widget_grab_focus(view->finder.entry);
}

/* ---- the panel ---- */

static void on_changed(GtkWidget *widget, gpointer data)
{
    (void)widget;
    find_start(data);
}

static void on_notify(GObject *object, GParamSpec *spec, gpointer data)
{
    (void)object;
    (void)spec;
    find_start(data);
}

static void on_activate(GtkSearchEntry *entry, gpointer data)
{
    (void)entry;
    find_next(data, 1);
}

static void on_stop(GtkSearchEntry *entry, gpointer data)
{
    struct view *view = data;
    (void)entry;
    gtk_widget_grab_focus(view->canvas);
}

static GtkWidget *new_finder(struct view *view)
{
    static const char *const where[] = {"Anywhere", "Types", "Lines", "Texts", "Call sites", NULL};
    struct finder *f = &view->finder;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    g_object_set(box, "margin-top", 8, "margin-start", 8, "margin-end", 8, NULL);
    f->entry = gtk_search_entry_new();
    f->where = gtk_drop_down_new_from_strings(where);
    f->expression = gtk_toggle_button_new_with_label(".*");
    f->summary = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(f->summary), 0);
    gtk_label_set_wrap(GTK_LABEL(f->summary), TRUE);
    gtk_widget_set_tooltip_text(f->expression, "Regular expression");
    gtk_widget_set_hexpand(f->where, TRUE);
    gtk_box_append(GTK_BOX(row), f->where);
    gtk_box_append(GTK_BOX(row), f->expression);
    gtk_box_append(GTK_BOX(row), window_icon_button("go-up-symbolic", "win.find-previous", "The hit before (Shift+F3)"));
    gtk_box_append(GTK_BOX(row), window_icon_button("go-down-symbolic", "win.find-next", "The next hit (F3)"));
    gtk_box_append(GTK_BOX(box), f->entry);
    gtk_box_append(GTK_BOX(box), row);
    gtk_box_append(GTK_BOX(box), f->summary);
    g_signal_connect(f->entry, "search-changed", G_CALLBACK(on_changed), view);
    g_signal_connect(f->entry, "activate", G_CALLBACK(on_activate), view);
    g_signal_connect(f->entry, "stop-search", G_CALLBACK(on_stop), view);
    g_signal_connect(f->expression, "toggled", G_CALLBACK(on_changed), view);
    g_signal_connect(f->where, "notify::selected", G_CALLBACK(on_notify), view);
    return box;
}

static GtkWidget *build(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    gtk_box_append(GTK_BOX(box), new_finder(view));
    gtk_box_append(GTK_BOX(box), events_new(view));
    return box;
}

static void take(struct view *view, enum news news)
{
    if (news == NEWS_GROWN)
        events_count(view);
    else if (news == NEWS_SELECTED)
        events_select(view);
}

const struct panel panel_find = {"find", "Events", build, take, clear};

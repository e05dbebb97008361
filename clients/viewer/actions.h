/* All actions of the window, from one table: names, keys and functions, the menu and the window of
 * shortcuts. */
#ifndef CLIENTS_VIEWER_ACTIONS_H
#define CLIENTS_VIEWER_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct view;

struct action {
    const char *group, *name, *title, *keys; /* keys: separated by spaces */
    void (*perform)(struct view *view);
    bool (*state)(const struct view *view); /* of a toggle; or NULL */
};

/* An action on the line of the selected event. */
struct line_key {
    const char *action, *title, *key;
};

extern const struct action action_table[];
extern const size_t action_table_size;
extern const struct line_key line_keys[];
extern const size_t line_key_count;

bool actions_run_is_live(const struct view *view);

/* ---- setup: action_setup.c ---- */

/* Adds all actions and their keys to the window. */
void actions_install(struct view *view);
/* Updates the state of toggles, and which actions are enabled. */
void actions_update(struct view *view);
/* Returns NULL if there is no action of that name. */
const char *action_title(const char *name);
/* Returns the first key, which the caller frees; NULL: none. */
char *action_key(const char *name);

/* ---- help windows ---- */

struct shortcut_tables {
    const struct action *actions; /* in their groups */
    size_t action_count;
    const struct line_key *lines;
    size_t line_count;
};

void help_show_page(struct view *view);
void help_show_shortcuts(struct view *view, const struct shortcut_tables *shortcuts);
void help_show_about(struct view *view);

#endif

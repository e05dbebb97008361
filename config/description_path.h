/* Finding the files of target descriptions, and splitting a description into its parts. */
#ifndef CONFIG_DESCRIPTION_PATH_H
#define CONFIG_DESCRIPTION_PATH_H

#include <stdbool.h>

/* Loads the text of a description by path or by name, with the parts that it includes, if they are
 * found. Searches $POET_CONFIG, the user's directory ($XDG_CONFIG_HOME/poet, else ~/.config/poet)
 * and the directory beside the program. Returns NULL with errno on failure; *path receives
 * where it was found. The caller frees both. */
char *target_load(const char *name, char **path);

/* Calls take() with each name that target_load() finds; a name that is in two directories is passed
 * twice. */
void target_each(void (*take)(void *user, const char *name), void *user);

/* Loads as target_load(), but only the installed description or that in $POET_CONFIG, not the
 * user's own. */
char *target_installed(const char *name, char **path);

/* Loads the user's layer over a description: a file of that name in the user's directory that
 * includes another. Otherwise it works as target_load(). */
char *target_own_layer(const char *name, char **path);

/* Gets the next part of a description: its text, its file, and the name by which it was included
 * ("" for the description itself). Returns false at the end, where *text is NULL. Modifies the
 * text. */
struct target_part {
    const char *include, *file;
    char *text;
};
bool target_part_next(char **text, const char *file, struct target_part *part);

#endif

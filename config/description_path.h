/* Where descriptions are, and the parts of one. */
#ifndef CONFIG_DESCRIPTION_PATH_H
#define CONFIG_DESCRIPTION_PATH_H

#include <stdbool.h>

/* Finds the text of a description by path or by name: in $POET_CONFIG, in the user's own directory
 * ($XDG_CONFIG_HOME/poet, else ~/.config/poet), beside the program; with the parts that it
 * includes, as far as they are found.  NULL with errno set; *path receives where it was found.
 * Both are the caller's to free. */
char *target_load(const char *name, char **path);

/* The name of each that target_load() finds by name; one that is at two places comes twice. */
void target_each(void (*take)(void *user, const char *name), void *user);

/* The one that came with the programs, or lies in $POET_CONFIG; not the user's own. */
char *target_installed(const char *name, char **path);

/* The user's own layer over a description: likewise, if there is a file of that name in the user's
 * own directory, and it includes something. */
char *target_own_layer(const char *name, char **path);

/* The next part of a description: a text, where it is from and by which name it was included (""
 * the description itself).  False at the end, where *text is NULL.  The text is cut into pieces. */
struct target_part {
    const char *include, *file;
    char *text;
};
bool target_part_next(char **text, const char *file, struct target_part *part);

#endif

/* Values of a description, each checked; every mistake with its line. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include "config/reader.h"
#include "config/target.h"

#include <libconfig.h>
#include <stdbool.h>

void complain(struct reader *reader, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int line_of_setting(const config_setting_t *setting);
/* About a setting of the part that is read. */
#define WRONG(setting, ...) complain(reader, reader->file, line_of_setting(setting), __VA_ARGS__)
/* Returns a copy in the arena of what is read, with no byte that cannot be shown. */
char *copy(struct reader *reader, const char *s);
/* The one of the words (a list that ends with NULL) that a misspelt word is likely to mean, or NULL. */
const char *nearest(const char *word, const char *const *words);

/* Complains about each key that is not among the known ones, which NULL ends. */
void check_keys(struct reader *reader, const config_setting_t *group, const char *const *known);

/* Each changes *value only if the key is there, and good. */
const char *get_text(struct reader *reader, const config_setting_t *group, const char *key,
                     bool needed); /* NULL if it is not */
void get_copy(struct reader *reader, const config_setting_t *group, const char *key, char **value);
void get_bool(struct reader *reader, const config_setting_t *group, const char *key, bool *value);
/* The number of the word in a list that NULL ends; `otherwise` if there is none. */
int get_word(struct reader *reader, const config_setting_t *group, const char *key,
             const char *const *words, int otherwise);
void get_colour(struct reader *reader, const config_setting_t *group, struct target_colour *value);
/* The empty name is not in the list: it sets *first, where that is not NULL. */
bool get_names(struct reader *reader, const config_setting_t *group, const char *key,
               struct target_names *names, bool *first);
bool get_name_or_names(struct reader *reader, const config_setting_t *group, const char *key,
                       struct target_names *names);
const config_setting_t *get_groups(struct reader *reader, const config_setting_t *root,
                                   const char *key);

#endif

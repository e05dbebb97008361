/* Values of a description, each checked; every mistake with its line. */
#ifndef CONFIG_DESCRIPTION_VALUES_H
#define CONFIG_DESCRIPTION_VALUES_H

#include "config/description_reader.h"
#include "config/target.h"

#include <libconfig.h>
#include <stdbool.h>

void description_complain(struct description_reader *reader, const char *file, int line,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
int description_setting_line(const config_setting_t *setting);
/* About a setting of the part that is read. */
#define WRONG(setting, ...)                                                                        \
    description_complain(reader, reader->file, description_setting_line(setting), __VA_ARGS__)
/* Returns a copy in the arena of what is read, with no byte that cannot be shown. */
char *description_copy_text(struct description_reader *reader, const char *s);
/* The one of the words (a list that ends with NULL) that a misspelt word is likely to mean, or
 * NULL. */
const char *nearest_word(const char *word, const char *const *words);

/* Complains about each key that is not among the known ones, which NULL ends. */
void description_check_keys(struct description_reader *reader, const config_setting_t *group,
                            const char *const *known);

/* Each changes *value only if the key is there, and good. */
const char *description_get_text(struct description_reader *reader, const config_setting_t *group,
                                 const char *key, bool needed); /* NULL if it is not */
void description_get_copy(struct description_reader *reader, const config_setting_t *group,
                          const char *key, char **value);
void description_get_bool(struct description_reader *reader, const config_setting_t *group,
                          const char *key, bool *value);
/* The number of the word in a list that NULL ends; `otherwise` if there is none. */
int description_get_word(struct description_reader *reader, const config_setting_t *group,
                         const char *key, const char *const *words, int otherwise);
void description_get_color(struct description_reader *reader, const config_setting_t *group,
                           struct target_color *value);
/* The empty name is not in the list: it sets *first, where that is not NULL. */
bool description_get_names(struct description_reader *reader, const config_setting_t *group,
                           const char *key, struct target_names *names, bool *first);
bool description_get_name_or_names(struct description_reader *reader, const config_setting_t *group,
                                   const char *key, struct target_names *names);
const config_setting_t *description_get_groups(struct description_reader *reader,
                                               const config_setting_t *root, const char *key);

#endif

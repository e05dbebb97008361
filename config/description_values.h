/* State of reading a target description, and checked access to its values; every error is reported
 * with its source line. */
#ifndef CONFIG_DESCRIPTION_VALUES_H
#define CONFIG_DESCRIPTION_VALUES_H

#include "base/arena.h"
#include "config/target.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stdio.h>

struct description_reader {
    struct arena *texts; /* owns the texts that are read */
    const char *file; /* the file of the current part */
    FILE *complaints; /* or NULL */
    unsigned mistakes;
    int part;         /* index of the current part, from 0 */
    bool looks_only;  /* apply appearance only */
    bool newer;       /* and waits, too */
    bool readable;      /* some part could be parsed */
    bool kinds, events; /* were present */
};

void description_complain(struct description_reader *reader, const char *file, int line,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Parses a text that is not a description into an initialized configuration. Returns false after
 * having reported an error. */
bool description_parse_text(struct description_reader *reader, config_t *config, const char *text);
int description_setting_line(const config_setting_t *setting);
/* Reports an error about a setting of the current part. */
#define WRONG(setting, ...)                                                                        \
    description_complain(reader, reader->file, description_setting_line(setting), __VA_ARGS__)
/* Returns a copy in the reader's arena, with unprintable bytes replaced. */
char *description_copy_text(struct description_reader *reader, const char *s);
/* Returns the word of the NULL-terminated list that a misspelled word most likely means, or
 * NULL. */
const char *nearest_word(const char *word, const char *const *words);

/* Reports each key of the group that is not among the `known` ones, separated by single spaces. */
void description_check_keys(struct description_reader *reader, const config_setting_t *group,
                            const char *known);

/* Each of these changes *value only if the key is present and valid. */
const char *description_get_text(struct description_reader *reader, const config_setting_t *group,
                                 const char *key, bool needed); /* NULL if absent or invalid */
void description_get_copy(struct description_reader *reader, const config_setting_t *group,
                          const char *key, char **value);
void description_get_bool(struct description_reader *reader, const config_setting_t *group,
                          const char *key, bool *value);
/* Returns the index of the key's word in the NULL-terminated list, or `otherwise` if absent or
 * invalid. */
int description_get_word(struct description_reader *reader, const config_setting_t *group,
                         const char *key, const char *const *words, int otherwise);
void description_get_color(struct description_reader *reader, const config_setting_t *group,
                           struct target_color *value);
/* The empty name is not added to the list: it sets *first, if that is not NULL. */
bool description_get_names(struct description_reader *reader, const config_setting_t *group,
                           const char *key, struct target_names *names, bool *first);
bool description_get_name_or_names(struct description_reader *reader, const config_setting_t *group,
                                   const char *key, struct target_names *names);
const config_setting_t *description_get_groups(struct description_reader *reader,
                                               const config_setting_t *root, const char *key);

#endif

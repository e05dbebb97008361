#include "clients/cli/label_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool asked;
static enum labels wanted;

bool label_option_by_name(const char *word, enum labels *labels)
{
    static const char *const words[] = {
        [LABELS_NAME] = "name", [LABELS_ID] = "id", [LABELS_ADDRESS] = "address"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *labels = (enum labels)i;
            return true;
        }
    return false;
}

enum labels label_option_selected(enum labels otherwise) { return asked ? wanted : otherwise; }

#define LABELS (256 + 'l')

static error_t label_option_parse_option(int key, char *value, struct argp_state *state)
{
    if (key != LABELS)
        return ARGP_ERR_UNKNOWN;
    asked = label_option_by_name(value, &wanted);
    if (!asked)
        fprintf(stderr, "%s: --labels %s: name, id or address\n", state->name, value);
    return asked ? 0 : EINVAL;
}

static const struct argp_option options[] = {
    {"labels", LABELS, "WHAT", 0,
     "label lines by name (default; the second of one name is w#2), id (name and line number) or "
     "address (default in JSON)",
     8},
    {0}};
const struct argp labels_options = {.options = options, .parser = label_option_parse_option};

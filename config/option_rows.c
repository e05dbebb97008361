#include "config/option_rows.h"

static void option_rows_apply(const struct option_row *row, char *value,
                              const struct argp_state *state)
{
    char *member = (char *)state->input + row->offset;
    switch (row->action) {
    case OPTION_ACTION_TRUE:
        *(bool *)member = true;
        break;
    case OPTION_ACTION_TEXT:
        *(const char **)(void *)member = value;
        break;
    case OPTION_ACTION_CONSTANT:
        *(const char **)(void *)member = row->constant;
        break;
    case OPTION_ACTION_CHILD:
        state->child_inputs[0] = member;
        break;
    }
}

error_t option_rows_parse(const struct option_row *rows, int key, char *value,
                          struct argp_state *state)
{
    error_t error = ARGP_ERR_UNKNOWN;
    for (; rows->key; rows++)
        if (rows->key == key) {
            option_rows_apply(rows, value, state);
            error = 0;
        }
    return error;
}

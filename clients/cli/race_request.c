#include "clients/cli/race_request.h"

#include "clients/cli/command.h"
#include "clients/connection/race_text.h"

int race_request_run(const struct table_settings *tables, struct command_source *subject,
                     struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    int status = table_request_run(tables, &(struct table_section){.what = "races"}, subject, t);
    if (status == EXIT_DONE)
        race_text_merge(&names, t);
    return status;
}

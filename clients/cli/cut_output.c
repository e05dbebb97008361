#define _GNU_SOURCE
#include "clients/cli/cut_output.h"

#include "base/alloc.h"
#include "clients/cli/table_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cut_output_file {
    struct cut_output *output;
    FILE *f;
    char *part;
};

static void cut_output_receive(void *user, const struct response_chunk *answer)
{
    struct cut_output_file *file = user;
    if (answer->part == RESPONSE_CUT_BYTES) {
        size_t size = decoder_remaining(answer->in);
        const uint8_t *bytes = decode_bytes(answer->in, size);
        if (bytes)
            file->output->bytes += fwrite(bytes, 1, size, file->f);
    } else if (answer->part == RESPONSE_CUT_RESULT) {
        cut_result_free(&file->output->result);
        decode_cut_result(answer->in, &file->output->result);
    }
}

int cut_output_write(struct cut_output *output, struct command_source *subject,
                     const struct cut_request *request)
{
    struct encoder body = {0};
    struct cut_output_file file = {.output = output, .part = xasprintf("%s.part", output->file)};
    file.f = fopen(file.part, "we");
    int status =
        file.f ? EXIT_DONE : command_fail(output->command, "%s: %s", output->file, strerror(errno));
    output->bytes = 0;
    table_progress_set_file(file.part);
    if (file.f) {
        encode_cut_request(&body, request);
        if (!command_source_request(output->command, subject, REQUEST_CUT, &body,
                                    cut_output_receive, &file))
            status = EXIT_FAILED;
        else if (output->result.problem && *output->result.problem)
            status = command_fail(output->command, "%s", output->result.problem);
        bool bad = ferror(file.f);
        bad |= fclose(file.f) != 0;
        if (status == EXIT_DONE && (bad || rename(file.part, output->file) < 0))
            status = command_fail(output->command, "%s: %s", output->file, strerror(errno));
        if (status != EXIT_DONE)
            unlink(file.part);
    }
    table_progress_set_file(NULL);
    free(file.part);
    return status;
}

/* HELLO: the first message of every peer. */
#include "server/decode/program_session.h"

#include "base/alloc.h"
#include "wire/text.h"
#include "wire/program_messages.h"

#include <stdlib.h>

bool hello_message_decode(struct decoder *in, struct hello_message *hello)
{
    struct program_hello message;
    *hello = (struct hello_message){0};
    bool good = decode_hello(in, &message);
    hello->version = message.version; /* of a bad one, too: it may be why */
    hello->role = message.role;
    if (!good)
        return false;
    if (message.role == ROLE_VIEWER)
        return decoder_finish(in);
    hello->run = text_name(message.run);
    hello->environment = text_name(message.environment);
    hello->path = text_name(message.path);
    hello->host = text_name(message.host);
    hello->pid = message.pid;
    hello->instance = message.instance;
    hello->clock_ns = message.clock_ns;
    hello->wall_ns = message.wall_ns;
    hello->arguments = xcalloc(message.argument_count + 1, sizeof *hello->arguments);
    for (; hello->argument_count < message.argument_count; hello->argument_count++)
        hello->arguments[hello->argument_count] = text_copy(decode_argument(in));
    uint32_t variables = decode_variables(in);
    hello->variables = xcalloc(variables + 1u, sizeof *hello->variables);
    for (; hello->variable_count < variables; hello->variable_count++)
        hello->variables[hello->variable_count] = text_copy(decode_argument(in));
    if (message.clock_ns > INT64_MAX / 2 || message.wall_ns > INT64_MAX / 2)
        decoder_fail(in, "invalid timestamp");
    return decoder_finish(in);
}

void hello_message_free(struct hello_message *hello)
{
    free(hello->run);
    free(hello->environment);
    free(hello->path);
    free(hello->host);
    for (size_t i = 0; i < hello->argument_count; i++)
        free(hello->arguments[i]);
    free(hello->arguments);
    for (size_t i = 0; i < hello->variable_count; i++)
        free(hello->variables[i]);
    free(hello->variables);
    *hello = (struct hello_message){0};
}

/* HELLO: the first message of every peer. */
#include "server/intake/session.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>

bool hello_read(struct in *in, struct hello *hello)
{
    *hello = (struct hello){0};
    if (get_u32(in) != HELLO_MAGIC)
        in_fail(in, "HELLO without its magic number");
    hello->version = get_u32(in);
    if (!hello->version || hello->version > WIRE_VERSION) /* of a program it has been the same since the first */
        in_fail(in, "speaks another version of the protocol");
    hello->role = get_u8(in);
    if (hello->role == ROLE_VIEWER)
        return in_done(in);
    if (hello->role != ROLE_PROGRAM)
        in_fail(in, "is neither a program nor a viewer");
    hello->run = get_name(in, 256);
    hello->environment = get_name(in, 256);
    hello->path = get_name(in, LIMIT_TEXT_BYTES);
    hello->host = get_name(in, 256);
    hello->pid = get_u32(in);
    hello->instance = get_u64(in);
    hello->clock_ns = get_u64(in);
    hello->wall_ns = get_u64(in);
    uint32_t count = get_u32(in);
    if (!in->error && count > in_left(in) / 4)
        in_fail(in, "more arguments than bytes");
    hello->arguments = in->error ? NULL : calloc(count + 1, sizeof *hello->arguments);
    for (; hello->arguments && hello->argument_count < count; hello->argument_count++)
        hello->arguments[hello->argument_count] = get_name(in, LIMIT_TEXT_BYTES);
    if (!in->error && !*hello->run)
        in_fail(in, "names no run");
    return in_done(in);
}

void hello_free(struct hello *hello)
{
    free(hello->run);
    free(hello->environment);
    free(hello->path);
    free(hello->host);
    for (size_t i = 0; i < hello->argument_count; i++)
        free(hello->arguments[i]);
    free(hello->arguments);
    *hello = (struct hello){0};
}

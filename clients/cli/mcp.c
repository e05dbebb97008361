/* poet mcp: a server of the Model Context Protocol on standard input and output, with Poet's
 * commands as tools. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/mcp_tools.h"
#include "clients/cli/output_format.h"
#include "clients/cli/version.h"
#include "config/options.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES (1u << 20) /* of a message, at most */
#define INPUT_BYTES (4u << 20) /* of messages that wait, at most */
#define DEPTH 64 /* of nested values in a message */
#define ANSWER_BYTES 65536u /* of each text of an answer, by default */
#define CALL_SECONDS 300u

enum { OPTION_READ_ONLY = 3000, OPTION_TIMEOUT, OPTION_BYTES };

/* ---- input ---- */

struct mcp_input {
    char *bytes;
    size_t size, checked; /* those before `checked` were searched for cancellations */
    bool ended;
    bool skipping; /* the rest of a line that is too long */
};

/* Reads what there is, at most once; nothing while too much waits. */
static void mcp_input_read(struct mcp_input *in)
{
    if (in->size == INPUT_BYTES)
        return;
    ssize_t n = read(STDIN_FILENO, in->bytes + in->size, INPUT_BYTES - in->size);
    if (n > 0)
        in->size += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        in->ended = true;
}

static void mcp_input_consume(struct mcp_input *in, size_t size)
{
    memmove(in->bytes, in->bytes + size, in->size - size);
    in->size -= size;
    in->checked = in->checked > size ? in->checked - size : 0;
}

/* Returns the next line, which the caller frees; NULL at the end, or (*too_long) instead of a line
 * that is. */
static char *mcp_input_line(struct mcp_input *in, bool *too_long)
{
    *too_long = false;
    for (;;) {
        char *end = memchr(in->bytes, '\n', in->size);
        size_t size = end ? (size_t)(end - in->bytes) : in->size;
        if (in->skipping || size > LINE_BYTES) {
            *too_long = !in->skipping;
            in->skipping = !end;
            mcp_input_consume(in, size + (end != NULL));
            if (*too_long)
                return NULL;
            if (end)
                continue;
        } else if (end || (in->ended && size)) {
            char *line = xmalloc(size + 1);
            memcpy(line, in->bytes, size);
            line[size] = 0;
            /* (a NUL would hide what follows it; no JSON has this byte) */
            for (char *nul; (nul = memchr(line, 0, size)) != NULL;)
                *nul = '\xff';
            mcp_input_consume(in, size + (end != NULL));
            return line;
        }
        if (in->ended)
            return NULL;
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        poll(&p, 1, -1);
        mcp_input_read(in);
    }
}

/* ---- messages ---- */

struct mcp_server {
    struct mcp_settings settings;
    struct mcp_input input;
    struct json_object *calls; /* id of the call that runs; NULL: none */
    bool cancelled; /* it is: it has no answer */
};

/* Returns false if the line is not JSON. The caller frees *message, which may be NULL: null. */
static bool mcp_parse(const char *line, struct json_object **message)
{
    struct json_tokener *parser = json_tokener_new_ex(DEPTH);
    size_t size = strlen(line);
    if (!parser)
        out_of_memory(0);
    json_tokener_set_flags(parser, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    *message = json_tokener_parse_ex(parser, line, (int)size + 1);
    const char *rest = line + json_tokener_get_parse_end(parser);
    bool good =
        json_tokener_get_error(parser) == json_tokener_success && !rest[strspn(rest, " \t\r\n")];
    json_tokener_free(parser);
    if (good)
        return true;
    json_object_put(*message);
    *message = NULL;
    return false;
}

/* Writes a message; takes over result. id NULL: null. */
static void mcp_send(struct json_object *id, const char *key, struct json_object *value)
{
    struct json_object *o = json_object_new_object();
    json_add_text(o, "jsonrpc", "2.0");
    json_object_object_add(o, "id", json_object_get(id));
    json_object_object_add(o, key, value);
    json_print(o);
    fflush(stdout);
}

static void mcp_send_error(struct json_object *id, int code, const char *text)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "code", json_object_new_int(code));
    json_add_text(o, "message", text);
    mcp_send(id, "error", o);
}

#define PARSE_ERROR (-32700)
#define INVALID_REQUEST (-32600)
#define METHOD_NOT_FOUND (-32601)
#define INVALID_PARAMS (-32602)

/* ---- cancellation ---- */

static const char *mcp_text_of(struct json_object *o, const char *key)
{
    struct json_object *value =
        json_object_is_type(o, json_type_object) ? json_object_object_get(o, key) : NULL;
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static bool mcp_cancels(struct json_object *message, struct json_object *id)
{
    const char *method = mcp_text_of(message, "method");
    struct json_object *params = method && strcmp(method, "notifications/cancelled") == 0
                                     ? json_object_object_get(message, "params")
                                     : NULL;
    return json_object_is_type(params, json_type_object) &&
           json_object_equal(json_object_object_get(params, "requestId"), id);
}

/* Called while a tool runs, when there is input: returns whether the call is cancelled. */
static bool mcp_receive_while_calling(void *user)
{
    struct mcp_server *server = user;
    struct mcp_input *in = &server->input;
    bool cancelled = false;
    char *end;
    mcp_input_read(in);
    if (in->size == INPUT_BYTES || in->ended)
        server->settings.input = -1; /* until the call has ended */
    while (!cancelled &&
           (end = memchr(in->bytes + in->checked, '\n', in->size - in->checked)) != NULL) {
        char *line = xstrndup(in->bytes + in->checked, (size_t)(end - in->bytes) - in->checked);
        struct json_object *message = NULL;
        cancelled = strlen(line) <= LINE_BYTES && mcp_parse(line, &message) &&
                    mcp_cancels(message, server->calls);
        json_object_put(message);
        free(line);
        in->checked = (size_t)(end - in->bytes) + 1;
    }
    server->cancelled |= cancelled;
    return cancelled;
}

/* ---- methods ---- */

static const char mcp_instructions[] =
    "Poet traces concurrent programs and explains hangs, waits and order. If a program hangs: call "
    "record with it, then diagnose with the trace; why and order explain single events, and query "
    "reads any table. Every answer ends with its certainty: keep what is likely or possible apart "
    "from what is certain.";

static void mcp_initialize(struct mcp_server *server, struct json_object *id,
                           struct json_object *params)
{
    static const char *const revisions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};
    struct json_object *result = json_object_new_object(), *capabilities = json_object_new_object(),
                       *tools = json_object_new_object(), *info = json_object_new_object();
    const char *wanted = mcp_text_of(params, "protocolVersion"), *revision = revisions[0];
    (void)server;
    for (size_t i = 0; wanted && i < sizeof revisions / sizeof *revisions; i++)
        if (strcmp(wanted, revisions[i]) == 0)
            revision = revisions[i];
    json_object_object_add(tools, "listChanged", json_object_new_boolean(false));
    json_object_object_add(capabilities, "tools", tools);
    json_add_text(info, "name", "poet");
    json_add_text(info, "title", "Poet");
    json_add_text(info, "version", POET_VERSION);
    json_add_text(result, "protocolVersion", revision);
    json_object_object_add(result, "capabilities", capabilities);
    json_object_object_add(result, "serverInfo", info);
    json_add_text(result, "instructions", mcp_instructions);
    mcp_send(id, "result", result);
}

static void mcp_ping(struct mcp_server *server, struct json_object *id, struct json_object *params)
{
    (void)server, (void)params;
    mcp_send(id, "result", json_object_new_object());
}

static void mcp_list_tools(struct mcp_server *server, struct json_object *id,
                           struct json_object *params)
{
    struct json_object *result = json_object_new_object();
    (void)params;
    json_object_object_add(result, "tools", mcp_tools_list(&server->settings));
    mcp_send(id, "result", result);
}

static void mcp_call_tool(struct mcp_server *server, struct json_object *id,
                          struct json_object *params)
{
    struct error error = {""};
    const char *name = mcp_text_of(params, "name");
    struct json_object *arguments = name ? json_object_object_get(params, "arguments") : NULL,
                       *none = json_object_new_object(), *result = NULL;
    if (!name)
        error_set(&error, "tools/call: missing name");
    else if (arguments && !json_object_is_type(arguments, json_type_object))
        error_set(&error, "tools/call: arguments must be an object");
    server->calls = id;
    server->cancelled = false;
    if (!*error.text)
        result = mcp_tools_call(&server->settings, name, arguments ? arguments : none, &error);
    server->calls = NULL;
    json_object_put(none);
    if (server->cancelled)
        json_object_put(result);
    else if (result)
        mcp_send(id, "result", result);
    else
        mcp_send_error(id, INVALID_PARAMS, error.text);
}

static const struct {
    const char *name;
    void (*run)(struct mcp_server *server, struct json_object *id, struct json_object *params);
} mcp_methods[] = {{"initialize", mcp_initialize},
                   {"ping", mcp_ping},
                   {"tools/list", mcp_list_tools},
                   {"tools/call", mcp_call_tool}};

/* ---- requests ---- */

/* Returns why a message is neither a request nor a notification nor a response; NULL: it is one
 * of these. */
static const char *mcp_invalid(struct json_object *message)
{
    struct json_object *id, *params;
    const char *version = mcp_text_of(message, "jsonrpc");
    if (!json_object_is_type(message, json_type_object))
        return "a message must be one object";
    if (!version || strcmp(version, "2.0") != 0)
        return "jsonrpc must be \"2.0\"";
    if (json_object_object_get_ex(message, "id", &id) && !json_object_is_type(id, json_type_int) &&
        !json_object_is_type(id, json_type_string))
        return "id must be a text or an integer";
    if (json_object_object_get_ex(message, "params", &params) &&
        !json_object_is_type(params, json_type_object))
        return "params must be an object";
    bool answer = json_object_object_get_ex(message, "result", NULL) ||
                  json_object_object_get_ex(message, "error", NULL);
    return mcp_text_of(message, "method") || answer ? NULL : "method must be a text";
}

static void mcp_dispatch(struct mcp_server *server, struct json_object *message)
{
    struct json_object *id = NULL, *params = json_object_object_get(message, "params");
    const char *method = mcp_text_of(message, "method");
    if (!method || !json_object_object_get_ex(message, "id", &id))
        return; /* a response, or a notification, which has no answer */
    for (size_t i = 0; i < sizeof mcp_methods / sizeof *mcp_methods; i++)
        if (strcmp(mcp_methods[i].name, method) == 0) {
            mcp_methods[i].run(server, id, params);
            return;
        }
    char *text = xasprintf("unknown method \"%.100s\"", method);
    mcp_send_error(id, METHOD_NOT_FOUND, text);
    free(text);
}

/* Answers a line that is not a valid message with the id that it may have. */
static void mcp_reject(struct json_object *message, const char *why)
{
    struct json_object *id = json_object_is_type(message, json_type_object)
                                 ? json_object_object_get(message, "id")
                                 : NULL;
    bool usable =
        json_object_is_type(id, json_type_int) || json_object_is_type(id, json_type_string);
    mcp_send_error(usable ? id : NULL, INVALID_REQUEST, why);
}

static void mcp_answer_line(struct mcp_server *server, const char *line)
{
    if (!line[strspn(line, " \t\r")])
        return;
    struct json_object *message;
    bool good = mcp_parse(line, &message);
    const char *why = good ? mcp_invalid(message) : NULL;
    if (!good)
        mcp_send_error(NULL, PARSE_ERROR, "not a line of JSON");
    else if (why)
        mcp_reject(message, why);
    else
        mcp_dispatch(server, message);
    json_object_put(message);
}

static int mcp_serve(struct mcp_server *server)
{
    bool too_long;
    server->input.bytes = xmalloc(INPUT_BYTES);
    for (;;) {
        char *line = mcp_input_line(&server->input, &too_long);
        server->settings.input = server->input.ended ? -1 : STDIN_FILENO;
        if (too_long)
            mcp_send_error(NULL, INVALID_REQUEST, "the message is too long (at most 1 MiB)");
        else if (!line)
            break;
        else
            mcp_answer_line(server, line);
        free(line);
        if (ferror(stdout))
            break;
    }
    free(server->input.bytes);
    return ferror(stdout) ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the command ---- */

struct mcp_options {
    const struct command *command;
    bool read_only;
    unsigned seconds, bytes;
};

static const struct argp_option options[] = {
    {"read-only", OPTION_READ_ONLY, NULL, 0, "without the tool record, which runs programs", 0},
    {"timeout", OPTION_TIMEOUT, "SECONDS", 0, "of a call, at most (300)", 0},
    {"bytes", OPTION_BYTES, "N", 0, "of each text of an answer, at most (65536)", 0},
    {0}};

static error_t mcp_parse_option(int key, char *value, struct argp_state *state)
{
    struct mcp_options *o = state->input;
    bool timeout = key == OPTION_TIMEOUT;
    switch (key) {
    case OPTION_READ_ONLY:
        o->read_only = true;
        return 0;
    case OPTION_TIMEOUT:
    case OPTION_BYTES:
        if (command_number(value, timeout ? 86400 : 1u << 26, timeout ? &o->seconds : &o->bytes))
            return 0;
        command_usage(o->command, "--%s %s: invalid number", timeout ? "timeout" : "bytes", value);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int mcp_run(const struct command *command, int argc, char **argv)
{
    struct mcp_options o = {command, false, CALL_SECONDS, ANSWER_BYTES};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    if (first != argc)
        return command_usage(command, "extra operand: %s", argv[first]);
    struct mcp_server server = {.settings = {.read_only = o.read_only,
                                             .seconds = o.seconds,
                                             .bytes = o.bytes,
                                             .receive = mcp_receive_while_calling}};
    server.settings.user = &server;
    return mcp_serve(&server);
}

static const struct argp argp = {
    .options = options,
    .parser = mcp_parse_option,
    .args_doc = "",
    .doc =
        "Serve the Model Context Protocol on standard input and output, so that an assistant can "
        "record programs, diagnose hangs and query traces.  Its tools are Poet's commands: "
        "record, runs, diagnose, report, predict, order, why, waits, tables, query, source, "
        "show.  Each answer about a trace ends with its certainty.  The tool record runs any "
        "program that a client names, with the rights of the user of this command; --read-only "
        "excludes it.",
    .children = options_children};

const struct command command_mcp = {.name = "mcp",
                                    .summary = "serve the Model Context Protocol, for assistants",
                                    .run = mcp_run,
                                    .argp = &argp};

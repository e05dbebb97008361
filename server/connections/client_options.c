#define _GNU_SOURCE
#include "server/connections/client_options.h"

#include "config/measurement_spec.h"
#include "base/alloc.h"
#include "server/eventloop/server_log.h"
#include "server/connections/event_server.h"
#include "server/connections/process_sampler.h"
#include "wire/metric_messages.h"
#include "wire/text.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20)
#define ALL_BITS                                                                                   \
    (WANTED_COUNTS | WANTED_REAL | WANTED_CPU | WANTED_EVERY | WANTED_STATES | WANTED_MEMORY |     \
     WANTED_METERS | WANTED_THROTTLE)

static bool client_options_is_local(const struct connection *peer)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    getsockopt(peer->channel.fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    return domain == AF_UNIX;
}

/* The caller's; NULL with what is wrong in the log. */
static char *text_of_file(const char *path)
{
    char *text = xcalloc(FILE_BYTES + 1, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, FILE_BYTES) : -1;
    if (n < 0)
        server_log("%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (n >= 0)
        return text;
    free(text);
    return NULL;
}

/* Mistakes go to the log, a line each. */
static bool read_measure(const char *path, struct measurement_spec *measure)
{
    char *text = text_of_file(path), *messages = NULL;
    size_t size;
    FILE *complaints = open_memstream(&messages, &size);
    bool good = text && complaints && measurement_spec_read(text, path, complaints, measure);
    if (complaints)
        fclose(complaints);
    for (unsigned i = 0; good && i < MEASURE_LISTS; i++)
        if (measure->lists[i])
            server_log(
                "%s: lists of functions are read by poet record -m and the viewer: start the "
                "program with %s",
                path, measurement_spec_variable(i));
    for (char *line = messages; line && *line; line += strcspn(line, "\n") + 1) {
        server_log("%.*s", (int)strcspn(line, "\n"), line);
        if (!line[strcspn(line, "\n")])
            break;
    }
    free(messages);
    free(text);
    return good;
}

/* Applies a file of measurement settings.  An unreadable file changes no setting, but ends the
 * program's wait for it. */
static void client_options_receive_file(struct connection *peer, const char *path)
{
    struct measurement_spec measure = {0};
    bool good = client_options_is_local(peer) && read_measure(path, &measure);
    struct measurement_request request = {.mask = good ? ALL_BITS : WANTED_BROKEN,
                                          .bits = good ? measure.wanted : WANTED_BROKEN};
    run_settings_add(&peer->run->settings, &request);
    if (good && measure.rate)
        process_sampler_rate(peer, measure.rate);
    measurement_spec_free(&measure);
}

bool client_options_receive(struct connection *peer, const uint8_t *body, size_t size)
{
    struct metric_message message;
    struct decoder in = decoder_init(body, size);
    if (!decode_metric(&in, &message) || message.kind != METRIC_NONE)
        return false;
    char *what = text_name(message.name);
    if (strcmp(what, "rate") == 0) {
        process_sampler_rate(peer, message.code);
    } else if (strcmp(what, "file") == 0) {
        char *path = xstrndup(message.unit.bytes, message.unit.size);
        client_options_receive_file(peer, path);
        free(path);
    }
    free(what);
    return true;
}

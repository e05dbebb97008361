#define _GNU_SOURCE
#include "wire/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct addrinfo *address_resolve_remote(const char *endpoint, struct error *error)
{
    char host[256];
    const char *at = endpoint + 7, *colon = strrchr(at, ':');
    if (!colon || colon == at || !colon[1] || (size_t)(colon - at) >= sizeof host) {
        error_set(error, "%s: invalid endpoint; use poet://HOST:PORT", endpoint);
        return NULL;
    }
    snprintf(host, sizeof host, "%.*s", (int)(colon - at), at);
    size_t n = strlen(host);
    if (host[0] == '[' && host[n - 1] == ']') {
        memmove(host, host + 1, n - 2);
        host[n - 2] = 0;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int e = getaddrinfo(host, colon + 1, &hints, &found);
    if (!e)
        return found;
    error_set(error, "%s: %s: check the host name and port, or use the host's address", endpoint,
              gai_strerror(e));
    return NULL;
}

bool address_resolve(const char *endpoint, struct sockaddr_storage *address, size_t *size,
                     struct error *error)
{
    struct sockaddr_un sun;
    *address = (struct sockaddr_storage){0};
    if (strncmp(endpoint, "unix:", 5) == 0) {
        if (!endpoint_unix(endpoint, &sun, error))
            return false;
        memcpy(address, &sun, *size = sizeof sun);
        return true;
    }
    struct addrinfo *found = address_resolve_remote(endpoint, error);
    if (!found)
        return false;
    memcpy(address, found->ai_addr, *size = found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

static int listen_unix(const char *endpoint, struct error *error)
{
    struct sockaddr_un sun;
    if (!endpoint_unix(endpoint, &sun, error))
        return -1;
    bool absent;
    struct error ignored;
    int other = endpoint_connect(endpoint, 200, &absent, &ignored);
    if (other >= 0 || !absent) {
        if (other >= 0)
            close(other);
        error_set(error, "%s: in use by another server", endpoint);
        return -1;
    }
    struct stat st;
    if (lstat(sun.sun_path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode)) {
            error_set(error, "%s: exists and is not a socket", endpoint);
            return -1;
        }
        unlink(sun.sun_path); /* stale: there is no listener */
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(077);
    int e = fd < 0 ? -1 : bind(fd, (void *)&sun, sizeof sun);
    umask(mask);
    if (e < 0 || listen(fd, 128) < 0) {
        error_set(error, "%s: %s", endpoint, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static int address_listen_remote(const char *endpoint, struct error *error)
{
    struct addrinfo *found = address_resolve_remote(endpoint, error);
    if (!found)
        return -1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, 128) < 0) {
        error_set(error, "%s: %s", endpoint, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

int address_listen(const char *endpoint, struct error *error)
{
    if (strncmp(endpoint, "unix:", 5) == 0)
        return listen_unix(endpoint, error);
    if (endpoint_is_remote(endpoint))
        return address_listen_remote(endpoint, error);
    if (endpoint_is(endpoint))
        error_set(error, ENDPOINT_CLEAR, endpoint);
    else
        error_set(error, "%s: invalid endpoint; use unix:PATH or poet://HOST:PORT", endpoint);
    return -1;
}

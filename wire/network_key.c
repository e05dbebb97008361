#define _GNU_SOURCE
#include "wire/network_key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS (2u * KEY_BYTES)

bool network_key_path(char *path, size_t size, struct error *error)
{
    const char *named = secure_getenv("POET_KEY_FILE"), *config = secure_getenv("XDG_CONFIG_HOME"),
               *home = secure_getenv("HOME");
    int n;
    if (named && *named)
        n = snprintf(path, size, "%s", named);
    else if (config && *config == '/')
        n = snprintf(path, size, "%s/poet/key", config);
    else
        n = snprintf(path, size, "%s/.config/poet/key", home && *home ? home : "");
    if (n >= 0 && (size_t)n < size)
        return true;
    error_set(error, "the path of the key is too long");
    return false;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool network_key_decode_hex(const char *text, size_t size, struct network_key *key)
{
    if (size < DIGITS || (size == DIGITS + 1 && text[DIGITS] != '\n') || size > DIGITS + 1)
        return false;
    for (size_t i = 0; i < KEY_BYTES; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Is it a regular file of the user to which no other user has access? */
static bool is_own(int fd, const char *path, struct error *error)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        error_set(error, "%s: not a key file", path);
        return false;
    }
    if (st.st_uid == geteuid() && !(st.st_mode & 077))
        return true;
    error_set(error, "%s: key is readable by others; chmod 600, and replace it if it was read",
              path);
    return false;
}

bool network_key_read(const char *path, struct network_key *key, struct error *error)
{
    char known[PATH_MAX], text[DIGITS + 2];
    if (!path && !network_key_path(known, sizeof known, error))
        return false;
    path = path ? path : known;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        error_set(error, "no key (%s); create one with poet key and copy the file to each host",
                  path);
    else if (fd < 0)
        error_set(error, "%s: %s", path, strerror(errno));
    if (fd < 0)
        return false;
    bool good = is_own(fd, path, error);
    ssize_t n = good ? read(fd, text, sizeof text) : 0;
    close(fd);
    if (good && (n < 0 || !network_key_decode_hex(text, (size_t)n, key))) {
        error_set(error, "%s: not a key (64 hexadecimal digits); create one with poet key", path);
        good = false;
    }
    explicit_bzero(text, sizeof text);
    return good;
}

static void make_directories(const char *path)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(part, 0700);
        *slash = '/';
    }
}

bool network_key_make(const char *path, struct error *error)
{
    uint8_t bytes[KEY_BYTES];
    char text[DIGITS + 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        error_set(error, "no random bytes: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[DIGITS] = '\n';
    make_directories(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && write(fd, text, DIGITS + 1) == (ssize_t)DIGITS + 1;
    if (!written && errno == EEXIST)
        error_set(error, "%s: already exists; delete it only if no host uses it", path);
    else if (!written)
        error_set(error, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !written)
        unlink(path);
    explicit_bzero(text, sizeof text);
    explicit_bzero(bytes, sizeof bytes);
    return written;
}

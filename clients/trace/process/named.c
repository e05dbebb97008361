/* Unix sockets by name.  Both streams of a connection are called by the inode of the socket that connects:
 * it knows that by itself, and the other side asks the kernel who its peer is (sock_diag(7)). */
#define _GNU_SOURCE
#include "clients/trace/process/named.h"

#include "clients/trace/mix.h"
#include "clients/trace/poet.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/socket.h"
#include "clients/trace/process/streams.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NAMED_LISTENER = 20, NAMED_END, NAMED_STREAM };

static uint64_t way(uint64_t inode, bool to_listener)
{
    return mix(mix(NAMED_STREAM, inode), to_listener);
}

/* The file that stands for it, or its abstract name; 0: none. */
static uint64_t name_of(const struct sockaddr *at, socklen_t size)
{
    const struct sockaddr_un *un = (const void *)at;
    char path[sizeof un->sun_path + 1] = "";
    struct stat st;
    size_t length = size > offsetof(struct sockaddr_un, sun_path)
                        ? size - offsetof(struct sockaddr_un, sun_path)
                        : 0;
    if (length == 0 || length > sizeof un->sun_path)
        return 0;
    memcpy(path, un->sun_path, length);
    if (*path)
        return stat(path, &st) == 0 ? mix(mix(NAMED_LISTENER, st.st_dev), st.st_ino) : 0;
    uint64_t key = NAMED_LISTENER;
    for (size_t i = 1; i < length; i++)
        key = mix(key, (unsigned char)path[i]);
    return key;
}

static void set_end(int fd, uint64_t inode, bool connects)
{
    uint64_t cookie;
    uint64_t *end = cookie_of(fd, &cookie) ? poet_counter(mix(NAMED_END, cookie), true) : NULL;
    if (end)
        STORE(end, inode << 1 | connects);
}

uint64_t named_end(uint64_t cookie, bool out)
{
    const uint64_t *end = poet_counter(mix(NAMED_END, cookie), false);
    uint64_t is = end ? LOAD(end) : 0;
    return is ? way(is >> 1, (is & 1) == (out ? 1 : 0)) : 0;
}

void named_listen(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = name_of(at, size);
    uint64_t *there = key ? poet_counter(key, true) : NULL;
    if (there)
        STORE(there, 1);
}

static bool is_ours(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = name_of(at, size);
    return key && poet_counter(key, false);
}

static uint64_t inode_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Before the other side can write. */
void named_connecting(int fd, const struct sockaddr *to, socklen_t size)
{
    uint64_t inode = is_ours(to, size) ? inode_of(fd) : 0;
    if (!inode)
        return;
    stream_make(way(inode, true));
    stream_make(way(inode, false));
    set_end(fd, inode, true);
}

void named_accepted(const struct sockaddr *at, socklen_t size, int fd)
{
    if (!is_ours(at, size))
        return;
    uint64_t inode = peer_of(inode_of(fd));
    if (inode)
        set_end(fd, inode, false);
    else
        poet_unseen("Unix sockets by name, whose peers the kernel does not tell");
}

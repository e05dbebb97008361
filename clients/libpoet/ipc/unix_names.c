/* Unix sockets by name. Both streams of a connection are identified by the inode of the connecting
 * socket: that side knows it, and the other side asks the kernel for its peer (sock_diag(7)). */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/unix_names.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/socket_info.h"
#include "clients/libpoet/ipc/byte_streams.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { UNIX_NAME_LISTENER = 20, UNIX_NAME_END, UNIX_NAME_STREAM };

static uint64_t unix_name_direction_key(uint64_t inode, bool to_listener)
{
    return key_mix(key_mix(UNIX_NAME_STREAM, inode), to_listener);
}

/* Returns a key of the file of its address, or of its abstract name; 0: none. */
static uint64_t unix_name_get(const struct sockaddr *at, socklen_t size)
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
        return stat(path, &st) == 0 ? key_mix(key_mix(UNIX_NAME_LISTENER, st.st_dev), st.st_ino)
                                    : 0;
    uint64_t key = UNIX_NAME_LISTENER;
    for (size_t i = 1; i < length; i++)
        key = key_mix(key, (unsigned char)path[i]);
    return key;
}

static void unix_name_set_end(int fd, uint64_t inode, bool connects)
{
    uint64_t cookie;
    uint64_t *end =
        socket_cookie(fd, &cookie) ? poet_counter(key_mix(UNIX_NAME_END, cookie), true) : NULL;
    if (end)
        STORE(end, inode << 1 | connects);
}

uint64_t unix_name_end(uint64_t cookie, bool out)
{
    const uint64_t *end = poet_counter(key_mix(UNIX_NAME_END, cookie), false);
    uint64_t is = end ? LOAD(end) : 0;
    return is ? unix_name_direction_key(is >> 1, (is & 1) == (out ? 1 : 0)) : 0;
}

void unix_name_listen(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = unix_name_get(at, size);
    uint64_t *there = key ? poet_counter(key, true) : NULL;
    if (there)
        STORE(there, 1);
}

static bool unix_name_is_own(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = unix_name_get(at, size);
    return key && poet_counter(key, false);
}

static uint64_t unix_name_inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Called before the other side can write. */
void unix_name_connecting(int fd, const struct sockaddr *to, socklen_t size)
{
    uint64_t inode = unix_name_is_own(to, size) ? unix_name_inode(fd) : 0;
    if (!inode)
        return;
    stream_make(unix_name_direction_key(inode, true), false);
    stream_make(unix_name_direction_key(inode, false), false);
    unix_name_set_end(fd, inode, true);
}

void unix_name_accepted(const struct sockaddr *at, socklen_t size, int fd)
{
    if (!unix_name_is_own(at, size))
        return;
    uint64_t inode = socket_peer(unix_name_inode(fd));
    if (inode)
        unix_name_set_end(fd, inode, false);
    else
        poet_untraced("named Unix sockets whose peers the kernel does not report");
}

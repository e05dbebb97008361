/* The connection to the server, and the queues that are handed over on it. */
#ifndef CLIENTS_LIBPOET_CORE_SERVER_CONNECTION_H
#define CLIENTS_LIBPOET_CORE_SERVER_CONNECTION_H

#include "wire/message.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

void server_begin(void); /* Reads the environment. */
/* Sets the lifetime; returns the previous one. */
uint32_t current_lifetime_exchange(uint32_t life);
/* Returns whether this is a child that was created unnoticed. */
bool current_lifetime_is_cleared(void);
uint32_t current_lifetime_before_fork(void);
/* Begins a new lifetime on the connection. Returns false if the server does not accept the first
 * message. */
bool server_connection_begin(int fd, const struct encoder *first);
bool server_queue_create(struct traced_thread *thread,
                         uint32_t most_slots); /* Makes a queue and hands it over. */
/* Queues that grow: ring_slots.c. */
bool queue_may_grow(const struct traced_thread *thread);
/* Makes memory that the server may map, of a fixed size. Returns its descriptor, or -1 if that is
 * not possible. */
int queue_memory(size_t bytes);
void queue_prepare(struct traced_thread *thread, void *memory, uint32_t slots);
/* Sends a short message if it can be sent without waiting. Async-signal-safe. */
bool server_send_at_once(const struct encoder *out, int descriptor, uint32_t life);
#define QUEUE_WHOLE UINT32_MAX
#define QUEUE_SMALL 1024u
void server_queue_done(struct traced_thread *thread);
/* Called in a child, which must not write to the parent's queue. */
void server_queue_forked(struct traced_thread *thread);
void server_wake(void);
void server_check(void); /* Gives up if the server has gone; does not wait. */
bool server_alive(void);
/* Returns false if that lifetime is over. */
bool server_send(const struct encoder *out, uint32_t life);
/* Sends a message with a descriptor; returns false if that lifetime is over or the server is
 * slow. */
bool server_send_with(const struct encoder *out, int descriptor, uint32_t life);
bool server_may_share(void);
void server_forget(void); /* Ends the lifetime without a message. */
void server_forked(void); /* Does the same in a child. */
/* Called in a child: the connection belongs to its parent and stays. */
void server_connection_abandon(void);
unsigned server_wait_ms(void);

/* ---- descriptors ----
 *
 * Numbers of libpoet's own file descriptors, which must not collide with the program's. */

/* Duplicates the descriptor under a number of at least `least` and closes the old one. Returns `fd`
 * itself if that fails. 0 to 2 belong to the program, even if it has closed them. */
int server_connection_move_fd(int fd, int least);
/* Moves the descriptor for good, beyond the numbers that the program may open, or as high as
 * possible. */
int server_connection_move_aside(int fd);

#pragma GCC visibility pop
#endif

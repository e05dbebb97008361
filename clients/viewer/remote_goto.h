/* Requests from the user's other programs: a debugger (clients/gdb) sends its position in the order
 * of a trace, and the viewer goes there if it shows that trace.
 *
 * It listens at poetview-PID.sock, next to the sockets of servers. A client sends one GOTO message,
 * and gets one back. */
#ifndef CLIENTS_VIEWER_REMOTE_GOTO_H
#define CLIENTS_VIEWER_REMOTE_GOTO_H

struct view;

/* Starts listening. On failure this feature is absent, and nothing else changes. */
void remote_goto_begin(struct view *view);
void remote_goto_end(struct view *view);

#endif

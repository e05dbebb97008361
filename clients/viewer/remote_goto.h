/* What other programs of the user ask of this viewer: a debugger (clients/gdb) says where it is
 * in the order of a trace, and the viewer goes there if it shows that trace.
 *
 * It listens at poetview-PID.sock, beside the sockets of servers.  Who asks sends one message SHOW,
 * and gets one back. */
#ifndef CLIENTS_VIEWER_REMOTE_GOTO_H
#define CLIENTS_VIEWER_REMOTE_GOTO_H

struct view;

/* Where it cannot listen it does not, and nothing else is different. */
void remote_goto_begin(struct view *view);
void remote_goto_end(struct view *view);

#endif

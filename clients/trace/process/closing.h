/* Where descriptors are given up. */
#ifndef CLIENTS_TRACE_PROCESS_CLOSING_H
#define CLIENTS_TRACE_PROCESS_CLOSING_H

#pragma GCC visibility push(hidden)

void fd_close_init(void); /* looks at what this program was given */

#pragma GCC visibility pop
#endif

/* Where descriptors are given up. */
#ifndef CLIENTS_TRACE_PROCESS_CLOSING_H
#define CLIENTS_TRACE_PROCESS_CLOSING_H

#pragma GCC visibility push(hidden)

void closing_begin(void); /* looks at what this program was given */

#pragma GCC visibility pop
#endif

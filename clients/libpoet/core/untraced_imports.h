/* What the program calls that nobody follows. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_IMPORTS_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_IMPORTS_H

#pragma GCC visibility push(hidden)

void untraced_imports_report(
    void); /* what the program's files say that it calls, and nobody follows */

#pragma GCC visibility pop
#endif

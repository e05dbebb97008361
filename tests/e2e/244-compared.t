#!/bin/bash
# The table of docs/compared.md: of which programs in tests/hangs poet blocked reports the cause, by the page's rule.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
TOOLS=poet timeout 600 "$root/tests/compared.sh" "$work/page" || exit 1
is "the page has a row for each program" "$(grep -c '^| [a-z-]* | [a-z ]* |$' page)" 16
is "poet names the cause, and both lines" "$(sed -n 's/^| \([a-z-]*\) | cause |$/\1/p' page | sort | tr '\n' ' ')" \
    "destroy fork handler holder-exits lock-cycle lost-wakeup nested-read pipes pool semaphore-locks task-cycle "
done_testing

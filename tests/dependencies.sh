#!/bin/sh
# Checks that each module includes only the modules that docs/dependencies.txt lists for it.  A file
# belongs to the innermost of its directories that is in that table.
set -u
(git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' | sed 's|^\./||') | grep -Ev '^(tests|examples)/' |
    xargs awk '
function module_of(path) {
    while (sub(/\/[^\/]*$/, "", path))
        if (path in modules)
            return path
    return ""
}
FNR == NR { # the table
    sub(/#.*/, "")
    if (split($0, halves, ":") == 2) {
        modules[halves[1]]
        count = split(halves[2], names, " ")
        for (i = 1; i <= count; i++)
            allowed[halves[1], names[i]]
    }
    next
}
FNR == 1 {
    module = module_of(FILENAME)
    if (module == "")
        complain(FILENAME ": lies in no module")
}
/^#include ".*\// {
    split($0, parts, "\"")
    other = module_of(parts[2])
    if (other != module && !((module, other) in allowed) && !((module, parts[2]) in allowed))
        complain(FILENAME ": the module " module " may not include " parts[2])
}
function complain(what) { print "# " what; status = 1 }
END {
    print (status ? "not ok" : "ok") " 1 - no module includes what docs/dependencies.txt does not let it"
    print "1..1"
    exit status
}' docs/dependencies.txt

#!/bin/sh
# The rule of the rooms: who may include whom.  The table is docs/rooms.txt; a file belongs to the longest
# folder of that table that it lies in.
set -u
(git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' | sed 's|^\./||') | grep -Ev '^(tests|examples)/' |
    xargs awk '
function room_of(path) {
    while (sub(/\/[^\/]*$/, "", path))
        if (path in rooms)
            return path
    return ""
}
FNR == NR { # the table
    sub(/#.*/, "")
    if (split($0, halves, ":") == 2) {
        rooms[halves[1]]
        count = split(halves[2], names, " ")
        for (i = 1; i <= count; i++)
            allowed[halves[1], names[i]]
    }
    next
}
FNR == 1 {
    room = room_of(FILENAME)
    if (room == "")
        complain(FILENAME ": lies in no room")
}
/^#include ".*\// {
    split($0, parts, "\"")
    other = room_of(parts[2])
    if (other != room && !((room, other) in allowed) && !((room, parts[2]) in allowed))
        complain(FILENAME ": the room " room " may not include " parts[2])
}
function complain(what) { print "# " what; status = 1 }
END {
    print (status ? "not ok" : "ok") " 1 - no room includes what docs/rooms.txt does not let it"
    print "1..1"
    exit status
}' docs/rooms.txt

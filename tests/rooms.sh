#!/bin/sh
# The rule of the rooms: who may include whom.  The table is docs/rooms.txt.
set -u
status=0
room_of() {
    case $1 in
    clients/*/*) echo "${1%/*}" ;;
    server/order/* | server/store/*) echo "${1%/*}" ;;
    *) echo "${1%%/*}" ;;
    esac
}
for file in $(git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' | sed 's|^\./||'); do
    room=$(room_of "$file")
    case $room in tests | examples) continue ;; esac
    allowed=$(sed -n "s|^$room:||p" docs/rooms.txt)
    for header in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
        other=$(room_of "$header")
        case $header in */*) ;; *) continue ;; esac
        [ "$other" = "$room" ] && continue
        found=no
        for a in $allowed; do
            [ "$a" = "$other" ] || [ "$a" = "$header" ] && found=yes
        done
        if [ $found = no ]; then
            echo "$file: the room $room may not include $header"
            status=1
        fi
    done
done
[ $status = 0 ] && echo "ok   the rule of the rooms"
exit $status

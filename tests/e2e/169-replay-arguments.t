#!/bin/bash
# poet replay without a command runs the recorded command line, byte for byte, and prints it first; it does not
# run a command from a trace of another user.
. "$(dirname "$0")/lib.sh"
words=($'a\nb' $'c\td' $'e\xe9f' '' "it's" $'\x7f' $'\xe2\x90\x8a' 'x y')
printf='/usr/bin/printf'
poet record -o words.poet -- $printf '%s|' "${words[@]}" >first 2>err
until_true finished words.poet
$printf '%s|' "${words[@]}" >wanted
check "record: the program gets its arguments" cmp first wanted
poet replay -o again.poet words.poet >second 2>err
check "replay: the program gets the recorded arguments" cmp second wanted
like "replay: the command is printed first, quoted for a shell" "$(head -n 1 err)" \
    "^poet replay: words.poet: runs the recorded command: $printf '%s\|' 'a.b' 'c.d' 'e.f' '' 'it'.''s' '.' '.' 'x y'$"
like "replay: the result is printed last" "$(tail -n 1 err)" '^poet replay: no divergence'
poet replay -q -o again.poet words.poet >second 2>err
is "replay -q: the command is not printed" "$(grep -c 'says what' err)" 0
poet replay -o again.poet words.poet -- $printf '%s|' "${words[@]}" >second 2>err
is "replay with a command: the command is not printed" "$(grep -c 'says what' err)" 0
is "poet stat --json: arguments are printable" \
    "$(poet stat --json words.poet | python3 -c 'import json, sys; print(json.load(sys.stdin)["programs"][0]["arguments"][2:4])')" "['a␊b', 'c␉d']"
long=$(head -c 5000 /dev/zero | tr '\0' x)
poet record -o long.poet -- $printf '%s|' "$long" >first 2>err
until_true finished long.poet
poet replay -o again.poet long.poet >second 2>err
is "incomplete command line in the trace: exit status 2, and nothing is run" "$? $(cat second)" "2 "
like "incomplete command line in the trace: the error says so" "$(cat err)" 'long.poet does not record its complete command line; specify the program'
if [ "$(id -u)" = 0 ]; then
    chown 65534 words.poet
    poet replay -o again.poet words.poet >second 2>err </dev/null
    is "trace of another user: exit status 2, and nothing is run" "$? $(cat second)" "2 "
    like "trace of another user: the error says so" "$(tail -n 2 err | head -n 1)$(cat err)" "words.poet belongs to another user; not run \(specify the program if you trust it\)"
    poet replay -q -o again.poet words.poet >second 2>err </dev/null
    like "trace of another user with -q: the command is printed" "$(cat err)" 'runs the recorded command'
    poet replay -o again.poet words.poet -- $printf '%s|' "${words[@]}" >second 2>err
    check "trace of another user with a command: the named command is run" cmp second wanted
else
    skip "the test does not run as root"
fi
done_testing

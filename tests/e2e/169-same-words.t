#!/bin/bash
# What is run again without a program named is what was run: the same words, byte for byte, said before they
# are run; and nothing of a trace that another user wrote.
. "$(dirname "$0")/lib.sh"
words=($'a\nb' $'c\td' $'e\xe9f' '' "it's" $'\x7f' $'\xe2\x90\x8a' 'x y')
printf='/usr/bin/printf'
poet record -o words.poet -- $printf '%s|' "${words[@]}" >first 2>err
until_true finished words.poet
$printf '%s|' "${words[@]}" >wanted
check "the program got its words when it was recorded" cmp first wanted
poet replay -o again.poet words.poet >second 2>err
check "...and gets the same when it is run again" cmp second wanted
like "what is run is said before, as a shell would read it" "$(head -n 1 err)" \
    "^poet replay: words.poet: runs the recorded command: $printf '%s\|' 'a.b' 'c.d' 'e.f' '' 'it'.''s' '.' '.' 'x y'$"
like "...and how it went" "$(tail -n 1 err)" '^poet replay: no divergence'
poet replay -q -o again.poet words.poet >second 2>err
is "quietly, nothing is" "$(grep -c 'says what' err)" 0
poet replay -o again.poet words.poet -- $printf '%s|' "${words[@]}" >second 2>err
is "...nor is it where the program was named" "$(grep -c 'says what' err)" 0
is "what is shown of the words is readable" \
    "$(poet stat --json words.poet | python3 -c 'import json, sys; print(json.load(sys.stdin)["programs"][0]["arguments"][2:4])')" "['a␊b', 'c␉d']"
long=$(head -c 5000 /dev/zero | tr '\0' x)
poet record -o long.poet -- $printf '%s|' "$long" >first 2>err
until_true finished long.poet
poet replay -o again.poet long.poet >second 2>err
is "words that are not whole in the trace are not run" "$? $(cat second)" "2 "
like "...which is said" "$(cat err)" 'long.poet does not record its complete command line; specify the program'
if [ "$(id -u)" = 0 ]; then
    chown 65534 words.poet
    poet replay -o again.poet words.poet >second 2>err </dev/null
    is "another user's trace has nothing run" "$? $(cat second)" "2 "
    like "...and that is said" "$(tail -n 2 err | head -n 1)$(cat err)" "words.poet belongs to another user; not run \(specify the program if you trust it\)"
    poet replay -q -o again.poet words.poet >second 2>err </dev/null
    like "...what it is, quietly too" "$(cat err)" 'runs the recorded command'
    poet replay -o again.poet words.poet -- $printf '%s|' "${words[@]}" >second 2>err
    check "...but what is named is run" cmp second wanted
else
    skip "only root can give files away"
fi
done_testing

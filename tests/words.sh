#!/bin/sh
# No string, comment, document or help text has a word of the stop list of docs/glossary.md.
found=$(tests/style.pl words)
[ -z "$found" ] || printf 'not '
echo "ok 1 - no word of the stop list"
[ -z "$found" ] || echo "$found" | sed 's/^/# /'
echo 1..1

#!/bin/sh
# Checks that strings, comments, documents and help have no word of the stop list of docs/glossary.md.
found=$(tests/style.pl words)
[ -z "$found" ] || printf 'not '
echo "ok 1 - no word of the stop list"
[ -z "$found" ] || echo "$found" | sed 's/^/# /'
echo 1..1

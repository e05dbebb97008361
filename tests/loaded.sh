#!/bin/sh
# Runs a command TIMES times (default: once) while six busy loops run: loaded.sh [TIMES] COMMAND...
# Stops at the first run that fails, and exits with its status.
times=1
case $1 in [1-9]*) times=$1 && shift ;; esac
loops=
trap 'kill $loops 2>/dev/null' EXIT
trap 'exit 130' INT TERM
for loop in 1 2 3 4 5 6; do
    while :; do :; done &
    loops="$loops $!"
done
for run in $(seq "$times"); do
    [ "$times" = 1 ] || echo "run $run of $times"
    "$@" || exit
done

#!/bin/sh
# Runs every test program of a build folder; status 1 if one fails.
dir=${1:-build}
failed=0
for program in "$dir"/test_*; do
    [ -x "$program" ] || continue
    if "$program"; then
        echo "ok   $(basename "$program")"
    else
        echo "FAIL $(basename "$program")"
        failed=1
    fi
done
exit $failed

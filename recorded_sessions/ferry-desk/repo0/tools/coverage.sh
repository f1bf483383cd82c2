#!/bin/sh
# Annotated sources: how often the tests run each line, ##### for never.
out=build/cov
flags="--coverage -std=c11 -g -Isrc -D_POSIX_C_SOURCE=200809L"
rm -rf $out && mkdir -p $out
for f in src/*.c; do
    gcc $flags -c "$f" -o "$out/$(basename "$f" .c).o" || exit 1
done
for t in tests/test_*.c; do
    gcc $flags "$t" $out/manifest.o $out/deck.o $out/cutoff.o $out/report.o -o $out/t || exit 1
    $out/t || exit 1
    rm -f $out/t-*.gc*
done
gcov -t -o $out src/manifest.c src/deck.c src/cutoff.c | grep -v ':    0:'
rm -rf $out

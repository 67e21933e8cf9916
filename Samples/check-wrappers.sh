#!/bin/sh
# Type-checks wrappers of the keychain against the library Security, and prints how many errors each one has.
#
#   Samples/check-wrappers.sh FOLDER    each folder in it is a wrapper; files of tests, demos and examples are left out
#
# Needs a debug build (`swift build`).
set -eu
folder=${1:?"usage: check-wrappers.sh FOLDER"}
cd "$(dirname "$0")/.."
maps=
for map in Sources/Fences/*/module.modulemap; do maps="$maps -Xcc -fmodule-map-file=$map"; done
printf '%-40s %8s %8s\n' wrapper files errors
for wrapper in "$folder"/*/; do
    list=$(mktemp)
    find "$wrapper" -type f -name '*.swift' ! -name 'Package*.swift' | grep -viE 'test|demo|example|playground|distrib' >"$list" || :
    errors=$(xargs -d '\n' swiftc -typecheck -swift-version 5 -module-name Wrapper -I .build/debug/Modules $maps \
        -diagnostic-style llvm <"$list" 2>&1 | grep -c ': error: ') || :
    printf '%-40s %8s %8s\n' "$(basename "$wrapper")" "$(wc -l <"$list")" "$errors"
    rm -f "$list"
done

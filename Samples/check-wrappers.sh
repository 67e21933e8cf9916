#!/bin/bash
# Type-checks packages that use Apple's keychain against the libraries Security and LocalAuthentication, as they are and
# with the imports added that Apple's Foundation includes, and prints how many errors each one has, as rows of a table.
#
#   Samples/check-wrappers.sh FOLDER    each folder in it is a package; files of tests, demos and examples are left out
#
# Needs a build of the tests (`make wrappers`). The errors of NAME are in FOLDER/NAME.errors.
set -euo pipefail
folder=$(realpath "${1:?"usage: check-wrappers.sh FOLDER"}")
cd "$(dirname "$0")/.."
modules=${MODULES:-.build/tests/release/Modules}
[ -d "$modules" ] || { echo "$0: $modules: no such folder; run 'make wrappers'" >&2; exit 1; }
fences=()
for fence in Sources/Fences/*/module.modulemap; do fences+=(-Xcc "-fmodule-map-file=$fence"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the files of a package, each ended by a zero byte: those of its folder Sources, if it has one.
sources() {
    local start=$1
    local part
    for part in "$1/Sources" "$1/Source"; do if [ -d "$part" ]; then start=$part; fi; done
    find -L "$start" -type f -name '*.swift' ! -name 'Package*.swift' -print0 |
        grep -zviE '/[^/]*(test|demo|example|playground|distrib|scripts|sample)[^/]*/|tests?\.swift$' | grep -zvE '/[^/]*App/' || :
}

# Imports Security in the files that use it and do not say so.
add_imports() {
    sources "$1" | xargs -0 -r grep -lZE '\b(kSec|Sec[A-Z]|CF[A-Z]|kCF|errSec|OSStatus|NSMapTable)' |
        xargs -0 -r grep -LZE '^ *(@testable )?import Security' |
        xargs -0 -r sed -i '0,/^ *import Foundation/s//import Foundation\nimport Security/' || :
}

# Type-checks the files of a package, and prints what the compiler says.
check() {
    sources "$1" | xargs -0 -r swiftc -typecheck -swift-version 5 -module-name Wrapper -I "$modules" "${fences[@]}" \
        -diagnostic-style llvm 2>&1 || :
}

count() { grep -c ': error: ' "$1" || :; }

for package in "$folder"/*/; do
    name=$(basename "$package")
    cp -r "$package" "$work/$name"
    check "$work/$name" >"$work/plain"
    add_imports "$work/$name"
    check "$work/$name" | sed "s|$work/||" >"$folder/$name.errors"
    commit=$(git -C "$package" rev-parse --short HEAD 2>/dev/null || echo '?')
    printf '| %s | %s | %s | %s | %s |\n' "$name" "$commit" "$(sources "$work/$name" | tr -dc '\0' | wc -c)" \
        "$(count "$work/plain")" "$(count "$folder/$name.errors")"
    rm -rf "${work:?}/$name"
done

#!/bin/bash
# Type-checks packages that use Apple's keychain against the libraries Security and LocalAuthentication, as they are and
# with the imports added that Apple's Foundation includes, and prints how many errors each one has, as rows of a table.
#
#   Samples/check-wrappers.sh FOLDER    each folder in it is a package; files of tests, demos and examples are left out
#
# Needs a build of the tests (`make wrappers`). What the compiler says of NAME is in FOLDER/NAME.errors. A module that
# does not exist here hides further errors; such rows end with its name.
set -euo pipefail
folder=$(realpath "${1:?"usage: check-wrappers.sh FOLDER"}")
cd "$(dirname "$0")/.."
modules=${MODULES:-.build/tests/release/Modules}
[ -d "$modules" ] || { echo "$0: $modules: no such folder; run 'make wrappers'" >&2; exit 1; }
command -v swiftc >/dev/null || { echo "$0: swiftc: not found" >&2; exit 1; }
fences=()
for fence in Sources/Fences/*/module.modulemap; do fences+=(-Xcc "-fmodule-map-file=$fence"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the files of the package in $work/package, each ended by a zero byte: those of its folder Sources, if it has one.
sources() (
    cd "$work/package"
    start=.
    for part in Source Sources; do if [ -d "$part" ]; then start=./$part; fi; done
    find -L "$start" -type f -name '*.swift' ! -name 'Package*.swift' -print0 |
        { grep -zviE '/[^/]*(test|demo|example|playground|distrib|scripts|sample)[^/]*/|tests?\.swift$' || :; } |
        { grep -zvE '/[^/]*App/' || :; } | sed -z "s|^|$work/package/|"
)

# Imports Security in the files that use it and do not say so.
add_imports() {
    sources | { xargs -0 -r grep -lZE '\b(kSec|Sec[A-Z]|CF[A-Z]|kCF|errSec|OSStatus|NSMapTable)' || :; } |
        { xargs -0 -r grep -LZE '^ *(@testable )?import Security' || :; } |
        xargs -0 -r sed -i '0,/^ *import Foundation/s//import Foundation\nimport Security/'
}

# Type-checks the files, writes to $1 what the compiler says, and prints the number of errors.
check() {
    local files status=0
    mapfile -d '' files < <(sources)
    if [ ${#files[@]} -eq 0 ]; then : >"$1" && echo - && return; fi
    swiftc -typecheck -swift-version 5 -module-name Wrapper -I "$modules" "${fences[@]}" -diagnostic-style llvm \
        "${files[@]}" >"$1" 2>&1 || status=$?
    local errors
    errors=$(grep -cE '^(<unknown>:0|[^ ].*:[0-9]+:[0-9]+): error: |^error: ' "$1" || :)
    # A compiler that fails without saying why has not compiled anything.
    if [ "$status" -ne 0 ] && [ "$errors" -eq 0 ]; then echo "status $status"; else echo "$errors"; fi
}

for package in "$folder"/*/; do
    name=$(basename "$package")
    rm -rf "${work:?}/package"
    cp -r "$package" "$work/package"
    plain=$(check "$work/plain")
    add_imports
    imported=$(check "$work/imported")
    sed "s|$work/package/||" "$work/imported" >"$folder/$name.errors"
    missing=$(sed -n "s/.*no such module '\([^']*\)'.*/ needs \1/p" "$work/imported" | sort -u | tr -d '\n')
    commit=$(git -C "$package" rev-parse --short HEAD 2>/dev/null || echo '?')
    printf '| %s | %s | %s | %s | %s |%s\n' "$name" "$commit" "$(sources | tr -dc '\0' | wc -c)" "$plain" "$imported" \
        "$missing"
done

#!/bin/sh
# Prints how long the calls of the Security library take, on a keychain of COUNT items that is made for it.
#
#   Benchmarks/measure-calls.sh [COUNT]    1,000 by default
#
# Needs a release build of kcbackup (`make build`). The keychain is on the disk of the temporary folder; the time of a
# change is that of making it durable.
set -eu
cd "$(dirname "$0")"
count=${1-1000}
kcbackup=$PWD/../.build/stage/bin/kcbackup
swift build --package-path Calls --configuration release --quiet
XDG_DATA_HOME=$(mktemp -d)
export XDG_DATA_HOME
trap 'rm -rf "$XDG_DATA_HOME"' EXIT
"$kcbackup" keychain create --no-passcode --quiet 2>/dev/null
Calls/.build/release/Calls "$count"

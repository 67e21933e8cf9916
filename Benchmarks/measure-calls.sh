#!/bin/sh
# Prints how long the calls of the Security library take, beside bare SQLite that is as durable, and which goals hold.
#
#   Benchmarks/measure-calls.sh [COUNT]    on a keychain of COUNT items that is made for it, 1,000 by default
#
# Keychain and database are on the disk of the temporary folder (TMPDIR); the time of a change is that of making it
# durable.
set -eu
cd "$(dirname "$0")"
count=${1-1000}
swift build --package-path Calls --configuration release --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_DATA_HOME=$folder Calls/.build/release/Calls "$count"

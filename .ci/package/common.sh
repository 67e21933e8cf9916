# What the scripts beside this one share: the version, the time of all files, and a tree with nothing of its builder.
# shellcheck shell=bash

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The trees must not depend on who makes them.
umask 022
export LC_ALL=C TZ=UTC
unset TAR_OPTIONS GZIP

fail() {
    echo "$0: $1" >&2
    [ -z "${2-}" ] || echo "hint: $2" >&2
    exit 1
}

# What `kcbackup --version` prints, from the only place that says it.
version() {
    local file=Sources/Programs/KCTerminal/Run.swift found
    found=$(sed -n 's/^ *package static let version = "\([0-9][0-9.]*\)"$/\1/p' "$project/$file")
    [[ $found =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "no version was found in $file"
    echo "$found"
}

# The time that all files of a package have: that of the last commit, so that the same binaries make the same package.
build_time() {
    local found=${SOURCE_DATE_EPOCH-}
    if [ -z "$found" ]; then
        # The repository must be that of these sources, and not one that they were unpacked into.
        local above
        if ! above=$(git -C "$project" rev-parse --show-cdup) || [ -n "$above" ] \
            || ! found=$(git -C "$project" log -1 --format=%ct); then
            fail 'git gives no date for these sources' 'set SOURCE_DATE_EPOCH, in seconds since 1970'
        fi
    fi
    [[ $found =~ ^[0-9]{1,11}$ ]] || fail "SOURCE_DATE_EPOCH must be a number of seconds, and it is '$found'"
    echo "$found"
}

# Puts the documents, as they are in the project, into the folder $1.
install_copyright() {
    install -D -m 644 "$project/.ci/package/copyright" "$1/copyright"
}

# Gives everything below $1 the modes of a package and the time $2.
normalize() {
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -type f -perm /111 -exec chmod 755 {} +
    find "$1" -type f ! -perm /111 -exec chmod 644 {} +
    find "$1" -exec touch --no-dereference --date="@$2" {} +
}

#!/usr/bin/env bash
# Counts with valgrind how many instructions four verbs execute for each item: in the program itself, and in the libraries that
# it uses. What a library executes depends on the processor, since it chooses its code by it; docs/performance.md says what on.
# The share of the program depends on the compiler and the sources alone, and is compared with what that page has.
#
#   Benchmarks/measure-instructions.sh [KCBACKUP]
set -euo pipefail

page=$(realpath "$(dirname "$0")/../docs/performance.md")
kcbackup=$(realpath "${1:-.build/stage/bin/kcbackup}")
command -v valgrind >/dev/null || { echo 'measure-instructions.sh: valgrind is missing: .ci/install-packages bench' >&2; exit 69; }

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
unset XDG_DATA_HOME
mkdir "$HOME"
cd "$work"
# valgrind 3.19 cannot read what the compiler writes for debuggers.
strip --strip-debug -o kcbackup "$kcbackup"

# What is counted is a run with many items less one with few, so that starting the program is not in it.
few=200 many=2000
for ((i = 0; i < many; i++)); do
    printf '{"class":"genp","attributes":{"acct":"user%d@example.com","svce":"service-%d.example.com",' $i $((i * 7919 % many))
    printf '"labl":"Site %d","agrp":"com.example.app%d","icmt":"a comment for item %d","pdmn":"%s"},' \
        $i $((i % 7)) $i "$( ((i % 10 == 0)) && echo aku || echo ak)"
    printf '"secret":"password-%d-%d"}\n' $i $((i * 2654435761 % 4294967296))
done >items.$many
head -$few items.$many >items.$few
./kcbackup keygen -q -o identity 2>messages >&2
recipient=$(sed -n 's/^# public key: //p' identity)
for n in $few $many; do
    ./kcbackup keychain create source.$n --no-passcode -q
    ./kcbackup keychain create target.$n --no-passcode -q
    ./kcbackup import items.$n --into source.$n -q
    ./kcbackup create --keychain source.$n -r "$recipient" $n.kcb -q
done 2>messages || { cat messages >&2; exit 1; }

# With a random seed, more keys of a dictionary collide in one run than in another.
export SWIFT_DETERMINISTIC_HASHING=1
count() { # count N VERB ARGUMENT...
    valgrind --tool=callgrind --callgrind-out-file="calls.$2.$1" ./kcbackup "${@:2}" >output 2>messages || { cat messages >&2; exit 1; }
}
for n in $few $many; do
    count $n create --keychain source.$n -r "$recipient" counted.$n.kcb
    count $n inspect $n.kcb -i identity
    count $n restore $n.kcb -i identity --keychain target.$n
    count $n verify $n.kcb -i identity
done

# Lines of a profile are `ob=(NUMBER) PATH` or `ob=(NUMBER)` for the file that the following lines are of, and `LINE COST`; the
# line after `calls=` has the cost of what was called, which is counted where it was executed (callgrind-format); `cob=` is of
# what is called, and may be where a number is first explained.
echo '| instructions for each item | the program | libcrypto | libsqlite3 | libdeflate | libz | libarchive | libc | others |'
echo '|---|---|---|---|---|---|---|---|---|'
for verb in create inspect restore verify; do
    awk -v verb=$verb -v items=$((many - few)) '
        FNR == 1 { sign = FILENAME ~ /\.'$few'$/ ? -1 : 1; delete name }
        /^c?ob=/ {
            called = $1
            sub(/^c?ob=/, "", called)
            if (NF > 1) { name[called] = $2; sub(/.*\//, "", name[called]); sub(/\..*/, "", name[called]) }
            if (/^ob=/) id = called
        }
        /^calls=/ { getline; next }
        /^[0-9+*-]/ { sum[name[id]] += sign * $2 }
        END {
            columns = split("kcbackup libcrypto libsqlite3 libdeflate libz libarchive libc", column, " ")
            for (object in sum) others += sum[object]
            printf "| `%s` |", verb
            for (i = 1; i <= columns; i++) { printf " %.0f |", sum[column[i]] / items; others -= sum[column[i]] }
            printf " %.0f |\n", others / items
        }' calls.$verb.$few calls.$verb.$many
done | tee table
awk -F' *\\| *' 'FNR == NR { now[$2] = $3; next } NF == 11 && $2 in now && $3 ~ /^[0-9]+$/ {
    printf "%s: the program executes %.1f %% of the instructions that docs/performance.md has\n", $2, 100 * now[$2] / $3 }' table "$page"

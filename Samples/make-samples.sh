#!/bin/bash
# Makes Samples/keychain.jsonl from Samples/parts, with jq. The parts are the same items in a form that is easier to
# read and write:
#
#   "ptcl", and "crtr" and "type" of passwords    four characters instead of the number that they stand for
#   gena, atag                                    text instead of base64
#   "secret": [LINE, …]                           the lines, joined by line feeds
#   "secret": {"repeat": TEXT, "times": N}        a long secret
#   "note"                                        says what the item is for; left out
set -euo pipefail
umask 022
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

assemble='
    # The big-endian integer of a four-character code.
    def number: if type == "string" then reduce explode[] as $byte (0; . * 256 + $byte) else . end;
    def data: if type == "string" then {base64: @base64} else . end;
    def password: .class == "genp" or .class == "inet";
    .[]
    | del(.note)
    | if .attributes.ptcl then .attributes.ptcl |= number else . end
    | if password and .attributes.crtr then .attributes.crtr |= number else . end
    | if password and .attributes.type then .attributes.type |= number else . end
    | if .attributes.gena then .attributes.gena |= data else . end
    | if .attributes.atag then .attributes.atag |= data else . end
    | if .secret | type == "array" then .secret |= join("\n") else . end
    | if .secret | type == "object" and has("repeat") then .secret |= .repeat * .times else . end'
for part in passwords internet accessibility names edges certificates; do
    jq --compact-output "$assemble" "parts/$part.json"
done >"$work/keychain.jsonl"
# Spelt in ASCII, so that this file does to no terminal and no editor what the items are about.
jq --compact-output --ascii-output "$assemble" parts/hostile.json >>"$work/keychain.jsonl"

# What would make the samples useless is found here rather than by an import.
check='
    def identity:
        .class as $class | .attributes
        | [.agrp, .sync // 0] + {
            genp: [.acct // "", .svce // ""],
            inet: [.acct // "", .sdmn // "", .srvr // "", .ptcl // 0, .atyp // "", .port // 0, .path // ""],
            cert: [.ctyp, .issr, .slnr],
            keys: [.kcls, .klbl, .atag, .crtr // 0, .type, .bsiz, .esiz, .sdat, .edat]}[$class];
    # Null when there is none.
    def marker:
        (.secret // "") | if type == "string" then . else .base64 | @base64d end
        | [match("demo-[a-z0-9]+")] | .[0].string;
    def twice: group_by(.) | map(select(length > 1)[0]);
    def date: type == "string" and test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}Z$");
    def demand(condition; $what): if condition then . else error($what) end;
    demand(map([.class] + identity) | twice == []; "two items have one unique key")
    | demand(map(marker // empty) | twice == []; "two secrets have one marker")
    | demand(all(.[]; (.secret // "") == "" or (.class | IN("cert", "keys")) or marker); "a secret has no marker")
    | demand(all(.[].attributes; .sync != 1 or (.pdmn | endswith("u") | not)); "a synchronizable item is bound to a device")
    | demand(all(.[].attributes | .cdat, .mdat, .sdat, .edat; . == null or date); "a date is misspelt")
    | demand(([.[].attributes.pdmn] | unique) == (["ak", "ck", "dk", "aku", "cku", "dku", "akpu"] | unique);
        "an accessibility is missing or unknown")
    | demand(([.[].class] | unique) == ["cert", "genp", "inet", "keys"]; "a class is missing")
    | "\(length) items: " + (group_by(.class) | map("\(length) \(.[0].class)") | join(", "))'
jq --raw-output --slurp "$check" "$work/keychain.jsonl"
mv "$work/keychain.jsonl" keychain.jsonl

#!/bin/bash
# Makes Samples/certificates and Samples/parts/certificates.json, with OpenSSL 3 and jq.
#
# All but the RSA key follows from this file, so a second run gives the same bytes: the Ed25519 and EC keys come from
# a phrase, the validity is fixed, and the certificate authority signs with Ed25519, which uses no random number.
# OpenSSL cannot make an RSA key from a phrase; the one that is there is kept.
# Everybody knows these keys: never trust the certificates.
set -euo pipefail
umask 022
cd "$(dirname "$0")/certificates"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

valid_from=20260101000000Z
valid_until=20460101000000Z

# hex_of PHRASE: 32 bytes that follow from a phrase.
hex_of() { printf %s "$1" | sha256sum | cut -d ' ' -f 1; }
# from_hex HEX: the bytes themselves.
from_hex() { printf "$(sed 's/../\\x&/g' <<<"$1")"; }

# Keys, as PKCS#8 in DER. An Ed25519 key is a fixed prefix (RFC 8410) and 32 bytes, an EC key likewise once
# OpenSSL has added the public half (RFC 5915).
from_hex "302e020100300506032b657004220420$(hex_of 'kcbackup sample authority')" >authority.key.der
from_hex "30310201010420$(hex_of 'kcbackup sample mail server')a00a06082a8648ce3d030107" |
    openssl ec -inform DER -outform DER -out "$work/ec" 2>/dev/null
openssl pkcs8 -topk8 -nocrypt -inform DER -in "$work/ec" -outform DER -out mail.key.der
[ -e web.key.der ] ||
    openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -outform DER -out web.key.der
printf 'demo-symmetric2025-0123456789abc' >symmetric-2025.key
printf 'demo-symmetric2026-defghijklmnop' >symmetric-2026.key

cat >"$work/ca.cnf" <<'CNF'
[ca]
default_ca = sample
[sample]
database = $ENV::WORK/index
serial = $ENV::WORK/serial
new_certs_dir = $ENV::WORK
default_md = default
policy = any
unique_subject = no
[any]
countryName = optional
organizationName = optional
commonName = supplied
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[web]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = serverAuth
subjectAltName = DNS:www.example.com, DNS:example.com
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[mail]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = DNS:mail.example.org, email:grace@example.org
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
CNF

# certify NAME SERIAL SUBJECT [-selfsign]: NAME.pem, signed by the authority.
certify() {
    local name=$1 serial=$2 subject=$3 signer=${4--cert}
    : >"$work/index"
    printf '%s\n' "$serial" >"$work/serial"
    openssl req -new -utf8 -config /dev/null -keyform DER -key "$name.key.der" -subj "$subject" -out "$work/request"
    openssl pkey -inform DER -in authority.key.der -out "$work/authority.key"
    [ "$signer" = -selfsign ] || signer='-cert authority.pem'
    # shellcheck disable=SC2086
    WORK=$work openssl ca -batch -notext -preserveDN -utf8 -config "$work/ca.cnf" -extensions "$name" \
        -startdate "$valid_from" -enddate "$valid_until" -keyfile "$work/authority.key" $signer \
        -in "$work/request" -out "$name.pem" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}
certify authority 4B43000000000001 '/C=CH/O=Example Ltd/CN=kcbackup Sample Root (do not trust)' -selfsign
certify web 4B43000000000002 '/C=CH/O=Example Ltd/CN=www.example.com'
certify mail 4B43000000000003 '/C=CH/O=Bücher & Söhne/CN=mail.example.org'
openssl verify -CAfile authority.pem web.pem mail.pem >/dev/null

# The items. Apple keeps names without their outer tag and length, the serial number as the bytes of its INTEGER, and
# ties a certificate to its private key by the SHA-1 of the public key, which is also the subject key identifier here
# (RFC 5280, 4.2.1.2, method 1).
der() { openssl x509 -in "$1.pem" -outform DER; }
base64_of() { base64 --wrap 0; }
# name_of CERTIFICATE issuer|subject: the content of the 2nd or 4th SEQUENCE of the signed part.
name_of() {
    local nth=2 offset header length
    [ "$2" = issuer ] || nth=4
    read -r offset header length < <(
        openssl asn1parse -in "$1.pem" |
            sed -nE 's/^ *([0-9]+):d=2 +hl=([0-9]+) l= *([0-9]+) cons: SEQUENCE.*/\1 \2 \3/p' | sed -n "${nth}p")
    der "$1" | tail --bytes "+$((offset + header + 1))" | head --bytes "$length" | base64_of
}
serial_of() { from_hex "$(openssl x509 -in "$1.pem" -noout -serial | cut -d = -f 2)" | base64_of; }
public_key_hash_of() {
    from_hex "$(openssl x509 -in "$1.pem" -noout -ext subjectKeyIdentifier | tail -n 1 | tr -d ' :')" | base64_of
}

# certificate NAME ATTRIBUTES: a `cert` item; X.509 version 3 (ctyp), DER (cenc).
certificate() {
    local hash
    hash=$(public_key_hash_of "$1")
    jq --null-input --argjson more "$2" --arg subject "$(name_of "$1" subject)" --arg issuer "$(name_of "$1" issuer)" \
        --arg serial "$(serial_of "$1")" --arg hash "$hash" --arg der "$(der "$1" | base64_of)" '
        {class: "cert",
         attributes: ({ctyp: 3, cenc: 3, subj: {base64: $subject}, issr: {base64: $issuer}, slnr: {base64: $serial},
                       skid: {base64: $hash}, pkhh: {base64: $hash}} + $more),
         secret: {base64: $der}}'
}

# key ID FILE ATTRIBUTES: a `keys` item; ID is its application label (klbl) in base64.
key() {
    jq --null-input --argjson more "$3" --arg id "$1" --arg bytes "$(base64_of <"$2")" '
        {class: "keys", attributes: ({klbl: {base64: $id}} + $more), secret: {base64: $bytes}}'
}

openssl pkey -inform DER -in mail.key.der -pubout -outform DER -out "$work/mail.public.der"
# The type numbers are Apple's: 42 RSA, 73 EC, 105 Ed25519, 2147483649 AES.
{
    certificate authority '{"labl": "kcbackup Sample Root (do not trust)", "agrp": "apple", "pdmn": "dk"}'
    certificate web '{"labl": "www.example.com", "agrp": "com.example.web", "pdmn": "dk"}'
    certificate mail '{"labl": "mail.example.org", "agrp": "com.example.mail", "pdmn": "dk", "alis": "grace@example.org"}'
    certificate mail '{"labl": "mail.example.org (shared)", "agrp": "com.example.mail", "pdmn": "ck", "sync": 1}'
    key "$(public_key_hash_of authority)" authority.key.der '{"kcls": 1, "type": 105, "bsiz": 256, "esiz": 256,
        "labl": "kcbackup Sample Root", "atag": "com.example.authority", "agrp": "apple", "pdmn": "ak",
        "perm": 1, "priv": 1, "sens": 1, "asen": 1, "extr": 0, "next": 1, "sign": 1, "encr": 0, "decr": 0}'
    key "$(public_key_hash_of web)" web.key.der '{"kcls": 1, "type": 42, "bsiz": 2048, "esiz": 2048,
        "labl": "www.example.com", "atag": "com.example.web.tls", "agrp": "com.example.web", "pdmn": "ck",
        "perm": 1, "priv": 1, "extr": 1, "sign": 1, "decr": 1, "unwp": 1,
        "cdat": "2026-01-01T00:00:00.000000Z", "mdat": "2026-01-01T00:00:00.000000Z"}'
    key "$(public_key_hash_of mail)" mail.key.der '{"kcls": 1, "type": 73, "bsiz": 256, "esiz": 256,
        "labl": "mail.example.org", "atag": "com.example.mail.smime", "agrp": "com.example.mail", "pdmn": "aku",
        "perm": 1, "priv": 1, "sign": 1, "drve": 1}'
    key "$(public_key_hash_of mail)" "$work/mail.public.der" '{"kcls": 0, "type": 73, "bsiz": 256, "esiz": 256,
        "labl": "mail.example.org", "atag": "com.example.mail.smime", "agrp": "com.example.mail", "pdmn": "dk",
        "perm": 1, "priv": 0, "vrfy": 1}'
    key "$(printf 'files 2025' | base64_of)" symmetric-2025.key '{"kcls": 2, "type": 2147483649, "bsiz": 256, "esiz": 256,
        "labl": "File encryption, 2025", "atag": "com.example.files", "agrp": "com.example.files", "pdmn": "ak", "sync": 1,
        "sdat": "2025-01-01T00:00:00.000000Z", "edat": "2025-12-31T23:59:59.999999Z", "encr": 0, "decr": 1}'
    key "$(printf 'files 2026' | base64_of)" symmetric-2026.key '{"kcls": 2, "type": 2147483649, "bsiz": 256, "esiz": 256,
        "labl": "File encryption, 2026", "atag": "com.example.files", "agrp": "com.example.files", "pdmn": "ak", "sync": 1,
        "sdat": "2026-01-01T00:00:00.000000Z", "edat": "2026-12-31T23:59:59.999999Z",
        "encr": 1, "decr": 1, "wrap": 1, "unwp": 1, "modi": 0, "snrc": 0, "vyrc": 0}'
} | jq --slurp . >../parts/certificates.json

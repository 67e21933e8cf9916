#!/bin/bash
# Makes Chains: certificates for TrustTests, with OpenSSL 3. The table in Support/TrustCase.swift says which belong together.
#
# The Ed25519 keys come from phrases and sign without random numbers, so a second run gives the same bytes, but for the
# certificates with or below RSA keys, which are made anew. Everybody knows these keys: never trust the certificates.
set -euo pipefail
umask 022
cd "$(dirname "$0")/Chains"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f ./*.pem

cat >"$work/ca.cnf" <<'CNF'
[ca]
default_ca = chains
[chains]
database = $ENV::WORK/index
serial = $ENV::WORK/serial
new_certs_dir = $ENV::WORK
policy = any
unique_subject = no
[any]
countryName = optional
organizationName = optional
commonName = optional
CNF

# key NAME [RSA-BITS]: the key of a certificate, unless it is there.
key() {
    [ ! -e "$work/$1.key" ] || return 0
    if [ -n "${2-}" ]; then
        openssl genpkey -quiet -algorithm RSA -pkeyopt "rsa_keygen_bits:$2" -out "$work/$1.key"
    else
        # A fixed prefix (RFC 8410) and 32 bytes.
        bytes "302e020100300506032b657004220420$(printf 'chains %s' "$1" | sha256sum | cut -d ' ' -f 1)" |
            openssl pkey -inform DER -out "$work/$1.key"
    fi
}

serial=4096
# issue NAME ISSUER SUBJECT FROM UNTIL EXTENSION…: NAME.pem; the issuer may be the name itself. KEY names another key,
# DIGEST another hash, and EXTENSION is a line of the extensions, none for a certificate of version 1.
issue() {
    local name=$1 issuer=$2 subject=$3 from=$4 until=$5 signer
    shift 5
    serial=$((serial + 1))
    key "${KEY-$name}"
    : >"$work/index"
    printf '%X\n' "$serial" >"$work/serial"
    { cat "$work/ca.cnf"; echo '[extensions]'; printf '%s\n' "$@"; } >"$work/one.cnf"
    openssl req -new -utf8 -config /dev/null -key "$work/${KEY-$name}.key" -subj "$subject" -out "$work/request"
    if [ "$issuer" = "$name" ]; then signer='-selfsign'; else signer="-cert $issuer.pem"; fi
    # shellcheck disable=SC2086
    WORK=$work openssl ca -batch -notext -preserveDN -utf8 -config "$work/one.cnf" -md "${DIGEST-default}" \
        ${1+-extensions extensions} -startdate "${from}0000Z" -enddate "${until}0000Z" \
        -keyfile "$work/${ISSUER_KEY-${KEY_OF[$issuer]-$issuer}}.key" $signer -in "$work/request" -out "$name.pem" \
        2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}
declare -A KEY_OF=([cross]=middle [stale]=middle)

# resign NAME ISSUER HEX HEX: replaces bytes in a certificate by as many others, which openssl would not write, and signs
# it again. A certificate is a header of 4 bytes, the signed part with such a header, and at the end a signature of 64.
resign() {
    local hex signed
    hex=$(openssl x509 -in "$1.pem" -outform DER | od -An -v -tx1 | tr -d ' \n')
    hex=${hex/$3/$4}
    signed=${hex:8:$((8 + 2 * 16#${hex:12:4}))}
    bytes "$signed" >"$work/signed"
    openssl pkeyutl -sign -rawin -inkey "$work/$2.key" -in "$work/signed" -out "$work/signature"
    { bytes "${hex:0:$((${#hex} - 128))}"; cat "$work/signature"; } | openssl x509 -inform DER -out "$1.pem"
}
# bytes HEX: the bytes themselves.
bytes() { printf "$(sed 's/../\\x&/g' <<<"$1")"; }

ca='basicConstraints = critical, CA:true'
signs='keyUsage = critical, keyCertSign, cRLSign'
subject='subjectKeyIdentifier = hash'
issuer='authorityKeyIdentifier = keyid'
unlinked=$'subjectKeyIdentifier = none\nauthorityKeyIdentifier = none'
server='extendedKeyUsage = serverAuth'
www='subjectAltName = DNS:www.example.com'
long='2025010100 2050010100'
usual='2030060100 2032060100'
# authority NAME ISSUER EXTENSION…, server NAME ISSUER EXTENSION…: the usual subject and validity.
# shellcheck disable=SC2086
authority() { issue "$1" "$2" "/O=Example Ltd/CN=Chains $1" $long "$subject" "${@:3}"; }
# shellcheck disable=SC2086
leaf() { issue "$1" "$2" "/O=Example Ltd/CN=www.example.com" $usual "$subject" "$issuer" "${@:3}"; }

authority root root "$ca" "$signs"
authority other other "$ca" "$signs"
authority middle root "$ca" "$signs" "$issuer"
KEY=middle issue cross other '/O=Example Ltd/CN=Chains middle' 2025010100 2050010100 "$subject" "$ca" "$signs" "$issuer"
KEY=middle issue stale root '/O=Example Ltd/CN=Chains middle' 2025010100 2030010100 "$subject" "$ca" "$signs" "$issuer"
issue impostor root '/O=Example Ltd/CN=Chains middle' 2025010100 2050010100 "$ca" "$signs" "$unlinked"

leaf good middle "$server" 'subjectAltName = DNS:www.example.com, DNS:example.com, IP:192.0.2.7, IP:2001:db8::7'
issue expired middle '/CN=www.example.com' 2028010100 2030010100 "$server" "$www"
issue early middle '/CN=www.example.com' 2035010100 2036010100 "$server" "$www"
issue endless middle '/CN=www.example.com' 2030060100 2033060100 "$server" "$www"
issue ancient middle '/CN=www.example.com' 2018010100 2035010100 "$www"
issue unlinked middle '/CN=www.example.com' 2030060100 2032060100 "$server" "$www" "$unlinked"
leaf wildcard middle "$server" 'subjectAltName = DNS:*.example.com'
leaf half-wildcard middle "$server" 'subjectAltName = DNS:w*.example.com'
leaf inner-wildcard middle "$server" 'subjectAltName = DNS:www.*.com'
leaf wide-wildcard middle "$server" 'subjectAltName = DNS:*.com'
leaf bare-wildcard middle "$server" 'subjectAltName = DNS:*'
leaf common-name middle "$server"
leaf other-name middle "$server" 'subjectAltName = DNS:www.example.org'
leaf address-as-name middle "$server" 'subjectAltName = DNS:192.0.2.7'
leaf foreign-script middle "$server" 'subjectAltName = DNS:xn--bcher-kva.example'
# A dNSName with a zero byte in it: www.example.com, 0, .example.org.
leaf zero-byte middle "$server" \
    'subjectAltName = DER:30:1e:82:1c:77:77:77:2e:65:78:61:6d:70:6c:65:2e:63:6f:6d:00:2e:65:78:61:6d:70:6c:65:2e:6f:72:67'
leaf own-root own-root "$server" "$www"

authority deep middle "$ca" "$signs" "$issuer"
leaf of-deep deep "$server" "$www"
# The last byte of the signature is another one.
bytes "$(openssl x509 -in good.pem -outform DER | od -An -v -tx1 | tr -d ' \n' | sed 's/..$/ff/')" |
    openssl x509 -inform DER -out tampered.pem

leaf no-usage middle "$www"
leaf any-usage middle 'extendedKeyUsage = anyExtendedKeyUsage' "$www"
leaf client middle 'extendedKeyUsage = clientAuth' "$www"
leaf wrong-key-usage middle "$server" "$www" 'keyUsage = critical, nonRepudiation'
leaf critical middle "$server" "$www" '1.3.6.1.4.1.32473.1 = critical, ASN1:NULL'
leaf not-critical middle "$server" "$www" '1.3.6.1.4.1.32473.1 = ASN1:NULL'
leaf twice middle "$server" "$www" '1.3.6.1.4.1.32473.1 = ASN1:NULL' '1.3.6.1.4.1.32473.3 = ASN1:NULL'
resign twice middle 81fd5903 81fd5901
leaf twice-known middle "$server" "$www" '2.5.29.126 = DER:30:0a:06:08:2b:06:01:05:05:07:03:02'
resign twice-known middle 551d7e 551d25

authority not-authority root 'basicConstraints = critical, CA:false' "$signs" "$issuer"
leaf of-not-authority not-authority "$server" "$www"
authority silent root "$signs" "$issuer"
leaf of-silent silent "$server" "$www"
authority no-signing root "$ca" 'keyUsage = critical, cRLSign' "$issuer"
leaf of-no-signing no-signing "$server" "$www"
authority mail root "$ca" "$signs" "$issuer" 'extendedKeyUsage = emailProtection'
leaf of-mail mail "$server" "$www"
authority odd root "$ca" "$signs" "$issuer" '1.3.6.1.4.1.32473.1 = critical, ASN1:NULL'
leaf of-odd odd "$server" "$www"
authority short root 'basicConstraints = critical, CA:true, pathlen:0' "$signs" "$issuer"
leaf of-short short "$server" "$www"
authority below-short short "$ca" "$signs" "$issuer"
leaf of-below-short below-short "$server" "$www"
authority permitting root "$ca" "$signs" "$issuer" 'nameConstraints = critical, permitted;DNS:example.com'
leaf within permitting "$server" "$www"
leaf outside permitting "$server" 'subjectAltName = DNS:www.example.com, DNS:www.example.org'
authority excluding root "$ca" "$signs" "$issuer" 'nameConstraints = critical, excluded;DNS:example.com'
leaf excluded excluding "$server" "$www"
leaf not-excluded excluding "$server" 'subjectAltName = DNS:www.example.org'
authority excluding-one root "$ca" "$signs" "$issuer" 'nameConstraints = critical, excluded;DNS:admin.example.com'
leaf wildcard-excluded excluding-one "$server" 'subjectAltName = DNS:*.example.com'
leaf wildcard-beside excluding-one "$server" 'subjectAltName = DNS:*.www.example.com'
authority strict root "$ca" "$signs" "$issuer" 'policyConstraints = critical, requireExplicitPolicy:0' \
    'certificatePolicies = 1.3.6.1.4.1.32473.2'
leaf of-strict strict "$server" "$www" 'certificatePolicies = 1.3.6.1.4.1.32473.2'
leaf against-strict strict "$server" "$www"
issue version-1 version-1 '/CN=Chains version 1' 2025010100 2050010100
issue of-version-1 version-1 '/CN=www.example.com' 2030060100 2032060100 "$server" "$www"
issue middle-1 root '/CN=Chains middle 1' 2025010100 2050010100
issue of-middle-1 middle-1 '/CN=www.example.com' 2030060100 2032060100 "$server" "$www"

key rsa 2048
key rsa-good 2048
key rsa-small 1024
key rsa-tiny 768
key small-authority 1024
authority rsa rsa "$ca" "$signs"
DIGEST=sha256 leaf rsa-good rsa "$server" "$www"
DIGEST=sha256 leaf rsa-small rsa "$server" "$www"
DIGEST=sha256 leaf rsa-tiny rsa "$server" "$www"
DIGEST=sha1 leaf sha-1 rsa "$server" "$www"
DIGEST=md5 leaf md5 rsa "$server" "$www"
authority small-authority root "$ca" "$signs" "$issuer"
DIGEST=sha256 leaf of-small-authority small-authority "$server" "$www"

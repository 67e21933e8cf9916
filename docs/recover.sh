#!/bin/bash
# Gets every secret that travels out of an encrypted archive of kcbackup, without kcbackup.
#
#   bash recover.sh laptop.kcb                      asks for the passphrase
#   bash recover.sh laptop.kcb restore-key.txt      with an identity file
#
# Run it in a folder on an encrypted disk. It makes the folder `recovered`: a file for each secret, named after the UUID
# of its item, and `table.tsv`, which says what is what. It believes nothing that the archive says: where anything does
# not fit, it says so, removes `recovered` again and ends with a status other than 0. docs/recovery.md explains the rest.
#
# It needs bash, coreutils, GNU tar, gzip, perl (perl-base is enough), age and ssh-keygen. A forged archive may be small
# and still decompress without end: LIMIT ends that, and memory does not grow with what an archive holds.

usage() {
  echo "usage: bash recover.sh ARCHIVE [IDENTITY]"
  echo "Gets the secrets out of ARCHIVE, an encrypted archive of kcbackup, into the new folder 'recovered'."
  echo "IDENTITY is an identity file; without one, age asks for the passphrase."
  echo "Variables: ARCHIVE and IDENTITY (instead of the arguments), DEVICE, ALLOWED_SIGNERS and LIMIT; see docs/recovery.md."
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
if [ $# -gt 2 ]; then usage >&2; exit 2; fi

# Without one, the usage is shown.
ARCHIVE=${1:-${ARCHIVE:-}}
# An identity file; without one, age asks for the passphrase.
IDENTITY=${2:-${IDENTITY:-}}
# The ID of the device that made the archive, if you know it: an archive that another one signed is refused.
DEVICE=${DEVICE:-}
# A file with signer lines of `kcbackup device show`: an archive that none of these devices signed is refused.
ALLOWED_SIGNERS=${ALLOWED_SIGNERS:-}
# How many bytes each of the two streams may have when it is decompressed. 1 GiB is enough for a million ordinary items.
LIMIT=${LIMIT:-1073741824}

set -euo pipefail
umask 077
export LC_ALL=C
unset TAR_OPTIONS GZIP

fail() {
  echo "recover: $1" >&2
  exit 1
}

if [ -z "$ARCHIVE" ]; then usage >&2; exit 2; fi
for tool in age base32 base64 basenc cmp grep gzip perl sed sha256sum sort ssh-keygen tar; do
  command -v "$tool" > /dev/null || fail "the program '$tool' is not installed"
done
[ -f "$ARCHIVE" ] || fail "there is no archive '$ARCHIVE'"
[ -z "$IDENTITY" ] || [ -r "$IDENTITY" ] || fail "there is no identity file '$IDENTITY'"
[ -z "$ALLOWED_SIGNERS" ] || [ -r "$ALLOWED_SIGNERS" ] || fail "there is no file with signers '$ALLOWED_SIGNERS'"
[[ $LIMIT =~ ^[1-9][0-9]{0,14}$ ]] || fail "LIMIT must be a number of bytes, and it is '$LIMIT'"
mkdir recovered || fail "the folder 'recovered' must be new: move it out of the way, or run this in another folder"
work=$PWD
trap 'rm -rf "$work/recovered"; echo "recover: stopped, and nothing was recovered" >&2' EXIT
mkdir recovered/archive

# 1. The members are exactly these, in this order, and plain files. Their headers are read here, so that tar meets no
#    link, no path and none of the extensions that could cost memory or disk. tar then only prints the members.
names() {
  perl - "$ARCHIVE" <<'PERL'
use strict;
use warnings;

sub fail { print STDERR "recover: $_[0]\n"; exit 1 }

my %limit = ('kcbackup.json' => 16384, 'identity.age' => 4096, 'SHA256SUMS' => 1024, 'SHA256SUMS.sig' => 1024);
$limit{"$_.jsonl.gz.age"} = 8 ** 11 for qw(metadata secrets);
open my $archive, '<:raw', $ARGV[0] or fail("the archive cannot be read: $!");

sub block {
    my $count = read $archive, my $block, 512;
    fail("the archive cannot be read: $!") unless defined $count;
    # What is shorter than the first header may be no archive at all.
    my $start = substr $block, 0, 14;
    fail('this is not an encrypted archive: its members are not as expected')
        if tell($archive) < 512 && $start ne substr "kcbackup.json\0", 0, length $start;
    fail('the archive is cut short: this copy is not complete') unless $count == 512;
    return $block;
}

my ($block, $members) = (block(), 0);
until ($block eq "\0" x 512) {
    my ($name, $mode, $octal, $sum, $type) = unpack 'Z100 a8 x16 a12 x12 a8 a1', $block;
    fail('the archive is unencrypted: only kcbackup on its device can open it') if $name eq 'metadata.jsonl.gz';
    fail('this is not an encrypted archive: its members are not as expected')
        unless exists $limit{$name} && ++$members <= 6 && substr($block, 345, 155) eq "\0" x 155;
    substr $block, 148, 8, ' ' x 8;
    fail('a header in the archive is damaged') unless $sum =~ /\A([0-7]{6,7})[ \0]/ && oct $1 == unpack '%32C*', $block;
    fail('a member of the archive is not a private file') unless $type eq '0' && $mode =~ /\A0?000600[ \0]/;
    fail('a member of the archive is too large')
        unless $octal =~ /\A([0-7]{11})[ \0]\z/ && oct $1 <= $limit{$name};
    print "$name\n";
    seek $archive, int((oct($1) + 511) / 512) * 512, 1 or fail("the archive cannot be read: $!");
    $block = block();
}
fail('the archive is cut short: this copy is not complete') unless block() eq $block;
PERL
}
found=$(names)
signed=(kcbackup.json metadata.jsonl.gz.age secrets.jsonl.gz.age)
[[ $found != *$'\nidentity.age\n'* ]] || signed=(kcbackup.json identity.age metadata.jsonl.gz.age secrets.jsonl.gz.age)
members=("${signed[@]}" SHA256SUMS SHA256SUMS.sig)
[ "$found" = "$(printf '%s\n' "${members[@]}")" ] ||
  fail "this is not an encrypted archive: its members are not as expected"
for member in "${members[@]}"; do
  tar -xOf - "$member" < "$ARCHIVE" > "recovered/archive/$member" || fail "tar cannot take $member out"
done
cd recovered/archive

# 2. The checksums are of these files and of nothing else, and they are what was signed.
sha256sum "${signed[@]}" | cmp -s - SHA256SUMS || fail "the checksums do not fit: the archive is damaged or forged"
# Under a point of small order, one signature is valid for many messages, and ssh-keygen takes such a key. The point is
# the 32 bytes of the public key, without the sign of x; a coordinate of 2^255 - 19 or more is a second spelling.
point=$(grep -v '^-' SHA256SUMS.sig | base64 -d 2> /dev/null | tail -c +34 | head -c 32 | basenc --base16 -w 0) || point=
[ ${#point} = 64 ] || fail "the signature does not fit: the archive is damaged or forged"
printf -v point '%s%02X' "${point:0:62}" $((0x${point:62} & 0x7F))
small='0[01](00){31}|26E8958FC2B227B045C3F489F2EF98F0D5DFAC05D3C63339B13802886D53FC05|'
small+='C7176A703D4DD84FBA3C0B760D10670F2A2053FA2C39CCC64EC7FD7792AC037A|(E[CDEF]|F.)(FF){30}7F'
[[ ! $point =~ ^($small)$ ]] || fail "the signature is by a key that signs anything: the archive is forged"
ssh-keygen -Y check-novalidate -n kcbackup -s SHA256SUMS.sig < SHA256SUMS > /dev/null 2>&1 ||
  fail "the signature does not fit: the archive is damaged or forged"
# ssh-keygen takes other kinds of keys too, and of an RSA key the signer may choose the bytes: the signature begins with
# "SSHSIG", its version 1, a key of 51 bytes, its type "ssh-ed25519", and the length of the public key, 32.
start=$(grep -v '^-' SHA256SUMS.sig | base64 -d | head -c 33 | basenc --base16 -w 0)
[ "$start" = 53534853494700000001000000330000000B7373682D6564323535313900000020 ] ||
  fail "the signature is not by an Ed25519 key: the archive is forged"
# The device ID is the beginning of the SHA-256 of the public key that follows.
key=$(grep -v '^-' SHA256SUMS.sig | base64 -d | tail -c +34 | head -c 32 | sha256sum | cut -c 1-64 | tr a-f A-F)
signer=$(printf %s "$key" | basenc --base16 -d | base32 -w 0 | cut -c 1-20 | sed 's/..../-&/g; s/^/KC/')

# 3. The header says that this is an encrypted archive of that device.
header='^\{"format":"kcbackup","version":1,"mode":"encrypted","archive":"([0-9a-f]{64})","created":"[0-9TZ:.-]{27}",'
header+='"device":"(KC(-[A-Z2-7]{4}){5})","tool":"[^"]*"\}$'
[[ $(cat kcbackup.json) =~ $header ]] ||
  fail "the header is not that of an encrypted archive, version 1: the archive is damaged or forged"
id=${BASH_REMATCH[1]}
[ "${BASH_REMATCH[2]}" = "$signer" ] ||
  fail "it says that it is of ${BASH_REMATCH[2]}, and $signer signed it: the archive is forged"
[ -z "$DEVICE" ] || [ "$DEVICE" = "$signer" ] || fail "the archive was signed by $signer and not by $DEVICE"
cd ../..
if [ -n "$ALLOWED_SIGNERS" ]; then
  ssh-keygen -Y verify -f "$ALLOWED_SIGNERS" -I "$signer" -n kcbackup \
    -s recovered/archive/SHA256SUMS.sig < recovered/archive/SHA256SUMS ||
    fail "the archive was signed by $signer, which '$ALLOWED_SIGNERS' does not list with its key"
fi

# 4. The key. What the passphrase opens is one identity, made for this archive. age uses post-quantum keys since 1.3; before
#    that it needs age-plugin-pq, and identities that this has converted.
convert() { cat; }
if [ "$(head -c 33 recovered/archive/metadata.jsonl.gz.age | tail -c 11 | tr -d '\0')" = '-> mlkem768' ]; then
  version=$(age --version)
  if [[ $version =~ ^v?(0|1\.[0-2])(\.|$) ]]; then
    command -v age-plugin-pq > /dev/null ||
      fail "the archive has post-quantum keys, which age $version lacks: install age 1.3 or newer, or age-plugin-pq"
    convert() { age-plugin-pq -identity; }
  fi
fi
if [ -z "$IDENTITY" ]; then
  [ -s recovered/archive/identity.age ] || fail "the archive has no passphrase; set IDENTITY to your identity file"
  opened=$(head -n 2 recovered/archive/identity.age | tr -d "\0")
  [[ $opened =~ ^age-encryption.org/v1$'\n''-> scrypt '[A-Za-z0-9+/]{22}' '([1-9][0-9]?)$ ]] ||
    fail "identity.age is not locked with a passphrase: the archive is forged"
  # age would go up to 22, which takes 4 GiB of memory before the passphrase is looked at.
  [ "${BASH_REMATCH[1]}" -le 20 ] || fail "identity.age asks for too much work: the archive is forged"
  opened=$(age -d recovered/archive/identity.age) || fail "age does not open the archive with this passphrase"
  [[ $'\n'$opened$'\n' == *$'\n'"# kcbackup archive: $id"$'\n'* ]] ||
    fail "identity.age belongs to another one: the archive is forged"
  opened=$(printf '%s\n' "$opened" | grep -Ex 'AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]{58}') ||
    fail "identity.age holds no identity: the archive is forged"
  opened=$(printf '%s\n' "$opened" | convert) || fail "age-plugin-pq cannot convert the identity in identity.age"
  decrypt() { printf '%s\n' "$opened" | age -d -i - "$1"; }
else
  decrypt() { age -d -i "$IDENTITY" "$1"; }
fi
# Copies what is decompressed, and ends with 3 where a line is longer than in the format, with 4 where all of it is.
bounded() {
  perl -we '
    my ($whole, $longest) = @ARGV;
    my ($size, $line) = (0, 0);
    while (1) {
        my $count = sysread STDIN, my $piece, 65536;
        exit 5 unless defined $count;
        last unless $count;
        my $first = index $piece, "\n";
        $line += $first < 0 ? $count : $first;
        exit 3 if $line > $longest;
        exit 4 if ($size += $count) > $whole;
        $line = $count - 1 - rindex $piece, "\n" if $first >= 0;
        print $piece or exit 5;
    }
    close STDOUT or exit 5;' "$@"
}
decompress() {
  decrypt "recovered/archive/$1.jsonl.gz.age" | gzip -dc 2> /dev/null | bounded "$LIMIT" "$2" \
    > "recovered/archive/$1.jsonl" && return
  local status=("${PIPESTATUS[@]}")
  case ${status[2]} in
    0) ;;
    3) fail "a line of the $1 is too long: the archive is forged" ;;
    4) fail "the $1 decompress to more than $LIMIT bytes; if the archive is yours, set LIMIT to a larger number" ;;
    *) fail "the $1 cannot be written: is the disk full?" ;;
  esac
  [ "${status[0]}" = 0 ] || fail "age does not open the $1 with this key"
  fail "the $1 do not decompress: the archive is damaged or forged"
}
# The lengths are those of docs/format.md, "Limits".
decompress metadata 6356992
decompress secrets 22372008
cd recovered/archive

# 5. Both streams end with the hash of the header and of each other; what they say is checked line by line. Then the
#    files are written, each below `recovered`, under a UUID.
sha256() { sha256sum | cut -c 1-64; }
export id
HEADER=$(sha256 < kcbackup.json) SECRETS=$(sha256 < secrets.jsonl) METADATA=$(head -n -1 metadata.jsonl | sha256)
export HEADER SECRETS METADATA

perl - <<'PERL'
use strict;
use warnings;

sub fail { print STDERR "recover: $_[0]\n"; exit 1 }
sub refuse { fail("$_[0]: the archive is damaged or forged") }

my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
my $hash = qr/[0-9a-f]{64}/;
my $count = qr/0|[1-9][0-9]{0,8}/;
my $size = qr/(?:"size":($count),)?/;
my $counts = qr/\{"genp":$count,"inet":$count,"cert":$count,"keys":$count\}/;
my $end = qr/"items":($counts),"complete":(true|false),"omitted":($count),"damaged":($count),"header":"$ENV{HEADER}"/;

# JSON in the one spelling of the format, after `plain`.
my $string = qr/"[^"]*"/;
my $text = qr/$string|\{"base64":"[A-Za-z0-9+\/]*={0,2}"\}/;
my $attribute = qr/"[a-z]{4}":$text|"(?!acct|labl|srvr|svce)[a-z]{4}":(?:0|-?[1-9][0-9]{0,18})/;
my $attributes = qr/(?:$attribute(?:,$attribute){0,99})?/;
my $extra = qr/$string:$string(?:,$string:$string){0,255}/;

# A line of an item, after `plain`, and one of its secret.
my $item_line = qr/\A\{"class":"(genp|inet|cert|keys)","uuid":"($uuid)","travels":"(any|this)-device",
    $size"attributes":\{($attributes)\}(?:,"extra":\{$extra\})?\}\z/x;
my $secret_line = qr/\A\{"uuid":"($uuid)"(?:,"(secret|sealed)":"([A-Za-z0-9+\/=]*)")?\}\z/;

# A line with every escape resolved. What was `\"` is a byte that UTF-8 does not have, so that a quotation mark ends a
# string wherever it stands.
sub plain {
    my $line = shift;
    refuse('a line of the metadata is not as expected')
        if $line =~ /[\x00-\x1f\xf8-\xff]/ || !utf8::decode(my $copy = $line);
    $line =~ s{\\(?:u00([01][0-9a-f])|(["\\])|)}{
        defined $1 ? chr hex $1 : !defined $2 ? refuse('a line of the metadata is not as expected')
            : $2 eq '"' ? "\xff" : '\\'
    }ge;
    return $line;
}

# What the table calls an item: service, server or label, and account.
sub title {
    my %text = shift =~ /"(acct|labl|srvr|svce)":(?:\{"base64":)?"([^"]*)"/g;
    my @names = ($text{svce} // $text{srvr} // $text{labl} // '', $text{acct} // '');
    for (grep { /[^ -\[\]-~]/ } @names) {
        tr/\xff/"/;
        utf8::decode($_);
        # What a terminal would obey or not show is spelled out.
        s/\\/\\\\/g;
        s/([^[:print:]]|\p{Cf}|\p{Default_Ignorable_Code_Point})/sprintf '\\x{%x}', ord $1/ge;
    }
    return join "\t", @names;
}

# The next line without its line feed.
sub line {
    my ($file, $what) = @_;
    my $line = <$file>;
    refuse("$what ends early") unless defined $line && chomp $line;
    return $line;
}

# How many bytes base 64 stands for, in its one spelling: the bits behind the last byte are zero.
sub size_of {
    my $text = shift;
    refuse("a secret is not base 64") unless length($text) % 4 == 0
        && $text =~ m{\A[A-Za-z0-9+/]*(?:[AEIMQUYcgkosw048]=|[AQgw]==)?\z};
    return length($text) / 4 * 3 - ($text =~ tr/=//);
}

sub decoded {
    my $text = shift;
    # uuencode, which Perl can read, is base 64 with other letters and a length before each line.
    $text =~ tr{A-Za-z0-9+/=}{ -_}d;
    my $bytes = '';
    for (my $at = 0; $at < length $text; $at += 60) {
        my $line = substr $text, $at, 60;
        $bytes .= unpack 'u', chr(32 + int(length($line) * 3 / 4)) . $line;
    }
    return $bytes;
}

# Goes through both streams and hands each item over; the first round writes nothing.
sub read_streams {
    my $visit = shift;
    my (%number, @end);
    open my $metadata, '<', 'metadata.jsonl' or fail("the metadata cannot be read: $!");
    open my $secrets, '<', 'secrets.jsonl' or fail("the secrets cannot be read: $!");
    refuse('the metadata belongs to another archive')
        unless plain(line($metadata, 'the metadata')) =~
            /\A\{"stream":"metadata","archive":"$ENV{id}","mode":"encrypted","source":\{"kind":"[a-z-]{1,32}","name":$string\}\}\z/;
    refuse('the secrets belong to another archive') unless line($secrets, 'the secrets')
        =~ /\A\{"stream":"secrets","archive":"$ENV{id}","mode":"encrypted","seal":"$hash"\}\z/;
    while (1) {
        my ($item, $secret) = (line($metadata, 'the metadata'), line($secrets, 'the secrets'));
        if ($item =~ /\A\{"end"/) {
            @end = $item =~ /\A\{"end":"metadata",$end,"secrets":"$ENV{SECRETS}"\}\z/
                or refuse('the last line of the metadata does not fit the secrets or the header');
            my @other = $secret =~ /\A\{"end":"secrets",$end,"metadata":"$ENV{METADATA}"\}\z/
                or refuse('the last line of the secrets does not fit the metadata or the header');
            refuse('the two last lines differ') unless "@end" eq "@other";
            last;
        }
        my ($class, $name, $travels, $bytes, $attributes) = plain($item) =~ $item_line
            or refuse('a line of the metadata is not as expected');
        my ($same, $form, $value) = $secret =~ $secret_line
            or refuse('a line of the secrets is not as expected');
        refuse('the streams list different items') unless $name eq $same;
        my $expected = $travels eq 'this' ? 'sealed' : defined $bytes ? 'secret' : '';
        refuse("the secret of $name is not of the kind that its metadata says") unless ($form // '') eq $expected;
        $value //= '';
        my $found = size_of($value);
        refuse("the secret of $name does not have the size that its metadata says")
            if $expected eq 'secret' && $found != $bytes;
        $number{$class}++;
        $visit->($name, $class, $attributes, $expected, \$value);
    }
    refuse('something follows the last line') if grep { defined readline $_ } $metadata, $secrets;
    my $items = "{" . join(",", map { "\"$_\":" . ($number{$_} // 0) } qw(genp inet cert keys)) . "}";
    refuse("the last lines count $end[0] items, and there are $items") unless $end[0] eq $items;
    refuse("the last lines contradict themselves") unless ($end[1] eq "true") == ($end[3] eq "0");
    return ($items, @end[2, 3]);
}

# The first round writes nothing but the UUIDs, which sort brings together without holding them all in memory.
open my $sort, '|-', qw(sort -S 32M -T . -o uuids) or fail("sort failed: $!");
read_streams(sub { print $sort "$_[0]\n" or fail("sort failed: $!") });
close $sort or fail('sort failed: is the disk full?');
open my $uuids, '<', 'uuids' or fail("the UUIDs cannot be read: $!");
my $last = '';
while (my $name = <$uuids>) {
    chomp $name;
    refuse("two items have the UUID $name") if $name eq $last;
    $last = $name;
}
close $uuids;
unlink 'uuids';

sub written { $_[1] or fail("$_[0] cannot be written: $!") }
written('table.tsv', open my $table, '>:utf8', '../table.tsv');
my %state = (secret => 'recovered', sealed => 'sealed for its device', '' => 'no secret');
my %number = (secret => 0, sealed => 0, '' => 0);
my ($items, $omitted, $damaged) = read_streams(sub {
    my ($name, $class, $attributes, $form, $value) = @_;
    $number{$form}++;
    if ($form eq 'secret') {
        written($name, open my $file, '>:raw', "../$name");
        written($name, print $file decoded($$value));
        written($name, close $file);
    }
    written('table.tsv', print $table join("\t", $name, $class, title($attributes), $state{$form}), "\n");
});
written('table.tsv', close $table);
my $classes = join ', ', map { "$2 $1" if /"(\w+)":(\d+)/ } split /,/, $items;
print <<"END";
items: $classes
secrets: $number{secret} recovered, $number{sealed} sealed for their device; $number{''} items have none
not in the archive: $omitted by rule, $damaged left out, or not readable, when it was made
END
PERL

trap - EXIT
echo "signed by device $signer" >&2
[ -n "$DEVICE$ALLOWED_SIGNERS" ] ||
  echo "If that is not a device of yours, whatever was recovered may be forged: anybody can encrypt to a public key." >&2

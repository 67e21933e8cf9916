#!/bin/bash
# Gets every secret that travels out of an encrypted archive of kcbackup, without kcbackup.
#
#   ARCHIVE=laptop.kcb bash recover.sh                          asks for the passphrase
#   ARCHIVE=laptop.kcb IDENTITY=restore-key.txt bash recover.sh with an identity file
#
# Run it in a folder on an encrypted disk. It makes the folder `recovered`: a file for each secret, named after the UUID
# of its item, and `table.tsv`, which says what is what. It believes nothing that the archive says: where anything does
# not fit, it says so, removes `recovered` again and ends with a status other than 0. docs/recovery.md explains the rest.
#
# It needs bash, coreutils, GNU tar, gzip, perl (perl-base is enough), age, jq and ssh-keygen.

ARCHIVE=${ARCHIVE:-laptop.kcb}
# An identity file; without one, age asks for the passphrase.
IDENTITY=${IDENTITY:-}
# The ID of the device that made the archive, if you know it: an archive that another one signed is refused.
DEVICE=${DEVICE:-}
# A file with the signer line of `kcbackup device show`, for the same check by ssh-keygen.
ALLOWED_SIGNERS=${ALLOWED_SIGNERS:-}

set -euo pipefail
umask 077
export LC_ALL=C
unset TAR_OPTIONS GZIP

fail() {
  echo "recover: $1" >&2
  exit 1
}

[ -f "$ARCHIVE" ] || fail "there is no archive '$ARCHIVE'; set ARCHIVE to its path"
mkdir recovered || fail "the folder 'recovered' must be new: move it out of the way, or run this in another folder"
work=$PWD
trap 'rm -rf "$work/recovered"; echo "recover: stopped, and nothing was recovered" >&2' EXIT
mkdir recovered/archive

# 1. The members are exactly these, in this order, and plain files. tar only prints them: it creates no file, so that no
#    link and no path in the archive leads anywhere.
signed=(kcbackup.json metadata.jsonl.gz.age secrets.jsonl.gz.age)
found=$(tar -tf - < "$ARCHIVE")
case $found in
  *$'\nidentity.age\n'*) signed=(kcbackup.json identity.age metadata.jsonl.gz.age secrets.jsonl.gz.age) ;;
  *$'\nmetadata.jsonl.gz\n'*) fail "the archive is unencrypted: only kcbackup on its device can open it" ;;
esac
members=("${signed[@]}" SHA256SUMS SHA256SUMS.sig)
[ "$found" = "$(printf '%s\n' "${members[@]}")" ] || 
  fail "this is not an encrypted archive: its members are not as expected"
types=$(tar -tvf - < "$ARCHIVE" | cut -c 1-10 | sort -u)
[ "$types" = -rw------- ] || fail "a member of the archive is not a private file"
for member in "${members[@]}"; do
  tar -xOf - "$member" < "$ARCHIVE" > "recovered/archive/$member"
done
cd recovered/archive

# 2. The checksums are of these files and of nothing else, and they are what was signed.
sha256sum "${signed[@]}" | cmp -s - SHA256SUMS || fail "the checksums do not fit: the archive is damaged or forged"
ssh-keygen -Y check-novalidate -n kcbackup -s SHA256SUMS.sig < SHA256SUMS > /dev/null ||
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
[[ $(cat kcbackup.json) =~ $header ]] || fail "the header is not that of an encrypted archive, version 1"
id=${BASH_REMATCH[1]}
[ "${BASH_REMATCH[2]}" = "$signer" ] || fail "the archive says that it is of ${BASH_REMATCH[2]}, and $signer signed it"
[ -z "$DEVICE" ] || [ "$DEVICE" = "$signer" ] || fail "the archive was signed by $signer and not by $DEVICE"
cd ../..
if [ -n "$ALLOWED_SIGNERS" ]; then
  ssh-keygen -Y verify -f "$ALLOWED_SIGNERS" -I "$DEVICE" -n kcbackup \
    -s recovered/archive/SHA256SUMS.sig < recovered/archive/SHA256SUMS
fi

# 4. The key. What the passphrase opens is one identity, made for this archive.
if [ -z "$IDENTITY" ]; then
  [ -s recovered/archive/identity.age ] || fail "the archive has no passphrase; set IDENTITY to your identity file"
  opened=$(head -n 2 recovered/archive/identity.age | tr -d "\0")
  [[ $opened == 'age-encryption.org/v1'$'\n-> scrypt '* ]] ||
    fail "identity.age is not locked with a passphrase: the archive is forged"
  opened=$(age -d recovered/archive/identity.age)
  [[ $'\n'$opened$'\n' == *$'\n'"# kcbackup archive: $id"$'\n'* ]] ||
    fail "identity.age belongs to another archive"
  opened=$(printf '%s\n' "$opened" | grep -Ex 'AGE-SECRET-KEY-1[0-9A-Z]{58}') || fail "identity.age holds no identity"
  decrypt() { printf '%s\n' "$opened" | age -d -i - "$1"; }
else
  decrypt() { age -d -i "$IDENTITY" "$1"; }
fi
for stream in metadata secrets; do
  decrypt "recovered/archive/$stream.jsonl.gz.age" | gzip -dc > "recovered/archive/$stream.jsonl"
done
cd recovered/archive

# 5. Both streams end with the hash of the header and of each other; what they say is checked line by line. Then the
#    files are written, each below `recovered`, under a UUID. jq only reads the names for the table.
sha256() { sha256sum | cut -c 1-64; }
export id
HEADER=$(sha256 < kcbackup.json) SECRETS=$(sha256 < secrets.jsonl) METADATA=$(head -n -1 metadata.jsonl | sha256)
export HEADER SECRETS METADATA
sed '1d;$d' metadata.jsonl | jq -r '
  def text: if type == "object" then .base64 else . end;
  [.uuid, (.attributes | .svce // .srvr // .labl, .acct | text)] | @tsv' > names.tsv 2> /dev/null ||
  fail "the metadata is not as expected: the archive is forged"

perl - <<'PERL'
use strict;
use warnings;

sub refuse { print STDERR "recover: $_[0]: the archive is damaged or forged\n"; exit 1 }

my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
my $hash = qr/[0-9a-f]{64}/;
my $count = qr/0|[1-9][0-9]{0,8}/;
my $size = qr/(?:"size":($count),)?/;
my $counts = qr/\{"genp":$count,"inet":$count,"cert":$count,"keys":$count\}/;
my $end = qr/"items":($counts),"complete":(true|false),"omitted":($count),"damaged":($count),"header":"$ENV{HEADER}"/;

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
    return join '', map { unpack 'u', chr(32 + int(length($_) * 3 / 4)) . $_ } $text =~ /(.{1,60})/g;
}

# Goes through both streams and hands each item over; the first round writes nothing.
sub read_streams {
    my $visit = shift;
    my (%seen, %number, @end);
    open my $metadata, '<', 'metadata.jsonl' or refuse("metadata: $!");
    open my $secrets, '<', 'secrets.jsonl' or refuse("secrets: $!");
    open my $names, '<', 'names.tsv' or refuse("names: $!");
    refuse('the metadata belongs to another archive')
        unless line($metadata, 'the metadata') eq qq({"stream":"metadata","archive":"$ENV{id}","mode":"encrypted"});
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
        my ($class, $name, $travels, $bytes) = $item
            =~ /\A\{"class":"(genp|inet|cert|keys)","uuid":"($uuid)","travels":"(any|this)-device",$size"attributes":\{/
            or refuse('a line of the metadata is not as expected');
        my ($same, $form, $value) = $secret
            =~ m{\A\{"uuid":"($uuid)"(?:,"(secret|sealed)":"([A-Za-z0-9+/=]*)")?\}\z}
            or refuse('a line of the secrets is not as expected');
        refuse('the streams list different items') unless $name eq $same;
        refuse("two items have the UUID $name") if $seen{pack 'H*', $name =~ tr/-//dr}++;
        my $expected = $travels eq 'this' ? 'sealed' : defined $bytes ? 'secret' : '';
        refuse("the secret of $name is not of the kind that its metadata says") unless ($form // '') eq $expected;
        $value //= '';
        my $found = size_of($value);
        refuse("the secret of $name does not have the size that its metadata says")
            if $expected eq 'secret' && $found != $bytes;
        my ($row, $title) = split /\t/, line($names, 'the list of names'), 2;
        refuse('the names do not fit the items') unless $row eq $name;
        $number{$class}++;
        $visit->($name, $class, $title, $expected, \$value);
    }
    refuse('something follows the last line') if grep { defined readline $_ } $metadata, $secrets, $names;
    my $items = "{" . join(",", map { "\"$_\":" . ($number{$_} // 0) } qw(genp inet cert keys)) . "}";
    refuse("the last lines count $end[0] items, and there are $items") unless $end[0] eq $items;
    refuse("the last lines contradict themselves") unless ($end[1] eq "true") == ($end[3] eq "0");
    return ($items, @end[2, 3]);
}

read_streams(sub { });
open my $table, '>:utf8', '../table.tsv' or die "table.tsv: $!\n";
my %state = (secret => 'recovered', sealed => 'sealed for its device', '' => 'no secret');
my %number = (secret => 0, sealed => 0, '' => 0);
my ($items, $omitted, $damaged) = read_streams(sub {
    my ($name, $class, $title, $form, $value) = @_;
    $number{$form}++;
    if ($form eq 'secret') {
        open my $file, '>:raw', "../$name" or die "$name: $!\n";
        print $file decoded($$value) or die "$name: $!\n";
        close $file or die "$name: $!\n";
    }
    # What a terminal would obey or not show is spelled out.
    utf8::decode($title);
    $title =~ s/([^[:print:]\t]|\p{Cf}|\p{Default_Ignorable_Code_Point})/sprintf '\\x{%x}', ord $1/ge;
    print $table join("\t", $name, $class, $title, $state{$form}), "\n" or die "table.tsv: $!\n";
});
close $table or die "table.tsv: $!\n";
print <<"END";
items: $items
secrets: $number{secret} recovered, $number{sealed} sealed for their device; $number{''} items have none
not in the archive: $omitted by rule, $damaged that could not be read when it was made
END
PERL

rm names.tsv
trap - EXIT
echo "signed by device $signer" >&2
[ -n "$DEVICE" ] ||
  echo "If that is not a device of yours, whatever was recovered may be forged: anybody can encrypt to a public key." >&2

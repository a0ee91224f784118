#!/bin/sh
# Check one receipt with everyday tools only: sh, coreutils, jq, openssl.
#
#   check_with_openssl.sh FOLDER INDEX KEY.pub
#
# FOLDER holds `receipts/`; KEY.pub is the OpenSSH Ed25519 key that should have signed receipt INDEX. What it does:
#
# 1. The receipt says that it is number INDEX, and names the SHA-256 of the file before it (64 zeros at 0).
# 2. The statement's bytes, as jq prints them, are the end of the file: what is printed is what was signed.
# 3. There is a signature with this key's fingerprint, and openssl verifies it over the DSSE encoding of those bytes.
#
# Exit status 0: all three hold; 1: they do not; 2: wrong usage.
set -eu
export LC_ALL=C

refuse() {
    echo "refused: $1" >&2
    exit 1
}

[ $# -eq 3 ] || { echo "usage: $0 FOLDER INDEX KEY.pub" >&2; exit 2; }
case $2 in '' | *[!0-9]* | 0?*) echo "not an index: $2" >&2; exit 2 ;; esac

path_of() {
    digits=$(printf '%09d' "$1")
    printf '%s/receipts/%s/%s/%s.json' "$2" "$(printf %s "$digits" | cut -c1-3)" \
        "$(printf %s "$digits" | cut -c4-6)" "$(printf %s "$digits" | cut -c7-)"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
receipt=$(path_of "$2" "$1")
[ -r "$receipt" ] || refuse "there is no $receipt"

# 1. Index and chain.
[ "$(jq -c .seal.index "$receipt")" = "$2" ] || refuse "the receipt says another index"
prev=0000000000000000000000000000000000000000000000000000000000000000
if [ "$2" -gt 0 ]; then
    before=$(path_of $(($2 - 1)) "$1")
    [ -r "$before" ] || refuse "there is no $before"
    prev=$(sha256sum <"$before" | cut -c1-64)
fi
[ "$(jq -r .seal.prev "$receipt")" = "$prev" ] || refuse "prev is not the SHA-256 of the file before, $prev"

# 2. The signed bytes: canonical JSON, and literally the end of the file.
jq -cSj .statement "$receipt" >"$work/statement" || refuse "the receipt is not JSON"
size=$(($(wc -c <"$work/statement")))
{ printf '],"statement":'; cat "$work/statement"; printf '}\n'; } >"$work/end"
tail -c $((size + 16)) "$receipt" | cmp -s - "$work/end" || refuse "the statement does not stand in canonical form"
{ printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$size"; cat "$work/statement"; } >"$work/signed"

# 3. The key: its blob is 19 bytes of header and 32 bytes of key; openssl wants another header.
cut -d ' ' -f 2 "$3" | base64 -d >"$work/blob" 2>/dev/null || refuse "$3 holds no base64"
[ "$(head -c 19 "$work/blob" | base64)" = AAAAC3NzaC1lZDI1NTE5AAAAIA== ] || refuse "$3 is not an OpenSSH Ed25519 key"
[ $(($(wc -c <"$work/blob"))) -eq 51 ] || refuse "the key in $3 is not 51 bytes long"
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 "$work/blob"; } >"$work/key.der"
keyid="SHA256:$(openssl dgst -sha256 -binary "$work/blob" | base64 | cut -d= -f1)"
jq -r --arg id "$keyid" '.signatures[] | select(.keyid == $id) | .sig' "$receipt" | base64 -d >"$work/sig" 2>/dev/null \
    || refuse "the signature is not base64"
[ -s "$work/sig" ] || refuse "no signature by $keyid"
openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/signed" -sigfile "$work/sig" \
    >/dev/null 2>&1 || refuse "the signature by $keyid does not verify"
echo "receipt $2 is signed by $keyid and follows $prev"

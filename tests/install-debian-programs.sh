#!/bin/sh
# Installs the mail programs that the tests run for real.  Without root, or on a system without
# apt-get, it does nothing and those tests skip and say why.
set -u
programs="procmail maildrop bogofilter chromium spamc"
missing=""
for program in $programs; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "not installed, their tests will skip:$missing"
    exit 0
fi
apt-get update -qq || true
for program in $missing; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$program" >/dev/null 2>&1 ||
        echo "cannot be installed, its tests will skip: $program"
done

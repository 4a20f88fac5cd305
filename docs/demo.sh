#!/bin/sh
# What `make demo` shows: train, classify, explain, evaluate.  BIN is the folder of the nbspam program.
set -eu
exec 2>&1
cd "$(dirname "$0")/.."
PATH="$(cd "${BIN:-.venv/bin}" && pwd):$PATH"
NBSPAM_MODEL=$(mktemp -d)/demo.nbspam
LC_ALL=C.UTF-8
export PATH NBSPAM_MODEL LC_ALL
trap 'rm -r "$(dirname "$NBSPAM_MODEL")"' EXIT

say() { printf '\n%s\n' "$*"; }

run() {
    printf '$ %s\n\n' "$*"
    "$@"
}

say "1. Train on the mail in data/: what is in ham/ is wanted, what is in spam/ is not."
run nbspam train data

say "2. Ask about two messages: the verdict, the probability of spam, the name."
run nbspam classify data/ham/0001.eml data/spam/0002.eml

say "3. Why is the second one spam?  Nats are natural logarithms of odds: plus is spam, minus is ham."
run nbspam explain --top 5 data/spam/0002.eml

say "4. How good is it on mail it has not seen?  Five filters, each judging the fifth it did not learn;
   the page is for your browser."
mkdir -p demo
run nbspam eval data --folds 5 --report demo/report.html

say "data/ is invented, and about as hard as real mail.  On your own:  .venv/bin/nbspam train ~/Maildir"

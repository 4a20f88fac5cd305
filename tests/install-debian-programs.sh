#!/bin/sh
# `make debian`: installs the mail programs that the tests run for real.  Without root, or on a system
# without apt-get, it does nothing; those tests skip and say why.
set -u
PATH=$PATH:/usr/sbin:/sbin
missing=""
for program in procmail maildrop fetchmail mutt neomutt aerc bogofilter spamprobe chromium spamc spamass-milter swaks strace zsh fish lintian; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
# These bring no command of their own.
[ -e /usr/lib/dovecot/imap ] || missing="$missing dovecot-imapd"
[ -e /usr/lib/dovecot/modules/lib95_imap_sieve_plugin.so ] || missing="$missing dovecot-sieve"
command -v mbsync >/dev/null 2>&1 || missing="$missing isync"
command -v promtool >/dev/null 2>&1 || missing="$missing prometheus"
command -v systemd-analyze >/dev/null 2>&1 || missing="$missing systemd"
# They would take the place of another mail server.
[ -e /usr/sbin/sendmail ] || missing="$missing postfix"
exim=/usr/local/lib/exim4-unpacked
command -v exim4 >/dev/null 2>&1 || [ -e $exim/usr/sbin/exim4 ] || missing="$missing exim4-daemon-heavy"
for package in debhelper dh-python pybuild-plugin-pyproject python3-all python3-hatchling python3-click \
    python3-numpy python3-regex python3-rich python3-scipy; do
    [ -e "/usr/share/doc/$package" ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "not installed, their tests will skip:$missing"
    exit 0
fi
# Servers must not run because tests need their files, neither now nor when the machine starts.
servers=""
for server in dovecot postfix spamass-milter fetchmail prometheus; do
    command -v "$server" >/dev/null 2>&1 || servers="$servers $server.service"
done
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
fi
apt-get update -qq || true
echo "postfix postfix/main_mailer_type select No configuration" | debconf-set-selections 2>/dev/null || true
install_package() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
# Unpacks Exim, which cannot be installed together with Postfix, makes its user, and installs the libraries that Postfix does not need.
unpack_exim() (
    folder=$(mktemp -d) && cd "$folder" && apt-get download -qq exim4-daemon-heavy && dpkg -x ./*.deb $exim &&
        chmod u-s $exim/usr/sbin/exim4 && rm -r "$folder" && install_package libmariadb3 libspf2-2 &&
        { id Debian-exim || useradd --system --no-create-home --shell /usr/sbin/nologin Debian-exim; }
)
for program in $missing; do
    case "$program" in
    exim4-daemon-heavy) unpack_exim ;;
    *) install_package "$program" ;;
    esac >/dev/null 2>&1 || echo "cannot be installed, its tests will skip: $program"
done
case "$servers" in *dovecot*) servers="$servers dovecot.socket" ;; esac
[ -z "$servers" ] || systemctl disable --quiet $servers >/dev/null 2>&1 || true

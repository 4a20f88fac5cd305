//! nbspam/tokens/headers.py, counts_as_evidence: header fields that are no evidence.

use std::collections::BTreeSet;
use std::sync::OnceLock;

/// NO_EVIDENCE in Python: names, and beginnings of names; none begins with another beginning.
const NAMES: &str = "\
    cmm-x-* content-length ctch-* fcc forwarded gnus-warning ironport-sdr lines mbox-line old-status replied \
    spam-* spamdiagnostic* status x-account-key x-aes-category* x-amavis-* x-amp-* x-analysisout \
    x-annoyance-filter-* x-aol-global-disposition x-apple-* x-asg-* x-assp-* x-auth-result \
    x-authority-analysis* x-authority-info* x-barracuda-* x-bayes* x-bitdefender* x-bogosity* x-boxtrapper \
    x-brightmail* x-cached-* x-canit* x-cfilter-loop x-clamav* x-clapf-* x-claws-* x-cloud-security-* \
    x-cloudmark-* x-clx-* x-cm-analysis* x-cm-score* x-cmae-* x-cnfs-analysis* x-content-length x-crm114-* \
    x-ctch-* x-cursor-pos x-cyren-* x-cyrus-* x-dbox-* x-dcc-* x-declude-* x-delivery-id x-dkim-result \
    x-drweb-* x-eavas* x-eopattributedmessage x-eoptenantattributedmessage x-eset* x-evolution* x-f-secure-* \
    x-feas-* x-fetchmail-* x-filter-score x-fireeye* x-flags x-folder x-forefront-* x-fortimail-* \
    x-from-line x-from_ x-fuglu-* x-getmail-* x-gfi* x-gm-labels x-gm-msgid x-gm-phishy* x-gm-raw x-gm-thrid \
    x-gmail-* x-gnus-* x-greylist* x-ham-report* x-hammie-* x-haraka-* x-hmailserver-* x-icl-* \
    x-identity-key x-imap* x-imss-* x-incoming* x-ipas-* x-ironport* x-junk* x-kaspersky* x-keywords \
    x-klms-* x-kmail-cryptomessageformat x-kmail-cursorpos x-kmail-dictionary x-kmail-drafts \
    x-kmail-encryptionstate x-kmail-fcc x-kmail-filtered x-kmail-identity x-kmail-link-message \
    x-kmail-link-type x-kmail-mdn-sent x-kmail-redirect-from x-kmail-signaturestate x-kmail-templates \
    x-kmail-transport x-kse-* x-label* x-length x-mailcleaner-* x-mailcontrol-* x-mailfoundry* x-mantsh* \
    x-mdav-* x-me-authentication-results* x-me-bayesian x-me-cm* x-me-content x-me-vs* x-message-delivery* \
    x-message-info x-message-status x-mimecast-bulk* x-mimecast-impersonation* x-mimedefang-* x-mirapoint-* \
    x-mlf-* x-mox-reason x-mozilla-* x-mras* x-ms-exchange-atp* x-ms-exchange-eopdirect \
    x-ms-exchange-forest-* x-ms-exchange-organization-* x-ms-exchange-processed-by-bccfoldering \
    x-ms-exchange-transport-endtoendlatency x-ms-userlastlogontime x-mutt-* x-mxl-* x-mxscan-* x-nai-* \
    x-nas-* x-nod32* x-offlineimap* x-our-headers x-our-replyto x-pmx-* x-policyd-weight x-popfile-* x-pps-* \
    x-prerbls x-pstn-* x-purgate* x-pyzor* x-qmail-scanner-* x-quarantine-id* x-razor* x-rbl-* \
    x-recommended-action* x-reply-mbox x-reply-uid x-rmail-* x-rspamd-* x-sa-* x-sasi-* x-sbrs x-scanned-by \
    x-scanner x-sea-* x-sendergroup x-sid-* x-sieve* x-smartermail-* x-sophos-* x-spf-scan-by x-sta-* \
    x-starscan* x-status x-store-info x-surgate-* x-switch* x-sylpheed-* x-symantec* x-symc-* \
    x-text-classification* x-threatscanner-* x-tm-as-* x-tmase-* x-tuid x-ui-filterresults* \
    x-ui-out-filterresults* x-uid* x-uniform-type-identifier x-universally-unique-identifier x-univie-* \
    x-vade* x-vipre-* x-vm-* x-vr-* x-watchguard-* x-whitelist* x-wum-* x-xfinity-v* x-yahoofiltered* \
    x-ymailisg xref";
/// No name has them that begins with `x-`.
const WORDS: [&str; 3] = ["-metrics", "mailscanner", "spam"];

/// True unless NO_EVIDENCE in Python has the field.
pub fn counts_as_evidence(name: &str) -> bool {
    static KNOWN: OnceLock<BTreeSet<String>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| NAMES.split(' ').map(|name| name.replace('*', "\0")).collect());
    // Only the last one before what begins with the name can be it or begin it; the zero is before all else.
    let last = known.range(..=format!("{name}\0")).next_back();
    let is_note = last.is_some_and(|last| match last.strip_suffix('\0') {
        Some(beginning) => name.starts_with(beginning),
        None => last == name,
    });
    !(is_note || (name.starts_with("x-") && WORDS.iter().any(|word| name.contains(word))))
}

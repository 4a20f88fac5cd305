"""Header fields that are no evidence: verdicts of other filters, and notes of the mail store.

They tell what somebody thought of a message or where it lies, not what it is (docs/tokens.md).  The compiled
core has the names from here.
"""


def split_names(names: str) -> frozenset[str]:
    """Names with white space between them."""
    return frozenset(names.split())


# Fields that are no evidence, by kind; docs/tokens.md shows them.  `name*` is every name that begins so,
# `x-*word*` every name with `x-` first and the word in it.
NO_EVIDENCE = {
    "notes of programs that store or fetch mail": split_names(
        """
        cmm-x-* content-length fcc forwarded gnus-warning lines mbox-line old-status replied status
        x-account-key x-apple-* x-cached-* x-claws-* x-content-length x-cursor-pos x-cyrus-*
        x-dbox-* x-delivery-id x-evolution* x-fetchmail-* x-flags x-folder x-from-line x-from_
        x-getmail-* x-gm-labels x-gm-msgid x-gm-raw x-gm-thrid x-gmail-* x-gnus-* x-identity-key
        x-imap* x-incoming* x-keywords x-kmail-cryptomessageformat x-kmail-cursorpos
        x-kmail-dictionary x-kmail-drafts x-kmail-encryptionstate x-kmail-fcc x-kmail-filtered
        x-kmail-identity x-kmail-link-message x-kmail-link-type x-kmail-mdn-sent
        x-kmail-redirect-from x-kmail-signaturestate x-kmail-templates x-kmail-transport x-label*
        x-length x-message-delivery* x-message-info x-message-status x-mozilla-*
        x-ms-exchange-processed-by-bccfoldering x-ms-userlastlogontime x-mutt-* x-offlineimap*
        x-our-headers x-our-replyto x-reply-mbox x-reply-uid x-rmail-* x-sieve* x-status
        x-store-info x-sylpheed-* x-tuid x-uid* x-uniform-type-identifier
        x-universally-unique-identifier x-vm-* xref
        """
    ),
    "verdicts of other filters": split_names(
        """
        ctch-* ironport-sdr spam-* spamdiagnostic* x-*-metrics* x-*mailscanner* x-*spam*
        x-aes-category* x-amavis-* x-amp-* x-analysisout x-annoyance-filter-*
        x-aol-global-disposition x-asg-* x-assp-* x-auth-result x-authority-analysis*
        x-authority-info* x-barracuda-* x-bayes* x-bitdefender* x-bogosity* x-boxtrapper
        x-brightmail* x-canit* x-cfilter-loop x-clamav* x-clapf-* x-cloud-security-* x-cloudmark-*
        x-clx-* x-cm-analysis* x-cm-score* x-cmae-* x-cnfs-analysis* x-crm114-* x-ctch-* x-cyren-*
        x-dcc-* x-declude-* x-dkim-result x-drweb-* x-eavas* x-eopattributedmessage
        x-eoptenantattributedmessage x-eset* x-f-secure-* x-feas-* x-filter-score x-fireeye*
        x-forefront-* x-fortimail-* x-fuglu-* x-gfi* x-gm-phishy* x-greylist* x-ham-report*
        x-hammie-* x-haraka-* x-hmailserver-* x-icl-* x-imss-* x-ipas-* x-ironport* x-junk*
        x-kaspersky* x-klms-* x-kse-* x-mailcleaner-* x-mailcontrol-* x-mailfoundry* x-mantsh*
        x-mdav-* x-me-authentication-results* x-me-bayesian x-me-cm* x-me-content x-me-vs*
        x-mimecast-bulk* x-mimecast-impersonation* x-mimedefang-* x-mirapoint-* x-mlf-*
        x-mox-reason x-mras* x-ms-exchange-atp* x-ms-exchange-eopdirect x-ms-exchange-forest-*
        x-ms-exchange-organization-* x-ms-exchange-transport-endtoendlatency x-mxl-* x-mxscan-*
        x-nai-* x-nas-* x-nod32* x-pmx-* x-policyd-weight x-popfile-* x-pps-* x-prerbls
        x-pstn-* x-purgate* x-pyzor* x-qmail-scanner-* x-quarantine-id* x-razor*
        x-rbl-* x-recommended-action* x-rspamd-* x-sa-* x-sasi-* x-sbrs x-scanned-by x-scanner
        x-sea-* x-sendergroup x-sid-* x-smartermail-* x-sophos-* x-spf-scan-by x-sta-* x-starscan*
        x-surgate-* x-switch* x-symantec* x-symc-* x-text-classification* x-threatscanner-*
        x-tm-as-* x-tmase-* x-ui-filterresults* x-ui-out-filterresults* x-univie-* x-vade*
        x-vipre-* x-vr-* x-watchguard-* x-whitelist* x-wum-* x-xfinity-v* x-yahoofiltered*
        x-ymailisg
        """
    ),
}
_PATTERNS = frozenset().union(*NO_EVIDENCE.values())
_NAMES = frozenset([name for name in _PATTERNS if "*" not in name])
_WORDS = [name[3:-1] for name in _PATTERNS if name.startswith("x-*")]
_BEGINNINGS = tuple([name[:-1] for name in _PATTERNS if name.find("*") == len(name) - 1])


def counts_as_evidence(name: str) -> bool:
    """True unless NO_EVIDENCE has the field."""
    if name in _NAMES or name.startswith(_BEGINNINGS):
        return False
    return not (name.startswith("x-") and any(word in name for word in _WORDS))


def list_patterns() -> tuple[list[tuple[str, bool]], list[str]]:
    """Sorted names, True for a beginning of names; words that are no evidence in names with `x-` first."""
    names = [(name, False) for name in _NAMES] + [(beginning, True) for beginning in _BEGINNINGS]
    return sorted(names), _WORDS

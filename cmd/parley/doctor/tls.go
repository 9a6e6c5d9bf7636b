package doctor

import (
	"crypto/tls"
	"net/url"
	"strings"
	"time"

	"parley/cmd/parley/config"
)

// expiresSoon is what a certificate should have left: who renews them does it earlier.
const expiresSoon = 14 * 24 * time.Hour

// checkCertificate looks at the certificate of HTTPS and of SIP over TLS as clients do,
// but for who vouches for it: that is their business.
func checkCertificate(cfg *config.Config, now time.Time) Finding {
	const renew = "renew it, then send the server SIGHUP"
	if cfg.TLSCert == "" {
		return good("none: HTTP without TLS")
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return fail("set PARLEY_TLS_CERT and PARLEY_TLS_KEY to a certificate and its key (PEM) that this user may read", "%v", err)
	}
	leaf := pair.Leaf
	until := leaf.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case now.After(leaf.NotAfter):
		return fail(renew, "expired on %s", until)
	case now.Before(leaf.NotBefore):
		return fail("check the clock of this machine", "is not valid before %s", leaf.NotBefore.UTC().Format(time.DateTime))
	}
	if base, err := url.Parse(cfg.BaseURL); err == nil && base.Scheme == "https" {
		if err := leaf.VerifyHostname(base.Hostname()); err != nil {
			return warn("get one for that name, unless a proxy in front has it", "it is not for %s, the host of PARLEY_BASE_URL", base.Hostname())
		}
	}
	if left := leaf.NotAfter.Sub(now); left < expiresSoon {
		return warn(renew, "expires on %s, in %d days", until, int(left/(24*time.Hour)))
	}
	return good("for %s, until %s", strings.Join(leaf.DNSNames, ", "), until)
}

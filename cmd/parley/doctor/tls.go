package doctor

import (
	"crypto/tls"
	"net"
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
	switch {
	case len(cfg.TLSDomains) > 0:
		return checkIssued(cfg, now)
	case cfg.TLSCert == "":
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

// checkIssued looks at the certificate that a running server of these settings has from its authority.
func checkIssued(cfg *config.Config, now time.Time) Finding {
	names := strings.Join(cfg.TLSDomains, ", ")
	const reach = "let port 443 of each name lead to PARLEY_HTTP_ADDR, or port 80 to PARLEY_TLS_PLAIN_ADDR; the server's log says what the authority answers"
	base, err := config.OwnURL(cfg.HTTPAddr, true)
	if err != nil {
		return fail("set PARLEY_HTTP_ADDR", "%v", err)
	}
	dialer := net.Dialer{Timeout: probePatience}
	conn, err := dialer.Dial("tcp", strings.TrimPrefix(base, "https://"))
	if err != nil {
		return good("for %s, from %s once the server runs", names, cfg.TLSDirectory)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(probePatience)) // a socket always can
	// No names or authorities: it is this machine, and learns nothing.
	shown := tls.Client(conn, &tls.Config{ServerName: cfg.TLSDomains[0], InsecureSkipVerify: true})
	if err := shown.Handshake(); err != nil {
		return warn(reach, "there is no certificate for %s yet", names)
	}
	leaf := shown.ConnectionState().PeerCertificates[0]
	until := leaf.NotAfter.UTC().Format(time.DateOnly)
	for _, name := range cfg.TLSDomains {
		if err := leaf.VerifyHostname(name); err != nil {
			return warn(reach, "the server shows a certificate that is not for %s", name)
		}
	}
	if left, lasts := leaf.NotAfter.Sub(now), leaf.NotAfter.Sub(leaf.NotBefore); left < lasts/6 {
		return warn(reach, "expires on %s and was not renewed", until)
	}
	return good("for %s, until %s; the server renews it", names, until)
}

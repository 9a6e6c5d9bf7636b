package lines

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"regexp"
	"strings"

	"parley/api/wire"
	"parley/media/codec"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/trunks"
)

// A network that an account names, which belongs to the account's trunks alone, has at least so many bits. One of them lies within
// a network that is nobody's on the Internet (dialog.Inside), or beside it.
const (
	least4 = 16
	least6 = 48
)

var header = regexp.MustCompile(`^[Xx]-[A-Za-z0-9-]{1,60}$`)

// configOf makes the settings of a trunk of an account. Its error, an ErrInvalid, names the setting.
func configOf(name, account string, s *wire.TrunkSettings, secrets trunks.Secrets) (trunk.Config, error) {
	if s.Stream != "" {
		return trunk.Config{Name: name, Account: account, Allow: []netip.Prefix{}, Flags: trunk.NoProbe}, checkStream(s, secrets.Inbound)
	}
	c := trunk.Config{Name: name, Account: account,
		Auth:    dialog.Credentials{Username: s.Username, Password: secrets.Password},
		Inbound: dialog.Credentials{Username: s.InboundUsername, Password: secrets.Inbound},
		Plan:    trunk.DialPlan{Country: s.Country, Strip: s.Strip, Prefix: s.Prefix, Form: trunk.NumberForm(s.NumberForm), DialStrip: s.DialStrip, DialPrefix: s.DialPrefix},
		Flags:   flags(s), FromUser: s.FromUser, FromHost: s.FromHost, ContactHost: s.ContactHost, Headers: s.Headers, CPS: s.CPS, Channels: s.Channels}
	if err := texts(s, secrets); err != nil {
		return c, err
	}
	for _, t := range s.Targets {
		c.Targets = append(c.Targets, trunk.Target{Host: t.Host, Port: uint16(t.Port), Transport: t.Transport})
	}
	if p := s.OutboundProxy; p != nil {
		c.Proxy = trunk.Target{Host: p.Host, Port: uint16(p.Port), Transport: p.Transport}
	}
	var err error
	if s.PublicIP != "" {
		if c.PublicIP, err = netip.ParseAddr(s.PublicIP); err != nil || c.PublicIP.Zone() != "" || c.PublicIP.IsUnspecified() || c.PublicIP.IsMulticast() {
			return c, store.Invalid("public_ip: an address that others reach this server at")
		}
		c.PublicIP = c.PublicIP.Unmap()
	}
	if c.Allow, err = sources(s.Allow); err != nil {
		return c, err
	}
	var known bool
	if c.Codecs, known = codec.ParseList(s.Codecs); !known {
		return c, store.Invalid("codecs: %s, each once", codec.Names)
	}
	if s.SRTP != "" {
		c.SRTP, _ = sdp.ParsePolicy(s.SRTP)
	}
	for i, e := range s.Extensions {
		match := strings.ToLower(e.Match)
		if !trunk.ValidMatch(match) {
			return c, store.Invalid("extensions[%d].match: letters, digits and the signs + . _ -, with x for any digit, and * at the end for any rest", i)
		}
		c.Plan.Extensions = append(c.Plan.Extensions, trunk.Extension{Match: match, Agent: e.AgentID})
	}
	for name, value := range s.Headers {
		if !header.MatchString(name) || !trunk.ValidLine(value) {
			return c, store.Invalid("headers: names that begin with X-, with one line of text each")
		}
	}
	if m := c.Check(); m != nil {
		if m.Key == "" {
			return c, store.Invalid("the trunk %s", m.Text)
		}
		return c, store.Invalid("%s: %s", m.Key, m.Text)
	}
	c.TLS, err = tlsOf(s, secrets.Key)
	return c, err
}

// texts refuses what must not stand in a message.
func texts(s *wire.TrunkSettings, secrets trunks.Secrets) error {
	for name, text := range map[string]string{"username": s.Username, "password": secrets.Password, "inbound_username": s.InboundUsername, "inbound_password": secrets.Inbound} {
		if text != "" && !trunk.ValidLine(text) {
			return store.Invalid("%s: one line of text, of 256 bytes at most", name)
		}
	}
	for name, host := range map[string]string{"from_host": s.FromHost, "contact_host": s.ContactHost, "server_name": s.ServerName} {
		if host != "" && !trunk.ValidHost(host) {
			return store.Invalid("%s: the name of a host, or its address", name)
		}
	}
	if p := s.OutboundProxy; p != nil && !trunk.ValidHost(p.Host) {
		return store.Invalid("outbound_proxy.host: the name of a host, or its address")
	}
	for i, t := range s.Targets {
		if !trunk.ValidHost(t.Host) {
			return store.Invalid("targets[%d].host: the name of a host, or its address", i)
		}
	}
	return nil
}

// flags are what the trunk does otherwise than most.
func flags(s *wire.TrunkSettings) (all trunk.Flags) {
	no := func(b *bool) bool { return b != nil && !*b }
	yes := func(b *bool) bool { return b != nil && *b }
	for f, on := range map[trunk.Flags]bool{
		trunk.Register: yes(s.Register), trunk.NoProbe: no(s.Probe), trunk.DistrustIdentity: no(s.TrustIdentity), trunk.VouchedMedia: s.Media == "vouched",
		trunk.PAI: s.PAI, trunk.PPI: s.PPI, trunk.Private: s.Privacy, trunk.UserPhone: s.UserPhone, trunk.Diverts: s.Diversion, trunk.NoPRACK: no(s.PRACK),
		trunk.Refer: s.Transfers == "refer", trunk.ReferTel: s.Refer == "tel", trunk.LargeTCP: s.LargeTCP, trunk.AudioKeys: s.DTMF == "audio",
		trunk.WebSocket: yes(s.WebSocket),
	} {
		if on {
			all |= f
		}
	}
	return all
}

// sources reads the networks that calls come from. Those of a carrier that is named have been looked at, and may be wider than others.
func sources(list []string) (all []netip.Prefix, err error) {
	all = []netip.Prefix{}
	for i, s := range list {
		if its, ok := trunk.Published(strings.ToLower(s)); ok {
			all = append(all, its...)
			continue
		}
		p, ok := network(s)
		switch {
		case !ok:
			return nil, store.Invalid("allow[%d]: an address, a network such as 192.0.2.0/28, or %s for the networks of that carrier", i, trunk.Carriers)
		case p.Addr().Is4() && p.Bits() < least4, p.Addr().Is6() && p.Bits() < least6:
			return nil, store.Invalid("allow[%d]: a network of /%d and narrower (IPv6: /%d)", i, least4, least6)
		}
		all = append(all, p)
	}
	return all, nil
}

// network reads an address or a network.
func network(s string) (p netip.Prefix, ok bool) {
	p, err := netip.ParsePrefix(s)
	if a, failed := netip.ParseAddr(s); failed == nil {
		p, err = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	return p, err == nil && p == p.Masked() && !p.Addr().Is4In6()
}

// tlsOf is how targets are connected to over TLS; nil: as the system does.
func tlsOf(s *wire.TrunkSettings, key string) (*tls.Config, error) {
	if s.CA == "" && s.ServerName == "" && s.Cert == "" && key == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.ServerName}
	if s.CA != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(s.CA)) {
			return nil, store.Invalid("ca: it holds no certificate; allowed: certificates as PEM")
		}
	}
	if s.Cert != "" || key != "" {
		pair, err := tls.X509KeyPair([]byte(s.Cert), []byte(key))
		if err != nil {
			return nil, store.Invalid("cert: it does not go with key; allowed: a certificate and its key, as PEM")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

package lines

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"parley/api/trunks/preset"
	"parley/api/wire"
	"parley/sip/sdp"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/trunks"
)

// TestSettings: what an account writes is what the telephone has.
func TestSettings(t *testing.T) {
	no, yes := false, true
	c, err := configOf("trk_1", "acc_1", &wire.TrunkSettings{
		Targets: []wire.TrunkTarget{{Host: "sip.carrier.example", Transport: "tls"}, {Host: "2001:db8::1", Port: 5080}}, Username: "account", Register: &yes,
		Allow: []string{"192.0.2.7", "198.51.100.0/24", "2001:db8::/48"}, TrustIdentity: &no, Media: "vouched", Channels: 3, CPS: 2, Codecs: []string{"PCMA"}, DTMF: "audio", SRTP: "required",
		Country: "DE", Strip: 1, Prefix: "+49", NumberForm: "national", DialStrip: 2, DialPrefix: "0", Extensions: []wire.TrunkExtension{{Match: "1XX", AgentID: "ag_1"}},
		FromUser: "u", FromHost: "carrier.example", PAI: true, Headers: map[string]string{"X-Token": "x"}, PRACK: &no, Transfers: "refer", Refer: "tel", Probe: &no,
		ServerName: "other.example", OutboundProxy: &wire.TrunkTarget{Host: "proxy.example", Port: 5070, Transport: "tcp"}, ContactHost: "voice.example.com", PublicIP: "203.0.113.9",
	}, trunks.Secrets{Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "trk_1" || c.Account != "acc_1" || c.Auth.Password != "p" || len(c.Targets) != 2 || c.Targets[1].Port != 5080 || c.Channels != 3 || c.CPS != 2 || c.TLS == nil {
		t.Errorf("%+v", c)
	}
	if c.Proxy != (trunk.Target{Host: "proxy.example", Port: 5070, Transport: "tcp"}) || c.ContactHost != "voice.example.com" || c.PublicIP.String() != "203.0.113.9" {
		t.Errorf("%+v", c)
	}
	var nets []string
	for _, p := range c.Allow {
		nets = append(nets, p.String())
	}
	if !slices.Equal(nets, []string{"192.0.2.7/32", "198.51.100.0/24", "2001:db8::/48"}) {
		t.Errorf("%v", nets)
	}
	if want := trunk.Register | trunk.NoProbe | trunk.DistrustIdentity | trunk.VouchedMedia | trunk.PAI | trunk.NoPRACK | trunk.Refer | trunk.ReferTel | trunk.AudioKeys; c.Flags != want {
		t.Errorf("flags %b, want %b", c.Flags, want)
	}
	if agent, ok := c.Plan.Extension("123"); !ok || agent != "ag_1" || c.Plan.Dialled("+49341112233") != "041112233" || c.Plan.Called("90341112233") != "+490341112233" {
		t.Errorf("%+v dials %s and reads %s", c.Plan, c.Plan.Dialled("+49341112233"), c.Plan.Called("90341112233"))
	}
}

// TestCarriersNetworks: a carrier that is named calls from any of its networks, and nobody beside them; addresses of one's own may stand
// with it.
func TestCarriersNetworks(t *testing.T) {
	c, err := configOf("trk_1", "acc_1", &wire.TrunkSettings{Allow: []string{"Twilio", "192.0.2.7", "teams"}}, trunks.Secrets{})
	if err != nil {
		t.Fatal(err)
	}
	set := trunk.NewSet([]trunk.Config{c}, trunk.Options{Log: slog.New(slog.DiscardHandler)})
	for from, want := range map[string]bool{"54.172.60.0": true, "54.172.60.3": true, "54.172.60.4": false, "177.71.206.193": true, "54.65.63.191": false, "192.0.2.7": true, "192.0.2.8": false,
		"52.112.0.1": true, "52.115.255.254": true, "52.116.0.1": false, "52.122.0.1": true, "52.124.0.1": false, "192.76.120.10": false} {
		if got := set.Of(netip.MustParseAddr(from)); (got != nil) != want || want && got.Account != "acc_1" {
			t.Errorf("%s may call: %t, want %t", from, got != nil, want)
		}
	}
	if _, err := configOf("trk_1", "acc_1", &wire.TrunkSettings{Allow: []string{"twilio", "nobody"}}, trunks.Secrets{}); err == nil || !strings.Contains(err.Error(), "allow[1]: an address, a network such as 192.0.2.0/28, or twilio, telnyx or teams") {
		t.Error(err)
	}
}

// TestBrowsersTrunk: a trunk of browsers' phones needs no more than their credentials, and its calls no address.
func TestBrowsersTrunk(t *testing.T) {
	yes := true
	c, err := configOf("trk_1", "acc_1", &wire.TrunkSettings{WebSocket: &yes, InboundUsername: "ann"}, trunks.Secrets{Inbound: "open sesame"})
	if err != nil || !c.Has(trunk.WebSocket) || c.Inbound.Password != "open sesame" || len(c.Allow) != 0 {
		t.Errorf("%+v %v", c, err)
	}
}

// TestWrongSettings: what could end a header, or take more than a trunk's own, is refused by its name.
func TestWrongSettings(t *testing.T) {
	targets, yes := []wire.TrunkTarget{{Host: "sip.carrier.example"}}, true
	for want, s := range map[string]wire.TrunkSettings{
		"carries no calls":      {},
		"websocket: it needs":   {WebSocket: &yes},
		"registration and webs": {Stream: "twilio", WebSocket: &yes},
		"half of its cred":      {Targets: targets, Username: "u"},
		"username: one line":    {Targets: targets, Username: "u\r\nX: y"},
		"targets[0].host":       {Targets: []wire.TrunkTarget{{Host: "a\r\nb"}}},
		"targets[1].host":       {Targets: append(targets, wire.TrunkTarget{Host: "fe80::1%eth0"})},
		"from_host":             {Targets: targets, FromHost: "a>b"},
		"contact_host":          {Targets: targets, ContactHost: "a>b"},
		"cert: it does not go":  {Targets: targets, Cert: "no certificate"},
		"public_ip":             {Targets: targets, PublicIP: "0.0.0.0"},
		"outbound_proxy.host":   {Targets: targets, OutboundProxy: &wire.TrunkTarget{Host: "a b"}},
		"outbound_proxy: it":    {Allow: []string{"192.0.2.1"}, OutboundProxy: &wire.TrunkTarget{Host: "a"}},
		"server_name":           {Targets: targets, ServerName: "a b"},
		"allow[0]: an address":  {Allow: []string{"192.0.2.1/24"}},
		"allow[1]: an address":  {Allow: []string{"192.0.2.1", "::ffff:10.0.0.0/112"}},
		"narrower":              {Allow: []string{"192.0.0.0/15"}},
		"(IPv6: /48)":           {Allow: []string{"2001:db8::/47"}},
		"codecs":                {Targets: targets, Codecs: []string{"G729"}},
		"extensions[0].match":   {Targets: targets, Extensions: []wire.TrunkExtension{{Match: "1 0"}}},
		"headers: names":        {Targets: targets, Headers: map[string]string{"Via": "x"}},
		"with one line of text": {Targets: targets, Headers: map[string]string{"X-A": "a\nb"}},
		"country":               {Targets: targets, Country: "QQ"},
		"number_form":           {Targets: targets, NumberForm: "national"},
		"register":              {Allow: []string{"192.0.2.1"}, Register: &yes},
		"ca: it holds no":       {Targets: targets, CA: "no certificate"},
	} {
		if _, err := configOf("trk_1", "acc_1", &s, trunks.Secrets{}); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}

// pair is a certificate and its key, as PEM.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"voice.example.com"}}
	der, err1 := x509.CreateCertificate(rand.Reader, c, c, &secret.PublicKey, secret)
	private, err2 := x509.MarshalPKCS8PrivateKey(secret)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// TestStreams: a trunk whose calls a carrier brings over a WebSocket has what that signs with, and nothing of SIP.
func TestStreams(t *testing.T) {
	const token = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	yes := true
	for _, tt := range []struct {
		s             wire.TrunkSettings
		secret, wrong string
	}{
		{wire.TrunkSettings{Stream: "twilio"}, token, ""},
		{wire.TrunkSettings{Stream: "telnyx"}, token, ""},
		{wire.TrunkSettings{Stream: "vonage"}, "short", "inbound_password"},
		{wire.TrunkSettings{Stream: "vonage"}, "two lines of\ntext, which is wrong", "inbound_password"},
		{wire.TrunkSettings{Stream: "telnyx"}, "not a public key, though long enough", "inbound_password"},
		{wire.TrunkSettings{Stream: "twilio", Targets: []wire.TrunkTarget{{Host: "sip.far.example"}}}, token, "stream"},
		{wire.TrunkSettings{Stream: "twilio", Allow: []string{"192.0.2.1"}}, token, "stream"},
		{wire.TrunkSettings{Stream: "twilio", Register: &yes}, token, "stream"},
		{wire.TrunkSettings{Stream: "twilio", InboundUsername: "me"}, token, "stream"},
	} {
		c, err := configOf("trk_1", "acc_1", &tt.s, trunks.Secrets{Inbound: tt.secret})
		if tt.wrong == "" {
			if err != nil || c.Name != "trk_1" || c.Account != "acc_1" || len(c.Targets) > 0 {
				t.Errorf("%+v: %+v, %v", tt.s, c, err)
			}
		} else if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), tt.wrong+": ") || strings.Contains(err.Error(), tt.secret) {
			t.Errorf("%+v: %v", tt.s, err)
		}
	}
}

// TestPresets: each preset makes a trunk that works, with what it says it needs and no more; without that it does not, or not in
// both directions.
func TestPresets(t *testing.T) {
	for _, p := range preset.All() {
		s, secrets := wire.TrunkSettings{Preset: p.Name}, trunks.Secrets{}
		for _, n := range p.Needs {
			switch n {
			case "targets":
				s.Targets = []wire.TrunkTarget{{Host: "sip.far.example"}}
			case "allow":
				s.Allow = []string{"192.0.2.0/28"}
			case "username":
				s.Username = "account"
			case "password":
				secrets.Password = "p"
			case "inbound_username":
				s.InboundUsername = "exchange"
			case "inbound_password":
				secrets.Inbound = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" // also the form of a key
			case "from_user":
				s.FromUser = "100"
			case "from_host":
				s.FromHost = "voice.example.com"
			case "contact_host":
				s.ContactHost = "voice.example.com"
			case "cert":
				s.Cert, secrets.Key = pair(t)
			case "key": // with cert
			default:
				t.Errorf("%s needs %s, which this test does not know", p.Name, n)
			}
		}
		s = preset.Under(s)
		c, err := configOf("trk_1", "acc_1", &s, secrets)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if s.Stream != "" || c.Has(trunk.WebSocket) { // TestStreams, TestBrowsersTrunk
			continue
		}
		if len(c.Targets) == 0 || len(c.Allow) == 0 && !c.Has(trunk.Register) {
			t.Errorf("%s has no calls in one direction: %+v", p.Name, c)
		}
		if (c.SRTP == sdp.SRTPRequired) != (p.Name == "teams") || c.Targets[0].Over() == "TLS" != (p.Name == "teams") || (c.TLS != nil && len(c.TLS.Certificates) == 1) != (p.Name == "teams") || len(p.Settings.Codecs) != len(c.Codecs) {
			t.Errorf("%s: %+v", p.Name, c)
		}
	}
}

package config

import (
	"crypto/tls"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/media/codec"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

// loadTrunks reads a file with these trunks and a carrier that takes some.
func loadTrunks(t *testing.T, text string) (*Config, error) {
	t.Helper()
	c, _, err := Load(Sources{File: write(t, "carrier: sip\npayments: none\n"+text)})
	return c, err
}

func TestTrunks(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadTrunks(t, `
trunks:
  - name: carrier
    targets:
      - {host: sip.carrier.example, transport: tls}
      - {host: 192.0.2.10, port: 5070}
    username: account
    password_file: `+secret+`
    register: on
    allow: [192.0.2.0/24, 198.51.100.7]
    inbound_username: exchange
    inbound_password: 12345
    websocket: on
    numbers: ["+15550100001", +15550100002]
    country: DE
    strip: 1
    prefix: "+49"
    number_form: national
    dial_strip: 2
    dial_prefix: "0"
    extensions: {100: ag_one, 2XX: ag_two, "*": ag_rest}
    trust_identity: off
    media: vouched
    channels: 30
    cps: 5
    codecs: [PCMA, g722, pcmu]
    dtmf: audio
    srtp: required
    from_user: "+1555"
    from_host: carrier.example
    outbound_proxy: {host: proxy.carrier.example, port: 5070, transport: tcp}
    contact_host: voice.example.com
    public_ip: 203.0.113.9
    pai: on
    ppi: on
    privacy: on
    user_phone: on
    diversion: on
    headers: {X-Account: "1", X-Token_file: `+secret+`}
    prack: off
    refer: tel
    transfers: refer
    large_tcp: on
    probe: off
    server_name: other.example
  - name: exchange
    allow: 10.0.0.0/8
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []trunk.Config{{
		Name: "carrier", Targets: []trunk.Target{{Host: "sip.carrier.example", Transport: "tls"}, {Host: "192.0.2.10", Port: 5070}},
		Auth: dialog.Credentials{Username: "account", Password: "from-a-file"}, Inbound: dialog.Credentials{Username: "exchange", Password: "12345"},
		Allow:   []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.7/32")},
		Numbers: []string{"+15550100001", "+15550100002"}, Codecs: []codec.Codec{codec.PCMA, codec.G722, codec.PCMU}, SRTP: sdp.SRTPRequired,
		Plan: trunk.DialPlan{Country: "DE", Strip: 1, Prefix: "+49", Form: trunk.FormNational, DialStrip: 2, DialPrefix: "0",
			Extensions: []trunk.Extension{{Match: "100", Agent: "ag_one"}, {Match: "2xx", Agent: "ag_two"}, {Match: "*", Agent: "ag_rest"}}},
		FromUser: "+1555", FromHost: "carrier.example", ContactHost: "voice.example.com", PublicIP: netip.MustParseAddr("203.0.113.9"),
		Proxy: trunk.Target{Host: "proxy.carrier.example", Port: 5070, Transport: "tcp"},
		Flags: trunk.DistrustIdentity | trunk.VouchedMedia | trunk.PAI | trunk.PPI | trunk.Private | trunk.UserPhone | trunk.Diverts | trunk.NoPRACK | trunk.Refer |
			trunk.ReferTel | trunk.LargeTCP | trunk.AudioKeys | trunk.NoProbe | trunk.Register | trunk.WebSocket,
		Headers: map[string]string{"X-Account": "1", "X-Token": "from-a-file"},
		CPS:     5, Channels: 30, TLS: &tls.Config{MinVersion: tls.VersionTLS12, ServerName: "other.example"},
	}, {Name: "exchange", Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	if !reflect.DeepEqual(c.Trunks, want) {
		t.Errorf("got  %+v\nwant %+v", c.Trunks, want)
	}
}

func TestWrongTrunks(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"not a list", "trunks: carrier", `trunks: is not a list of trunks`},
		{"twice", "trunks: []\ntrunks: []", `trunks: is given twice`},
		{"unknown key", "trunks:\n  - name: a\n    pasword: hunter2", `trunks[0].pasword: is no key of a trunk; the nearest is password`},
		{"key twice", "trunks:\n  - name: a\n    password: x\n    password_file: y", `trunks[0].password_file: is given twice`},
		{"name", "trunks:\n  - name: a b", `trunks[0].name: "a b" is not allowed; allowed: letters`},
		{"no name", "trunks:\n  - allow: 10.0.0.0/8", `trunks[0]: has no name`},
		{"same name", "trunks:\n  - {name: a, allow: 10.0.0.1}\n  - {name: a, allow: 10.0.0.2}", `trunks[1].name: "a" is there twice`},
		{"nothing", "trunks:\n  - name: a", `trunks[0]: carries no calls`},
		{"a stranger's browser", "trunks:\n  - {name: a, allow: 10.0.0.1, websocket: on}", `trunks[0].websocket: it needs inbound_username and inbound_password`},
		{"half credentials", "trunks:\n  - {name: a, allow: 10.0.0.1, password: hunter2}", `trunks[0]: has half of its credentials`},
		{"half inbound credentials", "trunks:\n  - {name: a, allow: 10.0.0.1, inbound_username: x}", `trunks[0]: has half of its inbound`},
		{"secret with a line break", "trunks:\n  - {name: a, password: \"hunter2\\nVia: x\"}", `trunks[0].password: this value is not allowed; allowed: one line of text`},
		{"no secret file", "trunks:\n  - {name: a, password_file: /nowhere}", `trunks[0].password_file: cannot use "/nowhere"`},
		{"port", "trunks:\n  - {name: a, targets: [{host: h, port: 70000}]}", `trunks[0].targets[0].port: "70000" is not allowed`},
		{"transport", "trunks:\n  - {name: a, targets: [{host: h, transport: sctp}]}", `trunks[0].targets[0].transport: "sctp" is not allowed; allowed: udp, tcp or tls`},
		{"target key", "trunks:\n  - {name: a, targets: [{hosts: h}]}", `trunks[0].targets[0].hosts: is no key of a target`},
		{"target without a host", "trunks:\n  - {name: a, targets: [{port: 5060}]}", `trunks[0].targets[0]: has no host`},
		{"proxy without a host", "trunks:\n  - {name: a, outbound_proxy: {port: 5060}}", `trunks[0].outbound_proxy: has no host`},
		{"proxy to nowhere", "trunks:\n  - {name: a, allow: 10.0.0.1, outbound_proxy: {host: h}}", `trunks[0].outbound_proxy: it needs targets`},
		{"public address", "trunks:\n  - {name: a, public_ip: 0.0.0.0}", `trunks[0].public_ip: "0.0.0.0" is not allowed`},
		{"contact host", "trunks:\n  - {name: a, contact_host: 'a b'}", `trunks[0].contact_host: "a b" is not allowed`},
		{"network", "trunks:\n  - {name: a, allow: 10.1.2.3/8}", `trunks[0].allow: "10.1.2.3/8" is not allowed`},
		{"a country", "trunks:\n  - {name: a, allow: 10.0.0.1, country: QQ}", `trunks[0].country: "QQ" is not allowed`},
		{"national nowhere", "trunks:\n  - {name: a, allow: 10.0.0.1, number_form: national}", `trunks[0].number_form: national numbers need country`},
		{"unpriced extensions", "trunks:\n  - {name: a, allow: 10.0.0.1, extensions: {100: ag_one}}", `trunks[0].extensions: need country`},
		{"no extension", "trunks:\n  - {name: a, allow: 10.0.0.1, country: DE, extensions: {'1 0': ag_one}}", `trunks[0].extensions.`},
		{"no agent", "trunks:\n  - {name: a, allow: 10.0.0.1, country: DE, extensions: {100: lola}}", `trunks[0].extensions.100: is not allowed`},
		{"the world", "trunks:\n  - {name: a, allow: 0.0.0.0/0}", `trunks[0].allow: lets half the world call`},
		{"number", "trunks:\n  - {name: a, numbers: [5550100]}", `trunks[0].numbers: "5550100" is not allowed; allowed: E.164`},
		{"media", "trunks:\n  - {name: a, media: mine}", `trunks[0].media: "mine" is not allowed; allowed: any or vouched`},
		{"codec", "trunks:\n  - {name: a, codecs: [G729]}", `trunks[0].codecs: "G729" is not allowed; allowed: Opus, G722, PCMU, PCMA`},
		{"a codec twice", "trunks:\n  - {name: a, codecs: [PCMA, pcma]}", `trunks[0].codecs: "PCMA,pcma" is not allowed; allowed: Opus, G722, PCMU, PCMA`},
		{"srtp", "trunks:\n  - {name: a, srtp: maybe}", `trunks[0].srtp: "maybe" is not allowed`},
		{"no file for a header", "trunks:\n  - {name: a, headers: {X-Token_file: /nowhere}}", `trunks[0].headers.X-Token_file: cannot use "/nowhere"`},
		{"header", "trunks:\n  - {name: a, headers: {Via: x}}", `trunks[0].headers.Via: is not allowed; allowed: headers whose names begin with X-`},
		{"parts", "trunks:\n  - {name: a, cps: {a: 1}}", `trunks[0].cps: has parts of its own`},
		{"register nowhere", "trunks:\n  - {name: a, allow: 10.0.0.1, register: on}", `trunks[0].register: it needs targets, username and password`},
		{"certificate without TLS", "trunks:\n  - {name: a, targets: [{host: h}], server_name: x}", `trunks[0]: has certificates for TLS`},
		{"authority", "trunks:\n  - {name: a, targets: [{host: h, transport: tls}], ca: /dev/null}", `trunks[0].ca: "/dev/null" is not allowed`},
		{"alias", "trunks:\n  - &a {name: a, allow: 10.0.0.1}\n  - *a", `trunks[1]: is not a list of keys`},
		{"none", "", `carrier: it needs a line to the carrier`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loadTrunks(t, tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	_, _, err := Load(Sources{File: write(t, "trunks:\n  - {name: a, allow: 10.0.0.1}")})
	if err == nil || !strings.Contains(err.Error(), "the simulated carrier none") {
		t.Errorf("a trunk beside the simulated carrier: %v", err)
	}
}

// What is printed hides the secrets, comments too, and is a valid file again.
func TestPrintedTrunks(t *testing.T) {
	file := write(t, "x")
	c, err := loadTrunks(t, "trunks:\n  # hunter2\n  - name: a # hunter2\n    allow: [10.0.0.1]\n    username: u\n    password: hunter2\n    inbound_username: v\n    inbound_password: hunter2\n    headers: {X-Token: hunter2, X-More_file: "+file+"}\n")
	if err != nil {
		t.Fatal(err)
	}
	out := c.Print()
	if strings.Contains(out, "hunter2") || strings.Count(out, "(secret)") != 3 || !strings.Contains(out, file) {
		t.Errorf("printed\n%s", out)
	}
	for _, s := range c.Shown() {
		if strings.Contains(s.Value, "hunter2") {
			t.Errorf("shown: %v", s)
		}
	}
	again, _, err := Load(Sources{File: write(t, out)})
	if err != nil {
		t.Fatal(err)
	}
	hidden := dialog.Credentials{Username: "u", Password: "(secret)"}
	if len(again.Trunks) != 1 || again.Trunks[0].Name != "a" || again.Trunks[0].Auth != hidden {
		t.Errorf("%+v", again.Trunks)
	}
}

// TestCarriersByName: a carrier stands for its networks, beside addresses; a name that is none is refused with those that are.
func TestCarriersByName(t *testing.T) {
	c, err := loadTrunks(t, "trunks:\n  - {name: a, allow: [telnyx, 192.0.2.7]}")
	if err != nil {
		t.Fatal(err)
	}
	its, _ := trunk.Published("telnyx")
	if want := append(its, netip.MustParsePrefix("192.0.2.7/32")); !slices.Equal(c.Trunks[0].Allow, want) {
		t.Errorf("%v, want %v", c.Trunks[0].Allow, want)
	}
	if _, err := loadTrunks(t, "trunks:\n  - {name: a, allow: nobody}"); err == nil || !strings.Contains(err.Error(), "twilio, telnyx or teams for the networks of that carrier") {
		t.Error(err)
	}
}

// The example's trunk, put into force, is one, and has every key.
func TestTrunksExample(t *testing.T) {
	text := regexp.MustCompile(`(?m)^#(trunks:|  )`).ReplaceAllString(trunksExample, "$1")
	for _, k := range trunkKeys {
		if !regexp.MustCompile(`(?m)^    ` + k.name + `(_file)?:`).MatchString(strings.ReplaceAll(text, "  - name", "    name")) {
			t.Errorf("the example has no %s", k.name)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`/etc/parley/\w+\.password`).ReplaceAllString(text, secret)
	text = regexp.MustCompile(`(?m)^ *#? *(ca|cert|key): .*$`).ReplaceAllString(text, "")
	c, err := loadTrunks(t, text)
	if err != nil || len(c.Trunks) != 1 {
		t.Fatalf("%v in\n%s", err, text)
	}
}

package node

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/gorilla/websocket"
	"github.com/icholy/digest"

	"parley/api/trunks/preset"
	"parley/api/wire"
	"parley/cmd/parley/config"
	"parley/store/numbers"
	"parley/store/storetest"
	"parley/store/trunks"
)

// shaped is an INVITE as the maker of the other side of a preset documents it. NODE, SELF and CONTACT stand for the server, the other
// side and what the server has registered; NUMBER for a number of the trunk.
type shaped struct {
	preset   string
	uri      string
	from, to string
	headers  []string
	caller   string // as the history of calls has it
	called   string // likewise; empty: NUMBER
}

var shapes = []shaped{
	{"asterisk", "sip:NUMBER@NODE", `"Ann" <sip:102@SELF>`, "<sip:NUMBER@NODE>", []string{"Contact: <sip:asterisk@SELF>", "Allow: OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE, ACK, BYE, CANCEL, UPDATE, PRACK, MESSAGE, INFO, REFER",
		"Supported: 100rel, timer, replaces, norefersub, histinfo", "Session-Expires: 1800", "Min-SE: 90", "User-Agent: Asterisk PBX"}, "102", ""},
	{"freeswitch", "sip:NUMBER@NODE", `"Ann" <sip:+34600000001@NODE>`, "<sip:NUMBER@NODE>", []string{"Contact: <sip:gw+parley@SELF;transport=udp;gw=parley>", "Supported: timer, path, replaces",
		"Allow-Events: talk, hold, conference, presence, as-feature-event, dialog, line-seize, call-info, sla, include-session-description, presence.winfo, message-summary, refer",
		"X-FS-Support: update_display,send_info", "Remote-Party-ID: \"Ann\" <sip:+34600000001@NODE>;party=calling;screen=yes;privacy=off", "User-Agent: FreeSWITCH"}, "+34600000001", ""},
	{"3cx", "CONTACT", `"Ann"<sip:101@SELF>`, "<sip:100@SELF>", []string{"Contact: <sip:101@SELF;rinstance=2622c879b98cfd93>", "Supported: replaces, timer", "User-Agent: 3CXPhoneSystem 18.0"}, "101", "100"},
	{"kamailio", "sip:NUMBER@NODE", "<sip:+34600000001@carrier.example>", "<sip:NUMBER@edge.example>", []string{"Via: SIP/2.0/UDP 192.0.2.99:5060;branch=z9hG4bKcarrier", "Record-Route: <sip:SELF;lr;ftag=far>", "Contact: <sip:+34600000001@192.0.2.99:5060>"}, "+34600000001", ""},
	{"twilio", "sip:NUMBER@NODE", "<sip:+15551230001@pstn.twilio.com>", "<sip:NUMBER@NODE>", []string{"Record-Route: <sip:SELF;lr;ftag=far>", "Contact: <sip:+15551230001@172.16.1.2:5060>", "Diversion: <sip:NUMBER@twilio.com>;reason=unconditional",
		"P-Asserted-Identity: <sip:+15551230001@206.147.72.20:5060>", "X-Twilio-AccountSid: AC0123456789abcdef0123456789abcdef", "X-Twilio-CallSid: CA0123456789abcdef0123456789abcdef", "User-Agent: Twilio Gateway"}, "+15551230001", ""},
	{"telnyx", "CONTACT", "<sip:+15551230002@sip.telnyx.com>", "<sip:NUMBER@sip.telnyx.com>", []string{"Record-Route: <sip:SELF;r2=on;lr>", "Contact: <sip:+15551230002@10.1.2.3:5070;transport=udp>"}, "+15551230002", ""},
	{"vonage", "sip:PLAIN@NODE", "<sip:447700900000@sip.nexmo.com>", "<sip:PLAIN@NODE>", []string{"Contact: <sip:447700900000@SELF>"}, "447700900000", ""},
	{"teams", "sip:NUMBER@voice.example.com:5061;user=phone;transport=tls", "<sip:+17168712781@sip.pstnhub.microsoft.com:5061;user=phone>", "<sip:NUMBER@voice.example.com:5061;user=phone>",
		[]string{"Record-Route: <sip:sip-du-a-eu.pstnhub.microsoft.com:5061;transport=tls;lr>", "Contact: <sip:api-du-b-euwe.pstnhub.microsoft.com:443;x-i=8eb9b958-72f0;x-c=2d90b7ad/s/1/0f1b>",
			"P-Asserted-Identity: <tel:+17168712781>,<sip:ann@tenant.example>", "Privacy: id", "User-Agent: Microsoft.PSTNHub.SIPProxy v.2026.1.1.1 i.EUWE.3"}, "+17168712781", ""},
}

// far is the other side of a trunk, made of text.
type far struct {
	*desk
	addr    netip.AddrPort
	udp     *net.UDPConn // it speaks over stream or browser where that is not nil
	stream  net.Conn
	browser *websocket.Conn
	peer    net.Addr
	said    chan *gosip.Response

	registered chan string // the Contact that the server registers
	once       sync.Once
}

// farAt opens the other side at an address, of which it stays until the test ends.
func (d *desk) farAt(at string) *far {
	d.Helper()
	f := &far{desk: d, said: make(chan *gosip.Response, 16), registered: make(chan string, 1)}
	var err error
	f.udp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(at), 0)))
	d.ok(err)
	f.addr, f.peer = f.udp.LocalAddr().(*net.UDPAddr).AddrPort(), net.UDPAddrFromAddrPort(d.node.phone.Addr())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 65536)
		for {
			n, _, err := f.udp.ReadFrom(b)
			if err != nil {
				return
			}
			f.take(bytes.Clone(b[:n]))
		}
	}()
	d.Cleanup(func() { f.udp.Close(); <-done })
	return f
}

// secured has the other side speak over TLS.
func (f *far) secured() {
	f.Helper()
	dialer := tls.Dialer{NetDialer: &net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(f.addr.Addr(), 0))}, Config: &tls.Config{InsecureSkipVerify: true}} // the server has made its certificate itself
	conn, err := dialer.DialContext(f.Context(), "tcp", f.node.phone.TLSAddr().String())
	f.ok(err)
	f.stream = conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		var text []byte
		b := make([]byte, 65536)
		for {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			for text = append(text, b[:n]...); ; {
				end := bytes.Index(text, []byte("\r\n\r\n"))
				if end < 0 {
					break
				}
				length := 0
				if _, after, ok := bytes.Cut(bytes.ToLower(text[:end]), []byte("content-length: ")); ok {
					_, _ = fmt.Sscan(string(after), &length)
				}
				if end += 4 + length; len(text) < end {
					break
				}
				f.take(bytes.Clone(text[:end]))
				text = text[end:]
			}
		}
	}()
	f.Cleanup(func() { conn.Close(); <-done })
}

// write sends a message.
func (f *far) write(text string) {
	switch {
	case f.browser != nil:
		_ = f.browser.WriteMessage(websocket.TextMessage, []byte(text))
		return
	case f.stream != nil:
		_, _ = io.WriteString(f.stream, text)
		return
	}
	_, _ = f.udp.WriteTo([]byte(text), f.peer)
}

// take answers what the server asks, a registration once it shows credentials, and hands out its responses.
func (f *far) take(text []byte) {
	m, err := gosip.ParseMessage(text)
	if err != nil {
		return
	}
	if res, ok := m.(*gosip.Response); ok {
		f.said <- res
		return
	}
	req := m.(*gosip.Request)
	switch {
	case req.Method == gosip.ACK:
	case req.Method == gosip.REGISTER && req.GetHeader("Authorization") == nil:
		res := gosip.NewResponseFromRequest(req, 401, "Unauthorized", nil)
		res.AppendHeader(gosip.NewHeader("WWW-Authenticate", `Digest realm="far", nonce="n", algorithm=MD5`))
		f.write(res.String())
	default:
		res := gosip.NewResponseFromRequest(req, 200, "OK", nil)
		if c := req.Contact(); req.Method == gosip.REGISTER && c != nil {
			res.AppendHeader(c)
			f.once.Do(func() { f.registered <- c.Address.String() })
		}
		f.write(res.String())
	}
}

// response waits for the final response to the request with a number in the sequence.
func (f *far) response(seq int) *gosip.Response {
	f.Helper()
	for {
		select {
		case res := <-f.said:
			if res.StatusCode >= 200 && res.CSeq().SeqNo == uint32(seq) {
				return res
			}
		case <-time.After(time.Minute):
			f.Fatal("no response")
		}
	}
}

// calls has the other side call as s says, and hang up when the call is answered.
func (f *far) calls(s shaped, number, contact string, secret digest.Options) {
	f.Helper()
	fill := strings.NewReplacer("NUMBER", number, "PLAIN", number[1:], "NODE", f.node.phone.Addr().String(), "SELF", f.addr.String(), "CONTACT", contact)
	profile, keys, transport := "RTP/AVP", "", "UDP"
	if f.stream != nil {
		profile, keys, transport = "RTP/SAVP", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^31\r\n", "TLS"
	}
	if f.browser != nil {
		transport = "WS"
	}
	body := fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 %[1]s\r\ns=session\r\nc=IN IP4 %[1]s\r\nt=0 0\r\nm=audio 40000 %[2]s 0 8 101\r\n%[3]sa=rtpmap:101 telephone-event/8000\r\na=sendrecv\r\n", f.addr.Addr(), profile, keys)
	to, uri, seq := fill.Replace(s.to), fill.Replace(s.uri), 0
	send := func(method, text string, more ...string) {
		if method != "ACK" {
			seq++
		}
		branch := fmt.Sprint("z9hG4bK", s.preset, seq) // an ACK of a refusal has that of its INVITE
		if method == "ACK" && strings.Contains(to, ";tag=") {
			branch += "ack"
		}
		lines := append([]string{method + " " + uri + " SIP/2.0", fmt.Sprintf("Via: SIP/2.0/%s %s;branch=%s;rport", transport, f.addr, branch)}, more...)
		lines = append(lines, "Max-Forwards: 66", "From: "+fill.Replace(s.from)+";tag=far", "To: "+to, "Call-ID: "+s.preset+"-"+f.addr.String(), fmt.Sprintf("CSeq: %d %s", seq, method))
		for _, h := range s.headers {
			lines = append(lines, fill.Replace(h))
		}
		f.write(strings.Join(lines, "\r\n") + fmt.Sprintf("\r\nContent-Type: application/sdp\r\nContent-Length: %d\r\n\r\n%s", len(text), text))
	}
	send("INVITE", body)
	res := f.response(seq)
	if res.StatusCode == 407 {
		send("ACK", "")
		c, err := digest.ParseChallenge(res.GetHeader("Proxy-Authenticate").Value())
		f.ok(err)
		secret.Method, secret.URI, secret.Count = "INVITE", uri, 1
		shown, err := digest.Digest(c, secret)
		f.ok(err)
		send("INVITE", body, "Proxy-Authorization: "+shown.String())
		res = f.response(seq)
	} else if secret.Username != "" {
		f.Errorf("%s: the password is not asked for", s.preset)
	}
	if res.StatusCode != 200 {
		f.Fatalf("%s: %s", s.preset, res.StartLine())
	}
	if f.stream != nil && !bytes.Contains(res.Body(), []byte("RTP/SAVP")) {
		f.Errorf("%s: the audio is not encrypted:\n%s", s.preset, res.Body())
	}
	to += ";tag=" + res.To().Params.GetOr("tag", "")
	uri = res.Contact().Address.String()
	send("ACK", "")
	send("BYE", "")
	if res = f.response(seq); res.StatusCode != 200 {
		f.Errorf("%s: BYE: %s", s.preset, res.StartLine())
	}
}

// TestPresetsTakeCalls: a call of the shape that the maker of the other side documents comes in on a trunk made from the preset, and
// the agent of the number answers it, or that of the extension.
func TestPresetsTakeCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	selfSigned(t, dir)
	at := func(i int) string { return fmt.Sprintf("127.0.0.%d", 40+i) }
	d := deskWith(t, storetest.URL(t), func(c *config.Config) {
		for i := range shapes {
			c.ToolAllow = append(c.ToolAllow, at(i))
		}
		c.SIPTLSAddr, c.TLSCert, c.TLSKey = "127.0.0.1:0", filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	})
	own, kept := numbers.New(d.node.db), trunks.New(d.node.db, d.node.secrets)
	overSIP := slices.DeleteFunc(preset.All(), func(p wire.TrunkPreset) bool { return p.Settings.Stream != "" || p.Settings.WebSocket != nil }) // TestCallsOverStreams and TestPhoneOfABrowser have those
	if len(shapes) != len(overSIP) {
		t.Errorf("%d shapes for %d presets", len(shapes), len(overSIP))
	}
	for i, s := range shapes {
		f := d.farAt(at(i))
		p, ok := preset.Named(s.preset)
		if !ok {
			t.Fatalf("there is no preset %s", s.preset)
		}
		n, secret := wire.NewTrunk{Name: s.preset, TrunkSettings: wire.TrunkSettings{Preset: s.preset, Targets: []wire.TrunkTarget{{Host: at(i), Port: int(f.addr.Port())}}}}, digest.Options{}
		if n.Allow = p.Settings.Allow; len(n.Allow) > 0 || slices.Contains(p.Needs, "allow") {
			n.Allow = append(n.Allow, at(i)) // where the far end of this test is
		}
		for _, need := range p.Needs {
			switch need {
			case "username":
				n.Username, n.Password = "account", "p"
			case "inbound_username":
				n.InboundUsername, n.InboundPassword = s.preset, "q"
				secret = digest.Options{Username: s.preset, Password: "q"}
			case "from_user":
				n.FromUser = "100"
				n.Extensions = []wire.TrunkExtension{{Match: "100", AgentID: d.agent}}
			case "from_host":
				n.FromHost = "voice.example.com"
			case "cert":
				cert, err := os.ReadFile(filepath.Join(dir, "cert.pem"))
				d.ok(err)
				key, err := os.ReadFile(filepath.Join(dir, "key.pem"))
				d.ok(err)
				n.Cert, n.Key = string(cert), string(key)
			case "contact_host":
				n.ContactHost = "voice.example.com"
			}
		}
		if p.Settings.SRTP == "required" {
			n.Targets[0].Transport = "tls"
		}
		n.TrunkSettings = preset.Under(n.TrunkSettings)
		draft, err := d.node.lines.Draft(d.who.Account, &n)
		d.ok(err)
		made, err := kept.Create(t.Context(), d.who.Account, draft)
		d.ok(err)
		number := fmt.Sprintf("+3493333330%d", i)
		_, err = own.ImportOwn(t.Context(), d.who.Account, made.ID, number, d.agent)
		d.ok(err)
		d.ok(d.node.lines.Look(t.Context()))
		contact := ""
		if n.Register != nil && *n.Register {
			select {
			case contact = <-f.registered:
			case <-time.After(time.Minute):
				t.Fatalf("%s: nothing is registered", s.preset)
			}
		}
		if n.Targets[0].Transport == "tls" {
			f.secured()
		}
		f.calls(s, number, contact, secret)
		call := d.history(i + 1)[0]
		if call.From != s.caller || call.To != cmp.Or(s.called, number) || call.Agent == nil || *call.Agent != d.agent {
			t.Errorf("%s: the call is from %s to %s, answered by %v", s.preset, call.From, call.To, call.Agent)
		}
		d.onOwnTrunk(call.ID)
	}
}

// selfSigned writes a certificate and its key, as PEM.
func selfSigned(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"voice.example.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

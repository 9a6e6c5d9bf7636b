package sip_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

// authority signs the certificates of a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key, _ = a.sign(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "test"}})
	return a
}

func (a *authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		a.t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		a.t.Fatal(err)
	}
	return c, key, der
}

// issue makes a certificate for a name or an address, good for both sides.
func (a *authority) issue(name string) tls.Certificate {
	c := &x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	_, key, der := a.sign(c)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// secureTrunk leads to a name whose SRV record leads to at.
func secureTrunk(at netip.AddrPort, cfg *tls.Config) sip.Config {
	return sip.Config{
		Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{{Host: "carrier.test", Transport: "tls"}}, TLS: cfg, Flags: trunk.NoProbe,
			Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}}},
		Resolver: names{
			srv:   map[string][]*net.SRV{"_sips._tcp.carrier.test": {{Target: "one.carrier.test.", Port: at.Port()}}},
			addrs: map[string][]netip.Addr{"one.carrier.test": {loopback}},
		},
	}
}

func TestTrunkOverTLS(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	for _, tt := range []struct {
		name   string
		server *tls.Config
		client *tls.Config
		fails  bool
	}{
		{"right", &tls.Config{Certificates: []tls.Certificate{ours.issue("carrier.test")}}, &tls.Config{RootCAs: ours.pool()}, false},
		{"both sides", &tls.Config{Certificates: []tls.Certificate{ours.issue("carrier.test")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool()},
			&tls.Config{RootCAs: ours.pool(), Certificates: []tls.Certificate{ours.issue("client.test")}}, false},
		{"a server name of its own", &tls.Config{Certificates: []tls.Certificate{ours.issue("edge.test")}}, &tls.Config{RootCAs: ours.pool(), ServerName: "edge.test"}, false},
		// RFC 5922: it is the name that counts, not where its records lead.
		{"another name", &tls.Config{Certificates: []tls.Certificate{ours.issue("one.carrier.test")}}, &tls.Config{RootCAs: ours.pool()}, true},
		{"another authority", &tls.Config{Certificates: []tls.Certificate{others.issue("carrier.test")}}, &tls.Config{RootCAs: ours.pool()}, true},
		{"the system's authorities", &tls.Config{Certificates: []tls.Certificate{ours.issue("carrier.test")}}, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			results := make(chan outcome, 1)
			far := serve(t, sip.Config{OnCall: answering(results), ListenTLS: netip.AddrPortFrom(loopback, 0), TLS: tt.server})
			ua := serve(t, secureTrunk(far.TLSAddr(), tt.client))
			leg, err := ua.Dial(t.Context(), sip.Target{Number: number})
			if tt.fails {
				var e *sip.NotAnswered
				if !errors.As(err, &e) || e.Ended().Detail != "carrier_unavailable" {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ended := hangup(leg)
			if o := wait(t, results, "end of the call"); o.err != nil || o.in.Transport != "TLS" {
				t.Errorf("%v %+v", o.err, o.in)
			}
			if err := wait(t, ended, "goodbye"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A call by sips: is one by sips: all the way (RFC 3261 section 12.1.1).
func TestSecurePeer(t *testing.T) {
	a := newAuthority(t)
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answering(results), ListenTLS: netip.AddrPortFrom(loopback, 0), TLS: &tls.Config{Certificates: []tls.Certificate{a.issue("127.0.0.1")}}})
	for _, scheme := range []string{"sip", "sips"} {
		conn, err := tls.Dial("tcp", ua.TLSAddr().String(), &tls.Config{RootCAs: a.pool()})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p := newPeer(t, ua, "udp")
		p.tcp = conn
		go p.readTCP()
		via := func() string {
			return fmt.Sprintf("Via: SIP/2.0/TLS %s;branch=%s;rport", conn.LocalAddr(), gosip.GenerateBranch())
		}
		contact := fmt.Sprintf("Contact: <%s:ann@%s;transport=tls>", scheme, conn.LocalAddr())
		secure := func(text string) string { return strings.Replace(text, " sip:", " "+scheme+":", 1) }
		p.write(secure(p.request("INVITE", p.offer(), via(), contact)))
		res := p.response(200, "INVITE")
		want := fmt.Sprintf("<%s:parley@%s;transport=tls>", scheme, ua.TLSAddr())
		if got := res.Contact().Value(); got != want {
			t.Errorf("Contact %s, want %s", got, want)
		}
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(secure(p.request("ACK", "", via())))
		p.seq++
		p.write(secure(p.request("BYE", "", via())))
		p.response(200, "BYE")
		if o := wait(t, results, "end of the call"); o.err != nil || o.in.Transport != "TLS" {
			t.Errorf("%v %+v", o.err, o.in)
		}
	}
}

func writePEM(t *testing.T, path string, der []byte) {
	t.Helper()
	writeBlock(t, path, "CERTIFICATE", der)
}

func writeBlock(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A telephone of other hands, over TLS and encrypted, both ways.
func TestBaresipOverTLS(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("baresip"); err != nil {
		t.Skip("baresip is not installed")
	}
	for _, mode := range []string{"call", "answer"} {
		t.Run(mode, func(t *testing.T) { secureBaresip(t, mediatest.FreePorts(t), mode) })
	}
}

func secureBaresip(t *testing.T, port int, mode string) {
	dir := t.TempDir()
	tone, phone := filepath.Join(dir, "tone.wav"), filepath.Join(dir, "phone")
	writeTone(t, tone, media.Rate8k)
	script, err := filepath.Abs("../testdata/interop/phone.sh")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bash", script, phone, "+15550100009", strconv.Itoa(port), strconv.Itoa(port+2), tone, mode, "srtp-mand", "tls").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	theirs, err := os.ReadFile(filepath.Join(phone, "ca.pem")) // its own certificate, until it is given ours
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(theirs)
	a := newAuthority(t)
	writePEM(t, filepath.Join(phone, "ca.pem"), a.cert.Raw)

	heard := make(chan []int16, 1)
	talk := func(ctx context.Context, leg *sip.Leg) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		var all []int16
		err := conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 {
			if all = append(all, f.Samples...); len(all) == 2*8000 {
				stop(&media.Ended{Reason: media.AgentHangup})
			}
			return f.Samples
		})
		if st := leg.Stats(); err != nil || !st.Encrypted {
			t.Errorf("%v, %+v", err, st)
		}
		heard <- all
	}
	ua := serve(t, sip.Config{ListenTLS: netip.AddrPortFrom(loopback, 0), TLS: &tls.Config{Certificates: []tls.Certificate{a.issue("127.0.0.1")}},
		Trunks: []trunk.Config{{Name: "phone", SRTP: sdp.SRTPRequired, Flags: trunk.NoProbe, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)},
			Targets: []trunk.Target{{Host: "127.0.0.1", Port: uint16(port + 1), Transport: "tls"}}, TLS: &tls.Config{RootCAs: pool}}},
		OnCall: func(ctx context.Context, in *sip.Incoming) {
			leg, err := in.Answer(ctx)
			if err != nil || in.Transport != "TLS" {
				t.Errorf("over %s: %v", in.Transport, err)
				return
			}
			talk(ctx, leg)
		}})
	args := []string{"-f", phone, "-t", "30"}
	if mode == "call" {
		args = append(args, "-e", "/dial sip:+15550100002@"+ua.TLSAddr().String()+";transport=tls")
	}
	cmd := exec.Command("baresip", args...)
	var words strings.Builder
	cmd.Stdout, cmd.Stderr = &words, &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Log(words.String())
		}
	}()
	if mode == "answer" {
		var leg *sip.Leg
		eventually(t, "baresip answers", func() bool {
			leg, err = ua.Dial(t.Context(), sip.Target{Number: number})
			return err == nil
		})
		talk(t.Context(), leg)
	}
	checkTone(t, "we", wait(t, heard, "end of the call"), media.Rate8k)
}

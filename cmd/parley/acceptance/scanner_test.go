package acceptance

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/media"
)

// twoTrunks are known by their addresses alone; nobody else is.
const twoTrunks = `trunks:
  - name: carrier
    allow: [127.0.0.1]
  - name: exchange
    allow: [127.0.0.2]
`

const stranger, exchange = "127.0.0.66", "127.0.0.2"

// metric is a number of the metrics address; 0 when it is not there.
func (s *server) metric(t *testing.T, name string) float64 {
	t.Helper()
	_, text := s.get(t, "metrics", "/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// refused is how often something was refused for a cause.
func (s *server) refused(t *testing.T, cause string) float64 {
	t.Helper()
	return s.metric(t, fmt.Sprintf("parley_sip_rejected_total{cause=%q}", cause))
}

// prober sends SIP requests from an address of the machine.
type prober struct {
	t    *testing.T
	conn *net.UDPConn
	n    int
}

func newProber(t *testing.T, s *server, from string) *prober {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp", s.addrs["sip"])
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)}, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &prober{t: t, conn: conn}
}

// dialog is what names a call.
type dialog struct{ id, fromTag, toTag string }

// send sends a request, outside of a call when d is the zero dialog.
func (p *prober) send(method, number string, d dialog) {
	p.t.Helper()
	p.n++
	to, seq := "", 1
	if d == (dialog{}) {
		d = dialog{id: fmt.Sprintf("probe-%d-%s", p.n, p.conn.LocalAddr()), fromTag: "1"}
	} else {
		to, seq = ";tag="+d.toTag, 1000+p.n
	}
	_, err := fmt.Fprintf(p.conn, "%[1]s sip:%[2]s@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP %[3]s;branch=z9hG4bK%[4]d;rport\r\n"+
		"From: <sip:100@127.0.0.1>;tag=%[5]s\r\nTo: <sip:%[2]s@127.0.0.1>%[6]s\r\nCall-ID: %[7]s\r\nCSeq: %[8]d %[1]s\r\n"+
		"Contact: <sip:100@%[3]s>\r\nMax-Forwards: 70\r\nUser-Agent: friendly-scanner\r\nContent-Length: 0\r\n\r\n",
		method, number, p.conn.LocalAddr(), p.n, d.fromTag, to, d.id, seq)
	if err != nil {
		p.t.Fatal(err)
	}
}

// answers are the status codes that have come by now, after the first when it is
// waited for.
func (p *prober) answers(wait bool) (codes []int) {
	p.t.Helper()
	b := make([]byte, 65536)
	for {
		deadline := time.Now()
		if wait && len(codes) == 0 {
			deadline = deadline.Add(patience)
		}
		if err := p.conn.SetReadDeadline(deadline); err != nil {
			p.t.Fatal(err)
		}
		n, err := p.conn.Read(b)
		if err != nil {
			return codes
		}
		var code int
		if _, err := fmt.Sscanf(string(b[:n]), "SIP/2.0 %d", &code); err != nil {
			p.t.Errorf("an answer that is none: %.100q", b[:n])
		}
		codes = append(codes, code)
	}
}

var tagOf = map[string]*regexp.Regexp{
	"From": regexp.MustCompile(`(?im)^From:.*;tag=([^;\r\n]+)`), "To": regexp.MustCompile(`(?im)^To:.*;tag=([^;\r\n]+)`),
}

// dialog reads what names the call from the caller's own messages.
func (c *caller) dialog() (d dialog) {
	c.t.Helper()
	messages, _ := c.leg.Trace().Messages()
	for _, m := range messages {
		from, to := tagOf["From"].FindStringSubmatch(m.Text), tagOf["To"].FindStringSubmatch(m.Text)
		if strings.HasPrefix(m.Text, "SIP/2.0 200") && from != nil && to != nil {
			return dialog{c.leg.CallID(), from[1], to[1]}
		}
	}
	c.t.Fatal("the call has no dialog")
	return d
}

// TestTelephoneAbuse: scanners, floods, forged goodbyes and strangers' sound during a
// call. Each is refused and counted, and the call does not suffer.
func TestTelephoneAbuse(t *testing.T) {
	t.Parallel()
	m := newModel()
	t.Cleanup(m.Close)
	file := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(file, []byte(twoTrunks), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, newDataDir(t), append(m.env(), "PARLEY_CARRIER=sip", "PARLEY_PAYMENTS=none", "PARLEY_CONFIG="+file))
	who := newCustomer(t, s, "10")
	c := call(t, s, newPhone(t), who.number)
	c.awaitVoice("the greeting", 0, time.Second)
	known := c.dialog()

	// Somebody from nowhere tries what scanners try, and to end the call that he has
	// heard of. He does not learn that anybody is here.
	scanner := newProber(t, s, stranger)
	const tries = 20
	for i := range tries {
		for _, method := range []string{"OPTIONS", "REGISTER", "INVITE"} {
			scanner.send(method, strconv.Itoa(1000+i), dialog{})
		}
		scanner.send("INVITE", who.number, dialog{})
		scanner.send("BYE", who.number, known)
	}
	eventually(t, "the scan is counted", func() bool { return s.refused(t, "unknown_source") >= 5*tries })
	if codes := scanner.answers(false); len(codes) > 0 {
		t.Errorf("the scanner was answered %v", codes)
	}

	// A trunk runs wild: what is more than a source may send gets no answer, and the
	// other trunk's calls are taken.
	wild := newProber(t, s, exchange)
	eventually(t, "the flood is counted", func() bool {
		for range 500 {
			wild.send("INVITE", "+34919999999", dialog{})
		}
		return s.refused(t, "too_fast") >= 300
	})
	if s.refused(t, "no_route") == 0 {
		t.Error("no INVITE of a trunk was looked at")
	}
	if got := refusalCode(t, s, newPhone(t), "+34919999998"); got != 404 {
		t.Errorf("during the flood, a call to nobody is answered %d", got)
	}

	// It also knows the names of the other's call; and the call's own side gets the
	// names wrong.
	forger := newProber(t, s, exchange)
	for range 3 {
		forger.send("BYE", who.number, known)
	}
	eventually(t, "the forgeries are counted", func() bool { return s.refused(t, "foreign_dialog") >= 3 })
	near := newProber(t, s, "127.0.0.1")
	near.send("BYE", who.number, dialog{known.id, known.fromTag, "guessed"})
	near.send("BYE", who.number, dialog{known.id, "guessed", known.toTag})
	for _, p := range []*prober{forger, near} {
		for _, code := range p.answers(true) {
			if code != 481 {
				t.Errorf("a forged BYE is answered %d", code)
			}
		}
	}

	// And all the time somebody sends sound to the call's port.
	target := net.UDPAddrFromAddrPort(c.leg.Stats().Latched)
	noise, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(stranger)})
	if err != nil {
		t.Fatal(err)
	}
	defer noise.Close()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		inject(noise, target, s.addrs["sip"], stop)
	}()
	mark := c.mark()
	c.say(question(t, media.Rate8k))
	c.awaitVoice("the answer", mark, time.Second)
	close(stop)
	<-done
	c.hangUp()
	if c.fault != nil {
		t.Errorf("the call ended with %v", c.fault)
	}
	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	if q := b.quality(s, who, x.ID); x.Reason != "user_hangup" || q.Foreign == 0 {
		t.Errorf("it ended for %s, with %+v", x.Reason, q)
	}
	if understood := b.said(x, "user"); !has(understood, "open") || !has(understood, "monday") {
		t.Errorf("the agent understood %q", understood)
	}
	checkBooks(t, s.dir)
}

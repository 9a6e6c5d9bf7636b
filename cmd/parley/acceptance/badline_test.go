package acceptance

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/quality"
)

// badLine is a network between a telephone and a server, for one call: the RTP of
// both directions passes through a link that loses, delays and reorders it.
type badLine struct {
	server  netip.AddrPort
	sip     *net.UDPConn
	sockets [2]*net.UDPConn // the telephone's far end, and the server's
	up      *mediatest.PipeConn
	down    *mediatest.PipeConn

	mu      sync.Mutex
	phone   netip.AddrPort    // its SIP
	targets [2]netip.AddrPort // the RTP of the telephone, and of the server
	taps    [2]*wiretap       // of what they send; nil: nobody listens
}

func newBadLine(t *testing.T, s *server, link mediatest.Link) *badLine {
	t.Helper()
	open := func() *net.UDPConn {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	l := &badLine{server: netip.MustParseAddrPort(s.addrs["sip"]), sip: open(), sockets: [2]*net.UDPConn{open(), open()}}
	l.up, l.down = mediatest.Pipe(link)
	var all sync.WaitGroup
	all.Go(l.signal)
	// What the telephone sends goes in at up and comes out at down, and the other way.
	all.Go(func() { l.enter(0, l.up, l.down) })
	all.Go(func() { l.enter(1, l.down, l.up) })
	all.Go(func() { l.leave(l.down, 1) })
	all.Go(func() { l.leave(l.up, 0) })
	t.Cleanup(func() {
		for _, c := range []io.Closer{l.sip, l.sockets[0], l.sockets[1], l.up, l.down} {
			c.Close()
		}
		all.Wait()
	})
	return l
}

// enter brings what a socket receives onto the link.
func (l *badLine) enter(side int, onto, far *mediatest.PipeConn) {
	b := make([]byte, 2000)
	to := netip.MustParseAddrPort(far.LocalAddr().String())
	for {
		n, _, err := l.sockets[side].ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			l.mu.Lock()
			l.taps[side].note(b[:n], time.Now())
			l.mu.Unlock()
			_, _ = onto.WriteToUDPAddrPort(b[:n], to) // a closed link loses it
		}
	}
}

// leave sends what comes out of the link to the telephone (0) or the server (1).
func (l *badLine) leave(from *mediatest.PipeConn, side int) {
	b := make([]byte, 2000)
	for {
		n, _, err := from.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		l.mu.Lock()
		to := l.targets[side]
		l.mu.Unlock()
		_, _ = l.sockets[side].WriteToUDPAddrPort(b[:n], to) // lost, as on any network
	}
}

// signal passes SIP on, with the line's ports in the descriptions. Only the INVITE
// and its answers come by: Contact leads around it.
func (l *badLine) signal() {
	b := make([]byte, 65536)
	for {
		n, from, err := l.sip.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		l.mu.Lock()
		to, side := l.server, 0
		if from == l.server {
			to, side = l.phone, 1
		} else {
			l.phone = from
		}
		text := l.describe(string(b[:n]), side)
		l.mu.Unlock()
		_, _ = l.sip.WriteToUDPAddrPort([]byte(text), to) // SIP repeats it
	}
}

var audioPort = regexp.MustCompile(`m=audio (\d+) `)

// describe puts the line's port into a description of side's, whose own it notes.
func (l *badLine) describe(text string, side int) string {
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	m := audioPort.FindStringSubmatch(body)
	if m == nil {
		return text
	}
	port, _ := strconv.ParseUint(m[1], 10, 16) // digits alone; 0 leads nowhere
	l.targets[side] = netip.AddrPortFrom(l.server.Addr(), uint16(port))
	ours := l.sockets[1-side].LocalAddr().(*net.UDPAddr).Port
	longer := strings.Replace(body, m[0], fmt.Sprintf("m=audio %d ", ours), 1)
	length := fmt.Sprintf("Content-Length: %d", len(body))
	return strings.Replace(head, length, fmt.Sprintf("Content-Length: %d", len(longer)), 1) + "\r\n\r\n" + longer
}

// TestBadLine: 5 % of the packets are lost, others come up to 60 ms late or out of
// order. The caller is understood, keys are exact, and what the account of the call says
// of the line is what the line did.
func TestBadLine(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(agentFile, "prompt: ", "prompt: "+keysPrompt+" ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var agent struct{ ID string }
	admin(t, s.dir, &agent, "agent", "create", "--account", who.account, "--file", file)
	number := newNumber()
	admin(t, s.dir, &struct{}{}, "number", "add", "--account", who.account, number, "--agent", agent.ID)

	const delay = 20 * time.Millisecond
	l := newBadLine(t, s, mediatest.Link{Seed: 5, Loss: 0.05, Delay: delay, Jitter: 60 * time.Millisecond, Reorder: 0.03})
	c, err := dialAt(t, l.sip.LocalAddr().String(), newPhone(t), number, "+34600000001")
	if err != nil {
		t.Fatal(err)
	}
	c.awaitVoice("the greeting", 0, time.Second)
	mark := c.mark()
	c.say(question(t, media.Rate8k))
	c.awaitVoice("being asked for the number", mark, time.Second)
	const keys = "0123456789*#"
	mark = c.mark()
	if err := c.leg.SendDigits(keys); err != nil {
		t.Fatal(err)
	}
	c.awaitVoice("the number again", mark, time.Second)
	c.hangUp()

	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	understood, repeated := b.said(x, "user"), b.said(x, "agent")
	if !has(understood, "open") || !has(understood, "monday") {
		t.Errorf("the agent understood %q", understood)
	}
	if !strings.Contains(repeated, keys) {
		t.Errorf("pressed %s, the agent got: %s", keys, repeated)
	}
	b.quality(s, who, x.ID).check(t, l.up.Stats(), delay)
}

// said is all that one side of a call said.
func (b *books) said(x bill, role string) (text string) {
	b.t.Helper()
	for _, l := range b.transcript(x) {
		if l.Role == role {
			text += l.Text + " "
		}
	}
	return text
}

// wireQuality is what the API says of a call's line.
type wireQuality struct {
	Available bool
	MOS       float64
	MOSMin    float64 `json:"mos_min"`
	Received  uint64  `json:"packets_received"`
	Lost      uint64  `json:"packets_lost"`
	Late      uint64  `json:"packets_late"`
	Loss      float64
	Jitter    float64 `json:"jitter_ms"`
	Foreign   uint64  `json:"packets_foreign"`
	SentLate  uint64  `json:"packets_sent_late"`
	Unsent    uint64  `json:"packets_unsent"`
}

// quality is the account of a call's line, to its end: until the call has its score, there may be one of its beginning.
func (b *books) quality(s *server, who customer, id string) (q wireQuality) {
	b.t.Helper()
	d := dialer{b.t, "http://" + s.addrs["http"], who}
	read := func(path string, v any) {
		if code := d.ask("GET", "/v1/calls/"+id+path, "", v); code != 200 {
			b.t.Fatalf("%s of a call is answered with %d", path, code)
		}
	}
	eventually(b.t, "the account of the line, to its end", func() bool {
		var call struct{ MOS *float64 }
		read("", &call)
		return call.MOS != nil
	})
	if read("/quality", &q); !q.Available {
		b.t.Error("a call has a score, and no account of its line")
	}
	return q
}

// stalled says that this machine was too busy to send in time, which lowers the score.
func (q wireQuality) stalled() bool { return q.SentLate+q.Unsent > 0 }

// check holds the account of a call to what its line did to the caller's packets.
func (q wireQuality) check(t *testing.T, line mediatest.LinkStats, delay time.Duration) {
	t.Helper()
	t.Logf("the line %+v, the account %+v", line, q)
	// Those on their way at the end are neither received nor lost.
	const underWay = 10
	if gone := q.Lost - q.Late; gone > line.Lost || gone+underWay < line.Lost {
		t.Errorf("the line lost %d packets, the server counted %d and %d late", line.Lost, gone, q.Late)
	}
	if all := q.Received + q.Lost - q.Late; all > line.Sent || all+underWay < line.Sent {
		t.Errorf("%d packets were sent, the server counted %d", line.Sent, all)
	}
	if q.Jitter < 5 || q.Jitter > 60 {
		t.Errorf("jitter %.1f ms of a delay spread over 60 ms", q.Jitter)
	}
	if want := quality.MOS(quality.G711, delay, q.Loss, 1); q.MOS > want+0.1 || q.MOS < want-0.1 && !q.stalled() || q.MOSMin > q.MOS {
		t.Errorf("MOS %.2f, least %.2f; the E-model says %.2f of a loss of %.3f", q.MOS, q.MOSMin, want, q.Loss)
	}
}

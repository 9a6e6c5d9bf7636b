package sip

import (
	"bytes"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"
	"parley/media/isolate"
)

// Bounds of a Trace: a call of hours with its refreshes has some 60 messages of
// about 1 kB. What is more pushes out the oldest.
const (
	maxTraceMessages = 200
	maxTraceBytes    = 128 << 10
)

// TraceMessage is a SIP message as it was sent or received.
type TraceMessage struct {
	At        time.Time
	Sent      bool   // by us
	Transport string // "UDP", "TCP" or "TLS"
	From, To  string // addresses with ports
	// Text is the message without secrets: credentials, keys of media encryption, headers
	// that the trunk is configured with, whose values may be between the operator and the
	// carrier, and what an INFO carries, which may be digits of a card, are masked.
	Text string
}

// Trace is the signalling of one call: its first messages are forgotten when it
// has too many. The zero Trace is ready; its methods may be called from any
// goroutine, while the call lasts and after.
type Trace struct {
	mu       sync.Mutex
	messages []TraceMessage // oldest first
	bytes    int
	dropped  int
	live     int           // calls that are kept in it
	over     chan struct{} // closed when there is none any more; nil: there never was
}

// Over is closed when the calls that it has followed have ended and nothing more is
// to come. A call that is hung up or given up ends when its BYE or CANCEL was
// answered, 32 s later at most.
func (t *Trace) Over() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over == nil {
		t.over = make(chan struct{})
		close(t.over)
	}
	return t.over
}

// follow counts a call that begins (1) or ends (-1).
func (t *Trace) follow(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == 0 {
		t.over = make(chan struct{})
	}
	if t.live += n; t.live == 0 {
		close(t.over)
	}
}

// Messages are the messages so far, oldest first, in a slice of the caller's own,
// and how many older ones are forgotten.
func (t *Trace) Messages() (list []TraceMessage, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]TraceMessage{}, t.messages...), t.dropped
}

func (t *Trace) add(m TraceMessage) {
	m.Text = mask(m.Text)
	if len(m.Text) > maxTraceBytes {
		m.Text = m.Text[:maxTraceBytes]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.At = time.Now()
	t.messages = append(t.messages, m)
	t.bytes += len(m.Text)
	for len(t.messages) > maxTraceMessages || t.bytes > maxTraceBytes {
		t.bytes -= len(t.messages[0].Text)
		t.messages = t.messages[1:]
		t.dropped++
	}
}

// Secrets in messages: the value of an authorization header with its folded lines, and of
// what a far end proves with that it knows the password too, a password in a URI, a key of
// RFC 4568 or of the old k= line (RFC 8866 section 5.12).
var (
	secretHeader = headersNamed(`(?:proxy-)?authorization`, `authentication-info`, `proxy-authentication-info`)
	secretURI    = regexp.MustCompile(`(?i)(sips?:[^\s:@<>;?]+:)[^\s@<>]+@`)
	secretKey    = regexp.MustCompile(`(?im)(inline:|^k=(?:clear|base64|uri):)[^\s|;]+`)
)

// headersNamed finds headers with their folded lines, by patterns of their names.
func headersNamed(names ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)^((?:` + strings.Join(names, "|") + `)[ \t]*:[ \t]*)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*`)
}

// private finds the trunk's own headers; nil: there are none.
func (t *Trunk) private() *regexp.Regexp {
	var names []string
	for name := range t.Headers {
		names = append(names, regexp.QuoteMeta(name))
	}
	if len(names) == 0 {
		return nil
	}
	return headersNamed(names...)
}

const masked = "[masked]"

// mask takes out what nobody should read in a trace.
func mask(text string) string {
	text = secretHeader.ReplaceAllString(text, "${1}"+masked)
	text = secretURI.ReplaceAllString(text, "${1}"+masked+"@")
	text = secretKey.ReplaceAllString(text, "${1}"+masked)
	if head, body, ok := strings.Cut(text, "\r\n\r\n"); ok && strings.HasPrefix(text, string(gosip.INFO)+" ") && body != "" {
		text = head + "\r\n\r\n" + masked
	}
	return text
}

// traces finds the trace that a message of ours belongs to. The library tells of
// what it writes at one place for the whole process: so is this. Two of our user
// agents may talk to each other, hence the port.
var traces = struct {
	sync.Mutex
	calls map[string][]*tracedCall // by Call-ID
}{calls: map[string][]*tracedCall{}}

// tracedCall is a call whose messages are kept.
type tracedCall struct {
	ua    *UserAgent
	trace *Trace
	self  string    // our address as the far end sees it, and our port
	ports [2]uint16 // that its user agent serves
	ours  bool      // we have begun it: over TCP, from any port

	private *regexp.Regexp // headers of its trunk's; nil: none
}

// add keeps a message.
func (c *tracedCall) add(m TraceMessage) {
	if c.private != nil {
		m.Text = c.private.ReplaceAllString(m.Text, "${1}"+masked)
	}
	c.trace.add(m)
}

// keep begins to keep the messages of a call, with the INVITE that brought it.
func (c *call) keep() {
	u, d := c.ua, &c.dialog
	t := &tracedCall{ua: u, trace: c.trace, self: net.JoinHostPort(d.self.String(), strconv.Itoa(int(d.port))),
		ports: [2]uint16{u.portOf("UDP"), u.portOf("TLS")}, ours: c.invite == nil}
	if d.line != nil {
		t.private = d.line.private
	}
	c.trace.follow(1)
	if c.invite != nil {
		t.took(c.invite.req)
	}
	traces.Lock()
	defer traces.Unlock()
	traces.calls[d.callID] = append(traces.calls[d.callID], t)
}

// keepNoMore ends that.
func (c *call) keepNoMore() {
	defer c.trace.follow(-1)
	traces.Lock()
	defer traces.Unlock()
	callID := c.key.callID
	list := traces.calls[callID]
	kept := list[:0:0]
	for _, other := range list {
		if other.ua != c.ua || other.trace != c.trace {
			kept = append(kept, other)
		}
	}
	if len(kept) == 0 {
		delete(traces.calls, callID)
		return
	}
	traces.calls[callID] = kept
}

// find is the first call of a Call-ID that is meant, nil for none.
func find(callID string, meant func(*tracedCall) bool) *tracedCall {
	traces.Lock()
	defer traces.Unlock()
	list := traces.calls[callID]
	if i := slices.IndexFunc(list, meant); i >= 0 {
		return list[i]
	}
	return nil
}

// writes says whether c's user agent serves a port that something was written from.
func (c *tracedCall) writes(port uint16) bool { return c.ports[0] == port || c.ports[1] == port }

// written takes what the library writes. What it reads is taken as messages, since a
// stream comes in pieces.
type written struct{}

func (written) SIPTraceRead(string, string, string, []byte) {}

func (written) SIPTraceWrite(transport, from, to string, text []byte) {
	callID := headerValue(text, "call-id", "i")
	if callID == "" {
		return
	}
	port := portIn(from)
	t := find(callID, func(c *tracedCall) bool { return c.writes(port) })
	if t == nil && transport != "UDP" { // a stream that we have opened has a port of its own
		t = find(callID, func(c *tracedCall) bool { return c.ours })
		if t == nil {
			t = find(callID, func(*tracedCall) bool { return true })
		}
	}
	if t != nil {
		if host, _, _ := net.SplitHostPort(from); host == "::" || host == "0.0.0.0" {
			from = t.self
		}
		t.add(TraceMessage{Sent: true, Transport: overWhat(text, transport), From: from, To: to, Text: string(text)})
	}
}

// received takes each message before the library gives it a goroutine of its own, in the
// order in which they came. It must not block.
func (u *UserAgent) received(m gosip.Message) {
	isolate.Do("sip/received", nil, func() { u.traced(m) })
}

func (u *UserAgent) traced(m gosip.Message) {
	if m.CallID() == nil {
		return
	}
	u.keepMessage(m)
	unpack(m)
	if req, ok := m.(*gosip.Request); ok && req.Method != gosip.CANCEL {
		u.keepOrder(req)
	}
}

// keepOrder notes a request in its call, and hands an ACK over at once, so that what came
// after it finds the call answered. Where the mailbox is full, request does.
func (u *UserAgent) keepOrder(req *gosip.Request) {
	if code, _ := check(req); code != 0 {
		return
	}
	c := u.find(dialogKey{req.CallID().Value(), req.To().Params.GetOr("tag", "")})
	switch {
	case c == nil:
	case req.Method != gosip.ACK:
		c.order.arrived(req.CSeq().SeqNo)
	default:
		select {
		case c.box <- task{func() { c.handle(req, nil) }, func() {}}:
		default:
		}
	}
}

// keepMessage keeps a message that has come for a call that is known; the first one
// of an incoming call, which makes it known, is kept by the call itself.
func (u *UserAgent) keepMessage(m gosip.Message) {
	if t := find(m.CallID().Value(), func(c *tracedCall) bool { return c.ua == u }); t != nil {
		t.took(m)
	}
}

// took adds a message that has come.
func (t *tracedCall) took(m gosip.Message) {
	from := m.Source()
	if at := source(m); at.IsValid() {
		from = at.String() // as people write it, see numbered
	}
	t.add(TraceMessage{Transport: m.Transport(), From: from, To: t.self, Text: m.String()})
}

func portIn(addr string) uint16 {
	_, port, _ := net.SplitHostPort(addr)
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}

// headerValue finds a header in the text of a message, by its name or short form.
func headerValue(text []byte, names ...string) string {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		for _, n := range names {
			if strings.EqualFold(string(bytes.TrimSpace(name)), n) {
				return string(bytes.TrimSpace(value))
			}
		}
	}
	return ""
}

// overWhat is the transport in a message's topmost Via: the library calls TLS by
// the name of what is below it.
func overWhat(text []byte, transport string) string {
	if via := headerValue(text, "via", "v"); strings.HasPrefix(strings.ToUpper(via), "SIP/2.0/TLS") {
		return "TLS"
	}
	return transport
}

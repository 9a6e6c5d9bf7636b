package transport

import (
	"bytes"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"
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
	Transport string // "UDP", "TCP", "TLS" or OverWebSocket
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

// Resume returns a trace of a call that goes on here, with the messages of its former user agent, oldest first, and how many older ones
// are forgotten.
func Resume(messages []TraceMessage, dropped int) *Trace {
	t := &Trace{dropped: dropped}
	for _, m := range messages {
		t.add(m)
	}
	return t
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
	i := len(t.messages)
	for i > 0 && t.messages[i-1].At.After(m.At) {
		i-- // its answer was faster than the return of its write
	}
	t.messages = slices.Insert(t.messages, i, m)
	t.bytes += len(m.Text)
	for len(t.messages) > maxTraceMessages || t.bytes > maxTraceBytes {
		t.bytes -= len(t.messages[0].Text)
		t.messages = t.messages[1:]
		t.dropped++
	}
}

// Secrets in messages: the value of an authorization header with its folded lines, and of
// what a far end proves with that it knows the password too, a password in a URI, a key of
// RFC 4568 or of the old k= line (RFC 8866 section 5.12), and the password of connectivity checks (RFC 8839).
var (
	secretHeader = headersNamed(`(?:proxy-)?authorization`, `authentication-info`, `proxy-authentication-info`)
	secretURI    = regexp.MustCompile(`(?i)(sips?:[^\s:@<>;?]+:)[^\s@<>]+@`)
	secretKey    = regexp.MustCompile(`(?im)(inline:|^a=ice-pwd:|^k=(?:clear|base64|uri):)[^\s|;]+`)
)

// headersNamed finds headers with their folded lines, by patterns of their names.
func headersNamed(names ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)^((?:` + strings.Join(names, "|") + `)[ \t]*:[ \t]*)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*`)
}

// HeadersNamed finds headers of these names in a message, to mask them; nil: there are none.
func HeadersNamed(names ...string) *regexp.Regexp {
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	if len(names) == 0 {
		return nil
	}
	return headersNamed(names...)
}

const masked = "[masked]"

// mask replaces secrets.
func mask(text string) string {
	text = secretHeader.ReplaceAllString(text, "${1}"+masked)
	text = secretURI.ReplaceAllString(text, "${1}"+masked+"@")
	text = secretKey.ReplaceAllString(text, "${1}"+masked)
	if head, body, ok := strings.Cut(text, "\r\n\r\n"); ok && strings.HasPrefix(text, string(gosip.INFO)+" ") && body != "" {
		text = head + "\r\n\r\n" + masked
	}
	return text
}

// traces finds the trace that a message belongs to.
type traces struct {
	mu    sync.Mutex
	calls map[string][]*followed // by Call-ID
}

// followed is a call whose messages are kept.
type followed struct {
	trace *Trace
	self  string         // our address as the far end sees it, and our port
	mask  *regexp.Regexp // headers of its trunk's; nil: none
}

// add keeps a message.
func (f *followed) add(m TraceMessage) {
	if f.mask != nil {
		m.Text = f.mask.ReplaceAllString(m.Text, "${1}"+masked)
	}
	f.trace.add(m)
}

// Follow keeps the messages of a call in trace until stop is called, from the one that brought
// it on, if first is not nil. self is our address as the far end sees it. The values of headers
// that mask finds are left out. Of several calls with one Call-ID the first has all messages.
func (l *Layer) Follow(callID string, trace *Trace, self netip.AddrPort, mask *regexp.Regexp, first gosip.Message) (stop func()) {
	f := &followed{trace: trace, self: self.String(), mask: mask}
	trace.follow(1)
	if first != nil {
		f.took(first)
	}
	t := &l.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls == nil {
		t.calls = map[string][]*followed{}
	}
	t.calls[callID] = append(t.calls[callID], f)
	return func() {
		defer trace.follow(-1)
		t.mu.Lock()
		defer t.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(t.calls[callID]), func(other *followed) bool { return other == f })
		if t.calls[callID] = rest; len(rest) == 0 {
			delete(t.calls, callID)
		}
	}
}

// find is the first call of a Call-ID; nil: none.
func (t *traces) find(callID string) *followed {
	t.mu.Lock()
	defer t.mu.Unlock()
	if list := t.calls[callID]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// callID finds the Call-ID of a message.
var callID = regexp.MustCompile(`(?im)^(?:call-id|i)[ \t]*:[ \t]*(\S+)`)

// keepalive begins the requests that only keep the way to a far end open. A call of hours has so many
// that they and their answers would push out the others.
var keepalive = []byte(gosip.OPTIONS + " ")

// sending is a message that is about to be written, for sent to keep. The call is looked up and the time is taken before
// the write: the far end may answer, and bring a new call about, before the write returns.
func (l *Layer) sending(transport string, ours, to net.Addr, text []byte) (f *followed, m TraceMessage) {
	id := callID.FindSubmatch(text)
	if id == nil || bytes.HasPrefix(text, keepalive) {
		return nil, m
	}
	if f = l.traces.find(string(id[1])); f == nil {
		return nil, m
	}
	from := ours.String()
	if host, _, _ := net.SplitHostPort(from); host == "::" || host == "0.0.0.0" {
		from = f.self
	}
	far := to.String()
	if named, ok := to.(*namedAddr); ok {
		far = named.TCPAddr.String()
	}
	return f, TraceMessage{At: time.Now(), Sent: true, Transport: transport, From: from, To: far, Text: string(text)}
}

// sent keeps a message of sending's that was written. A call that is not followed keeps none.
func (f *followed) sent(m TraceMessage, err error) {
	if f != nil && err == nil {
		f.add(m)
	}
}

// traceReceived keeps a message that has come for a call that is known, unless it answers a keepalive; the first one
// of an incoming call, which makes it known, is kept by Follow.
func (l *Layer) traceReceived(m gosip.Message) {
	if res, ok := m.(*gosip.Response); m.CallID() == nil || ok && res.CSeq() != nil && res.CSeq().MethodName == gosip.OPTIONS {
		return
	}
	if f := l.traces.find(m.CallID().Value()); f != nil {
		f.took(m)
	}
}

// took adds a message that has come.
func (f *followed) took(m gosip.Message) {
	from := m.Source()
	if at := Source(m); at.IsValid() {
		from = at.String()
	}
	f.add(TraceMessage{At: time.Now(), Transport: m.Transport(), From: from, To: f.self, Text: m.String()})
}

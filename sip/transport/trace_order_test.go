package transport

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	gosip "github.com/emiago/sipgo/sip"
)

// hastyConn is a connection whose far end reacts to a message before the write of it returns.
type hastyConn struct {
	net.Conn
	react func()
}

func (c hastyConn) Write(b []byte) (int, error) {
	c.react()
	return len(b), nil
}

func (hastyConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5060} }

// TestTraceOfAHastyFarEnd: a message belongs to the call that there was when it was sent, and stands before its answer.
func TestTraceOfAHastyFarEnd(t *testing.T) {
	parse := func(text string) gosip.Message {
		m, err := gosip.NewParser().ParseSIP([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	const (
		invite    = "INVITE sip:a@127.0.0.1 SIP/2.0\r\nCall-ID: one\r\nCSeq: 2 INVITE\r\nContent-Length: 0\r\n\r\n"
		challenge = "SIP/2.0 407 Proxy Authentication Required\r\nCall-ID: one\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n"
		bye       = "BYE sip:a@127.0.0.1 SIP/2.0\r\nCall-ID: one\r\nCSeq: 3 BYE\r\nContent-Length: 0\r\n\r\n"
		answer    = "SIP/2.0 200 OK\r\nCall-ID: one\r\nCSeq: 3 BYE\r\nContent-Length: 0\r\n\r\n"
	)
	var l Layer
	trace := new(Trace)
	write := func(text string, react func()) {
		s := &stream{Conn: hastyConn{react: react}, layer: &l, network: "TCP", far: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2), Port: 5060}}
		if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(challenge, func() { l.Follow("one", trace, netip.AddrPort{}, nil, parse(invite)) })
	write(bye, func() { l.traceReceived(parse(answer)) })
	list, _ := trace.Messages()
	var story []string
	for _, m := range list {
		story = append(story, strings.Fields(m.Text)[0]+strings.Fields(m.Text)[1])
	}
	if got := strings.Join(story, " "); got != "INVITEsip:a@127.0.0.1 BYEsip:a@127.0.0.1 SIP/2.0200" {
		t.Errorf("the trace is %s", got)
	}
}

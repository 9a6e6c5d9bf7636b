package dtls_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/media/dtls"
	"parley/media/isolate/isolatetest"
	"parley/media/srtp"
)

// patience is for what comes at once unless something is broken.
const patience = 30 * time.Second

// result is how a handshake ended.
type result struct {
	keys srtp.Keys
	err  error
}

// end is one of the two sides of a handshake.
type end struct {
	id      *dtls.Identity
	shake   atomic.Pointer[dtls.Handshake]
	results chan result
}

func newEnd(t *testing.T) *end {
	t.Helper()
	id, err := dtls.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return &end{id: id, results: make(chan result, 1)}
}

// begin starts the handshake of e with a far end that drops so many datagrams.
func (e *end) begin(t *testing.T, to *end, remote dtls.Fingerprint, client bool, drops int) {
	var sent atomic.Int64
	e.shake.Store(e.id.Start(dtls.Config{
		Remote: remote, Client: client,
		Send: func(b []byte) {
			if far := to.shake.Load(); far != nil && sent.Add(1) > int64(drops) {
				far.Receive(b)
			}
		},
		Done: func(k srtp.Keys, err error) { e.results <- result{k, err} },
	}))
	t.Cleanup(e.shake.Load().Close)
}

func (e *end) wait(t *testing.T) result {
	t.Helper()
	select {
	case r := <-e.results:
		return r
	case <-time.After(patience):
		t.Fatal("the handshake did not end")
		return result{}
	}
}

// Both ends have the same keys, also when the first datagrams are lost; what one protects, the other opens.
func TestKeysAreAgreedOn(t *testing.T) {
	t.Parallel()
	for name, drops := range map[string]int{"": 0, "lossy": 2} {
		t.Run(name, func(t *testing.T) {
			server, client := newEnd(t), newEnd(t)
			server.begin(t, client, client.id.Fingerprint(), false, drops)
			client.begin(t, server, server.id.Fingerprint(), true, drops)
			s, c := server.wait(t), client.wait(t)
			if s.err != nil || c.err != nil {
				t.Fatal(s.err, c.err)
			}
			if s.keys.Suite != srtp.AESHMAC80 || s.keys.Send != c.keys.Receive || s.keys.Receive != c.keys.Send || s.keys.Send == s.keys.Receive {
				t.Error("the keys differ")
			}
			out, err := srtp.NewSender(s.keys.Suite, s.keys.Send)
			if err != nil {
				t.Fatal(err)
			}
			in, err := srtp.NewReceiver(c.keys.Suite, c.keys.Receive)
			if err != nil {
				t.Fatal(err)
			}
			plain := append(make([]byte, 0, 200), "\x80\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01audio"...)
			packet, err := out.RTP(append(make([]byte, 0, 200), plain...))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := in.RTP(packet); err != nil || string(got) != string(plain) {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

// A far end with another certificate than signalling says gets no keys, whichever side it is on.
func TestOtherCertificate(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]bool{"of the server": true, "of the client": false} {
		t.Run(name, func(t *testing.T) {
			us, them, meant := newEnd(t), newEnd(t), newEnd(t)
			them.begin(t, us, us.id.Fingerprint(), !client, 0)
			us.begin(t, them, meant.id.Fingerprint(), client, 0)
			if r := us.wait(t); !errors.Is(r.err, dtls.ErrFailed) || r.keys != (srtp.Keys{}) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// One that waits for a far end that never comes ends when it is closed.
func TestClosedWhileWaiting(t *testing.T) {
	t.Parallel()
	e := newEnd(t)
	e.begin(t, e, e.id.Fingerprint(), false, 0)
	e.shake.Load().Close()
	if r := e.wait(t); !errors.Is(r.err, dtls.ErrFailed) {
		t.Errorf("%+v", r)
	}
}

// A fault in a handshake fails that one.
func TestPanicFailsTheHandshake(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		fired := isolatetest.Inject(t, site.Name)
		e := newEnd(t)
		e.begin(t, e, e.id.Fingerprint(), false, 0)
		if r := e.wait(t); !errors.Is(r.err, dtls.ErrFailed) {
			t.Errorf("%+v", r)
		}
		select {
		case <-fired:
		default:
			t.Error("nothing was injected")
		}
	})
}

func TestFingerprints(t *testing.T) {
	e := newEnd(t)
	f := e.id.Fingerprint()
	if got, ok := dtls.ParseFingerprint(" " + strings.Replace(strings.ToLower(f.String()), "sha", "SHA", 1)); !ok || got != f {
		t.Errorf("%v %v", got, ok)
	}
	for _, bad := range []string{"", "sha-256", "sha-1 " + strings.Repeat("AA:", 19) + "AA", "sha-256 AA:BB", "sha-256 " + strings.Repeat("XY:", 31) + "XY", "md5 AA"} {
		if got, ok := dtls.ParseFingerprint(bad); ok {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

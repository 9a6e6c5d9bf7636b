package sip_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
)

// The answers to the messages of RFC 4475.
const (
	nothing = 0  // a response that nobody asked for, or nothing that can be answered
	anyhow  = -1 // a code of refusal or nothing: it cannot be told what it means
)

// rfc4475 is what each message must be answered with by a user agent that knows
// none of the numbers in them (404), no registrations and no messages (405).
var rfc4475 = map[string]int{
	// 3.1.1, valid
	// A call that we do not have (481), but to the library a request without a tag:
	// it takes no spaces around =.
	"wsinv":   400,
	"intmeth": 405, "esc01": 404, "escnull": 405, "esc02": 405, "lwsdisp": 200, "longreq": 404,
	"dblreq": 405, "semiuri": 200, "transports": 200, "mpart01": 405, "unreason": nothing, "noreason": nothing,
	// 3.1.2, invalid
	"badinv01": anyhow, "clerr": anyhow, "ncl": anyhow, "scalar02": anyhow, "scalarlg": nothing, "quotbal": anyhow,
	"ltgtruri": anyhow, "lwsruri": anyhow, "lwsstart": anyhow, "trws": anyhow, "escruri": anyhow,
	"baddate":  404, // a date is nothing to us
	"regbadct": 405, "badaspec": anyhow, "baddn": 200, "badvers": 505, "mismatch01": 400, "mismatch02": 400, "bigcode": nothing,
	// 3.2, transactions
	"badbranch": 200,
	// 3.3, what the application has to judge
	"insuf": 400, "unkscm": 416, "novelsc": anyhow, // no scheme to the parser
	"unksm2": 405, "bext01": 420, "invut": 415, "regaut01": 405, "multi01": 400,
	"mcl01": 400, "bcast": nothing, "zeromf": 200, "cparam01": 405, "cparam02": 405, "regescrt": 405, "sdp01": 404,
	// 3.4, older than RFC 3261: without a tag there can be no dialog
	"inv2543": 400,
}

// overTCP is what differs there: a stream is given up where a message is longer
// than it says, or does not say (RFC 3261 section 18.3).
var overTCP = map[string]int{"dblreq": anyhow, "inv2543": anyhow, "mcl01": anyhow}

// TestRFC4475 sends each message as it stands, over both transports: whatever it
// is answered with, a good call comes through after it, and nothing is left.
func TestRFC4475(t *testing.T) {
	files, err := filepath.Glob("../testdata/torture/*.dat")
	if err != nil || len(files) != len(rfc4475) {
		t.Fatalf("%d messages, want %d, %v", len(files), len(rfc4475), err)
	}
	both(t, func(t *testing.T, network string) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".dat")
			want, ok := rfc4475[name]
			if !ok {
				t.Errorf("what is %s to be answered with?", name)
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if other, differs := overTCP[name]; differs && network == "tcp" {
				want = other
			}
			t.Run(name, func(t *testing.T) {
				// One for each: some of the messages share a branch.
				results := make(chan outcome, 1)
				ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
					if in.Called != "+15550100002" {
						in.Reject(404, "", 0)
						return
					}
					answering(results)(ctx, in)
				}})
				p := newPeer(t, ua, network)
				if network == "udp" {
					p = fromTheUsualPort(t, ua, string(text))
				}
				p.write(string(text))
				if want > 0 {
					p.answered(want)
				}
				good := newPeer(t, ua, network)
				good.call()
				good.hangup(results)
				if want <= 0 {
					p.notAnswered(want)
				}
				eventually(t, "nothing left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
			})
		}
	})
}

// fromTheUsualPort is a peer on the port that the message's Via names: without
// rport the response goes there (RFC 3261 section 18.2.2), whatever port the
// message has come from.
func fromTheUsualPort(t *testing.T, ua *sip.UserAgent, text string) *peer {
	t.Helper()
	port := 5060
	for _, p := range []int{5050, 5070} {
		if strings.Contains(text, fmt.Sprintf(":%d;branch", p)) {
			port = p
		}
	}
	p := &peer{t: t, ua: ua.Addr(), msgs: make(chan gosip.Message, 64)}
	var err error
	p.udp, err = net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 44, 75, 1), Port: port}, net.UDPAddrFromAddrPort(p.ua))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.udp.Close() })
	go p.readUDP(p.udp)
	return p
}

// answered waits for a final response, to whatever it was.
func (p *peer) answered(code int) {
	p.t.Helper()
	for {
		r, ok := wait(p.t, p.msgs, fmt.Sprint(code)).(*gosip.Response)
		if ok && !r.IsProvisional() {
			if r.StatusCode != code {
				p.t.Errorf("answered %d, want %d", r.StatusCode, code)
			}
			return
		}
	}
}

// notAnswered looks at what has come by now: nothing, or at most a refusal.
func (p *peer) notAnswered(want int) {
	p.t.Helper()
	for {
		select {
		case m := <-p.msgs:
			r, ok := m.(*gosip.Response)
			if want == nothing || !ok || !r.IsProvisional() && (r.StatusCode < 400 || r.StatusCode >= 500) {
				p.t.Errorf("answered with\n%s", m)
			}
		case <-time.After(time.Millisecond):
			return
		}
	}
}

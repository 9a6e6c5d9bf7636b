package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/trunk"
)

// names is a resolver that knows what it was told.
type names struct {
	srv   map[string][]*net.SRV // by _service._proto.name
	addrs map[string][]netip.Addr
}

func (n names) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	q := fmt.Sprintf("_%s._%s.%s", service, proto, name)
	if found, ok := n.srv[q]; ok {
		return q, found, nil
	}
	return "", nil, &net.DNSError{Name: q, IsNotFound: true}
}

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if found, ok := n.addrs[host]; ok {
		return found, nil
	}
	return nil, &net.DNSError{Name: host, IsNotFound: true}
}

// port is where a callee listens.
func (c *callee) port() uint16 { return uint16(c.conn.LocalAddr().(*net.UDPAddr).Port) }

// target is a callee as a trunk's.
func (c *callee) target() trunk.Target { return trunk.Target{Host: "127.0.0.1", Port: c.port()} }

// quick is how patient trunks are in tests.
const quick = 50 * time.Millisecond

// number is whom the tests call, through a trunk.
const number = "+15550100009"

// take answers the next call and hangs up.
func (c *callee) take(t *testing.T, result <-chan dialed) *gosip.Request {
	t.Helper()
	invite := c.expect("INVITE")
	c.answer("INVITE", 200, "tag", calleeSDP)
	c.expect("ACK")
	hang(t, c, wait(t, result, "answer"))
	return invite
}

// untouched checks that a callee got no INVITE but repetitions of the last one.
func (c *callee) untouched(t *testing.T) {
	t.Helper()
	last := "no call before"
	if r := c.last["INVITE"]; r != nil {
		last = r.CallID().Value()
	}
	b := make([]byte, 4000)
	for {
		_ = c.conn.SetReadDeadline(time.Now().Add(quick))
		n, _, err := c.conn.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		if text := string(b[:n]); strings.HasPrefix(text, "INVITE") && !strings.Contains(text, last) {
			t.Errorf("it was called:\n%s", b[:n])
		}
	}
}

// pair is a name with two servers, and a trunk to it. The second one is the
// better one in the order of its records, and stands last in them.
func pair(t *testing.T) (first, second *callee, cfg sip.Config) {
	first, second = newCallee(t), newCallee(t)
	return first, second, sip.Config{T1: quick, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{{Host: "carrier.test"}}}},
		Resolver: names{
			srv: map[string][]*net.SRV{"_sip._udp.carrier.test": {
				{Target: "two.carrier.test.", Port: second.port(), Priority: 20}, {Target: "one.carrier.test.", Port: first.port(), Priority: 10}}},
			addrs: map[string][]netip.Addr{"one.carrier.test": {loopback}, "two.carrier.test": {loopback}},
		}}
}

// The first of two servers is dead: the first call moves on, the next one does
// not try it again.
func TestFailoverByACall(t *testing.T) {
	t.Parallel()
	dead, live, cfg := pair(t)
	cfg.Probe = time.Hour // one probe at the start, and none for a long time
	ua := serve(t, cfg)
	result := dial(t, ua, t.Context(), sip.Target{Number: number})
	dead.expect("INVITE")
	if invite := live.take(t, result); invite.Recipient.Host != "carrier.test" || invite.Recipient.User != number {
		t.Errorf("called %s", invite.Recipient.String())
	}
	health := ua.Trunks()[0].Targets
	if len(health) != 2 || health[0].Up || !health[1].Up || health[0].Detail == "" {
		t.Errorf("%+v", health)
	}
	live.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	dead.untouched(t)
}

// A server that does not answer OPTIONS is left alone until it does.
func TestFailoverByProbes(t *testing.T) {
	t.Parallel()
	dead, live, cfg := pair(t)
	cfg.Probe = 60 * quick // six times as often for one that is down
	ua := serve(t, cfg)
	up := func(want ...bool) func() bool {
		return func() bool {
			list := ua.Trunks()[0].Targets
			return len(list) == len(want) && list[0].Up == want[0] && list[1].Up == want[1]
		}
	}
	eventually(t, "both down", up(false, false))
	// When none is up, all are tried.
	dead.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	// One answers again, if only to say that it does not know OPTIONS.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				live.expect("OPTIONS")
				live.answer("OPTIONS", 405, "x", "")
			}
		}
	}()
	eventually(t, "the second is up", up(false, true))
	close(stop)
	<-stopped
	live.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	dead.untouched(t)
}

// A server that takes connections and says nothing is as dead as another.
func TestFailoverOfAConnection(t *testing.T) {
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	live := newCallee(t)
	ua := serve(t, sip.Config{T1: quick, Probe: time.Hour, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{
		{Host: "127.0.0.1", Port: dead.Addr().(*net.TCPAddr).AddrPort().Port(), Transport: "tls"}, live.target()}}}})
	live.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	if ua.Trunks()[0].Targets[0].Up {
		t.Error("the first still counts as up")
	}
}

// What a target says decides whether the next one is tried.
func TestNextTarget(t *testing.T) {
	for _, tt := range []struct {
		code  int
		rang  bool
		next  bool
		ended media.Ended
	}{
		{408, false, true, media.Ended{}}, {500, false, true, media.Ended{}}, {502, false, true, media.Ended{}}, {503, false, true, media.Ended{}},
		{504, false, true, media.Ended{}},
		{503, true, false, media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}}, {408, true, false, media.Ended{Reason: media.NoAnswer}},
		{404, false, false, media.Ended{Reason: media.Failed, Detail: "invalid_number"}}, {501, false, false, media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}}, {486, false, false, media.Ended{Reason: media.Busy}},
		{603, false, false, media.Ended{Reason: media.Rejected, Detail: "declined"}}, {403, false, false, media.Ended{Reason: media.Failed, Detail: "carrier_auth"}},
	} {
		t.Run(fmt.Sprintf("%d rang %v", tt.code, tt.rang), func(t *testing.T) {
			t.Parallel()
			first, second := newCallee(t), newCallee(t)
			ua := serve(t, sip.Config{Probe: time.Hour, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{first.target(), second.target()}}}})
			rings := make(chan int, 1)
			result := dial(t, ua, t.Context(), sip.Target{Number: number, Ringing: func(code int) { rings <- code }})
			first.expect("INVITE")
			if tt.rang {
				first.answer("INVITE", 180, "x", "")
				wait(t, rings, "ringing")
			}
			first.answer("INVITE", tt.code, "x", "")
			first.expect("ACK")
			if tt.next {
				second.take(t, result)
			} else {
				d := wait(t, result, "end")
				var e *sip.NotAnswered
				if !errors.As(d.err, &e) || *e.Ended() != tt.ended {
					t.Errorf("got %v", d.err)
				}
				second.untouched(t)
			}
			if !ua.Trunks()[0].Targets[0].Up {
				t.Error("one callee's failure has put the first target out")
			}
			eventually(t, "no call left", func() bool { return ua.Stats().Calls == 0 && ua.Trunks()[0].Calls == 0 })
		})
	}
}

// Carriers send 183 before they know whether they can place a call: nobody's phone has rung.
func TestNextTargetAfterProgress(t *testing.T) {
	first, second := newCallee(t), newCallee(t)
	ua := serve(t, sip.Config{Probe: time.Hour, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{first.target(), second.target()}}}})
	rings := make(chan int, 1)
	result := dial(t, ua, t.Context(), sip.Target{Number: number, Ringing: func(code int) { rings <- code }})
	first.expect("INVITE")
	first.answer("INVITE", 183, "x", "")
	if code := wait(t, rings, "progress"); code != 183 {
		t.Errorf("told of %d", code)
	}
	first.answer("INVITE", 503, "x", "")
	first.expect("ACK")
	second.take(t, result)
}

// Three callees in a row that a target cannot reach put it out; one, however often it is
// called, does not, and a call that goes through begins the count anew.
func TestTargetIsDownForSeveralCallees(t *testing.T) {
	first, second := newCallee(t), newCallee(t)
	ua := serve(t, sip.Config{Probe: time.Hour, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{first.target(), second.target()}}}})
	call := func(number string) <-chan dialed { return dial(t, ua, t.Context(), sip.Target{Number: number}) }
	fail := func(number string, wantUp bool) {
		t.Helper()
		result := call(number)
		first.expect("INVITE")
		first.answer("INVITE", 500, "x", "")
		first.expect("ACK")
		second.take(t, result)
		if up := ua.Trunks()[0].Targets[0].Up; up != wantUp {
			t.Errorf("after %s it is up: %v", number, up)
		}
	}
	for range 4 {
		fail("+15550100001", true)
	}
	fail("+15550100002", true)
	first.take(t, call("+15550100003"))
	fail("+15550100001", true)
	fail("+15550100002", true)
	fail("+15550100003", false)
}

func TestTrunkIsFull(t *testing.T) {
	t.Parallel()
	c := newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{
		{Name: "narrow", Targets: []trunk.Target{c.target()}, Channels: 1, Flags: trunk.NoProbe},
		{Name: "slow", Targets: []trunk.Target{c.target()}, CPS: 1, Flags: trunk.NoProbe},
	}})
	full := func(result <-chan dialed, limit string) {
		t.Helper()
		var e *trunk.Full
		if d := wait(t, result, "end"); !errors.As(d.err, &e) || e.Limit != limit {
			t.Errorf("got %v, want no free %s", d.err, limit)
		}
	}
	first := dial(t, ua, t.Context(), sip.Target{Number: number, Trunk: "narrow"})
	c.expect("INVITE")
	full(dial(t, ua, t.Context(), sip.Target{Number: number, Trunk: "narrow"}), "channels")
	c.answer("INVITE", 200, "tag", calleeSDP)
	c.expect("ACK")
	d := wait(t, first, "answer")
	full(dial(t, ua, t.Context(), sip.Target{Number: number, Trunk: "narrow"}), "channels")
	hang(t, c, d)
	eventually(t, "a free channel", func() bool { return ua.Trunks()[0].Calls == 0 })
	c.take(t, dial(t, ua, t.Context(), sip.Target{Number: number, Trunk: "narrow"}))

	// One call a second: the second one waits for its turn, the third would have
	// to wait too long.
	ctx, cancel := context.WithCancel(t.Context())
	var calls [3]<-chan dialed
	calls[0] = dial(t, ua, ctx, sip.Target{Number: number, Trunk: "slow"})
	c.expect("INVITE")
	calls[1] = dial(t, ua, ctx, sip.Target{Number: number, Trunk: "slow"})
	eventually(t, "the second call waits", func() bool { return ua.Trunks()[1].Calls == 2 })
	full(dial(t, ua, ctx, sip.Target{Number: number, Trunk: "slow"}), "cps")
	cancel()
	for _, result := range calls[:2] {
		wait(t, result, "end")
	}
}

// Each wish of a trunk shows in the INVITE, and nothing else does.
func TestInviteOfATrunk(t *testing.T) {
	c := newCallee(t)
	from := header.Identity{Number: "+15550100001", Display: "Ann"}
	for _, tt := range []struct {
		name    string
		change  func(*trunk.Config)
		private bool
		caller  string
		want    map[string]string // by header; empty: it is not there
	}{
		{"plain", func(*trunk.Config) {}, false, "", map[string]string{"From": `"Ann" <sip:+15550100001@127.0.0.1>`, "To": "<sip:" + number + "@127.0.0.1:PORT>",
			"P-Asserted-Identity": "", "P-Preferred-Identity": "", "Privacy": "", "Supported": "timer, 100rel", "Max-Forwards": "70", "X-Account": ""}},
		{"from_user", func(t *trunk.Config) { t.FromUser = "account" }, false, "", map[string]string{"From": `"Ann" <sip:account@127.0.0.1>`}},
		{"from_host", func(t *trunk.Config) { t.FromHost = "us.example" }, false, "", map[string]string{"From": `"Ann" <sip:+15550100001@us.example>`}},
		{"pai", func(t *trunk.Config) { t.Flags |= trunk.PAI }, false, "", map[string]string{"P-Asserted-Identity": `"Ann" <sip:+15550100001@127.0.0.1>`, "P-Preferred-Identity": "", "Privacy": ""}},
		{"ppi", func(t *trunk.Config) { t.Flags, t.FromHost = t.Flags|trunk.PPI, "us.example" }, false, "", map[string]string{"P-Preferred-Identity": `"Ann" <sip:+15550100001@us.example>`, "P-Asserted-Identity": ""}},
		{"privacy", func(t *trunk.Config) { t.Flags |= trunk.Private }, false, "", map[string]string{"Privacy": "id", "From": `"Ann" <sip:+15550100001@127.0.0.1>`}},
		{"a private call", func(t *trunk.Config) { t.Flags |= trunk.PAI }, true, "", map[string]string{"Privacy": "id", "From": `"Anonymous" <sip:anonymous@anonymous.invalid>`,
			"P-Asserted-Identity": `"Ann" <sip:+15550100001@127.0.0.1>`}},
		{"user_phone", func(t *trunk.Config) { t.Flags |= trunk.UserPhone }, false, "", map[string]string{"To": "<sip:" + number + "@127.0.0.1:PORT;user=phone>"}},
		{"headers", func(t *trunk.Config) { t.Headers = map[string]string{"X-Account": "1"} }, false, "", map[string]string{"X-Account": "1"}},
		{"prack", func(t *trunk.Config) { t.Flags |= trunk.NoPRACK }, false, "", map[string]string{"Supported": "timer"}},
		{"diversion", func(t *trunk.Config) { t.Flags |= trunk.Diverts | trunk.PAI }, false, "+34600000001", map[string]string{"From": "<sip:+34600000001@127.0.0.1>",
			"P-Asserted-Identity": "<sip:+34600000001@127.0.0.1>", "Diversion": "<sip:+15550100001@127.0.0.1>;reason=deflection;counter=1",
			"History-Info": "<sip:+15550100001@127.0.0.1>;index=1, <sip:" + number + "@127.0.0.1:PORT;cause=480>;index=1.1;mp=1"}},
		{"diversion of nobody's call", func(t *trunk.Config) { t.Flags |= trunk.Diverts }, false, "", map[string]string{"From": `"Ann" <sip:+15550100001@127.0.0.1>`, "Diversion": "", "History-Info": ""}},
		{"a caller whom the trunk does not show", func(*trunk.Config) {}, false, "+34600000001", map[string]string{"From": `"Ann" <sip:+15550100001@127.0.0.1>`, "Diversion": ""}},
	} {
		carrier := trunk.Config{Name: "carrier", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe}
		tt.change(&carrier)
		ua := serve(t, sip.Config{Trunks: []trunk.Config{carrier}})
		invite := c.take(t, dial(t, ua, t.Context(), sip.Target{Number: number, From: from, Private: tt.private, Caller: tt.caller}))
		for name, want := range tt.want {
			got := ""
			if h := invite.GetHeader(name); h != nil {
				got, _, _ = strings.Cut(h.Value(), ";tag=")
			}
			if want = strings.ReplaceAll(want, "PORT", fmt.Sprint(c.port())); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, got, want)
			}
		}
	}
}

// A call goes out on the trunk of its number; on the next one when the first does
// not know us.
func TestChoiceOfTrunk(t *testing.T) {
	own, open, other := newCallee(t), newCallee(t), newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{
		{Name: "incoming", Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
		{Name: "open", Targets: []trunk.Target{open.target()}, Flags: trunk.NoProbe},
		{Name: "own", Targets: []trunk.Target{own.target()}, Flags: trunk.NoProbe, Numbers: []string{"+15550100001"}},
		{Name: "other", Targets: []trunk.Target{other.target()}, Flags: trunk.NoProbe, Numbers: []string{"+15550100002"}},
	}})
	mine := sip.Target{Number: number, From: header.Identity{Number: "+15550100001"}}
	own.take(t, dial(t, ua, t.Context(), mine))
	open.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	named := mine
	named.Trunk = "other"
	other.take(t, dial(t, ua, t.Context(), named))

	result := dial(t, ua, t.Context(), mine)
	own.expect("INVITE")
	own.answer("INVITE", 403, "x", "")
	own.expect("ACK")
	open.take(t, result)
	for _, bad := range []sip.Target{{Number: number, Trunk: "nobody"}, {Number: "not a number"}, {}} {
		if _, err := ua.Dial(t.Context(), bad); err == nil {
			t.Errorf("called %+v", bad)
		}
	}
}

// Wrong credentials are tried once.
func TestWrongCredentials(t *testing.T) {
	c := newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe,
		Auth: dialog.Credentials{Username: "account", Password: "guess"}}}})
	result := dial(t, ua, t.Context(), sip.Target{Number: number})
	for _, signed := range []bool{false, true} {
		invite := c.expect("INVITE")
		if (invite.GetHeader("Proxy-Authorization") != nil) != signed {
			t.Errorf("signed %v:\n%s", signed, invite)
		}
		c.answer("INVITE", 407, "x", "", `Proxy-Authenticate: Digest realm="r", nonce="`+invite.CSeq().Value()+`"`)
		c.expect("ACK")
	}
	var e *sip.NotAnswered
	if d := wait(t, result, "end"); !errors.As(d.err, &e) || *e.Ended() != (media.Ended{Reason: media.Failed, Detail: "carrier_auth"}) {
		t.Errorf("got %v", d.err)
	}
}

// An INVITE that does not fit a datagram goes over TCP where the trunk wants it.
func TestLargeInvite(t *testing.T) {
	results := make(chan outcome, 1)
	far := serve(t, sip.Config{OnCall: answering(results)})
	carrier := trunk.Config{Name: "carrier", Targets: []trunk.Target{{Host: "127.0.0.1", Port: far.Addr().Port()}}, Flags: trunk.LargeTCP | trunk.NoProbe,
		Headers: map[string]string{}}
	for _, want := range []string{"UDP", "TCP"} {
		if want == "TCP" {
			for i := range 10 {
				carrier.Headers[fmt.Sprintf("X-Filler-%d", i)] = strings.Repeat("x", 100)
			}
		}
		ua := serve(t, sip.Config{Trunks: []trunk.Config{carrier}})
		leg, err := ua.Dial(t.Context(), sip.Target{Number: number})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(context.Background())
		stop(&media.Ended{Reason: media.AgentHangup})
		if err := conduct(ctx, leg, nil); err != nil {
			t.Error(err)
		}
		if o := wait(t, results, "end of the call"); o.err != nil || o.in.Transport != want {
			t.Errorf("it came over %s, want %s: %v", o.in.Transport, want, o.err)
		}
	}
}

package sip_test

import (
	"net/netip"
	"testing"
	"time"

	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/trunk"
)

// Trunks change while calls go on: those that have gone take no new calls, and keep theirs.
func TestTrunksAreReplaced(t *testing.T) {
	results := make(chan outcome, 1)
	c := newCallee(t)
	home := []netip.Prefix{netip.PrefixFrom(loopback, 32), netip.MustParsePrefix("127.0.0.3/32")}
	ua := serve(t, sip.Config{OnCall: answering(results), Allow: func(netip.Addr) bool { return false }, Trunks: []trunk.Config{{Name: "old", Allow: home}}})
	p := newPeer(t, ua, "udp")
	p.call()
	ua.SetTrunks([]trunk.Config{{Name: "new", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe}})
	late := newPeer(t, ua, "udp")
	late.write(late.request("INVITE", late.offer()))
	late.response(403, "INVITE")
	p.next(200, "OPTIONS", "")
	c.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	if list := ua.Trunks(); len(list) != 1 || list[0].Name != "new" {
		t.Errorf("%+v", list)
	}
	p.elsewhere("127.0.0.3").hangup(results) // another server of the trunk that has gone
	eventually(t, "the calls are over", func() bool { return ua.Stats().Calls == 0 })

	before := ua.Stats().Unknown
	ua.SetTrunks(nil)
	eventually(t, "the source is a stranger", func() bool {
		late.write(late.request("OPTIONS", ""))
		return ua.Stats().Unknown > before
	})
	if _, err := ua.Dial(t.Context(), sip.Target{Number: number}); err == nil {
		t.Error("a call without a trunk")
	}
}

// A trunk whose settings change registers anew after it has taken its registration back; one
// that is as it was is left alone.
func TestRegisteredTrunkIsReplaced(t *testing.T) {
	t.Parallel()
	c := newCallee(t)
	carrier := func(revision int64, user string) []trunk.Config {
		return []trunk.Config{{Name: "carrier", Revision: revision, Targets: []trunk.Target{c.target()}, Auth: dialog.Credentials{Username: user, Password: "x"}, Flags: trunk.Register | trunk.NoProbe}}
	}
	ua, stop := start(t, sip.Config{Trunks: carrier(1, "one")})
	registers := func(user, expires string) {
		t.Helper()
		r := c.expect("REGISTER")
		if r.From().Address.User != user || r.GetHeader("Expires").Value() != expires {
			t.Errorf("want a registration of %s for %s s:\n%s", user, expires, r)
		}
		c.answer("REGISTER", 200, "x", "", "Contact: "+r.Contact().Value())
	}
	registers("one", "600")
	eventually(t, "registered", func() bool { return registered(ua) })
	ua.SetTrunks(carrier(1, "ignored"))
	ua.SetTrunks(carrier(2, "two"))
	registers("one", "0")
	registers("two", "600")
	eventually(t, "registered again", func() bool { return registered(ua) })
	left := make(chan struct{})
	go func() {
		defer close(left)
		registers("two", "0")
	}()
	stop()
	<-left
}

// A check asks the servers now, and one miss is enough for who asks.
func TestCheckTrunk(t *testing.T) {
	t.Parallel()
	silent, live := newCallee(t), newCallee(t)
	ua := serve(t, sip.Config{T1: quick, Probe: time.Hour, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{silent.target(), live.target()}}}})
	stop := make(chan struct{})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for {
			select {
			case <-stop:
				return
			default:
				live.expect("OPTIONS")
				live.answer("OPTIONS", 404, "x", "")
			}
		}
	}()
	st, ok := ua.CheckTrunk(t.Context(), "carrier")
	if !ok || len(st.Targets) != 2 || st.Targets[0].Up || st.Targets[0].Detail != "OPTIONS: no answer" || !st.Targets[1].Up || st.Targets[1].Detail != "" {
		t.Errorf("%v %+v", ok, st)
	}
	if _, ok := ua.CheckTrunk(t.Context(), "nobody's"); ok {
		t.Error("a trunk that is not there was checked")
	}
	close(stop)
	go ua.CheckTrunk(t.Context(), "carrier") // so that the last expect has something
	<-answered
}

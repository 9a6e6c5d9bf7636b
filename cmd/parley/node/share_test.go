package node

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"parley/sip"
	"parley/sip/rtpport"
	"parley/store/storetest"
)

// TestTrunksAreShared: by the nodes that live, and by this one alone when it cannot say.
func TestTrunksAreShared(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	ports, err := rtpport.New(rtpport.Config{Addr: loopback, First: 29040, Last: 29049})
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	phone, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(loopback, 0), Ports: ports, Trunks: []sip.Trunk{
		{Name: "wide", Channels: 30}, {Name: "narrow", Channels: 1}, {Name: "any"}}})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{db: storetest.New(t), phone: phone, log: slog.New(slog.DiscardHandler)}
	want := func(what string, wide int) {
		t.Helper()
		n.shareTrunksNow(t.Context())
		got := phone.Trunks()
		if got[0].Channels != wide || got[1].Channels != 1 || got[2].Channels != 0 {
			t.Errorf("%s: %d, %d and %d channels; want %d, 1 and no limit", what, got[0].Channels, got[1].Channels, got[2].Channels, wide)
		}
	}
	want("nobody has registered", 30)
	now := time.Now()
	for _, name := range []string{"a", "b", "c", "d"} {
		if _, _, err := n.db.RegisterNode(t.Context(), name, "127.0.0.1:1", now); err != nil {
			t.Fatal(err)
		}
	}
	want("four", 7)
	for _, name := range []string{"c", "d"} { // they were last heard of an hour ago
		if _, _, err := n.db.RegisterNode(t.Context(), name, "127.0.0.1:1", now.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	want("two of four are gone", 15)
	n.db.Close()
	want("the database is away", 15)
}

package cluster

import (
	"log/slog"
	"net/netip"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/sip"
	"parley/sip/rtpport"
	"parley/sip/trunk"
	"parley/store/ledger"
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
	phone, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(loopback, 0), Ports: ports, Trunks: []trunk.Config{
		{Name: "wide", Channels: 30}, {Name: "narrow", Channels: 1}, {Name: "any"}}})
	if err != nil {
		t.Fatal(err)
	}
	url := storetest.URL(t)
	db := storetest.Open(t, url)
	m := New(Config{Store: db, Log: slog.New(slog.DiscardHandler)})
	want := func(what string, wide int) {
		t.Helper()
		m.countNow(t.Context(), phone.Share)
		got := phone.Trunks()
		if got[0].Channels != wide || got[1].Channels != 1 || got[2].Channels != 0 {
			t.Errorf("%s: %d, %d and %d channels; want %d, 1 and no limit", what, got[0].Channels, got[1].Channels, got[2].Channels, wide)
		}
	}
	want("nobody has registered", 30)
	for _, name := range []string{"a", "b", "c", "d"} {
		if _, _, err := ledger.New(db).RegisterNode(t.Context(), name, "127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	want("four", 7)
	sql, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer sql.Close(t.Context())
	if _, err := sql.Exec(t.Context(), "update nodes set heartbeat_at = now() - interval '1 hour' where node_id >= 'c'"); err != nil {
		t.Fatal(err)
	}
	want("two of four are gone", 15)
	db.Close()
	want("the database is away", 15)
}

package node

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/api/webrtc"
	"parley/api/wire"
	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
	rtc "parley/media/webrtc"
	"parley/pipeline/session"
	"parley/sip/simulated"
	"parley/store/history"
	"parley/store/ledger"
)

// errands are what nodes do beside calls, each with calls that go on.
var errands = []struct {
	name string
	do   func(t *testing.T, fails bool)
}{
	{"batch", dialsABatch}, {"sound", keepsSound}, {"end", drains},
}

// TestPanicEndsNoCall: what nodes do for no single call, or after its end, has a fault, and
// everything goes on. The places are found in the source: of those that end a call,
// TestPanicEndsItsOutboundCall takes care.
func TestPanicEndsNoCall(t *testing.T) {
	reached := map[string]int{}
	for i, e := range errands {
		t.Run(e.name, func(t *testing.T) {
			watch := isolatetest.Watch(t)
			e.do(t, false)
			for site := range watch() { // without what the end of the test reaches
				if _, ok := reached[site]; !ok {
					reached[site] = i
				}
			}
		})
	}
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		i, ok := reached[site.Name]
		switch {
		case site.Ends || site.Name == "cmd/parley/outbound/outbound":
			t.Skip("it ends a call")
		case !ok:
			t.Fatal("nothing reaches it")
		}
		fired := isolatetest.Inject(t, site.Name)
		errands[i].do(t, true)
		<-fired
	}, "cmd/parley/outbound", "cmd/parley/conversation")
}

// dialsABatch: a row is dialled while a call is up, whose signalling is kept.
func dialsABatch(t *testing.T, _ bool) {
	w := newWindow(t)
	w.node.network.Record(func(simulated.Heard) {})
	w.running()
	beside := w.dial("00", "continue", "")
	status, b, p := w.create(w.wish(object{"on_machine": "hangup", "rows": []object{{"to": "+12025550101"}, {"to": "+12025550109"}}}))
	if status != 200 {
		t.Fatalf("%d %+v", status, p)
	}
	eventually(t, "the rows are dialled", func() bool {
		_, now, _ := w.ask(w.key, "GET", "/callcenter/bulk-dial/"+b.ID, nil)
		return now.Counts == wire.Counts{Sent: 2}
	})
	if end := w.ended(beside, isGreeting); end.EndReason != "api_hangup" {
		t.Errorf("the call beside it ended %s/%s", end.EndReason, end.EndDetail)
	}
	kept := 0
	eventually(t, "the signalling of the calls is kept", func() bool {
		kept = 0
		for _, c := range w.history(3) {
			if _, err := history.New(w.node.db).Wire(t.Context(), w.who.Account, c.ID); err == nil {
				kept++
			}
		}
		return kept >= 2 // of all, but where that was the fault
	})
	w.verified()
}

// keepsSound: how a session over WebRTC sounds is kept while it lasts, and at its end: of the next one if not of the first.
func keepsSound(t *testing.T, fails bool) {
	d := newDesk(t)
	server, err := rtc.Listen(rtc.Config{Addr: netip.MustParseAddr("127.0.0.1")})
	d.ok(err)
	defer server.Close()
	for last := range 2 {
		session, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Terms: conversation.WebTerms}})
		d.ok(err)
		peer, err := pion.NewPeerConnection(pion.Configuration{})
		d.ok(err)
		_, err = peer.AddTransceiverFromKind(pion.RTPCodecTypeAudio)
		d.ok(err)
		text, err := peer.CreateOffer(nil)
		d.ok(err)
		offer, err := rtc.ParseOffer(text.SDP)
		d.ok(err)
		leg, _, err := server.Answer(t.Context(), offer, func([]byte) {})
		d.ok(err)
		stored := func() bool {
			w, err := history.New(d.node.db).Wire(t.Context(), d.who.Account, session.ID())
			return err == nil && w.Quality != nil
		}
		w := d.node.maker.Wire(session, nil)
		w.Answered(&webrtc.Leg{Leg: leg})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- d.node.maker.KeepWires(ctx, time.Millisecond) }()
		eventually(t, "it is kept while the session lasts", stored)
		stop()
		d.ok(<-over)
		d.ok(d.node.db.Do(t.Context(), "forget", "delete from call_wire"))
		w.Keep()
		d.node.maker.Wait()
		d.ok(leg.Close())
		d.ok(peer.Close())
		session.End(media.Ended{Reason: media.UserHangup})
		if !stored() && (!fails || last == 1) {
			t.Error("it is not kept after its end")
		}
	}
}

// drains: calls end that wait for a server which stops, whatever fails meanwhile.
func drains(t *testing.T, fails bool) {
	d := newDesk(t)
	d.node.network.Record(func(simulated.Heard) {})
	id := d.dial("00", "continue", "")
	eventually(t, "it is answered", func() bool {
		c, err := history.New(d.node.db).Call(t.Context(), d.who.Account, id)
		d.ok(err)
		return c.StartedAt != nil
	})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.node.Drain(over); fails != errors.Is(err, isolate.Internal) {
		t.Errorf("the end: %v", err)
	}
	eventually(t, "the call has ended", func() bool { return d.node.manager.Live() == 0 && d.account().Pots.Held == 0 })
}

package sip

import (
	"cmp"
	"net/netip"
	"time"
)

// How often the media of a call is looked at for the log, and after how much silence
// from the beginning it says so: by then the far end's description, ours or a firewall
// is wrong.
const (
	watchEvery = time.Second
	noRTPAfter = 5 * time.Second
)

// watch tells the log, after the fact, where the media of a call does not come from
// where it should. It belongs to the goroutine of Leg.Run, which is not the one that
// moves frames.
type watch struct {
	leg     *Leg
	begun   time.Time
	latched netip.AddrPort // that the log knows of
	silent  bool           // the log knows that nothing came
}

func newWatch(l *Leg, now time.Time) (*watch, *time.Ticker) {
	return &watch{leg: l, begun: now}, time.NewTicker(cmp.Or(l.call.ua.cfg.watchEvery, watchEvery))
}

// look looks once.
func (w *watch) look(now time.Time) {
	c, s := w.leg.call, w.leg.Stats()
	if s.Latched.IsValid() && s.Latched != s.Remote && s.Latched != w.latched {
		w.latched = s.Latched
		c.ua.counters.latched.Add(1)
		c.log.Info("sip: rtp_latched: media comes from another address than was described", "described", s.Remote.String(),
			"from", s.Latched.String(), "local", w.local())
	}
	// What came before a hold, or in another order, has been media all the same.
	if !w.silent && s.FirstMedia == 0 && s.Listening && now.Sub(w.begun) >= cmp.Or(c.ua.cfg.noRTPAfter, noRTPAfter) {
		w.silent = true
		c.ua.counters.noRTP.Add(1)
		c.log.Warn("sip: no_rtp_5s: nothing has come from the far end since the answer", "remote", s.Remote.String(),
			"local", w.local(), "sent", s.Sent, "foreign", s.Foreign, "invalid", s.Invalid, "refused", s.Refused)
	}
}

// local is where our description says that media is to be sent.
func (w *watch) local() string {
	return netip.AddrPortFrom(w.leg.call.dialog.Self.Addr(), w.leg.pair.Port).String()
}

package mediasession

import (
	"cmp"
	"log/slog"
	"net/netip"
	"time"

	"parley/media/rtp"
)

// How often the media of a call is looked at for the log, and after how much silence
// from the beginning it says so: by then the far end's description, ours or a firewall
// is wrong.
const (
	watchEvery = time.Second
	noRTPAfter = 5 * time.Second
)

// watch tells the log, after the fact, where the media of a call does not come from
// where it should. It belongs to the goroutine of Stream.Watch, which is not the one that
// moves frames.
type watch struct {
	log      *slog.Logger // names our address
	counters *Counters
	every    time.Duration
	silence  time.Duration // from the beginning, that the log reports
	begun    time.Time
	latched  netip.AddrPort // that the log knows of
	silent   bool           // the log knows that nothing came
}

// newWatch watches the media of a stream that begins now, and that we have described to go to local.
func newWatch(cfg Config, local netip.AddrPort) *watch {
	return &watch{log: cfg.Log.With("local", local.String()), counters: cfg.Counters,
		every: cmp.Or(cfg.WatchEvery, watchEvery), silence: cmp.Or(cfg.NoRTPAfter, noRTPAfter), begun: time.Now()}
}

// look looks once at what is known of the media.
func (w *watch) look(now time.Time, s rtp.Stats) {
	if s.Latched.IsValid() && s.Latched != s.Remote && s.Latched != w.latched {
		w.latched = s.Latched
		w.counters.Latched.Add(1)
		w.log.Info("sip: rtp_latched: media comes from another address than was described", "described", s.Remote.String(), "from", s.Latched.String())
	}
	// What came before a hold, or in another order, has been media all the same.
	if !w.silent && s.FirstMedia == 0 && s.Listening && now.Sub(w.begun) >= w.silence {
		w.silent = true
		w.counters.NoRTP.Add(1)
		w.log.Warn("sip: no_rtp_5s: nothing has come from the far end since the answer", "remote", s.Remote.String(),
			"sent", s.Sent, "foreign", s.Foreign, "invalid", s.Invalid, "refused", s.Refused)
	}
}

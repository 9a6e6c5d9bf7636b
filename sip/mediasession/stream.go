package mediasession

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/rtp"
	"parley/sip/rtpport"
)

// DetailOverflow is how a stream ends whose events are not read.
const DetailOverflow media.EndDetail = "event_overflow"

// Stream is the RTP of an answered call, and the events of its leg. It is a media.Leg whose Run and Watch are two halves: each
// wants a goroutine. Its methods follow that contract; those of the session that change it are Session.Apply's.
type Stream struct {
	*rtp.Session // but for Events

	cfg    Config
	local  netip.AddrPort
	pair   *rtpport.Pair
	events chan media.LegEvent
	end    chan error    // the first reason to end, from any goroutine
	keypad atomic.Uint32 // the way that keys come
}

var _ media.Leg = (*Stream)(nil)

// Events is that of media.Leg.
func (s *Stream) Events() <-chan media.LegEvent { return s.events }

// Release gives back the ports, also of a stream that never ran.
func (s *Stream) Release() { s.pair.Release() }

// Watch passes the events of the session on, and has the log say when the media does not come from where it should. It returns
// when the stream has a reason of its own to end (ended, and why as End got it), or when ctx ends or the far end is gone.
func (s *Stream) Watch(ctx context.Context, gone <-chan struct{}) (ended bool, why error) {
	w := newWatch(s.cfg, s.local)
	tick := time.Tick(w.every)
	for {
		select {
		case e := <-s.Session.Events():
			if e.Kind != media.LegDigit || s.keysCome(keysOverRTP) {
				s.emit(e)
			}
		case now := <-tick:
			w.look(now, s.Stats())
		case why = <-s.end:
			return true, why
		case <-gone:
			return false, nil
		case <-ctx.Done():
			return false, nil
		}
	}
}

// End has Watch return, with nil where the end is an ordinary one. The first reason counts. It does not block.
func (s *Stream) End(why error) {
	select {
	case s.end <- why:
	default: // it ends for another
	}
}

// emit queues an event; one that does not fit ends the stream, see media.Leg.
func (s *Stream) emit(e media.LegEvent) {
	select {
	case s.events <- e:
	default:
		s.End(&media.Ended{Reason: media.Failed, Detail: DetailOverflow})
	}
}

package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/rtp"
)

// The load generator is a process of its own, so that the processor time of the
// server's process is the server's. It reads a loadOrder from its standard input,
// makes the calls, says "up", goes on until its input ends, hangs up and writes a
// loadResult.

// loadOrder is what the generator is to do.
type loadOrder struct {
	Calls int    `json:"calls"`
	URI   string `json:"uri,omitempty"` // whom to call
	// Codec is that of telephone calls.
	Codec codec.Codec `json:"codec,omitempty"`
	// Ports are where plain packets go instead, one for each call: the floor.
	Ports []uint16 `json:"ports,omitempty"`
	// Speech, 8 kHz, replaces the synthetic voice: callers say it once in every Cycle. They
	// arrive Every apart, and calls that the server refuses are counted and not repeated.
	Speech []int16       `json:"speech,omitempty"`
	Cycle  time.Duration `json:"cycle,omitempty"`
	Every  time.Duration `json:"every,omitempty"`
	// WebRTC is the HTTP address of the server to call instead, over WebRTC.
	WebRTC string `json:"webrtc,omitempty"`
}

// loadResult is what it did.
type loadResult struct {
	Refused  int    `json:"refused"` // calls that were never answered
	Dropped  int    `json:"dropped"` // calls that ended before they were hung up
	Asked    uint64 `json:"asked"`   // questions that had time to be answered
	Sent     uint64 `json:"sent"`    // packets
	Received uint64 `json:"received"`
	Lost     uint64 `json:"lost"`    // of those sent to it
	Audible  uint64 `json:"audible"` // frames in which the agent spoke
	Frames   uint64 `json:"frames"`  // heard in all
	Late     uint64 `json:"late"`    // packets it sent more than 10 ms late: it lacked processor time
}

// Callers speak for spokenShare of each cycle. The agent's answer takes as long,
// and between them is silence.
const (
	cycle       = 5 * time.Second
	spokenShare = 0.4
	spoken      = time.Duration(float64(cycle) * spokenShare)
)

// greeted is when a caller who asks something has heard the greeting.
const greeted = 3 * time.Second

// dialEvery spreads the calls of a load: fewer at a time than a carrier sends.
const dialEvery = 20 * time.Millisecond

// Load is the generator's process.
func Load(ctx context.Context, in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	text, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no order: %w", err)
	}
	var o loadOrder
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g := &generator{order: o, start: time.Now().Add(media.FrameDuration), rate: o.Codec.Rate()}
	g.speech, g.rest = voice(g.rate, media.FromDuration(spoken).Samples(g.rate)), background(int(g.rate))
	g.cycle = int(cycle / media.FrameDuration)
	if o.Speech != nil {
		g.speech, g.cycle = o.Speech, int(o.Cycle/media.FrameDuration)
	}
	switch {
	case o.Ports != nil:
		err = g.packets(ctx)
	case o.WebRTC != "":
		err = g.sessions(ctx)
	default:
		err = g.calls(ctx)
	}
	if err == nil {
		fmt.Fprintln(out, "up")
		_, _ = io.Copy(io.Discard, r) // its end is the signal
	}
	stop()
	g.work.Wait()
	for _, end := range g.ends {
		end()
	}
	if err != nil {
		return err
	}
	g.result.Late = g.late.Load()
	return json.NewEncoder(out).Encode(&g.result)
}

// generator makes a load.
type generator struct {
	order        loadOrder
	start        time.Time
	rate         media.Rate
	speech, rest []int16
	cycle        int // frames

	work sync.WaitGroup // calls in progress
	ends []func()       // of what they use

	late   atomic.Uint64
	mu     sync.Mutex
	result loadResult
}

// clock waits for the deadlines of call i, 20 ms apart and spread over the calls,
// and calls f at each until ctx ends.
func (g *generator) clock(ctx context.Context, i int, f func(frame int)) {
	next := g.start.Add(time.Duration(i) * media.FrameDuration / time.Duration(g.order.Calls))
	next = next.Add(max(0, time.Since(next)).Truncate(media.FrameDuration) + media.FrameDuration)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for frame := 0; ; frame++ {
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if time.Since(next) > 10*time.Millisecond {
			g.late.Add(1)
		}
		f(frame)
		next = next.Add(media.FrameDuration)
	}
}

// calls makes telephone calls, which last until ctx ends.
func (g *generator) calls(ctx context.Context) error {
	phone, err := newPhone(g.order.Codec)
	if err != nil {
		return err
	}
	g.ends = append(g.ends, phone.close)
	for i := range g.order.Calls {
		l, err := dialPhone(ctx, phone.Phone, g.order.URI)
		switch {
		case err == nil:
			g.work.Go(func() { g.call(ctx, i, l) })
		case g.order.Every > 0 && ctx.Err() == nil:
			g.add(func(r *loadResult) { r.Refused++ })
		default:
			return fmt.Errorf("call %d of %d: %w", i+1, g.order.Calls, err)
		}
		time.Sleep(max(dialEvery, g.order.Every))
	}
	return nil
}

// call conducts call i until ctx ends.
func (g *generator) call(ctx context.Context, i int, l *phoneLine) {
	var frames, loud uint64
	var fault error
	// Callers do not speak in chorus, and do not ask before they were greeted.
	offset := g.cycle * i / g.order.Calls
	if g.order.Speech != nil {
		offset = g.cycle - int(greeted/media.FrameDuration)
	}
	var asked uint64
	g.clock(ctx, i, func(frame int) {
		if (frame+offset)%g.cycle == g.cycle/2 && frame+offset > g.cycle {
			asked++
		}
		for h, ok := l.hear(time.Time{}, false); ok; h, ok = l.hear(time.Time{}, false) {
			frames++
			if h.level > audible {
				loud++
			}
		}
		if err := l.say(g.samples(frame + offset)); err != nil {
			fault = err
		}
	})
	st := l.leg.Stats()
	l.hangUp()
	g.add(func(r *loadResult) {
		if errors.Is(fault, errGone) {
			r.Dropped++
		}
		r.Sent, r.Received, r.Lost = r.Sent+st.Sent, r.Received+st.Received, r.Lost+st.Lost
		r.Frames, r.Audible, r.Asked = r.Frames+frames, r.Audible+loud, r.Asked+asked
	})
}

func (g *generator) add(f func(*loadResult)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.result)
}

// samples is what a caller sends in a frame: speech in the first part of each
// cycle, else what a line carries.
func (g *generator) samples(frame int) []int16 {
	n := g.rate.FrameSamples()
	at := frame % g.cycle * n
	if at < len(g.speech) {
		return g.speech[at : at+n]
	}
	at %= len(g.rest)
	return g.rest[at : at+n]
}

// packets sends what calls send, but only packets, to what answers each.
func (g *generator) packets(ctx context.Context) error {
	for i, port := range g.order.Ports {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback.AsSlice()})
		if err != nil {
			return err
		}
		g.ends = append(g.ends, func() { _ = conn.Close() })
		socket, err := rtp.NewSocket(conn)
		if err != nil {
			return err
		}
		g.work.Go(func() {
			var packet [172]byte // RTP with 20 ms of G.711
			var answer [1500]byte
			var sent, received uint64
			to := netip.AddrPortFrom(loopback, port)
			g.clock(ctx, i, func(int) {
				for _, _, _, ok := socket.Recv(answer[:]); ok; _, _, _, ok = socket.Recv(answer[:]) {
					received++
				}
				if socket.Send(packet[:], to) == nil {
					sent++
				}
			})
			g.add(func(r *loadResult) { r.Sent, r.Received = r.Sent+sent, r.Received+received })
		})
	}
	return nil
}

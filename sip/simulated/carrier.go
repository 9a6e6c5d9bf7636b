package simulated

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/rtpport"
)

// Voice says text: 8 kHz mono, owned by the caller.
type Voice func(ctx context.Context, text string) ([]int16, error)

// CarrierConfig is where the SIP side of the simulated carrier sits.
type CarrierConfig struct {
	// Listen is its SIP address, on loopback; port 0 takes a free one.
	Listen netip.AddrPort
	// Voice is what those who answer speak with; nil: they are silent.
	Voice  Voice
	Logger *slog.Logger // nil: nothing is logged
}

// Carrier is the telephone network behind the simulated carrier: it takes the calls
// that a server places and plays the people, machines and faults at the other end.
// The last two digits of the called number choose which (see callees).
type Carrier struct {
	ua    *sip.UserAgent
	ports *rtpport.Pool
	voice Voice
	heard atomic.Pointer[func(Heard)] // nil: nobody wants to know
	rung  func(called string)
	log   *slog.Logger
}

// Heard is what one who answered heard.
type Heard struct {
	Called  string
	From    string        // the number that was shown
	By      string        // who sent the call on to Called (Diversion); empty: nobody
	Samples []int16       // at 8 kHz, without gaps, from the answer on
	Said    time.Duration // after the answer the first line was over, tone and all; 0: never
}

// Record has tell called, at the end of each call that was answered, with what was
// heard in it. It is for tests, which may set it while the carrier runs: calls that come in
// from then on are recorded.
func (c *Carrier) Record(tell func(Heard)) { c.heard.Store(&tell) }

// Count has rung called with the number of each call as it comes in, answered or not.
// It is for tests, which set it before Run.
func (c *Carrier) Count(rung func(called string)) { c.rung = rung }

// The carrier's RTP ports, outside those of servers and phones.
const (
	firstCarrierPort = 50000
	lastCarrierPort  = 59999
)

// ErrLoopback refuses an address that others could reach.
var ErrLoopback = errors.New("simulated: the carrier listens on loopback only")

// NewCarrier binds the carrier's sockets; Run serves and closes them.
func NewCarrier(cfg CarrierConfig) (*Carrier, error) {
	if !cfg.Listen.Addr().IsLoopback() {
		return nil, ErrLoopback
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	c := &Carrier{voice: cfg.Voice, log: cfg.Logger}
	var err error
	if c.ports, err = rtpport.New(rtpport.Config{Addr: cfg.Listen.Addr(), First: firstCarrierPort, Last: lastCarrierPort}); err != nil {
		return nil, err
	}
	c.ua, err = sip.New(sip.Config{Listen: cfg.Listen, Ports: c.ports, Codecs: narrow, Logger: cfg.Logger, OnCall: c.answer,
		Allow: func(a netip.Addr) bool { return a.Unmap().IsLoopback() }})
	if err != nil {
		c.ports.Close()
		return nil, err
	}
	return c, nil
}

// Addr is where it takes calls, over UDP and TCP.
func (c *Carrier) Addr() netip.AddrPort { return c.ua.Addr() }

// Run serves until ctx ends; then it hangs up.
func (c *Carrier) Run(ctx context.Context) error {
	defer c.ports.Close()
	return c.ua.Run(ctx)
}

// callee is how a call is treated.
type callee struct {
	ring    time.Duration // before anything else
	early   bool          // and while it rings the network plays an announcement
	refuse  int           // with this response; 0: it is answered
	says    []string      // one line after another, each when the caller has finished speaking
	beep    bool          // after the first line
	mute    bool          // nothing is sent: one-way audio
	hangsUp time.Duration // after the answer; 0: when everything is said
}

// ringsForEver is longer than any caller waits.
const ringsForEver = time.Hour

// machine is how machines answer.
var machine = []string{"Hello. You have reached the voicemail of the number you have called. I cannot take your call now. Please leave a message after the tone."}

// callees are chosen by the last two digits; all others are anyone.
var callees = map[string]callee{
	"00": {says: person},
	"01": {refuse: 486},
	"02": {ring: ringsForEver},
	"03": {ring: time.Second, refuse: 603},
	"04": {ring: time.Second, says: machine, beep: true, hangsUp: 30 * time.Second},
	"05": {ring: 3 * time.Second, says: person},
	"06": {ring: time.Second, says: person, hangsUp: 5 * time.Second},
	"07": {ring: time.Second, mute: true},
	"08": {ring: 3 * time.Second, early: true, says: person},
	"09": {refuse: 404},
}

var anyone = callee{ring: time.Second, says: person}

// answer plays one call.
func (c *Carrier) answer(ctx context.Context, in *sip.Incoming) {
	if c.rung != nil {
		c.rung(in.Called)
	}
	who, ok := callees[in.Called[max(0, len(in.Called)-2):]]
	if !ok {
		who = anyone
	}
	if err := c.play(ctx, in, who); err != nil {
		c.log.Debug("a simulated call ended", "call", in.CallID, "to", masked(in.Called), "err", err)
	}
}

// masked is a number without its middle.
func masked(number string) string {
	if len(number) < 6 {
		return "…"
	}
	return number[:3] + strings.Repeat("*", len(number)-5) + number[len(number)-2:]
}

func (c *Carrier) play(ctx context.Context, in *sip.Incoming, who callee) error {
	if who.ring > 0 {
		if err := c.ring(ctx, in, who); err != nil {
			return err
		}
	}
	if who.refuse != 0 {
		in.Reject(who.refuse, "", 0)
		return nil
	}
	lines, err := c.speech(ctx, who)
	if err != nil {
		return err
	}
	leg, err := in.Answer(ctx)
	if err != nil {
		return err
	}
	tell := c.heard.Load()
	l := &listener{leg: leg, who: &who, lines: lines, answered: time.Now(), keeps: tell != nil}
	_, err = hold(ctx, leg, l.turn, func(media.LegEvent) {})
	if tell != nil {
		l.heard.Called, l.heard.From, l.heard.By = in.Called, in.From.Number, in.Headers.DivertedBy(in.Called)
		(*tell)(l.heard)
	}
	return err
}

// ring lets it ring, or plays an announcement of the network meanwhile.
func (c *Carrier) ring(ctx context.Context, in *sip.Incoming, who callee) error {
	over := time.After(who.ring)
	if !who.early {
		if err := in.Ring(); err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	early, err := in.Progress()
	if err != nil {
		return err
	}
	tone := announcement()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-due.C:
			for n := early.Due(time.Now()); n > 0; n-- {
				early.Write(media.Frame{Samples: tone, Rate: media.Rate8k})
			}
			due.Reset(time.Until(early.Next()))
		}
	}
}

// speech makes the audio of what is said.
func (c *Carrier) speech(ctx context.Context, who callee) ([][]int16, error) {
	if c.voice == nil {
		return nil, nil
	}
	var lines [][]int16
	for _, text := range who.says {
		pcm, err := c.voice(ctx, text)
		if err != nil {
			return nil, err
		}
		if who.beep {
			pcm = append(pcm, beep()...)
		}
		lines = append(lines, pcm)
	}
	return lines, nil
}

package sip

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/codec"
	"parley/media/dtls"
	"parley/media/isolate"
	"parley/sip/admission"
	"parley/sip/mediasession"
	"parley/sip/rtpport"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Config is what a UserAgent needs. Listen and Ports are required.
type Config struct {
	// Listen is where SIP is served, over UDP and TCP. Port 0 takes a free one.
	Listen netip.AddrPort
	// PublicIP is what the far end sees of us when an address translator stands
	// between; it goes into Contact and SDP. The zero Addr, and a far end on
	// loopback, get the local address that faces them.
	PublicIP netip.Addr
	// Ports gives the RTP sockets.
	Ports *rtpport.Pool

	// Allow says whether a source may call without belonging to a trunk; nil: none
	// may. It is asked before a message is parsed, from several goroutines, and
	// must not block.
	Allow func(netip.Addr) bool
	// RejectUnknown answers 403 to other sources. Without it they hear nothing,
	// so that a scanner does not even learn that there is a server.
	RejectUnknown bool

	// Trunks are the lines to carriers and exchanges, until SetTrunks. Calls come in from them, and from
	// sources that Allow admits, if it is not nil.
	Trunks []trunk.Config
	// SharedTrunks says that other user agents have the same trunks: see Registers.
	SharedTrunks bool
	// Resolver finds the trunks' targets. nil: the system's.
	Resolver transport.Resolver
	// Probe is how often a trunk's target is asked whether it lives (OPTIONS). 0: 30 s.
	Probe time.Duration
	// SourceRate is how many requests a second one source may send outside of
	// calls, twice as many in a burst. 0: 100.
	SourceRate int

	// ListenTLS is where SIP is served over TLS, with the certificate of TLS. The
	// zero AddrPort: nowhere.
	ListenTLS netip.AddrPort
	TLS       *tls.Config

	// Away says that every call would be refused now: OPTIONS is answered 503
	// then, as while draining. It must not block. nil: never.
	Away func() bool

	// OnCall conducts one incoming call on a goroutine of its own and returns
	// when the call is over: what is still up then is hung up. Its context ends
	// when the user agent does, and while the call rings with the cause
	// *media.Ended when the caller gives up. Nil: every call is declined (603).
	OnCall func(context.Context, *Incoming)
	// MaxRinging bounds the incoming calls that are neither answered nor
	// refused yet; more get 503. 0: 200, a second and a half of ringing at the
	// most calls a second that carriers send to one address.
	MaxRinging int

	// FirstRTPTimeout and RTPTimeout end a call whose far end should speak but
	// sends no RTP: before its first packet (0: 30 s) and after (0: 15 s).
	FirstRTPTimeout time.Duration
	RTPTimeout      time.Duration
	// Codecs are those of calls that belong to no trunk, and of trunks without their own, the best first; see sdp.Local.
	Codecs []codec.Codec
	// SRTP is whether the audio of calls that belong to no trunk is encrypted.
	SRTP sdp.Policy
	// T1 is the round trip estimate of RFC 3261 section 17.1.1.1 for what we
	// repeat ourselves. 0: 500 ms.
	T1 time.Duration

	Logger *slog.Logger // nil: nothing is logged

	clock clock // of what takes minutes; nil: the time
	// The rhythm of the media's watch, and of keepReachable; 0: the usual.
	watchEvery, noRTPAfter, keepEvery time.Duration
}

// Defaults of Config.
const (
	defaultMaxRinging = 200
	defaultT1         = 500 * time.Millisecond
)

// UserAgent serves and places calls on one address. Its methods may be called
// from several goroutines. Run must be running for anything to happen.
type UserAgent struct {
	cfg    Config
	log    *slog.Logger
	layer  *transport.Layer
	trunks *trunk.Set

	audio mediasession.Config
	gate  *admission.Gate

	overload atomic.Uint64 // INVITEs refused because too many rang
	draining atomic.Bool
	ringing  atomic.Int64

	ctx    context.Context // ends with that of Run. A browser's call may come before Run
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	closing bool
	work    sync.WaitGroup // handlers and calls, so never 0 while there is a call
	calls   map[dialogKey]*call
	invites sync.Map // inviteKeys of incoming calls, to find merged requests
}

// ErrClosed is returned by Dial when the user agent is not running.
var ErrClosed = transport.ErrClosed

// Why WebSocket refuses a browser, besides ErrClosed.
var (
	ErrConnections = transport.ErrConnections
	ErrDraining    = errors.New("sip: no new calls are taken")
	ErrNoBrowsers  = errors.New("sip: no trunk takes calls over WebSockets")
)

// New binds the listeners of a user agent; Run serves and closes them.
func New(cfg Config) (*UserAgent, error) {
	if cfg.Ports == nil {
		return nil, errors.New("sip: Ports are required")
	}
	if cfg.Allow == nil {
		cfg.Allow = func(netip.Addr) bool { return false }
	}
	cfg.MaxRinging, cfg.T1 = cmp.Or(cfg.MaxRinging, defaultMaxRinging), cmp.Or(cfg.T1, defaultT1)
	cfg.keepEvery = cmp.Or(cfg.keepEvery, keepEvery)
	cfg.Logger, cfg.clock = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), cmp.Or(cfg.clock, clock(wallClock{}))
	u := &UserAgent{
		cfg: cfg, log: cfg.Logger,
		calls:  map[dialogKey]*call{},
		trunks: trunk.NewSet(cfg.Trunks, trunk.Options{Probe: cfg.Probe, T1: cfg.T1, Now: cfg.clock.Now, Shared: cfg.SharedTrunks, Log: cfg.Logger}),
	}
	u.ctx, u.cancel = context.WithCancelCause(context.Background())
	identity, err := dtls.NewIdentity()
	if err != nil {
		return nil, err
	}
	u.audio = mediasession.Config{Ports: cfg.Ports, Identity: identity, FirstMediaTimeout: cfg.FirstRTPTimeout, MediaTimeout: cfg.RTPTimeout,
		WatchEvery: cfg.watchEvery, NoRTPAfter: cfg.noRTPAfter, Counters: new(mediasession.Counters)}
	u.layer, err = transport.New(transport.Config{
		Listen: cfg.Listen, ListenTLS: cfg.ListenTLS, TLS: cfg.TLS, PublicIP: cfg.PublicIP,
		Allow: cfg.Allow, RejectUnknown: cfg.RejectUnknown, Trunks: u.trunks, Resolver: cfg.Resolver, SourceRate: cfg.SourceRate, T1: cfg.T1,
		Message: u.received, Request: u.request, Unmatched: u.onUnmatched2xx,
	})
	if err != nil {
		return nil, err
	}
	u.gate = admission.New(admission.Config{Trunks: u.trunks, Allow: cfg.Allow, Draining: u.draining.Load, Strangers: u.layer, Rejections: u.layer.Rejections})
	u.trunks.Attach(u.layer)
	return u, nil
}

// Addr is the address that is served, with its real port.
func (u *UserAgent) Addr() netip.AddrPort { return u.layer.Addr() }

// TLSAddr is the address that is served over TLS; not valid when none is.
func (u *UserAgent) TLSAddr() netip.AddrPort { return u.layer.TLSAddr() }

// Trunks says how all trunks do, in the order of their settings.
func (u *UserAgent) Trunks() []trunk.Status { return u.trunks.Status() }

// TrunkTo is the trunk of an account that has a server among its targets (trunk.Set.To); not ok: none has.
func (u *UserAgent) TrunkTo(account string, server trunk.Target) (c trunk.Config, ok bool) {
	t := u.trunks.To(account, server)
	if t == nil {
		return c, false
	}
	return t.Config, true
}

// SetTrunks puts other trunks in the place of those in force, while calls go on: see
// trunk.Set.Replace.
func (u *UserAgent) SetTrunks(trunks []trunk.Config) { u.trunks.Replace(trunks) }

// CheckTrunk probes a trunk now: see trunk.Set.Check.
func (u *UserAgent) CheckTrunk(ctx context.Context, name string) (trunk.Status, bool) {
	return u.trunks.Check(ctx, name)
}

// Share divides what trunks take by how many user agents use them: see trunk.Set.Share.
func (u *UserAgent) Share(agents int) { u.trunks.Share(agents) }

// Registers says whose turn it is to register each trunk: see trunk.Set.Registers.
func (u *UserAgent) Registers(turns map[string]trunk.Turn) { u.trunks.Registers(turns) }

// Reserve reserves a channel and a token for a call: see trunk.Set.Reserve.
func (u *UserAgent) Reserve(from trunk.Caller) (*trunk.Reservation, time.Duration) {
	return u.trunks.Reserve(from)
}

// Rejections lists what was refused of late, the latest first: see transport.Rejections.
func (u *UserAgent) Rejections() []transport.Rejection { return u.layer.Rejections.List() }

// Rejected counts what was refused since the start, by cause.
func (u *UserAgent) Rejected() map[transport.Cause]uint64 { return u.layer.Rejections.Counts() }

// shutdownGrace is how long Run waits, after its context ended, for calls to
// say goodbye: a few repetitions of a BYE.
const shutdownGrace = 4 * time.Second

// Run serves until ctx ends, then ends every call, waits for that a few seconds
// and closes the listeners. It is called once.
func (u *UserAgent) Run(ctx context.Context) error {
	failed := u.layer.Serve(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	trunksEnd := u.trunks.Start(ctx)

	var err error
	select {
	case <-ctx.Done():
		u.cancel(context.Cause(ctx))
	case err = <-failed:
		err = fmt.Errorf("sip: a listener has stopped: %w", cmp.Or(err, net.ErrClosed))
	}
	stop()
	u.mu.Lock()
	u.closing = true
	for _, c := range u.calls {
		c.shutdown()
	}
	u.mu.Unlock()

	finished := make(chan struct{})
	isolate.Go("sip/shutdown", nil, func() {}, u.work.Wait, trunksEnd, func() { close(finished) }) // it waits whatever happens
	select {
	case <-finished:
	case <-time.After(shutdownGrace):
	}
	u.layer.Close()
	<-finished
	return err
}

// Drain refuses new calls from now on (503, Retry-After) and answers OPTIONS
// with 503, so that carriers and proxies go elsewhere. Calls in progress go on.
func (u *UserAgent) Drain() { u.draining.Store(true) }

// WebSocket is for a browser at far that has connected to at, over TLS or not: see transport.Layer.WebSocket. It carries calls of
// those who show credentials of a trunk with trunk.WebSocket.
func (u *UserAgent) WebSocket(far, at netip.AddrPort, secure bool) (*transport.WebSocket, error) {
	switch {
	case u.draining.Load():
		return nil, ErrDraining
	case !u.trunks.HasBrowsers():
		return nil, ErrNoBrowsers
	}
	return u.layer.WebSocket(far, at, secure)
}

// begin announces work that Run has to wait for; false: too late. While calls
// say goodbye, what belongs to them is still heard.
func (u *UserAgent) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing && len(u.calls) == 0 {
		return false
	}
	u.work.Add(1)
	return true
}

// register makes a call known to in-dialog requests until its end; false: the user agent closes.
func (u *UserAgent) register(c *call) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return false
	}
	u.calls[c.key] = c
	var mask *regexp.Regexp
	if c.trunk != nil {
		mask = c.trunk.Mask
	}
	var first gosip.Message
	if c.server != nil {
		first = c.server.req
	}
	stop := u.layer.Follow(c.key.callID, c.trace, c.dialog.Self, mask, first)
	c.ends = append(c.ends, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.calls, c.key)
		stop()
	})
	return true
}

func (u *UserAgent) find(k dialogKey) *call {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls[k]
}

// Stats counts what never became a call, whose media was odd, and what is going on.
type Stats struct {
	Unknown   uint64 // messages and connections from sources outside the trunks
	Malformed uint64 // datagrams that could not be parsed
	Overload  uint64 // INVITEs refused because too many rang
	Refused   uint64 // INVITEs refused for any other reason
	Latched   uint64 // times that media came from another address than was described
	NoRTP     uint64 // calls without media for 5 s from the answer
	Ringing   int    // incoming calls undecided now
	Calls     int    // dialogs now, ringing ones included
}

// Stats reads the counters now.
func (u *UserAgent) Stats() Stats {
	u.mu.Lock()
	calls := len(u.calls)
	u.mu.Unlock()
	return Stats{
		Unknown: u.layer.Unknown(), Malformed: u.layer.Malformed(),
		Overload: u.overload.Load(), Refused: u.gate.Refused(),
		Latched: u.audio.Counters.Latched.Load(), NoRTP: u.audio.Counters.NoRTP.Load(),
		Ringing: int(u.ringing.Load()), Calls: calls,
	}
}

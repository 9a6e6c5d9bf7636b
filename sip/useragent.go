// Package sip is Parley's telephone line: a SIP user agent (RFC 3261) over UDP,
// TCP and TLS whose calls are media.Legs of G.711 over RTP. Its calls come and go
// on Trunks, lines to carriers and exchanges; a line keeps where a trunk's servers
// are, how they do, and the registration with them.
//
// The library below it moves messages and keeps transactions. Dialogs are
// ours, because that is where calls are lost: who repeats a 200 and for how
// long, what a CANCEL does that crosses it, which CSeq an ACK carries, what a
// re-INVITE changes and what it leaves. Each call has one goroutine, its
// mailbox, in which everything that happens to the dialog happens in order.
//
// What takes minutes inside a call, session timers (RFC 4028), back-off after a
// collision, transfers (RFC 3515), hangs on alarms of that goroutine; what we ask
// of the far end, on exchanges whose outcome comes back into the mailbox.
//
// An incoming call is a function call: Config.OnCall gets an Incoming, refuses
// it or answers it, runs the Leg and returns when the call is over. UserAgent's
// Dial places one.
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
	"sync"
	"sync/atomic"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/rtpport"
	"parley/sip/sdp"
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

	// Trunks are the lines to carriers and exchanges; nobody else's calls come in
	// but those of sources that Allow admits, if it is not nil.
	Trunks []Trunk
	// Resolver finds the trunks' targets. nil: the system's.
	Resolver Resolver
	// Probe is how often a trunk's target is asked whether it lives (OPTIONS). 0: 30 s.
	Probe time.Duration
	// SourceRate is how many requests a second one source may send outside of
	// calls, twice as many in a burst. 0: 100.
	SourceRate int

	// ListenTLS is where SIP is served over TLS, with the certificate of TLS. The
	// zero AddrPort: nowhere.
	ListenTLS netip.AddrPort
	TLS       *tls.Config

	// Away says that a call would be refused now, whoever comes: OPTIONS is answered 503
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
	// Session is how long a call goes on without a sign that the far end is there,
	// where the far end does not say (RFC 4028). 0: 30 minutes. MinSession is the
	// least that it may ask for; shorter ones are refused (422). 0: 90 s, which is
	// the least that the standard allows.
	Session, MinSession time.Duration
	// SRTP is whether the audio of calls that belong to no trunk is encrypted.
	SRTP sdp.Policy
	// T1 is the round trip estimate of RFC 3261 section 17.1.1.1 for what we
	// repeat ourselves. 0: 500 ms.
	T1 time.Duration

	Logger *slog.Logger // nil: nothing is logged

	clock clock // of what takes minutes; nil: the time
	// watchEvery and noRTPAfter are those of the media's watch; 0: the usual.
	watchEvery, noRTPAfter time.Duration
}

// Defaults of Config.
const (
	defaultMaxRinging = 200
	defaultT1         = 500 * time.Millisecond
)

// productName is what Server and User-Agent say. It carries no version: that
// helps only those who look for old ones.
const productName = "Parley"

// maxDatagram is the size of a request that we still send over UDP. RFC 3261
// section 18.1.1 wants TCP from 1300 bytes on; but a trunk that is configured
// for UDP is better served by a fragmented datagram than by a failed call.
const maxDatagram = 8000

// tameLibrary sets what the library keeps in variables, shared by all user
// agents: the datagram limit, and a log that would otherwise take whole
// messages, with the numbers of people in them.
var tameLibrary = sync.OnceFunc(func() {
	gosip.UDPMTUSize = maxDatagram
	gosip.SetDefaultLogger(slog.New(slog.DiscardHandler))
	gosip.SIPDebugTracer(written{})
	gosip.SIPDebug = true // only the tracer is told, see trace.go
})

// UserAgent serves and places calls on one address. Its methods may be called
// from several goroutines. Run must be running for anything to happen.
type UserAgent struct {
	cfg Config
	log *slog.Logger
	at  netip.AddrPort // bound

	udp *readyConn
	tcp *gate
	tls *tlsGate

	lines       []*line
	resolver    Resolver
	verifier    *verifier
	rejections  *rejections
	known       *sources // of requests outside of calls
	unconfirmed *unconfirmed
	strangers   *sources // of anything, while they are answered
	tp          *gosip.TransportLayer
	txl         *gosip.TransactionLayer

	counters counters
	draining atomic.Bool
	ringing  atomic.Int64

	ctx  context.Context // of Run, set before anything is served
	kill chan struct{}   // closed when a shutdown has waited long enough

	mu      sync.Mutex
	closing bool
	work    sync.WaitGroup // handlers and calls, so never 0 while there is a call
	calls   map[dialogKey]*call
	invites map[inviteKey]struct{} // of incoming calls, to find merged requests
	peers   map[netip.Addr]int     // whom we have called
}

// ErrClosed is returned by Dial when the user agent is not running.
var ErrClosed = errors.New("sip: the user agent is closed")

// New binds the listeners of a user agent; Run serves and closes them.
func New(cfg Config) (*UserAgent, error) {
	if cfg.Ports == nil {
		return nil, errors.New("sip: Ports are required")
	}
	if cfg.Allow == nil {
		cfg.Allow = func(netip.Addr) bool { return false }
	}
	cfg.Probe, cfg.SourceRate = cmp.Or(cfg.Probe, defaultProbe), cmp.Or(cfg.SourceRate, defaultSourceRate)
	if cfg.MaxRinging == 0 {
		cfg.MaxRinging = defaultMaxRinging
	}
	if cfg.T1 == 0 {
		cfg.T1 = defaultT1
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.clock == nil {
		cfg.clock = wallClock{}
	}
	cfg.Session, cfg.MinSession = cmp.Or(cfg.Session, defaultSession), max(cfg.MinSession, leastSession)
	tameLibrary()
	u := &UserAgent{
		cfg: cfg, log: cfg.Logger, kill: make(chan struct{}),
		calls: map[dialogKey]*call{}, invites: map[inviteKey]struct{}{}, peers: map[netip.Addr]int{},
		resolver: cfg.Resolver, verifier: newVerifier(), rejections: newRejections(),
		unconfirmed: newUnconfirmed(),
		known:       newSources(float64(cfg.SourceRate)), strangers: newSources(strangerRate),
	}
	if u.resolver == nil {
		u.resolver = net.DefaultResolver
	}
	for _, t := range cfg.Trunks {
		u.lines = append(u.lines, newLine(u, t))
	}
	if err := u.listen(); err != nil {
		return nil, err
	}
	if err := u.listenTLS(); err != nil {
		_, _ = u.udp.Close(), u.tcp.Close()
		return nil, err
	}
	quiet := slog.New(&complaints{count: &u.counters.malformed})
	u.tp = gosip.NewTransportLayer(net.DefaultResolver, gosip.NewParser(gosip.WithHeadersParsers(containedHeaders())), nil,
		gosip.WithTransportLayerLogger(quiet),
		gosip.WithTransportLayerReadFilter(u.filter),
		gosip.WithTransportLayerTransports(transports()))
	u.tp.OnMessage(u.received)
	u.txl = gosip.NewTransactionLayer(u.tp,
		gosip.WithTransactionLayerLogger(quiet),
		gosip.WithTransactionLayerUnhandledResponseHandler(u.stray))
	u.txl.OnRequest(u.request)
	return u, nil
}

// Addr is the address that is served, with its real port.
func (u *UserAgent) Addr() netip.AddrPort { return u.at }

// shutdownGrace is how long Run waits, after its context ended, for calls to
// say goodbye: a few repetitions of a BYE.
const shutdownGrace = 4 * time.Second

// Run serves until ctx ends, then ends every call, waits for that a few seconds
// and closes the listeners. It is called once.
func (u *UserAgent) Run(ctx context.Context) error {
	u.ctx = ctx
	failed := make(chan error, 3)
	var serving, lines sync.WaitGroup
	serving.Add(4)
	isolate.Keep(ctx, "sip/udp", func() { failed <- u.tp.ServeUDP(u.udp) }, serving.Done)
	isolate.Keep(ctx, "sip/tcp", func() { failed <- u.tp.ServeTCP(u.tcp) }, serving.Done)
	isolate.Keep(ctx, "sip/tls", func() { failed <- u.tp.ServeTLS(u.tls) }, serving.Done)
	isolate.Keep(ctx, "sip/tls-connections", u.tls.serve, serving.Done)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, l := range u.lines {
		lines.Add(1)
		isolate.Keep(ctx, "sip/trunk", func() {
			select {
			case <-u.udp.ready:
				l.run(ctx)
			case <-ctx.Done():
			}
		}, lines.Done)
	}

	var err error
	select {
	case <-ctx.Done():
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
	isolate.Go("sip/shutdown", nil, func() {}, u.work.Wait, lines.Wait, func() { close(finished) }) // it waits whatever happens
	select {
	case <-finished:
	case <-time.After(shutdownGrace):
	}
	close(u.kill)
	_ = u.udp.Close()
	_ = u.tcp.Close()
	_ = u.tls.Close()
	u.txl.Close()
	_ = u.tp.Close()
	<-finished
	serving.Wait()
	u.tls.dials.Wait()
	return err
}

// Drain refuses new calls from now on (503, Retry-After) and answers OPTIONS
// with 503, so that carriers and proxies go elsewhere. Calls in progress go on.
func (u *UserAgent) Drain() { u.draining.Store(true) }

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

// register makes a call known to in-dialog requests; false: the user agent closes.
func (u *UserAgent) register(c *call) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return false
	}
	u.calls[c.key] = c
	c.keep()
	return true
}

func (u *UserAgent) unregister(c *call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.calls, c.key)
	c.keepNoMore()
}

func (u *UserAgent) find(k dialogKey) *call {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls[k]
}

// counters are read by Stats.
type counters struct {
	unknown, malformed, overload, refused atomic.Uint64
	latched, noRTP                        atomic.Uint64
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
		Unknown: u.counters.unknown.Load(), Malformed: u.counters.malformed.Load(),
		Overload: u.counters.overload.Load(), Refused: u.counters.refused.Load(),
		Latched: u.counters.latched.Load(), NoRTP: u.counters.noRTP.Load(),
		Ringing: int(u.ringing.Load()), Calls: calls,
	}
}

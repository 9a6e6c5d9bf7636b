// Package webrtc is a media.Leg over a peer connection of a browser (RFC 8825): Opus
// both ways, keys as telephone events, and one data channel for messages.
//
// All sessions of a server share one UDP port on each of its addresses; ICE tells them
// apart by their credentials. The server makes no offers and uses no STUN server: it gathers
// its own addresses, or the configured one, and finds the client's as the client's checks
// arrive. It is a lite agent (RFC 8445 section 2.5): it answers checks and makes none, so a
// client cannot direct its packets at somebody else.
//
// A client has one audio stream and one data channel. Others are dropped before the library
// makes anything of them, see guard and channel.
//
//	pion ─▶ reader goroutine ─▶ inbox ─▶ stream.Stream ─▶ Read ─▶ conductor
//	pion ◀───────────── Opus ◀───────────── Write ◀───────────────────┘
//
// The reader is what the library costs. Everything else happens in the conductor's one
// wake-up for each frame, as on the telephone. What pion does for a packet allocates; our
// part does not.
//
// Opus is decoded at 16 kHz, which recognisers take, and encoded at 24 kHz, since voices have
// nothing above 12 kHz. Packets that a busy server loses are lost at its socket, so that has a
// receive buffer of 4 MiB where the system allows it; `parley bench call --leg webrtc` says
// where each one went.
//
// A Server has the port; Answer makes a Leg of an offer (offer.go, leg.go), whose audio is an
// audioLeg (audio.go, inbox.go, sender.go, reports.go) and whose messages are a channel.
package webrtc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	pion "github.com/pion/webrtc/v4"

	"parley/media/opus"
)

// How long a far end may be silent before it is lost: sound, and its checks, are signs of
// life. What is lost may come back, or restart ICE, until it has failed.
const (
	disconnectedAfter = 5 * time.Second
	failedAfter       = 15 * time.Second // after that
	keepalive         = 2 * time.Second
)

// readBuffer is what the system may keep of what arrives at the port, in bytes: it counts
// about 1 KiB for a packet of voice, so that the packets of 500 calls wait for a fifth of a
// second while the program gets no processor. When it is full, the system drops what comes.
// Linux allows as much as net.core.rmem_max, by default a twentieth of this.
const readBuffer = 4 << 20

// Errors of Listen, ParseOffer and of what is done to a leg.
var (
	// ErrOffer is an offer or a fragment of one that is not taken; the text says why.
	ErrOffer = errors.New("webrtc: the offer is not taken")
	// ErrStale says that a fragment belongs to an ICE session that is over.
	ErrStale = errors.New("webrtc: the ICE session is over")
	// ErrOften says that ICE is restarted too often.
	ErrOften = errors.New("webrtc: ICE is restarted too often")
	// ErrGone says that the far end has gone.
	ErrGone = errors.New("webrtc: the session is over")
)

// Config is where a server listens.
type Config struct {
	Port int // UDP, of all sessions; 0: any free one
	// Addr is the one address to listen on; unspecified or zero: all of the machine's,
	// and of the loopback ones only when it has no other.
	Addr netip.Addr
	// Public is the address in answers instead of the machine's own; zero: none. It is not
	// used where only loopback is listened on.
	Public netip.Addr
	Log    *slog.Logger // nil: nothing is logged
}

// Server answers offers. It may be used from several goroutines.
type Server struct {
	api *pion.API
	mux ice.UDPMux

	mu   sync.Mutex
	cert *pion.Certificate
	made time.Time
}

// Listen binds the port. Close gives it back.
func Listen(cfg Config) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	only := cfg.Addr.IsValid() && !cfg.Addr.IsUnspecified()
	loopback := only && cfg.Addr.IsLoopback() || !only && !connected()
	options := []ice.UDPMuxFromPortOption{ice.UDPMuxFromPortWithLogger(quiet{cfg.Log}),
		ice.UDPMuxFromPortWithReadBufferSize(readBuffer)}
	if loopback {
		options = append(options, ice.UDPMuxFromPortWithLoopback())
	}
	if only {
		options = append(options, ice.UDPMuxFromPortWithIPFilter(func(ip net.IP) bool {
			a, ok := netip.AddrFromSlice(ip)
			return ok && a.Unmap() == cfg.Addr.Unmap()
		}))
	}
	mux, err := ice.NewMultiUDPMuxFromPort(cfg.Port, options...)
	if err != nil {
		return nil, fmt.Errorf("webrtc: UDP port %d: %w", cfg.Port, err)
	}
	s := &Server{mux: mux}
	if len(mux.GetListenAddresses()) == 0 {
		_ = mux.Close()
		return nil, fmt.Errorf("webrtc: there is no address %s to listen on", cfg.Addr)
	}
	if s.api, err = s.engine(cfg, loopback); err != nil {
		_ = mux.Close()
		return nil, err
	}
	return s, nil
}

// connected says whether the machine has an address besides loopback.
func connected() bool {
	addrs, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast()
	})
}

// engine is the library as this server uses it.
func (s *Server) engine(cfg Config, loopback bool) (*pion.API, error) {
	var e pion.SettingEngine
	e.LoggerFactory = loggers{cfg.Log}
	e.SetICEUDPMux(guard{s.mux})
	e.SetLite(true) // a reachable server needs no checks, and sends none to addresses that a client names
	e.SetIncludeLoopbackCandidate(loopback)
	e.SetNetworkTypes([]pion.NetworkType{pion.NetworkTypeUDP4, pion.NetworkTypeUDP6})
	e.DisableActiveTCP(true) // or clients could have us connect anywhere
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetICETimeouts(disconnectedAfter, failedAfter, keepalive)
	e.SetSCTPMaxMessageSize(MaxMessage)
	if cfg.Public.IsValid() && !loopback {
		rule := pion.ICEAddressRewriteRule{External: []string{cfg.Public.Unmap().String()},
			AsCandidateType: pion.ICECandidateTypeHost, Mode: pion.ICEAddressRewriteReplace}
		if err := e.SetICEAddressRewriteRules(rule); err != nil {
			return nil, fmt.Errorf("webrtc: address %s: %w", cfg.Public, err)
		}
	}
	m := &pion.MediaEngine{}
	for _, c := range codecs() {
		if err := m.RegisterCodec(c, pion.RTPCodecTypeAudio); err != nil {
			return nil, fmt.Errorf("webrtc: %w", err)
		}
	}
	// Reports alone: nothing is sent twice, for what comes late is of no use.
	r := &interceptor.Registry{}
	if err := pion.ConfigureRTCPReports(r); err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	return pion.NewAPI(pion.WithMediaEngine(m), pion.WithSettingEngine(e), pion.WithInterceptorRegistry(r)), nil
}

// codecs are those we know, the best first. Without an encoder for Opus the far end hears
// PCMU, which every browser has to take (RFC 7874 section 3), and still speaks Opus.
func codecs() []pion.RTPCodecParameters {
	list := []pion.RTPCodecParameters{
		{PayloadType: 111, RTPCodecCapability: pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: opus.ClockRate, Channels: 2,
			SDPFmtpLine: "minptime=10;useinbandfec=1"}},
		{PayloadType: 110, RTPCodecCapability: pion.RTPCodecCapability{MimeType: mimeEvents, ClockRate: opus.ClockRate}},
		{PayloadType: 126, RTPCodecCapability: pion.RTPCodecCapability{MimeType: mimeEvents, ClockRate: 8000}},
	}
	if !opus.Encodes {
		list = append(list, pion.RTPCodecParameters{PayloadType: 0, RTPCodecCapability: pion.RTPCodecCapability{MimeType: pion.MimeTypePCMU, ClockRate: 8000}})
	}
	return list
}

const mimeEvents = "audio/telephone-event"

// certificateAge is how long sessions share a certificate, which costs more than all else
// of an answer.
const certificateAge = 24 * time.Hour

func (s *Server) certificate() (pion.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cert == nil || time.Since(s.made) > certificateAge {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return pion.Certificate{}, err
		}
		if s.cert, err = pion.GenerateCertificate(key); err != nil {
			return pion.Certificate{}, err
		}
		s.made = time.Now()
	}
	return *s.cert, nil
}

// Addrs are the addresses that are listened on.
func (s *Server) Addrs() (list []netip.AddrPort) {
	for _, a := range s.mux.GetListenAddresses() {
		if u, ok := a.(*net.UDPAddr); ok {
			list = append(list, u.AddrPort())
		}
	}
	return list
}

// Close gives the port back. Legs must have ended before.
func (s *Server) Close() error { return s.mux.Close() }

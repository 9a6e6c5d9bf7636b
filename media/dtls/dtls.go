// Package dtls agrees on the keys of SRTP over the media's own port (DTLS-SRTP, RFC 5763 and 5764). Signalling carries the
// fingerprints of both certificates alone, so that who reads it does not learn the keys.
//
// The handshake is the library's. A Handshake is its place in a call: what comes to the media's port reaches it by Receive, what it
// sends goes out by a function, and its keys are those of package srtp.
package dtls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/pion/dtls/v3"
	"github.com/pion/dtls/v3/pkg/crypto/selfsign"
	"github.com/pion/logging"
	"github.com/pion/transport/v4/packetio"

	"parley/media/isolate"
	"parley/media/srtp"
)

const (
	// repeatAfter is how long to wait before a flight is sent again, at first: RFC 9147 section 5.8.2 allows less than its second
	// where little is at stake, and somebody waits to speak.
	repeatAfter = 200 * time.Millisecond
	// mtu of our flights, in bytes: what crosses every network.
	mtu = 1200
	// maxQueued is how many datagrams may wait for the library. A flight has a few; more are dropped, and repeated.
	maxQueued = 32
)

// ErrFailed is the error of a handshake that agreed on no keys.
var ErrFailed = errors.New("dtls: no keys")

// errStranger fails the handshake with a far end that has another certificate than signalling says.
var errStranger = errors.New("dtls: the certificate is another's")

// Identity is our certificate: signalling vouches for it in each call, so nobody has signed it. It may be used from several
// goroutines.
type Identity struct {
	certificate tls.Certificate
	fingerprint Fingerprint
}

// NewIdentity makes a certificate for the life of the program.
func NewIdentity() (*Identity, error) {
	c, err := selfsign.GenerateSelfSigned()
	if err != nil {
		return nil, fmt.Errorf("dtls: %w", err)
	}
	return &Identity{certificate: c, fingerprint: fingerprintOf(c.Certificate[0])}, nil
}

// Fingerprint is what our descriptions say.
func (id *Identity) Fingerprint() Fingerprint { return id.fingerprint }

// Config is what a handshake needs.
type Config struct {
	Remote Fingerprint // of the far end's certificate
	Client bool        // we begin: the far end waits for us
	// Send sends a datagram to the far end, from any goroutine, without keeping it. What cannot be sent is repeated.
	Send func([]byte)
	// Done is called once, on a goroutine of its own, with the keys or the error. After it the far end may still repeat the end of
	// the handshake, so Receive goes on until Close.
	Done func(srtp.Keys, error)
}

// Handshake is one call's. Its methods may be called from several goroutines.
type Handshake struct {
	in     *packetio.Buffer
	cancel context.CancelFunc
}

// Start begins a handshake, which ends with Close.
func (id *Identity) Start(cfg Config) *Handshake {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Handshake{in: packetio.NewBuffer(), cancel: cancel}
	h.in.SetLimitCount(maxQueued)
	keys, err := srtp.Keys{}, error(ErrFailed)
	var conn *dtls.Conn
	isolate.Go("media/dtls/handshake", nil, func() {
		conn, keys, err = id.shake(ctx, cfg, h.in)
	}, func() { cfg.Done(keys, err) }, func() {
		<-ctx.Done()
		if conn != nil {
			_ = conn.Close()
		}
		_ = h.in.Close()
	})
	return h
}

// Receive takes a datagram of the far end, which it does not keep.
func (h *Handshake) Receive(b []byte) { _, _ = h.in.Write(b) }

// Close ends the handshake, or what is left of it.
func (h *Handshake) Close() { h.cancel() }

// shake carries the handshake out. The connection answers what the far end repeats until it is closed.
func (id *Identity) shake(ctx context.Context, cfg Config, in *packetio.Buffer) (*dtls.Conn, srtp.Keys, error) {
	options := []dtls.Option{
		dtls.WithCertificates(id.certificate), dtls.WithInsecureSkipVerify(true), // by an authority: the fingerprint counts
		dtls.WithVerifyPeerCertificate(cfg.verify),
		dtls.WithSRTPProtectionProfiles(dtls.SRTP_AES128_CM_HMAC_SHA1_80, dtls.SRTP_AEAD_AES_128_GCM, dtls.SRTP_AES128_CM_HMAC_SHA1_32),
		dtls.WithMTU(mtu), dtls.WithFlightInterval(repeatAfter), dtls.WithLoggerFactory(silence),
	}
	wire := &wire{Buffer: in, send: cfg.Send}
	var conn *dtls.Conn
	var err error
	if cfg.Client {
		conn, err = dtls.ClientWithOptions(wire, wire.LocalAddr(), each[dtls.ClientOption](options)...)
	} else {
		// The far end has passed a connectivity check, or sends from a host that signalling vouches for, so no cookie is asked of it.
		conn, err = dtls.ServerWithOptions(wire, wire.LocalAddr(), append(each[dtls.ServerOption](options),
			dtls.WithClientAuth(dtls.RequireAnyClientCert), dtls.WithInsecureSkipVerifyHello(true))...)
	}
	if err == nil {
		err = conn.HandshakeContext(ctx)
	}
	if err != nil {
		return conn, srtp.Keys{}, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	keys, err := keysOf(conn, cfg.Client)
	return conn, keys, err
}

// each is the options as those of one role.
func each[T any](options []dtls.Option) (list []T) {
	for _, o := range options {
		list = append(list, o.(T))
	}
	return list
}

// verify holds the far end to what signalling says of its certificate.
func (cfg *Config) verify(certificates [][]byte, _ [][]*x509.Certificate) error {
	if len(certificates) == 0 || !cfg.Remote.isOf(certificates[0]) {
		return errStranger
	}
	return nil
}

// suites are those of the profiles that both sides may choose.
var suites = map[dtls.SRTPProtectionProfile]srtp.Suite{
	dtls.SRTP_AES128_CM_HMAC_SHA1_80: srtp.AESHMAC80,
	dtls.SRTP_AES128_CM_HMAC_SHA1_32: srtp.AESHMAC32,
	dtls.SRTP_AEAD_AES_128_GCM:       srtp.AESGCM,
}

// keysOf derives the keys of SRTP (RFC 5764 section 4.2).
func keysOf(conn *dtls.Conn, client bool) (srtp.Keys, error) {
	profile, _ := conn.SelectedSRTPProtectionProfile()
	suite, ok := suites[profile]
	state, done := conn.ConnectionState()
	if !ok || !done {
		return srtp.Keys{}, fmt.Errorf("%w: no profile of SRTP", ErrFailed)
	}
	material, err := state.ExportKeyingMaterial("EXTRACTOR-dtls_srtp", nil, suite.MaterialLen())
	if err != nil {
		return srtp.Keys{}, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return srtp.KeysFrom(suite, material, client), nil
}

// wire is the media's port as the library sees it.
type wire struct {
	*packetio.Buffer
	send func([]byte)
}

// ReadFrom implements net.PacketConn.
func (w *wire) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := w.Read(b)
	return n, w.LocalAddr(), err
}

// WriteTo implements net.PacketConn.
func (w *wire) WriteTo(b []byte, _ net.Addr) (int, error) {
	w.send(b)
	return len(b), nil
}

// LocalAddr implements net.PacketConn. Both ends have this one: where datagrams go is no business of the library's.
func (w *wire) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(netip.AddrPort{}) }

// SetDeadline implements net.PacketConn.
func (w *wire) SetDeadline(t time.Time) error { return w.SetReadDeadline(t) }

// SetWriteDeadline implements net.PacketConn: nothing waits.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// silence is the library's log: what it says concerns packets of strangers.
var silence = &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}

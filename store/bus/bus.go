// Package bus carries events and commands between nodes, on NATS core: in memory,
// at most once, to those who listen at the moment. JetStream is off, for nothing
// here has to be kept: truth is in the database, and each message only makes
// somebody look there earlier. A lost bus delays, it decides nothing.
//
// It comes in three forms. Alone, a server without any port runs in the process.
// With a URL the servers are elsewhere. As a cluster, the servers in the processes
// of several nodes find each other over routes.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Error is why the bus refused or failed; compare with errors.Is.
type Error string

func (e Error) Error() string { return "bus: " + string(e) }

const (
	// ErrNobody: nobody takes commands under that name. It is known at once.
	ErrNobody Error = "nobody listens"
	// ErrTimeout: the node did not answer in 2 s. It may have done it, or still do it.
	ErrTimeout Error = "no answer in time"
	// ErrAway: there is no connection now. Nothing was sent.
	ErrAway Error = "no connection"
	// ErrSlow: a subscriber fell behind and was cut off.
	ErrSlow Error = "the subscriber was too slow"
	// ErrSubject: an identifier cannot be part of a subject.
	ErrSubject Error = "not an identifier"
	// ErrSize: a message above MaxPayload.
	ErrSize Error = "the message is too large"
	// ErrConfig is wrapped by an error that says what.
	ErrConfig Error = "wrong configuration"
	// ErrClosed: the bus or the subscription is closed.
	ErrClosed Error = "closed"
)

// MaxPayload bounds a message, in bytes.
const MaxPayload = 64 << 10

// Bounds of connecting.
const (
	connectTimeout = 2 * time.Second
	// pingEvery finds a connection dead that says nothing: after the third, 15 s.
	pingEvery = 5 * time.Second
	maxPings  = 2
	// Reconnecting goes on for ever, less and less often.
	firstRetry, lastRetry = 50 * time.Millisecond, 2 * time.Second
	// flushPatience is for what was sent last before the end.
	flushPatience = time.Second
)

// Config says which bus.
type Config struct {
	Name string // of the node, for readers of the servers' connections
	// URL is of servers elsewhere, several separated by commas, with credentials if
	// need be. Empty: the server is in this process.
	URL string
	// Cluster joins the server in this process with those of other nodes. With a URL its
	// files are for servers elsewhere: CA is that of their certificates, of the system's
	// authorities without it, and Cert and Key are shown to them.
	Cluster Cluster
	Log     *slog.Logger
}

// Bus is a connection to the bus. Its methods may be called from any goroutine.
type Bus struct {
	log    *slog.Logger
	server *server.Server // nil: elsewhere
	conn   *nats.Conn
}

// Open starts the server, if it is in this process, and connects. Servers elsewhere
// may be away: the bus is tried for until Close. Only a wrong configuration, and a
// server in this process that cannot start, are errors; none shows a password.
func Open(ctx context.Context, cfg Config) (*Bus, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	b := &Bus{log: cfg.Log}
	options := b.options(cfg.Name)
	if cfg.URL != "" {
		if err := CheckURL(cfg.URL); err != nil {
			return nil, err
		}
		if cfg.Cluster.on() {
			return nil, fmt.Errorf("%w: a URL and a cluster of one's own", ErrConfig)
		}
		options = append(options, nats.RetryOnFailedConnect(true))
		if cfg.Cluster.CA != "" {
			options = append(options, nats.RootCAs(cfg.Cluster.CA))
		}
		if cfg.Cluster.Cert != "" {
			options = append(options, nats.ClientCert(cfg.Cluster.Cert, cfg.Cluster.Key))
		}
	} else {
		s, login, err := embed(cfg)
		if err != nil {
			return nil, err
		}
		b.server = s
		options = append(options, nats.InProcessServer(s), login)
	}
	conn, err := nats.Connect(cfg.URL, options...)
	if err != nil {
		b.Close()
		// The URL was checked; what is left does not hold it.
		return nil, fmt.Errorf("bus: %w", err)
	}
	b.conn = conn
	if !conn.IsConnected() {
		b.log.Warn("the bus is away; nodes learn of each other's news late")
	}
	return b, nil
}

// options are those of every connection. What is said while there is none is not
// kept: it would be old news.
func (b *Bus) options(name string) []nats.Option {
	return []nats.Option{
		nats.Name("parley " + name),
		nats.Timeout(connectTimeout),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(maxPings),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // a password is changed on servers first
		nats.CustomReconnectDelay(backoff),
		nats.ReconnectBufSize(-1),
		nats.SyncQueueLen(queueSize),
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			if !c.IsClosed() {
				b.log.Warn("the bus is lost; nodes learn of each other's news late", "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { b.log.Info("the bus is connected") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			b.log.Debug("the bus", "err", err) // subscribers and callers learn of theirs
		}),
	}
}

// backoff is how long to wait after all servers have been tried for the nth time.
// Half of it is random, for all nodes lose a server at once.
func backoff(n int) time.Duration {
	d := min(lastRetry, firstRetry<<min(max(n-1, 0), 10))
	return d/2 + rand.N(d/2)
}

// Connected says whether messages travel now. Without the bus calls and their
// books go on, so a node that is not connected is degraded, and ready.
func (b *Bus) Connected() bool { return b.conn.IsConnected() }

// Close ends the connection, all subscriptions and the server in this process, and
// waits for them.
func (b *Bus) Close() {
	if b.conn != nil {
		if b.conn.IsConnected() {
			_ = b.conn.FlushTimeout(flushPatience) // the end does not depend on it
		}
		b.conn.Close()
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
}

// CheckURL says with ErrConfig what is wrong with Config.URL, without showing it.
func CheckURL(list string) error {
	for s := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(s)
		switch {
		case err != nil:
			return fmt.Errorf("%w: not a URL", ErrConfig) // err holds all of it
		case u.Scheme != "nats" && u.Scheme != "tls":
			return fmt.Errorf("%w: a URL begins with nats:// or tls://", ErrConfig)
		case u.Hostname() == "", u.Path != "", u.RawQuery != "", u.Fragment != "":
			return fmt.Errorf("%w: a URL is nats://HOST:PORT", ErrConfig)
		}
	}
	return nil
}

// Plain names the first host of Config.URL to which messages would go unencrypted over a
// network; empty: there is none. The URL has passed CheckURL.
func Plain(list string) string {
	for s := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "tls" || u.Hostname() == "localhost" {
			continue
		}
		if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
			return u.Hostname()
		}
	}
	return ""
}

// failure is one of our errors where err means one.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrNoResponders):
		return ErrNobody
	case errors.Is(err, nats.ErrMaxPayload):
		return ErrSize
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrBadSubscription):
		return ErrClosed
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, net.ErrClosed):
		return ErrAway
	}
	return fmt.Errorf("bus: %w", err)
}

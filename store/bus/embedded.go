package bus

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Cluster joins the servers in the processes of several nodes over TLS: each shows
// the other a certificate of the cluster's own authority, and nobody else gets in.
type Cluster struct {
	// Listen is where this node's server takes routes, HOST:PORT; port 0 is any
	// free one. Empty: no cluster.
	Listen string
	// Routes are such addresses of other nodes; one that is up is enough, for they
	// tell each other. Without any this node waits to be found.
	Routes []string
	// Cert and Key are the paths of this node's certificate and its key (PEM), for
	// both ends of a connection (serverAuth and clientAuth) and for the name or
	// address by which others reach it. CA is that of the authority's certificate.
	Cert, Key, CA string
}

const (
	clusterName = "parley"
	clusterUser = "node"
	// readyPatience is for the listeners of a server in this process.
	readyPatience = 5 * time.Second
	// greetPatience is for two servers to show their certificates.
	greetPatience = 5 * time.Second
)

func (c Cluster) on() bool { return c.Listen != "" || len(c.Routes) > 0 }

// embed starts a server in this process; login opens a connection to it. Alone it
// has no port. NATS joins clusters only after it has opened a port for clients: that
// is one of loopback then, and its password is known to this process alone.
func embed(cfg Config) (s *server.Server, login nats.Option, err error) {
	o := &server.Options{
		ServerName: cfg.Name, NoSigs: true, NoSystemAccount: true, DontListen: true,
		MaxPayload: MaxPayload, PingInterval: pingEvery, MaxPingsOut: maxPings,
	}
	login = func(*nats.Options) error { return nil }
	if cfg.Cluster.on() {
		if err := cfg.Cluster.apply(o); err != nil {
			return nil, nil, err
		}
		o.DontListen, o.Host, o.Port = false, "127.0.0.1", server.RANDOM_PORT
		o.Username, o.Password = clusterUser, rand.Text()
		login = nats.UserInfo(o.Username, o.Password)
	}
	if s, err = server.NewServer(o); err != nil {
		return nil, nil, fmt.Errorf("bus: the server in this process: %w", err)
	}
	s.SetLoggerV2(logger{cfg.Log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(readyPatience) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, nil, fmt.Errorf("bus: the server in this process does not listen on %q", cfg.Cluster.Listen)
	}
	return s, login, nil
}

// apply puts the cluster into a server's options.
func (c Cluster) apply(o *server.Options) error {
	host, port, err := split(c.Listen)
	if err != nil {
		return err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	secure, err := c.tls()
	if err != nil {
		return err
	}
	// One connection to each node, not compressed: the messages are few and small.
	o.Cluster = server.ClusterOpts{Name: clusterName, Host: host, Port: port, TLSConfig: secure, TLSTimeout: greetPatience.Seconds(),
		PoolSize: -1, PingInterval: pingEvery, MaxPingsOut: maxPings, Compression: server.CompressionOpts{Mode: server.CompressionOff}}
	for _, r := range c.Routes {
		if err := CheckRoute(r); err != nil {
			return err
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: r})
	}
	return nil
}

// tls is how routes are secured, in both directions.
func (c Cluster) tls() (*tls.Config, error) {
	if c.Cert == "" || c.Key == "" || c.CA == "" {
		return nil, fmt.Errorf("%w: a cluster needs a certificate, its key and the authority's certificate", ErrConfig)
	}
	own, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: the certificate and key of this node: %w", ErrConfig, err)
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("%w: the authority's certificate: %w", ErrConfig, err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%w: %s holds no certificate", ErrConfig, c.CA)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority, RootCAs: authority}, nil
}

// CheckRoute says with ErrConfig when an address is none of another node.
func CheckRoute(addr string) error {
	if _, port, err := split(addr); err != nil || port == 0 {
		return fmt.Errorf("%w: a route is HOST:PORT, not %q", ErrConfig, addr)
	}
	return nil
}

func split(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || host == "" || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%w: a cluster listens on HOST:PORT, not on %q", ErrConfig, addr)
	}
	return host, port, nil
}

// RouteAddr is where the server in this process takes routes; empty when it does not.
func (b *Bus) RouteAddr() string {
	if b.server == nil {
		return ""
	}
	addr := b.server.ClusterAddr()
	if addr == nil {
		return ""
	}
	return addr.String()
}

// logger passes on what goes wrong in a server.
type logger struct{ log *slog.Logger }

func (l logger) warn(format string, v []any) { l.log.Warn("the bus: " + fmt.Sprintf(format, v...)) }

// Warnf, Errorf and Fatalf implement the server's Logger; nothing is fatal here.
func (l logger) Warnf(format string, v ...any)  { l.warn(format, v) }
func (l logger) Errorf(format string, v ...any) { l.warn(format, v) }
func (l logger) Fatalf(format string, v ...any) { l.warn(format, v) }

// Noticef, Debugf and Tracef are about a server in good order.
func (logger) Noticef(string, ...any) {}
func (logger) Debugf(string, ...any)  {}
func (logger) Tracef(string, ...any)  {}

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"parley/cmd/parley/certificate"
	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
	"parley/cmd/parley/node"
	"parley/store/private"
)

// Patience with parts that stop, all together: they need milliseconds, and the
// private database's last checkpoint perhaps some seconds.
const (
	stopPatience    = 20 * time.Second
	stopNowPatience = 3 * time.Second
)

func newServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run the server",
		Long:    "Runs the server until SIGTERM. Every setting is also an environment variable; see parley config print.",
		Example: "  parley serve --demo\n  parley serve --config parley.yaml --log debug\n  PARLEY_TLS_DOMAIN=voice.example.com parley serve --http-addr :443",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, warnings, err := local.Config(cmd)
			if err != nil {
				return err
			}
			signals := make(chan os.Signal, 4) // a person's impatience, at most
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer signal.Stop(signals)
			return newServer(cfg, local.Logger(cmd.ErrOrStderr(), cfg), cmd.OutOrStdout()).run(cmd.Context(), warnings, signals)
		},
	}
	local.SettingFlags(cmd)
	return cmd
}

// server is one running Parley: what its parts share while they start. After
// start only health, the gate and the lifecycle change.
type server struct {
	cfg     *config.Config
	log     *slog.Logger
	life    *lifecycle
	health  *health
	metrics *prometheus.Registry
	public  gate
	// operator is the node's part of the metrics address.
	operator gate
	// onShutdown has a function called when the public listener stops.
	onShutdown func(f func())
	// cert is of the public listener, which opens before the node and follows its certificate; nil without TLS.
	cert *certificate.Pair

	out         io.Writer // where people read
	welcome     string    // for out, once the server is ready
	httpAddr    string    // that is listened on
	dataDir     string
	secret      string
	databaseURL string

	// drainers are asked, all at once, to end what is in progress.
	drainers []drainer

	reloadMu  sync.Mutex
	reloaders []reloader
}

// drainer has calls in progress. Drain refuses new ones at once and returns
// when none is left; when ctx ends first it says goodbye to the rest.
type drainer interface {
	Drain(ctx context.Context) error
}

func newServer(cfg *config.Config, log *slog.Logger, out io.Writer) *server {
	return &server{cfg: cfg, log: log, out: out, life: newLifecycle(log), health: newHealth(log), metrics: newRegistry()}
}

// run is the whole life of the server: start, work, drain, stop.
func (s *server) run(ctx context.Context, warnings []string, signals chan os.Signal) error {
	var because string
	s.dataDir, because = local.DataDir(s.cfg)
	first := []any{"version", version, "node", s.cfg.Node, "data_dir", s.dataDir}
	if because != "" {
		first = append(first, "because", because)
	}
	s.log.Info("parley starts", first...)
	for _, w := range warnings {
		s.log.Warn(w)
	}
	for _, d := range s.cfg.Doubts() {
		s.log.Warn(d.Name+": "+d.Text, "fix", d.Fix)
	}

	now, stopNow := context.WithCancelCause(ctx)
	defer stopNow(nil)
	working, beginDrain := context.WithCancelCause(now)
	defer beginDrain(nil)
	watched := make(chan struct{})
	go func() { defer close(watched); s.watchSignals(now, signals, beginDrain, stopNow) }()
	defer func() { stopNow(nil); <-watched }()

	web, err := s.start(working)
	if err == nil {
		s.health.enter(ready)
		fmt.Fprint(s.out, s.welcome)
		s.log.Info("parley is ready")
		select {
		case err = <-s.life.failed:
		case <-working.Done():
		}
	}
	s.health.enter(draining)
	request, asked := context.Cause(working).(*stopRequest)
	if asked {
		err = nil // a start that was interrupted did not fail
		s.drain(now, request)
	}
	patience := stopPatience
	if now.Err() != nil {
		patience = stopNowPatience
	}
	s.stop(web, patience)
	return err
}

// start brings up the parts in order. Each adds itself to s.life when it runs,
// to s.health when the server cannot work without it, to s.drainers when calls
// live in it. The public listener opens first and answers 503 until the end.
func (s *server) start(ctx context.Context) (web *part, err error) {
	mux := http.NewServeMux()
	s.health.mount(mux)
	mux.Handle("/", &s.public)
	public, err := s.listenPublic(mux)
	if err != nil {
		return nil, err
	}
	s.httpAddr, s.onShutdown = public.ln.Addr().String(), public.srv.RegisterOnShutdown
	public.ln = newCrowd(public.ln, s.cfg.TrustedProxies, s.log)
	web = s.life.run("http", public.run)
	if s.cfg.TLSPlainAddr != "" {
		plain, err := listen("http without TLS", "TLS_PLAIN_ADDR", s.cfg.TLSPlainAddr, s.cert.Plain(s.cfg.BaseURL), s.log)
		if err != nil {
			return web, err
		}
		plain.ln = newCrowd(plain.ln, s.cfg.TrustedProxies, s.log)
		s.life.run("http without TLS", plain.run)
	}
	metrics, err := listen("metrics", "METRICS_ADDR", s.cfg.MetricsAddr, newMetricsHandler(s.metrics, &s.operator), s.log)
	if err != nil {
		return web, err
	}
	s.life.run("metrics", metrics.run)

	if s.cfg.DatabaseURL == "" {
		if err := private.Check(private.Dir(s.dataDir), ""); err != nil { // before it leaves anything there
			return web, local.Advise(err)
		}
	}
	if err := local.MakeDataDir(s.dataDir); err != nil {
		return web, err
	}
	if s.secret, err = loadSecret(s.cfg, s.dataDir); err != nil {
		return web, err
	}
	if err := s.startDatabase(ctx); err != nil {
		return web, err
	}
	return web, s.startNode(ctx)
}

// listenPublic opens the public listener, which is HTTPS where there is a certificate. One that an
// authority issues comes with the node.
func (s *server) listenPublic(handler http.Handler) (_ *web, err error) {
	switch {
	case !s.cfg.HTTPS():
		return listen("http", "HTTP_ADDR", s.cfg.HTTPAddr, handler, s.log)
	case s.cfg.TLSCert != "":
		if s.cert, err = certificate.Load(s.cfg.TLSCert, s.cfg.TLSKey); err != nil {
			return nil, err
		}
	default:
		s.cert = certificate.Awaited(nil)
	}
	public, err := listen("https", "HTTP_ADDR", s.cfg.HTTPAddr, handler, s.log)
	if err != nil {
		return nil, err
	}
	public.secure(s.cert)
	s.onReload("certificate", s.cert.Reload)
	return public, nil
}

// scheme is that of the public listener.
func (s *server) scheme() string {
	if s.cfg.HTTPS() {
		return "https"
	}
	return "http"
}

// startNode starts what answers calls and opens the public door.
func (s *server) startNode(ctx context.Context) error {
	if err := s.discover(ctx); err != nil {
		return err
	}
	n, err := node.Open(ctx, s.cfg, s.databaseURL, s.secret, s.metrics, s.log)
	if err != nil {
		return err
	}
	n.Version, n.DataDir = version, s.dataDir
	s.life.onStop("store", n.Close)
	s.onShutdown(n.Depart)
	if s.cert != nil {
		s.cert.Follow(n.Certificate())
	}
	if err := n.Introduce(ctx, s.httpAddr); err != nil {
		return err
	}
	if err := n.TakePayments(s.httpAddr, s.secret); err != nil {
		return err
	}
	if err := n.SellNumbers(); err != nil {
		return err
	}
	ports, err := n.ListenWebRTC(s.httpAddr)
	if err != nil {
		return err
	}
	for _, at := range ports {
		s.log.Info("listening", "for", "webrtc", "addr", at.String())
	}
	if addr := n.SIPAddr(); addr != "" {
		s.log.Info("listening", "for", "sip", "addr", addr)
	}
	asked := make(chan struct{})
	n.OnDrain(func() { close(asked) })
	for _, p := range n.Parts() {
		s.life.run(p.Name, p.Run)
		if p.Ready != nil {
			s.health.add(p.Name, p.Ready)
		}
	}
	s.drainers = append(s.drainers, n)
	s.life.run("asked drain", func(ctx context.Context) error { s.drainWhenAsked(ctx, n, asked); return nil })
	s.onReload("rate card", n.LoadRateCard)
	if s.cfg.Demo {
		account, err := n.Seed(ctx, s.dataDir)
		if err != nil {
			return fmt.Errorf("demonstration: %w", err)
		}
		s.welcome = account.Guide(n.DemoLink(), s.scheme(), s.httpAddr, n.SIPAddr())
	}
	first, err := n.FirstRun(ctx)
	if err != nil {
		return fmt.Errorf("first run: %w", err)
	}
	if first != "" { // for a person: a log is read by others, too
		s.welcome += fmt.Sprintf("\nNobody can sign in yet. Open this within 30 minutes to set the server up:\n\n  %s\n\n", first)
	}
	s.operator.open(n.Operator())
	s.public.open(n.Handler())
	return nil
}

// drainWhenAsked drains the node when an operator asks for it, and then waits for the server to be stopped.
func (s *server) drainWhenAsked(ctx context.Context, n drainer, asked <-chan struct{}) {
	select {
	case <-asked:
		s.health.enter(draining)
		s.log.Info("draining", "because", "parley drain asks for it")
		if n.Drain(ctx) == nil {
			s.log.Info("no call is left; the server can be stopped")
		}
		<-ctx.Done()
	case <-ctx.Done():
	}
}

// drain waits for calls in progress until the request's patience or now ends.
func (s *server) drain(now context.Context, request *stopRequest) {
	s.log.Info("draining", "signal", request.signal.String(), "patience", request.patience.String())
	ctx, cancel := context.WithTimeoutCause(now, request.patience, errStopping)
	defer cancel()
	var wg sync.WaitGroup
	for _, d := range s.drainers {
		wg.Go(func() {
			if err := d.Drain(ctx); err != nil {
				s.log.Warn("calls were cut off", "err", err)
			}
		})
	}
	wg.Wait()
}

// stop ends all parts. The public server goes first, so that no request meets a
// part that has gone.
func (s *server) stop(web *part, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if web != nil {
		web.stop(ctx, s.log)
	}
	s.life.stop(patience)
	s.log.Info("parley has stopped")
}

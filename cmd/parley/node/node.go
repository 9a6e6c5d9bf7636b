// Package node puts a running server together from its parts: the store, the
// engines, the call manager, the agent socket and the telephone. It is where the
// parts that must not know each other meet, and where events of a call become
// messages, metrics and charges.
package node

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/dashboard"
	"parley/api/listenin"
	"parley/api/messages"
	"parley/api/recording"
	"parley/api/requests"
	"parley/api/socket"
	"parley/api/talk"
	"parley/api/task"
	"parley/api/ticket"
	"parley/api/topup"
	"parley/api/webrtc"
	"parley/api/wsagent"
	"parley/cmd/parley/afterwards"
	"parley/cmd/parley/certificate"
	"parley/cmd/parley/certificate/acme"
	"parley/cmd/parley/cluster"
	"parley/cmd/parley/config"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/demo"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/inbound"
	"parley/cmd/parley/lines"
	"parley/cmd/parley/load"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/money"
	"parley/cmd/parley/move"
	"parley/cmd/parley/notify"
	"parley/cmd/parley/outbound"
	"parley/cmd/parley/trace"
	"parley/media/isolate"
	"parley/media/punctual"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/sip"
	"parley/sip/simulated"
	"parley/store"
	"parley/store/bus"
	"parley/store/certificates"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/knowledge"
	"parley/store/ledger"
	"parley/store/payments"
	"parley/store/people"
	kept "parley/store/requests"
	"parley/store/webhook"
)

// Node is one running server's inside. Open makes it, Parts run it.
type Node struct {
	// Version is the program's, and DataDir where the server keeps its files. Set
	// them before Handler.
	Version, DataDir string

	cfg  *config.Config
	log  *slog.Logger
	db   *store.DB
	life store.Node
	left []ledger.Lost // calls of its last life

	bus      *bus.Bus
	cluster  *cluster.Member
	engines  *engine.Set
	manager  *session.Manager
	pressure *load.Monitor
	metrics  *metrics.Calls
	traces   *trace.Tracer // nil: there is no collector
	verified *money.Verification
	cards    *money.Cards

	maker   *conversation.Maker
	agents  conversation.Agents
	web     *webrtc.Handler // nil without WebRTC
	shares  *api.SharedLimits
	limits  *talk.ConnectLimits
	resume  *wsagent.Resumption
	sockets *socket.Set // those without a conversation
	guests  *listenin.Handler
	tickets *ticket.Signer

	// nil without telephony
	phone     *sip.UserAgent
	inbound   *inbound.Answerer
	dialler   *outbound.Dialler
	transfers *outbound.Transfers
	moves     *move.Mover
	batches   *outbound.Batches
	numbers   *callcenter.Numbers
	lines     *lines.Keeper
	registrar *lines.Registrar                             // nil: no other node registers trunks
	network   *simulated.Carrier                           // nil without the simulated carrier, too
	person    func(text string) (samples []int16, ok bool) // recorded lines of its people

	jobs     *jobs.Queue
	tasks    *task.Service
	texts    messages.Desk // text messages
	records  *recording.Service
	after    *afterwards.Work
	webhooks *notify.Webhooks
	warnings *notify.Warnings

	cert     *certificate.Pair // nil without TLS
	issuer   *acme.Keeper      // nil: cert is in files
	payments money.Payments
	secrets  *people.Vault // of accounts
	keys     *people.EngineKeys
	tools    *tool.Provider // functions that this server runs for agents
	guard    *tool.Guard    // of their requests
	hooks    *webhook.Store
	library  *knowledge.Store
	vectors  knowledge.Embedder // nil: there is no engine for them
	poster   *tool.Poster       // of requests to webhooks
	demo     demo.Account       // empty without a demonstration
	links    dashboard.DemoLinks
	counts   api.Counts // of the HTTP side
	asked    *requests.Log
}

// Part is something of the node that runs until its context ends. A part that
// ends earlier ends the node.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
	// Ready says whether the part can do its work; nil: always.
	Ready func(ctx context.Context) error
}

// Open connects to the database, brings it up to date, takes the node's name and
// binds the telephone. Close undoes it. secret is the master key: nodes that are to
// take each other's tickets share it.
func Open(ctx context.Context, cfg *config.Config, databaseURL, secret string, reg prometheus.Registerer, log *slog.Logger) (n *Node, err error) {
	n = &Node{cfg: cfg, log: log, sockets: socket.NewSet()}
	forCalls, forJobs := shareConnections(databaseURL, cfg.DatabaseConns)
	if n.tickets, err = ticket.NewSigner(secret); err != nil {
		return nil, err
	}
	if n.db, err = store.Open(ctx, forCalls); err != nil {
		return nil, err
	}
	defer func(opened *Node) { // what is returned is nil then
		if err != nil {
			_ = opened.Close() // err says what matters
		}
	}(n)
	if err = n.db.Migrate(ctx); err != nil {
		return nil, err
	}
	n.cards = &money.Cards{Store: n.db, File: cfg.RateCard, Log: log, Realtime: len(cfg.Realtime.All()) > 0, Messages: cfg.Carrier == "telnyx" && cfg.TelnyxMessagingProfile != ""}
	if err = n.cards.Load(ctx); err != nil {
		return nil, err
	}
	if err = n.openFunctions(secret); err != nil {
		return nil, err
	}
	life, lost, left, err := cluster.TakeName(ctx, n.db, cfg.Node, cfg.HTTPAddr, !n.shared())
	if err != nil {
		return nil, err
	}
	n.life, n.left = life, left
	if n.cert, n.issuer, err = acme.Open(cfg, acme.Config{Store: certificates.New(n.db, n.secrets), Life: life, Log: log}); err != nil {
		return nil, err
	}
	if n.engines, err = engine.New(cfg, log); err != nil {
		return nil, err
	}
	n.engines.Keys = n.keys
	if cfg.OTLPEndpoint != "" {
		if n.traces, err = trace.New(ctx, trace.Config{Endpoint: cfg.OTLPEndpoint, Node: cfg.Node, Log: log}); err != nil {
			return nil, err
		}
	}
	n.metrics = metrics.New(reg, n.traces, log)
	n.asked = requests.NewLog(kept.New(n.db), log)
	if err = n.background(ctx, life, forJobs); err != nil {
		return nil, err
	}
	past := history.New(n.db)
	n.manager = session.NewManager(books{ledger.New(n.db), past, n.db}, life, n.db.RateCard, cfg.MaxCalls, log)
	n.pressure = load.New(cfg.MaxCPU, n.engines.Lag)
	n.manager.Refuse(n.pressure.Busy)
	n.manager.Lost(lost)
	n.maker = &conversation.Maker{Store: n.db, Ledger: ledger.New(n.db), History: past, Engines: n.engines, Tools: n.tools, Documents: n.library, Records: n.records, Metrics: n.metrics,
		Card: n.db.RateCard, CRM: cfg.CRM != "", Log: log}
	n.agents = conversation.Agents{Maker: n.maker, Calls: n.manager}
	if err = n.joinCluster(ctx, secret); err != nil {
		return nil, err
	}
	if cfg.Telephony() {
		if err = n.openTelephony(secret, reg); err != nil {
			return nil, err
		}
	}
	if cfg.WebRTC {
		n.web = n.newWebRTC()
	}
	n.register(reg)
	return n, nil
}

// joinCluster connects the node with the others. The manager does not run yet.
func (n *Node) joinCluster(ctx context.Context, secret string) (err error) {
	n.bus, err = bus.Open(ctx, bus.Config{Name: n.cfg.Node, URL: n.cfg.NATSURL, Cluster: n.cfg.Cluster, Log: n.log})
	if err != nil {
		return err
	}
	if n.bus.RouteAddr() != "" {
		n.log.Info("listening", "for", "other nodes", "addr", n.bus.RouteAddr())
	}
	n.shares = api.NewSharedLimits(derived(secret, "shared limits"))
	n.limits = talk.NewConnectLimits(n.shares)
	n.cluster = cluster.New(cluster.Config{Store: n.db, Ledger: ledger.New(n.db), History: history.New(n.db), Bus: n.bus, Life: n.life, Calls: n.manager,
		Key: derived(secret, "bus commands"), Limits: n.shares, Peers: n.cert.Peers(), Log: n.log,
		Rescue: func(ctx context.Context, lost []ledger.Lost) []ledger.Lost { return n.moves.Rescue(ctx, lost) }})
	n.resume = &wsagent.Resumption{Key: derived(secret, "resume tokens"), Node: n.life.Epoch, Peers: n.cluster, Now: n.db.Now}
	n.manager.Announce(n.cluster)
	n.manager.Watch(n.cluster)
	n.guests = &listenin.Handler{Calls: n.cluster, Peers: n.cluster, Notes: history.New(n.db), Connect: conversation.Receivers(n.tools), Sockets: n.sockets, Log: n.log}
	n.maker.Stream = n.guests.Follow
	return nil
}

// Close gives back what Open took, after the parts have ended.
func (n *Node) Close() error {
	if n.maker != nil {
		n.maker.Wait()
	}
	if n.engines != nil {
		n.engines.Close()
	}
	if n.records != nil {
		n.records.Close()
	}
	if n.jobs != nil {
		n.jobs.Close()
	}
	if n.bus != nil {
		n.bus.Close()
	}
	if n.life.ID != "" {
		cluster.Leave(n.db, n.life, n.log)
	}
	n.db.Close()
	return nil
}

// Certificate is that of HTTPS; nil without TLS.
func (n *Node) Certificate() *certificate.Pair { return n.cert }

// Store is the node's database.
func (n *Node) Store() *store.DB { return n.db }

// Parts are what must run, in the order in which they start.
func (n *Node) Parts() []Part {
	// A node without the bus is ready: it only learns of the others' news later.
	parts := []Part{{Name: "meter", Run: n.manager.Run}, {Name: "heartbeats", Run: n.manager.Heartbeats}, {Name: "lease", Run: n.manager.WatchLease},
		{Name: "reconciler", Run: n.manager.Reconcile}, {Name: "events", Run: n.manager.RecordEvents},
		{Name: "wires", Run: func(ctx context.Context) error { return n.maker.KeepWires(ctx, conversation.WiresEvery) }}, {Name: "bus", Run: n.cluster.Run}, {Name: "reaper", Run: n.cluster.Reap},
		{Name: "former calls", Run: func(ctx context.Context) error {
			n.cluster.Restore(ctx, n.left, n.engines.Ready)
			<-ctx.Done()
			return nil
		}}, {Name: "rate card", Run: n.cards.Follow}, {Name: "load", Run: n.pressure.Run},
		{Name: "timers", Run: func(ctx context.Context) error { return punctual.Run(ctx, func() bool { return n.manager.Live() > 0 }) }},
		{Name: "verification", Run: n.verified.Run}, {Name: "engine keys", Run: n.engines.NoteRefusals}, {Name: "request log", Run: n.asked.Run}}
	if n.issuer != nil {
		parts = append(parts, Part{Name: "certificate", Run: n.issuer.Run})
	}
	if n.traces != nil {
		// It stops last of all: by then every call has ended.
		parts = append([]Part{{Name: "traces", Run: n.traces.Run}}, parts...)
	}
	for _, w := range n.engines.Workers {
		parts = append(parts, Part{w.Name, w.Run, w.Ready})
	}
	if n.network != nil {
		parts = append(parts, Part{Name: "simulated carrier", Run: n.network.Run})
	}
	if n.phone != nil {
		parts = append(parts, Part{Name: "sip", Run: n.phone.Run}, Part{Name: "trunks", Run: n.lines.Run}, Part{Name: "passports", Run: n.moves.Keep}, Part{Name: "trunk shares", Run: func(ctx context.Context) error { return n.cluster.Count(ctx, n.phone.Share) }})
	}
	if n.registrar != nil {
		parts = append(parts, Part{Name: "registrations", Run: n.registrar.Run})
	}
	if p := n.payments.Simulated; p != nil {
		parts = append(parts, Part{Name: "simulated payments", Run: p.Run})
	}
	if n.payments.Provider != nil {
		parts = append(parts, Part{Name: "refunds", Run: n.desk().Run})
	}
	if n.numbers != nil {
		parts = append(parts, Part{Name: "numbers", Run: n.numbers.Run})
	}
	if n.batches != nil {
		parts = append(parts, Part{Name: "batches", Run: n.batches.Run})
	}
	if n.web != nil {
		parts = append(parts, n.webRTC())
	}
	// Jobs stop first: they need everything else.
	return append(parts, Part{Name: "tasks", Run: n.tasks.Run}, Part{Name: "recordings", Run: n.records.Run}, Part{Name: "jobs", Run: n.jobs.Run})
}

// TakePayments makes the configured payment provider. Call it before Parts and Handler;
// listening is the address that the public HTTP side really listens on, and DataDir must be set.
func (n *Node) TakePayments(listening, secret string) (err error) {
	n.payments, err = money.OpenPayments(n.cfg, money.PaymentsConfig{Listening: listening, DataDir: n.DataDir, Secret: derived(secret, "simulated payments"), Own: n.cert, Log: n.log})
	return err
}

// desk is where payments are taken.
func (n *Node) desk() *topup.Service {
	return &topup.Service{Store: n.db, Payments: payments.New(n.db), Provider: n.payments.Provider, Hook: n.cfg.Payments, Home: n.payments.Home, Card: n.db.RateCard, Disputed: n.cluster.Freeze, Log: n.log}
}

// Introduce tells other nodes and operators of this one, whose public HTTP side listens on an address; Version must be set.
func (n *Node) Introduce(ctx context.Context, listening string) error {
	return n.db.IntroduceNode(ctx, n.life, n.cfg.Advertised(listening, n.cfg.Addresses()), n.Version)
}

// LoadRateCard reads the rate card's file again.
func (n *Node) LoadRateCard(ctx context.Context) error { return n.cards.Load(ctx) }

// SIPAddr is where the telephone listens; empty without one.
func (n *Node) SIPAddr() string {
	if n.phone == nil {
		return ""
	}
	return n.phone.Addr().String()
}

// Depart tells the nodes that watch this one that it leaves in good order. Call it when the public HTTP side stops.
func (n *Node) Depart() { n.cluster.Depart() }

// Drain refuses new calls, has other nodes go on with those in progress that can move, and waits for
// the rest, until ctx ends. Sockets end with their job, those without one at once.
func (n *Node) Drain(ctx context.Context) error {
	if n.phone != nil {
		n.phone.Drain()
	}
	if n.web != nil {
		n.web.Drain()
	}
	n.manager.StopAdmitting() // before it is stored, which may take time
	drained, sockets := make(chan struct{}), error(isolate.Internal)
	isolate.Go("cmd/parley/node/drain", nil, func() { sockets = n.sockets.Drain(ctx) }, func() { close(drained) })
	if cluster.Drain(ctx, n.db, n.life, n.log) {
		n.jobs.LeaveToOthers()
		defer n.moves.Away(ctx)()
	}
	calls := n.manager.Drain(ctx)
	<-drained
	n.guests.Drain(ctx)
	return errors.Join(calls, sockets)
}

// OnDrain names what is called, on a goroutine that must not wait, when an operator asks for the node to drain. Call it before Parts.
func (n *Node) OnDrain(f func()) { n.manager.OnDrain(f) }

// Operator is what only operators see, for the metrics address: below /debug/sip/.
func (n *Node) Operator() http.Handler { return metrics.Rejections(n.phone) }

// Handler is the public HTTP side.
func (n *Node) Handler() http.Handler {
	return n.cluster.Accept(n.routes().Handler(api.Options{Log: n.log, RateLimit: n.cfg.RateLimit, Shared: n.shares, TrustedProxies: n.cfg.TrustedProxies, Counts: &n.counts, Seen: n.asked.Take}))
}

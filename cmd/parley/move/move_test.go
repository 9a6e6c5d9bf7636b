package move

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/callcenter"
	"parley/billing"
	"parley/cmd/parley/cluster"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/inbound"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/outbound"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/denoise"
	"parley/media/isolate/isolatetest"
	"parley/media/vad"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/rtpport"
	"parley/sip/simulated"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/knowledge"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/passports"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const (
	patience = 30 * time.Second
	called   = "+34911234567"
)

// firstPort begins the range of the next host's RTP ports.
var firstPort atomic.Uint32

// host is a node with a telephone.
type host struct {
	*testing.T
	*Mover
	db      *store.DB
	manager *session.Manager
	answers *inbound.Answerer
	dials   *outbound.Dialler
	at      netip.AddrPort
	numbers *prometheus.Registry
}

// books are as a server puts them together.
type books struct {
	*ledger.Ledger
	*history.Store
	session.Lease
}

// newHost is a node of a database that takes calls at an address, and places them on trunks.
func newHost(t *testing.T, url, name, at string, trunks ...trunk.Config) *host {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db := storetest.Open(t, url)
	h := &host{T: t, db: db, numbers: prometheus.NewRegistry()}
	h.ok(db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	life, _, err := ledger.New(db).RegisterNode(t.Context(), name, "127.0.0.1:1")
	h.ok(err)
	past := history.New(db)
	h.manager = session.NewManager(books{ledger.New(db), past, db}, life, db.RateCard, 0, log)
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, part := range []func(context.Context) error{h.manager.Run, h.manager.RecordEvents} {
		parts.Go(func() { _ = part(ctx) })
	}
	t.Cleanup(func() { stop(); parts.Wait() })
	maker := &conversation.Maker{Store: db, Ledger: ledger.New(db), History: past, Tools: tool.New(tool.Config{Log: log}), Documents: knowledge.New(db),
		Engines: &engine.Set{ASR: enginetest.NewFakeASR(), LLM: enginetest.NewFakeLLM(), TTS: enginetest.NewFakeTTS(), VAD: vad.Spectral, Denoise: denoise.Off},
		Metrics: metrics.New(prometheus.NewRegistry(), nil, log), Card: db.RateCard, Log: log}
	t.Cleanup(maker.Wait)
	phone := h.telephone(sip.Config{Listen: netip.AddrPortFrom(netip.MustParseAddr(at), 0), Allow: func(netip.Addr) bool { return true }, Trunks: trunks,
		OnCall: func(ctx context.Context, in *sip.Incoming) { h.answers.Take(ctx, in) }, Logger: log})
	h.at = phone.Addr()
	destinations := outbound.Destinations{Card: db.RateCard}
	transfers := &outbound.Transfers{Store: db, Calls: h.manager, Phone: phone, Maker: maker, Destinations: destinations, Counts: new(api.Counts), Attempts: outbound.NewAttempts(), Log: log}
	h.dials = &outbound.Dialler{Store: db, Numbers: numbers.New(db), History: past, Calls: h.manager, Phone: phone, Maker: maker, Transfers: transfers, Destinations: destinations, ConsentKey: "key", Free: func() {}, Log: log}
	h.answers = &inbound.Answerer{Store: db, Ledger: ledger.New(db), Numbers: numbers.New(db), Calls: h.manager, Maker: maker, Transfers: transfers, Log: log}
	parts.Go(func() { _ = phone.Run(ctx) })
	peers := cluster.New(cluster.Config{Store: db, Ledger: ledger.New(db), Life: life, Key: "the key of the cluster", Log: log})
	h.Mover = New(Config{Store: db, Ledger: ledger.New(db), Life: life, Peers: peers, Calls: h.manager, Maker: maker, Transfers: transfers, Phone: phone, Passports: passports.New(db), Log: log}, h.numbers)
	server := httptest.NewServer(peers.Accept(http.NotFoundHandler()))
	t.Cleanup(server.Close)
	h.ok(db.IntroduceNode(t.Context(), life, strings.TrimPrefix(server.URL, "http://"), "1"))
	return h
}

// telephone is a user agent with ports of its own, which does not run yet.
func (h *host) telephone(cfg sip.Config) *sip.UserAgent {
	h.Helper()
	first := 21000 + uint16(firstPort.Add(1)%80)*100
	ports, err := rtpport.New(rtpport.Config{Addr: cfg.Listen.Addr(), First: first, Last: first + 99})
	h.ok(err)
	h.Cleanup(ports.Close)
	cfg.Ports = ports
	ua, err := sip.New(cfg)
	h.ok(err)
	return ua
}

func (h *host) ok(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// employ gives a new account a number that its agent answers.
func (h *host) employ() (account, agentID string) {
	h.Helper()
	books := ledger.New(h.db)
	a, err := books.CreateAccount(h.Context(), "Test", billing.DefaultRateCard())
	h.ok(err)
	_, _, err = books.Credit(h.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "topup", Source: "stripe"})
	h.ok(err)
	agent, err := h.db.CreateAgent(h.Context(), a.ID, store.Agent{Name: "Ana", Voice: "F1", Language: "en", FirstMessage: "Hello."})
	h.ok(err)
	_, err = numbers.New(h.db).Import(h.Context(), a.ID, called, agent.ID)
	h.ok(err)
	return a.ID, agent.ID
}

// caller is who calls, until hangUp.
type caller struct {
	over   chan error
	hangup context.CancelFunc
}

// call calls a host from a company whose calls may go on at the addresses of some. It knows another host as somebody else.
func (h *host) call(other *host, may ...*host) *caller {
	h.Helper()
	company := trunk.Config{Name: "company", Flags: trunk.NoProbe, Targets: []trunk.Target{{Host: h.at.Addr().String(), Port: h.at.Port()}}}
	for _, o := range may {
		company.Allow = append(company.Allow, netip.PrefixFrom(o.at.Addr(), 32))
	}
	trunks := []trunk.Config{company}
	if other != nil {
		trunks = append(trunks, trunk.Config{Name: "other", Flags: trunk.NoProbe, Targets: []trunk.Target{{Host: other.at.Addr().String(), Port: other.at.Port()}}})
	}
	p, err := simulated.NewPhoneOn(netip.MustParseAddr("127.0.0.1"), trunks)
	h.ok(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = p.Run(ctx) }()
	h.Cleanup(func() { stop(); <-done })
	leg, err := p.Dial(h.Context(), sip.Target{Trunk: "company", Number: called, From: header.Identity{Number: "+34600000001"}})
	h.ok(err)
	c := &caller{over: make(chan error, 1)}
	life, cancel := context.WithCancel(context.Background())
	c.hangup = cancel
	h.Cleanup(cancel)
	go func() { c.over <- leg.Run(life) }()
	go silence(life, leg)
	h.eventually("the call is conducted", func() bool { return len(h.cfg.Maker.Movable()) == 1 })
	return c
}

// silence is what a caller sends who says nothing.
func silence(life context.Context, leg *sip.Leg) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var frame [160]int16
	for life.Err() == nil {
		for range leg.Due(time.Now()) {
			leg.Write(media.Frame{Samples: frame[:], Rate: media.Rate8k})
		}
		select {
		case <-tick.C:
		case <-leg.Events():
		case <-life.Done():
		}
	}
}

// hangUp hangs up, and waits until the call has ended at a host, by its caller.
func (c *caller) hangUp(at *host, account string) {
	at.Helper()
	c.hangup()
	<-c.over
	at.eventually("the call has ended", func() bool {
		list, err := at.db.Pool().Query(at.Context(), "select end_reason from sessions where account_id = $1 and state = 'closed' and end_reason = 'user_hangup'", account)
		at.ok(err)
		defer list.Close()
		return list.Next()
	})
}

func (h *host) eventually(what string, holds func() bool) {
	h.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.Fatal("not within half a minute: ", what)
		}
	}
}

// moved is how often a host has asked others to go on with a call, by outcome.
func (h *host) moved(outcome string) (n float64) {
	h.Helper()
	all, err := h.numbers.Gather()
	h.ok(err)
	for _, f := range all {
		for _, m := range f.GetMetric() {
			if labels := m.GetLabel(); f.GetName() == "parley_calls_moved_total" && labels[0].GetValue() == outcome {
				n = m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// pair are two nodes of a database, and an account whose number they answer.
func pair(t *testing.T) (one, two *host, account string) {
	t.Helper()
	url := storetest.URL(t)
	one, two = newHost(t, url, "one", "127.0.0.2"), newHost(t, url, "two", "127.0.0.3")
	account, _ = one.employ()
	return one, two, account
}

// TestMove: a call goes on at the other node, and back.
func TestMove(t *testing.T) {
	one, two, account := pair(t)
	c := one.call(nil, one, two)
	stop := one.Away(t.Context())
	one.eventually("the call moves", func() bool { return two.manager.Live() == 1 && one.manager.Live() == 0 })
	stop()
	two.eventually("it can move from there", func() bool { return len(two.cfg.Maker.Movable()) == 1 })
	stop = two.Away(t.Context())
	one.eventually("the call moves back", func() bool { return one.manager.Live() == 1 && two.manager.Live() == 0 })
	stop()
	if one.moved("moved") != 1 || two.moved("moved") != 1 {
		t.Errorf("moved %v and %v times", one.moved("moved"), two.moved("moved"))
	}
	c.hangUp(one, account)
}

// TestAPlacedCallMoves: so does a call that a node has placed.
func TestAPlacedCallMoves(t *testing.T) {
	h := &host{T: t}
	life, hangUp := context.WithCancel(context.Background())
	over := make(chan error, 1)
	company := trunk.Config{Name: "hosts", Flags: trunk.NoProbe, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/31")}}
	callee := h.telephone(sip.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Trunks: []trunk.Config{company}, OnCall: func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err != nil {
			over <- err
			return
		}
		go silence(life, leg)
		over <- leg.Run(life)
	}})
	served := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	go func() { defer close(served); _ = callee.Run(ctx) }()
	t.Cleanup(func() { hangUp(); stop(); <-served })
	carrier := trunk.Config{Name: "carrier", Flags: trunk.NoProbe, Targets: []trunk.Target{{Host: "127.0.0.1", Port: callee.Addr().Port()}}}
	url := storetest.URL(t)
	one, two := newHost(t, url, "one", "127.0.0.2", carrier), newHost(t, url, "two", "127.0.0.3", carrier)
	account, agent := one.employ()
	_, err := one.dials.Dial(t.Context(), api.Principal{Account: account}, callcenter.Order{From: called, To: "+34600123456", Agent: agent})
	one.ok(err)
	one.eventually("the call is conducted", func() bool { return len(one.cfg.Maker.Movable()) == 1 })
	end := one.Away(t.Context())
	one.eventually("the call moves", func() bool { return two.manager.Live() == 1 && one.manager.Live() == 0 })
	end()
	(&caller{over, hangUp}).hangUp(two, account)
}

// TestTheFarEndRefuses: a call whose far end does not go on at another node stays, and is not asked again.
func TestTheFarEndRefuses(t *testing.T) {
	one, two, account := pair(t)
	c := one.call(two, one)
	stop := one.Away(t.Context())
	one.eventually("the far end is asked", func() bool { return one.moved("stayed") == 1 })
	stop()
	if one.moved("moved") != 0 || one.manager.Live() != 1 {
		t.Errorf("moved %v times; %d calls are left", one.moved("moved"), one.manager.Live())
	}
	for _, c := range one.cfg.Maker.Movable() {
		if one.leaves(c) {
			t.Error("it is asked again")
		}
	}
	two.eventually("the other node has none", func() bool { return two.manager.Live() == 0 })
	c.hangUp(one, account)
}

// TestNobodyTakesCalls: while no other node takes it a call stays, and moves as soon as one does.
func TestNobodyTakesCalls(t *testing.T) {
	one, two, account := pair(t)
	var asked atomic.Int32
	var free atomic.Bool
	two.manager.Refuse(func() bool { asked.Add(1); return !free.Load() })
	c := one.call(nil, one, two)
	stop := one.Away(t.Context())
	defer stop()
	one.eventually("the other node is asked again and again", func() bool { return asked.Load() > 2 })
	if one.manager.Live() != 1 || one.moved("stayed")+one.moved("moved") != 0 {
		t.Errorf("%d calls are left", one.manager.Live())
	}
	free.Store(true)
	one.eventually("the call moves", func() bool { return two.manager.Live() == 1 && one.manager.Live() == 0 })
	c.hangUp(two, account)
}

// TestAStrangerGivesNoCall: who is no node of the cluster finds nothing where nodes ask each other.
func TestAStrangerGivesNoCall(t *testing.T) {
	one, two, _ := pair(t)
	stranger := cluster.New(cluster.Config{Store: two.db, Ledger: ledger.New(two.db), Life: two.cfg.Life, Key: "another key", Log: slog.New(slog.DiscardHandler)})
	peers, err := one.db.Peers(t.Context(), two.cfg.Life)
	one.ok(err)
	if err := stranger.Post(t.Context(), peers[0], aboutOffer, offer{}, nil); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a stranger gets %v", err)
	}
	if err := two.cfg.Peers.Post(t.Context(), peers[0], aboutTransfer, transfer{Session: "ses_x"}, nil); err == nil || err.Error() != "refused: "+errUnknown.Error() {
		t.Errorf("a call that nobody has offered: %v", err)
	}
}

// TestPanicMovesNoCall: a fault while a call moves ends no call. It stays, and moves the next time.
func TestPanicMovesNoCall(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		one, two, account := pair(t)
		c := one.call(nil, one, two)
		if strings.HasPrefix(site.Name, "cmd/parley/move/rescue") {
			panicOfARescue(t, one, two, account, site)
			c.hangUp(two, account)
			return
		}
		fired := isolatetest.Inject(t, site.Name)
		if site.Name == "cmd/parley/move/keep" {
			one.keeps(account) // after all
			<-fired
			return
		}
		stop := one.Away(t.Context())
		defer stop()
		<-fired
		one.eventually("the call moves after all", func() bool { return two.manager.Live() == 1 && one.manager.Live() == 0 })
		c.hangUp(two, account)
	})
}

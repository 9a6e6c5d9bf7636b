package cluster

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/billing"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// standing is a node with an HTTP side and connections of its own.
type standing struct {
	*testing.T
	*Member
	db      *store.DB
	server  *httptest.Server
	answers atomic.Pointer[http.Handler] // at its address: its own, or another's
	asked   atomic.Int32                 // how often somebody asks there to hold a request
	sent    *storetest.Counter           // to the database

	mu  sync.Mutex
	log strings.Builder
}

// Write implements io.Writer, for its log.
func (n *standing) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(b)
}

func (n *standing) logged(text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Contains(n.log.String(), text)
}

func (n *standing) ok(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// newStanding begins a life of a node of the database at url, to which parameters may be added.
func newStanding(t *testing.T, url, name, parameters string) *standing {
	t.Helper()
	n := &standing{T: t}
	url, n.sent = storetest.Counted(t, url)
	n.db = storetest.Open(t, url+parameters)
	books := books{n.db, ledger.New(n.db), history.New(n.db)}
	n.ok(n.db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	life, _, err := books.RegisterNode(t.Context(), name, "127.0.0.1:1")
	n.ok(err)
	log := slog.New(slog.NewTextHandler(n, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n.Member = New(Config{Store: n.db, Ledger: books.Ledger, History: books.Store, Life: life, Calls: session.NewManager(books, life, n.db.RateCard, 0, log), Key: "the key of the cluster", Log: log})
	n.answersAs(n.Accept(http.NotFoundHandler()))
	n.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == postPath+aboutAlive {
			n.asked.Add(1)
		}
		(*n.answers.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(func() { n.Depart(); n.server.Close() })
	n.ok(n.db.IntroduceNode(t.Context(), life, n.address(), "1"))
	return n
}

// answersAs has somebody else answer at its address.
func (n *standing) answersAs(h http.Handler) { n.answers.Store(&h) }

func (n *standing) address() string { return n.server.Listener.Addr().String() }

// deafen closes its address, as the kernel does for a process that is killed.
func (n *standing) deafen() {
	n.Helper()
	n.ok(n.server.Listener.Close())
	n.server.CloseClientConnections()
}

// kill closes its connections to the database, too.
func (n *standing) kill() {
	n.Helper()
	n.deafen()
	n.db.Close()
}

// attends has the node watch another one until over is closed, or the test ends.
func (n *standing) attends(other *standing) (w *watched, over <-chan struct{}) {
	n.Helper()
	w = &watched{Peer: store.Peer{Node: other.cfg.Life, Advertised: other.address()}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.attend(ctx, w)
	}()
	n.Cleanup(func() { cancel(); <-done })
	n.awaitWatched(other)
	return w, done
}

// awaitWatched returns when another node holds a request of this one, and it is known whether the database has its connections.
func (n *standing) awaitWatched(other *standing) {
	n.Helper()
	eventually(n.T, "it watches "+other.cfg.Life.ID, func() bool { return n.watching(other) })
}

func (n *standing) watching(other *standing) bool {
	return n.logged(`"another node is watched" node=` + other.cfg.Life.ID + " ")
}

// lookedFor is how often it has asked the database for connections of another node since the last time.
func (n *standing) lookedFor() (times int) {
	for sql, count := range n.sent.Take() {
		if strings.Contains(sql, "pg_stat_activity") {
			times += count
		}
	}
	return times
}

// fencedOff says whether the life of another node is over.
func (n *standing) fencedOff(other *standing) bool {
	n.Helper()
	_, _, err := n.db.NodeAt(n.Context(), other.cfg.Life.Epoch)
	if err != nil && err.Error() != "look for node: not found" {
		n.Fatal(err)
	}
	return err != nil
}

// lost is how many nodes it has fenced off.
func (n *standing) lost(by string) (sum float64) {
	n.Helper()
	reg := prometheus.NewRegistry()
	reg.MustRegister(n.NodesLost)
	families, err := reg.Gather()
	n.ok(err)
	for _, m := range families[0].GetMetric() {
		if m.GetLabel()[0].GetValue() == by {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}

// await waits until something is over.
func await(t *testing.T, what string, over <-chan struct{}) {
	t.Helper()
	select {
	case <-over:
	case <-time.After(3 * patience):
		t.Fatal("not within a minute: ", what)
	}
}

// payer makes an account that may have calls.
func (n *standing) payer() string {
	n.Helper()
	a, err := n.cfg.Ledger.CreateAccount(n.Context(), "Test", n.db.RateCard())
	n.ok(err)
	_, _, err = n.cfg.Ledger.Credit(n.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi", Source: "sim"})
	n.ok(err)
	return a.ID
}

// call begins a conversation on the node.
func (n *standing) call(account string) *ledger.Session {
	n.Helper()
	s, err := n.cfg.Ledger.StartSession(n.Context(), ledger.Start{Node: n.cfg.Life, Account: account, Terms: webTerms, Card: n.db.RateCard()})
	n.ok(err)
	return s
}

// TestADeadNodeIsFencedOffAtOnce, by one of those that see it die. What that takes over goes on, and the rest is closed.
func TestADeadNodeIsFencedOffAtOnce(t *testing.T) {
	url := storetest.URL(t)
	one, two, dead := newStanding(t, url, "one", ""), newStanding(t, url, "two", ""), newStanding(t, url, "dead", "")
	account := dead.payer()
	kept, left := dead.call(account), dead.call(account)
	survivors := []*standing{one, two}
	var rescues atomic.Int32
	var overs []<-chan struct{}
	for _, n := range survivors {
		n.cfg.Rescue = func(ctx context.Context, lost []ledger.Lost) []ledger.Lost {
			rescues.Add(1)
			i := slices.IndexFunc(lost, func(l ledger.Lost) bool { return l.ID == kept.ID })
			if len(lost) != 2 || i < 0 || lost[i].Account != account || lost[i].Node != dead.cfg.Life {
				t.Errorf("lost are %+v", lost)
				return lost
			}
			s, err := n.cfg.Ledger.OpenSession(ctx, account, kept.ID, n.cfg.Life)
			if err == nil {
				_, err = n.cfg.Ledger.AdoptSession(ctx, s, lost[i].Node)
			}
			if err != nil {
				t.Error(err)
			}
			return slices.Delete(lost, i, i+1)
		}
		_, over := n.attends(dead)
		overs = append(overs, over)
	}
	begun := time.Now()
	dead.kill()
	for _, over := range overs {
		await(t, "they have looked at the dead node", over)
	}
	t.Logf("it took %s", time.Since(begun).Round(time.Millisecond))
	if !one.fencedOff(dead) || one.lost(byProof)+two.lost(byProof) != 1 || rescues.Load() != 1 {
		t.Fatalf("fenced off %t, by %v and %v nodes; %d rescues", one.fencedOff(dead), one.lost(byProof), two.lost(byProof), rescues.Load())
	}
	by := survivors[slices.IndexFunc(survivors, func(n *standing) bool { return n.lost(byProof) == 1 })]
	if owner, err := one.cfg.Ledger.CallOwner(t.Context(), account, kept.ID); err != nil || owner != by.cfg.Life {
		t.Errorf("the call that was taken over is of %v, %v", owner, err)
	}
	if c, err := one.cfg.History.Call(t.Context(), account, left.ID); err != nil || c.EndDetail == nil || *c.EndDetail != "node_lost" {
		t.Errorf("the other call: %+v, %v", c, err)
	}
	if !by.logged(`"a node is dead" node=dead because="its address refuses connections, and the database has no connection of its process" sessions=2`) {
		t.Errorf("the log does not say why:\n%s", by.log.String())
	}
	nodes, err := one.db.Nodes(t.Context())
	one.ok(err)
	for _, n := range nodes {
		if (n.State == store.NodeSilent) != (n.ID == "dead") {
			t.Errorf("%s is %s", n.ID, n.State)
		}
	}
}

// TestOneSignalIsNoProof: a node that only drops connections is asked again, and one whose address is closed while its process has the
// database is looked at, until it has not.
func TestOneSignalIsNoProof(t *testing.T) {
	url := storetest.URL(t)
	one, other := newStanding(t, url, "one", ""), newStanding(t, url, "other", "")
	_, over := one.attends(other)
	if n := one.lookedFor(); n != 1 {
		t.Errorf("it asks the database %d times for a node that it begins to watch", n)
	}
	for i := range int32(3) {
		other.server.CloseClientConnections()
		eventually(t, "it asks again", func() bool { return other.asked.Load() == i+2 })
	}
	if n := one.lookedFor(); n != 0 || one.fencedOff(other) {
		t.Errorf("it dropped connections: looked for %d times, fenced off %t", n, one.fencedOff(other))
	}
	other.deafen()
	looked := 0
	eventually(t, "it asks the database", func() bool { looked += one.lookedFor(); return looked >= 3 })
	if one.fencedOff(other) {
		t.Error("it is fenced off while its process has connections to the database")
	}
	other.db.Close()
	await(t, "it is fenced off", over)
	if !one.fencedOff(other) || one.lost(byProof) != 1 {
		t.Errorf("without both it is fenced off %t", one.fencedOff(other))
	}
}

// TestANodeThatLeavesIsNotFencedOff, though nothing of it is left.
func TestANodeThatLeavesIsNotFencedOff(t *testing.T) {
	url := storetest.URL(t)
	one, other := newStanding(t, url, "one", ""), newStanding(t, url, "other", "")
	w, over := one.attends(other)
	other.Depart()
	await(t, "it is not watched any more", over)
	other.kill()
	one.attend(t.Context(), w) // it is not held, and is no break
	if one.fencedOff(other) {
		t.Error("it is fenced off")
	}
}

// TestNoProofOfWhatWasNeverSeen: where the database never showed connections of a node it proves nothing that it shows none.
func TestNoProofOfWhatWasNeverSeen(t *testing.T) {
	url := storetest.URL(t)
	one, other := newStanding(t, url, "one", ""), newStanding(t, url, "other", "&application_name=voice")
	_, over := one.attends(other)
	other.kill()
	await(t, "it is not watched any more", over)
	if one.fencedOff(other) {
		t.Error("it is fenced off")
	}
}

// TestAYoungerLifeAtTheAddress shows that the older one is not there any more; an older one, or any other server, shows nothing.
func TestAYoungerLifeAtTheAddress(t *testing.T) {
	url := storetest.URL(t)
	one, old := newStanding(t, url, "one", ""), newStanding(t, url, "old", "")
	young := newStanding(t, url, "young", "")
	_, over := one.attends(old)
	one.lookedFor()
	stranger := New(Config{Store: one.db, Life: young.cfg.Life, Key: "another key", Log: one.cfg.Log})
	for what, h := range map[string]http.Handler{"an older life": one.Accept(http.NotFoundHandler()), "a node of another cluster": stranger.Accept(http.NotFoundHandler()),
		"any server": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })} {
		old.answersAs(h)
		old.server.CloseClientConnections()
		asked := old.asked.Load()
		eventually(t, "it asks again", func() bool { return old.asked.Load() >= asked+2 })
		if n := one.lookedFor(); n != 0 {
			t.Errorf("%s answers, and the database is asked %d times", what, n)
		}
	}
	old.answersAs(young.Accept(http.NotFoundHandler()))
	looked := 0
	eventually(t, "it asks the database", func() bool { looked += one.lookedFor(); return looked >= 3 })
	if one.fencedOff(old) {
		t.Error("it is fenced off while its process has connections to the database")
	}
	old.db.Close()
	await(t, "it is fenced off", over)
	if !one.fencedOff(old) || one.fencedOff(young) || !one.logged("a younger life answers at its address") {
		t.Errorf("the old life is over %t, the young one %t", one.fencedOff(old), one.fencedOff(young))
	}
}

// watches runs the node's watch until the test ends.
func (n *standing) watches() {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		n.watch(ctx, &all)
	}()
	n.Cleanup(func() { cancel(); all.Wait() })
}

func (n *standing) beat() {
	n.Helper()
	n.ok(n.db.Heartbeat(n.Context(), n.cfg.Life))
}

// finds returns when the watch of the node, whose heart beats, has found another one.
func (n *standing) finds(other *standing) {
	n.Helper()
	eventually(n.T, "it watches "+other.cfg.Life.ID, func() bool {
		n.beat()
		n.db.Hints().Hear(store.HintNodes)
		return n.watching(other)
	})
}

// TestNodesAreWatched from when they are there until they leave, also while they drain, and the database is asked once for each.
func TestNodesAreWatched(t *testing.T) {
	url := storetest.URL(t)
	one, two := newStanding(t, url, "one", ""), newStanding(t, url, "two", "")
	one.sent.Take()
	one.watches()
	one.finds(two)
	for range 10 {
		one.beat()
		one.db.Hints().Hear(store.HintNodes)
	}
	three := newStanding(t, url, "three", "")
	one.finds(three)
	lists, looks := 0, 0
	for sql, n := range one.sent.Take() {
		switch {
		case strings.Contains(sql, "n.advertised <> ''"):
			lists += n
		case strings.Contains(sql, "pg_stat_activity"):
			looks += n
		}
	}
	if lists != 2 || looks != 2 {
		t.Errorf("the nodes are listed %d times, and their connections looked for %d times", lists, looks)
	}
	three.kill()
	eventually(t, "a dead node is fenced off", func() bool { return one.fencedOff(three) })
	_, err := one.db.Pool().Exec(t.Context(), "update nodes set heartbeat_at = now() - interval '1 hour' where node_id = 'two'")
	one.ok(err)
	one.finds(newStanding(t, url, "four", "")) // and no two
	two.beat()
	one.finds(newStanding(t, url, "five", "")) // and two again
	if n := two.asked.Load(); n != 1 {
		t.Errorf("a node that was silent and held its request all the time is asked %d times", n)
	}
	if _, err := two.db.DrainNode(t.Context(), two.cfg.Life); err != nil {
		t.Fatal(err)
	}
	one.beat()
	one.db.Hints().Hear(store.HintNodes)
	two.kill()
	eventually(t, "one that drained is fenced off, and both are counted", func() bool { return one.fencedOff(two) && one.lost(byProof) == 2 })
}

// TestAnAddressIsWatchedWhenItIsKnown: a node begins its life before others can reach it.
func TestAnAddressIsWatchedWhenItIsKnown(t *testing.T) {
	url := storetest.URL(t)
	one, late := newStanding(t, url, "one", ""), newStanding(t, url, "late", "")
	one.ok(late.db.IntroduceNode(t.Context(), late.cfg.Life, "", "1"))
	one.sent.Take()
	one.watches()
	lists := 0
	eventually(t, "the nodes are listed", func() bool {
		one.beat()
		one.db.Hints().Hear(store.HintNodes)
		for sql, n := range one.sent.Take() {
			if strings.Contains(sql, "n.advertised <> ''") {
				lists += n
			}
		}
		return lists > 0
	})
	one.ok(late.db.IntroduceNode(t.Context(), late.cfg.Life, late.address(), "1"))
	one.finds(late)
}

// TestRefuses: an address that nobody listens at; not one where a connection is made, or is not made in time.
func TestRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if refuses(t.Context(), l.Addr().String()) {
		t.Error("it accepts")
	}
	l.Close()
	if !refuses(t.Context(), l.Addr().String()) {
		t.Error("nobody listens")
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if refuses(over, l.Addr().String()) {
		t.Error("it does not answer in time")
	}
}

// TestARequestIsHeld until the node leaves, for a while, or until who asks goes, and refused to strangers. Who asks for an earlier life
// learns which one is here.
func TestARequestIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		member := func(key string) *Member {
			return New(Config{Store: new(store.DB), Life: store.Node{ID: "two", Epoch: 7}, Key: key, Log: slog.New(slog.DiscardHandler)})
		}
		node, peer, stranger := member("the key of the cluster"), member("the key of the cluster"), member("another key")
		answer := func(what string, by *Member, to store.Node, ctx context.Context) (status int, text string, took time.Duration, header http.Header) {
			t.Helper()
			r, err := by.question(ctx, store.Peer{Node: to, Advertised: "127.0.0.1:1"}, aboutAlive, nil)
			if err != nil {
				t.Fatal(what, err)
			}
			begun, rec := time.Now(), httptest.NewRecorder()
			node.posted(rec, r)
			return rec.Code, rec.Body.String(), time.Since(begun), rec.Header()
		}
		want := func(what string, by *Member, to store.Node, ctx context.Context, wantStatus int, wantText string, wantTook time.Duration) {
			t.Helper()
			status, text, took, _ := answer(what, by, to, ctx)
			if status != wantStatus || wantStatus == http.StatusOK && text != wantText || took != wantTook {
				t.Errorf("%s: %d %q after %s; want %d %q after %s", what, status, text, took, wantStatus, wantText, wantTook)
			}
		}
		here := node.cfg.Life
		want("a while", peer, here, t.Context(), http.StatusOK, answerAgain, heldFor)
		gone, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		want("who asks goes", peer, here, gone, http.StatusOK, "", time.Minute)
		want("a stranger", stranger, here, t.Context(), http.StatusNotFound, "", 0)
		want("another node", peer, store.Node{ID: "one", Epoch: 7}, t.Context(), http.StatusNotFound, "", 0)
		want("a later life", peer, store.Node{ID: "two", Epoch: 8}, t.Context(), http.StatusNotFound, "", 0)
		want("a stranger, of an earlier life", stranger, store.Node{ID: "two", Epoch: 6}, t.Context(), http.StatusNotFound, "", 0)
		status, _, _, header := answer("an earlier life", peer, store.Node{ID: "one", Epoch: 6}, t.Context())
		if v, ok := peer.unsealed(header.Get(peerHeader)); status != http.StatusGone || !ok || v.Epoch != here.Epoch || v.Node != here.ID {
			t.Errorf("an earlier life: %d, %+v", status, v)
		}
		time.AfterFunc(time.Second, node.Depart)
		want("it leaves", peer, here, t.Context(), http.StatusOK, answerLeaves, time.Second)
		want("it has left", peer, here, t.Context(), http.StatusOK, answerLeaves, 0)
	})
}

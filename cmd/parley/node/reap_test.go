package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"parley/api/callcenter"
	"parley/billing"
	"parley/cmd/parley/cluster"
	"parley/cmd/parley/config"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// openNamed opens a node without a telephone on a database that others may use, too.
func openNamed(t *testing.T, url, name string) (*Node, error) {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_NODE=" + name, "PARLEY_SIP_ADDR=off", "PARLEY_DATABASE_URL=" + url, "PARLEY_HTTP_ADDR=127.0.0.1:8123"}})
	if err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), cfg, url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
}

// TestANameIsOneProcess: who lives keeps its name, whoever else starts with it; a process
// that died, or left, is followed.
func TestANameIsOneProcess(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	first, err := openNamed(t, url, "one")
	if err != nil {
		t.Fatal(err)
	}
	ctx, die := context.WithCancel(t.Context())
	dead := make(chan error, 1)
	go func() { dead <- first.manager.Heartbeats(ctx) }()
	_, err = openNamed(t, url, "one")
	if !errors.Is(err, cluster.ErrNameHeld) || !strings.Contains(err.Error(), `"one"`) || !strings.Contains(err.Error(), "127.0.0.1:8123") || !strings.Contains(err.Error(), "PARLEY_NODE") {
		t.Fatalf("a second process: %v", err)
	}
	if err := first.db.Heartbeat(t.Context(), first.life); err != nil {
		t.Errorf("the first process: %v", err)
	}
	die()
	if err := <-dead; err != nil {
		t.Error(err)
	}
	second, err := openNamed(t, url, "one")
	if err != nil {
		t.Fatalf("after the first is dead: %v", err)
	}
	if err := first.db.Heartbeat(t.Context(), first.life); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the dead one: %v", err)
	}
	_ = first.Close() // its life is over: it takes nothing from the second
	if n, err := second.db.LiveNodes(t.Context()); n != 1 || err != nil {
		t.Errorf("%d nodes live, %v", n, err)
	}
	_ = second.Close()
	db := storetest.Open(t, url)
	if n, err := db.LiveNodes(t.Context()); n != 0 || err != nil {
		t.Errorf("when all have left %d nodes live, %v", n, err)
	}
}

// options asks a node over UDP whether it takes calls, and returns the answer's first line.
func options(t *testing.T, n *Node) string {
	t.Helper()
	conn, err := net.Dial("udp", n.phone.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	branch := strings.ReplaceAll(conn.LocalAddr().String(), ":", "-")
	text := fmt.Sprintf("OPTIONS sip:%[1]s SIP/2.0\r\nVia: SIP/2.0/UDP %[2]s;branch=z9hG4bK%[3]s\r\nMax-Forwards: 70\r\nFrom: <sip:probe@%[2]s>;tag=1\r\n"+
		"To: <sip:%[1]s>\r\nCall-ID: %[3]s\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n", n.phone.Addr(), conn.LocalAddr(), branch)
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 2000)
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	size, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(answer[:size]), "\r\n")
	return line
}

// TestCarriersAreToldThatANodeIsAway: while it has no database, and while it drains.
func TestCarriersAreToldThatANodeIsAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	run := func(part func(context.Context) error) {
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- part(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	run(d.node.manager.Heartbeats)
	run(d.node.manager.WatchLease)
	if got := options(t, d.node); got != "SIP/2.0 200 OK" {
		t.Errorf("it is well: %s", got)
	}
	d.node.db.Close()
	eventually(t, "it says that it is away", func() bool {
		time.Sleep(100 * time.Millisecond) // within the rate
		return strings.HasPrefix(options(t, d.node), "SIP/2.0 503 ")
	})
}

// TestADrainingNodeIsAway for carriers. That it claims no rows of batches, package outbound holds.
func TestADrainingNodeIsAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if err := d.node.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := options(t, d.node); !strings.HasPrefix(got, "SIP/2.0 503 ") {
		t.Errorf("it drains: %s", got)
	}
}

// TestADrainingNodeRefusesAtOnce: it takes no calls any more while it is being stored that it drains.
func TestADrainingNodeRefusesAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	slow, err := d.node.db.Pool().Begin(t.Context())
	d.ok(err)
	defer func() { _ = slow.Rollback(context.Background()) }()
	_, err = slow.Exec(t.Context(), "select from nodes where node_id = $1 for update", d.node.life.ID)
	d.ok(err)
	drained := make(chan error, 1)
	go func() { drained <- d.node.Drain(t.Context()) }()
	eventually(t, "it is being stored", func() bool {
		var waits bool
		d.ok(d.node.db.Pool().QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock' and query like 'update nodes set draining%')`).Scan(&waits))
		return waits
	})
	if _, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Terms: billing.Terms{Kind: billing.Web}}}); !errors.Is(err, session.ErrDraining) {
		t.Errorf("a call gets %v", err)
	}
	d.ok(slow.Rollback(t.Context()))
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestFollowersOfADeadNode: whoever follows a call is told that it has ended when the node that
// had it dies and another one closes it.
func TestFollowersOfADeadNode(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	d := deskOn(t, url)
	dead, _, err := ledger.New(d.node.db).RegisterNode(t.Context(), "dead", "")
	d.ok(err)
	there := session.NewManager(books{ledger.New(d.node.db), history.New(d.node.db), d.node.db}, dead, d.node.db.RateCard, 0, d.node.log)
	session, err := there.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, From: "+34600123456", To: deskNumber,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	session.Begin()
	subject, err := bus.Call(session.ID())
	d.ok(err)
	feed, err := d.node.bus.Subscribe(t.Context(), subject)
	d.ok(err)
	defer feed.Close()
	follows, last := make(chan struct{}, 8), callcenter.Change{}
	over := make(chan error, 1)
	go func() {
		over <- d.node.cluster.Follow(t.Context(), d.who.Account, session.ID(), func(c callcenter.Change) error {
			last = c
			follows <- struct{}{}
			return nil
		})
	}()
	<-follows
	sql, err := pgx.Connect(t.Context(), url)
	d.ok(err)
	defer sql.Close(t.Context())
	_, err = sql.Exec(t.Context(), `update nodes set steady_since = now() - interval '1 hour', heartbeat_at = case node_id when 'dead' then now() - interval '1 hour' else now() end`)
	d.ok(err)
	ctx, stop := context.WithCancel(t.Context())
	reaped, beating := make(chan error, 1), make(chan error, 1)
	go func() { beating <- d.node.manager.Heartbeats(ctx) }() // the machine may be slow, and a node that does not beat closes nobody's calls
	go func() { reaped <- d.node.cluster.Reap(ctx) }()
	defer func() { stop(); <-reaped; <-beating }()
	told, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := feed.Next(told)
	d.ok(err)
	if !strings.Contains(string(m.Payload), `"ended"`) {
		t.Errorf("followers are told %s", m.Payload)
	}
	d.ok(<-over)
	if last.Kind != callcenter.Over || last.State.Status != "ended" || last.State.EndReason != "failed" {
		t.Errorf("the last that a follower hears is %+v", last)
	}
}

package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
)

// A process with live sessions is killed, and the database under it before that,
// again and again.

// killVar makes the test's own program such a process, with the database at the
// URL that it names.
const killVar = "PARLEY_STORE_TEST_NODE"

// checkpointSeconds is how often a node reports: what a crash may lose.
const checkpointSeconds = 5

// sessionsEach is how many sessions an account has.
const sessionsEach = 10

// TestKilledNodes is the short form of TestSoakKilledNodes.
func TestKilledNodes(t *testing.T) { killNodes(t, 2, 40) }

func TestSoakKilledNodes(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	killNodes(t, 20, 200)
}

func killNodes(t *testing.T, rounds, sessions int) {
	if os.Getenv("PARLEY_TEST_DATABASE_URL") != "" {
		t.Skip("a server that is not ours is not killed")
	}
	url := durableCluster(t)
	db := storetest.Open(t, url)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := prepare(t, db)
	for range sessions / sessionsEach {
		f.NewAccount(1000 * usd)
	}
	var most time.Duration
	for round := range rounds {
		n := startNode(f, url)
		n.until(func() bool { return len(n.sessions) == sessions && n.acks >= 3+round%7 })
		postmaster := pidOf(f, url)
		f.OK(syscall.Kill(postmaster, syscall.SIGKILL))
		n.until(func() bool { return n.away > 0 })
		resumed := n.acks + 2 // one may have been on its way
		n.until(func() bool { return n.acks >= resumed })
		moment := n.seconds + 1 + round%(2*checkpointSeconds) // any within the interval
		n.until(func() bool { return n.seconds >= moment })
		n.kill()
		f.Close() // its connections are to the server that was killed
		f.Books = ledgertest.BooksOf(storetest.Open(t, url))
		most = max(most, n.checkLoss(sessions))
		f.Verified()
	}
	t.Logf("%d sessions, %d rounds: a session lost %s at most", sessions, rounds, most)
}

// doomed is a node in a process of its own, and what it has said: lines of a word
// and a value, each written before (used) or after (acked) what it tells of.
type doomed struct {
	f        *fixture
	cmd      *exec.Cmd
	lines    *bufio.Scanner
	sessions []string // identifiers, with the account
	seconds  int      // that each session has lasted
	acked    int      // of those, in the last acknowledged checkpoint
	acks     int
	away     int // checkpoints that met no database
}

func startNode(f *fixture, url string) *doomed {
	f.T.Helper()
	n := &doomed{f: f, cmd: exec.Command(os.Args[0])}
	n.cmd.Env = append(os.Environ(), killVar+"="+url)
	n.cmd.Stderr = os.Stderr
	out, err := n.cmd.StdoutPipe()
	f.OK(err)
	n.lines = bufio.NewScanner(out)
	f.OK(n.cmd.Start())
	f.T.Cleanup(func() { n.cmd.Process.Kill(); n.cmd.Wait() })
	return n
}

// until reads what the node says until it is enough.
func (n *doomed) until(enough func() bool) {
	n.f.T.Helper()
	for !enough() {
		if !n.read() {
			n.f.T.Fatalf("the node ended: %v", n.cmd.Wait())
		}
	}
}

func (n *doomed) read() bool {
	if !n.lines.Scan() {
		return false
	}
	word, value, _ := strings.Cut(n.lines.Text(), " ")
	switch word {
	case "session":
		n.sessions = append(n.sessions, value)
	case "used":
		n.seconds++
	case "acked":
		n.acked = n.seconds
		n.acks++
	case "away":
		n.away++
	}
	return true
}

// kill ends the node and reads what it said before.
func (n *doomed) kill() {
	n.f.OK(n.cmd.Process.Kill())
	for n.read() {
	}
	n.cmd.Wait()
}

// checkLoss starts another life of the node, which closes what this one left
// open, and returns how much use was not charged.
func (n *doomed) checkLoss(want int) time.Duration {
	f := n.f
	f.T.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	_, lost, err := f.RegisterNode(storetest.At(ctx, t0), "doomed", "")
	f.OK(err)
	if len(lost) != want {
		f.T.Errorf("%d sessions were left open, want %d", len(lost), want)
	}
	if n.seconds-n.acked > checkpointSeconds {
		f.T.Errorf("%d s used, %d acknowledged", n.seconds, n.acked)
	}
	stored := n.acked
	for i, line := range n.sessions {
		account, id, _ := strings.Cut(line, " ")
		c, err := history.New(f.DB).Call(ctx, account, id)
		f.OK(err)
		if *c.EndReason != "failed" || *c.EndDetail != "node_lost" {
			f.T.Errorf("%s ended with %s %s", id, *c.EndReason, *c.EndDetail)
		}
		// A checkpoint that was on its way may have been stored or not.
		terms := killedTerms(i)
		switch c.Cost {
		case price(f.T, terms, secondsOf(int64(n.acked))):
		case price(f.T, terms, secondsOf(int64(n.seconds))):
			stored = n.seconds
		default:
			f.T.Errorf("%s costs %s after %d s, of which %d were acknowledged", id, c.Cost, n.seconds, n.acked)
		}
	}
	for _, a := range n.accounts() {
		if live := f.Show(a).Live; live != 0 {
			f.T.Errorf("%s has %d sessions live", a, live)
		}
	}
	return time.Duration(n.seconds-stored) * time.Second
}

func (n *doomed) accounts() (list []string) {
	for _, line := range n.sessions {
		account, _, _ := strings.Cut(line, " ")
		list = append(list, account)
	}
	return slices.Compact(list)
}

// killedTerms are those of session i.
func killedTerms(i int) billing.Terms {
	return []billing.Terms{web, inboundES, outboundES}[i%3]
}

// runNode is the process that is killed: ten sessions for each account, whose
// seconds pass as fast as the database lets them. It never ends by itself.
func runNode(url string, out io.Writer) error {
	ctx := context.Background()
	opened, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	db := ledgertest.BooksOf(opened)
	node, _, err := db.RegisterNode(storetest.At(ctx, t0), "doomed", "")
	if err != nil {
		return err
	}
	accounts, err := db.Accounts(ctx, store.Page{})
	if err != nil {
		return err
	}
	var reports []ledger.Checkpoint
	for i := range len(accounts) * sessionsEach {
		s, err := db.StartSession(storetest.At(ctx, t0), ledger.Start{Node: node, Account: accounts[i/sessionsEach].ID, Terms: killedTerms(i), Card: card,
			From: "+34911234567", To: "+34612345678"})
		if err != nil {
			return err
		}
		reports = append(reports, ledger.Checkpoint{Session: s, StartedAt: t0})
		fmt.Fprintln(out, "session", s.Account, s.ID)
	}
	for second := int64(1); ; second++ {
		fmt.Fprintln(out, "used", second)
		if second%60 == 50 {
			if err := again(out, func() error { return permit(db, reports, second/60+2) }); err != nil {
				return err
			}
		}
		if second%checkpointSeconds == 0 {
			if err := again(out, func() error { return tell(db, reports, second) }); err != nil {
				return err
			}
			fmt.Fprintln(out, "acked", second)
		}
	}
}

// again does f until the database is there.
func again(out io.Writer, f func() error) error {
	for {
		err := f()
		if !errors.Is(err, store.ErrUnavailable) {
			return err
		}
		fmt.Fprintln(out, "away", err)
		time.Sleep(10 * time.Millisecond)
	}
}

// permit asks for the next line minute of each telephone call.
func permit(db ledgertest.Books, reports []ledger.Checkpoint, minute int64) error {
	for _, c := range reports {
		if !c.Session.Terms.Kind.Phone() {
			continue
		}
		if err := db.LineMinute(storetest.At(context.Background(), t0), c.Session, minute); err != nil {
			return err
		}
	}
	return nil
}

// tell reports for all sessions in one transaction.
func tell(db ledgertest.Books, reports []ledger.Checkpoint, second int64) error {
	for i := range reports {
		reports[i].Seq++
		reports[i].Usage = secondsOf(second)
	}
	results, err := db.Checkpoints(storetest.At(context.Background(), t0), reports)
	for _, r := range results {
		err = errors.Join(err, r.Err)
	}
	return err
}

// runNodeIfTold is what TestMain begins with.
func runNodeIfTold() {
	url := os.Getenv(killVar)
	if url == "" {
		return
	}
	if err := runNode(url, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
	}
	os.Exit(1)
}

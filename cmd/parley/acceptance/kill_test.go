package acceptance

import (
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/billing"

	"parley/store/ledger"
)

// The whole server is killed with conversations in progress, and the database under
// it, in turns.

// sessionsEach is how many conversations an account has at once.
const sessionsEach = 10

// TestKilledServers is the short form of TestSoakKilledServers.
func TestKilledServers(t *testing.T) {
	t.Parallel()
	killServers(t, 2, 10)
}

func TestSoakKilledServers(t *testing.T) {
	soak(t)
	killServers(t, 20, 200)
}

// crowd is a server and the people who talk to it.
type crowd struct {
	t    *testing.T
	s    *server
	env  []string
	who  []customer
	talk []*talker
	ids  []string // of the sessions
}

func killServers(t *testing.T, rounds, sessions int) {
	m := newModel()
	t.Cleanup(m.Close)
	// Nobody says a word here, so nobody has to be understood.
	c := &crowd{t: t, env: append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1")}
	dir := newDataDir(t)
	c.s = serveLean(t, dir, c.env)
	for range sessions / sessionsEach {
		who := newCustomer(t, c.s, "1000")
		// Hundreds of greetings at once are another test's business.
		admin(t, dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--first-message", "")
		c.who = append(c.who, who)
	}
	var most time.Duration
	for round := range rounds {
		began := c.gather()
		// Any moment will do when there is something to lose; each round has another.
		time.Sleep(time.Duration(3+round%5) * time.Second)
		if round%2 == 0 {
			at := time.Now()
			c.s.kill()
			c.part()
			c.s = serveLean(t, dir, c.env)
			most = max(most, c.checkLost(began, at))
		} else {
			c.killDatabase()
			at := time.Now()
			c.part()
			c.checkEnded(began, at)
		}
		c.checkFree()
	}
	t.Logf("%d sessions, %d rounds: a session lost %s on average at most", sessions, rounds, most)
	c.s.stop(t)
}

// gather begins all conversations and returns when each of their clocks did.
func (c *crowd) gather() (began []time.Time) {
	c.t.Helper()
	c.talk, began = make([]*talker, len(c.who)*sessionsEach), make([]time.Time, len(c.who)*sessionsEach)
	from := time.Now()
	var all sync.WaitGroup
	for i, who := range c.who {
		// As if each account came from a place of its own.
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))}}
		for n := range sessionsEach {
			c.talk[i*sessionsEach+n] = attach(c.t, c.s, dialer, who.key, who.agent)
		}
	}
	for i, x := range c.talk {
		all.Go(func() {
			f, err := x.seek(func(f frame) bool { return f.status("prompt_set") })
			if err != nil {
				c.t.Errorf("conversation %d does not begin: %v", i, err)
			}
			began[i] = f.at
		})
	}
	all.Wait()
	b := openBooks(c.t, c.s)
	defer b.close()
	c.ids = nil
	for _, x := range b.live() {
		c.ids = append(c.ids, x.ID)
	}
	if len(c.ids) != len(c.talk) {
		ends := map[string]int{}
		for _, x := range b.query("s.opened_at >= $1", from) {
			ends[x.State+" "+x.Reason+" "+x.Detail]++
		}
		c.t.Fatalf("%d sessions are live, want %d: %v", len(c.ids), len(c.talk), ends)
	}
	return began
}

// part hangs up on the callers' side.
func (c *crowd) part() {
	var all sync.WaitGroup
	for _, x := range c.talk {
		all.Go(x.hangUp)
	}
	all.Wait()
}

// bills are those of the sessions of this round, once all are closed.
func (c *crowd) bills() (list []bill) {
	c.t.Helper()
	b := openBooks(c.t, c.s)
	defer b.close()
	eventually(c.t, "the sessions are closed", func() bool {
		list = b.query("s.id = any($1) and s.state = 'closed'", c.ids)
		return len(list) == len(c.ids)
	})
	for _, x := range list {
		if once := x.Postings == 1; once != (x.Amount > 0) {
			c.t.Errorf("session %s was posted %d times", x.ID, x.Postings)
		}
		b.checkAmount(x)
	}
	return list
}

// checkLost looks at the books after the server was killed at a moment. The order of
// the sessions is not that of the callers; their sum is the same. It returns what a
// session lost on average.
func (c *crowd) checkLost(began []time.Time, at time.Time) time.Duration {
	c.t.Helper()
	var charged, lasted, least time.Duration
	for i, x := range c.bills() {
		if x.Reason != "failed" || x.Detail != "node_lost" {
			c.t.Errorf("session %s ended with %s %s", x.ID, x.Reason, x.Detail)
		}
		charged += time.Duration(x.Usage[billing.AgentTime]) * time.Millisecond
		lasted += at.Sub(began[i])
		least += max(0, at.Sub(began[i])-checkpointLoss)
	}
	// A caller learns a little late that the clock has begun.
	if most := lasted + time.Duration(len(began))*time.Second; charged < least || charged > most {
		c.t.Errorf("%s were charged of %s; want %s to %s", charged, lasted, least, most)
	}
	return (lasted - charged) / time.Duration(len(began))
}

// killDatabase kills the database and waits until a checkpoint of every session has
// been stored after it came back.
func (c *crowd) killDatabase() {
	c.t.Helper()
	old := c.s.postmaster()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	eventually(c.t, "the database comes back", func() bool {
		pid := c.s.postmaster()
		status, _ := c.s.get(c.t, "http", "/readyz")
		return pid != 0 && pid != old && status == 200
	})
	b := openBooks(c.t, c.s)
	defer b.close()
	stored := map[string]int64{}
	for _, x := range b.query("s.id = any($1)", c.ids) {
		stored[x.ID] = x.Checkpoints
	}
	eventually(c.t, "checkpoints go on", func() bool {
		for _, x := range b.live() {
			if x.Checkpoints <= stored[x.ID] {
				return false
			}
		}
		return true
	})
	if n := len(b.live()); n != len(c.ids) {
		c.t.Errorf("%d sessions live on, want %d", n, len(c.ids))
	}
	checkBooks(c.t, c.s.dir)
}

// checkEnded looks at the books after all callers have hung up at a moment: what the
// database did not see while it was away is charged all the same.
func (c *crowd) checkEnded(began []time.Time, at time.Time) {
	c.t.Helper()
	var charged, least time.Duration
	for i, x := range c.bills() {
		if x.Reason != "user_hangup" {
			c.t.Errorf("session %s ended with %s %s", x.ID, x.Reason, x.Detail)
		}
		charged += time.Duration(x.Usage[billing.AgentTime]) * time.Millisecond
		least += at.Sub(began[i]) - time.Second
	}
	if charged < least {
		c.t.Errorf("%s were charged, want %s or more", charged, least)
	}
}

// checkFree wants the ledger in order and nobody's place taken.
func (c *crowd) checkFree() {
	c.t.Helper()
	checkBooks(c.t, c.s.dir)
	b := openBooks(c.t, c.s)
	defer b.close()
	for _, who := range c.who {
		a, err := ledger.New(b.db).Account(b.ctx, who.account)
		if err != nil {
			c.t.Fatal(err)
		}
		if a.Live != 0 || a.Pots.AccruedAny != 0 || a.Pots.Held != 0 {
			c.t.Errorf("%d sessions live on, %+v", a.Live, a.Pots)
		}
	}
}

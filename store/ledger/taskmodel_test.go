package ledger_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/tasks"
)

// twinTask is what the machine's model knows of a task.
type twinTask struct {
	acc     *twin
	id      string
	chars   int
	price   billing.Money
	state   tasks.Status // empty when it was cancelled
	node    store.Node   // that works on it; zero: none
	touched time.Time
	claims  []*tasks.Task // all there were; only the last is good
}

func (x *twinTask) open() bool {
	return x.state == tasks.Pending || x.state == tasks.Processing
}

func (m *machine) submit() {
	a := m.account()
	chars := rapid.SampledFrom([]int{1, 1000, 100_000, 150_000}).Draw(m.t, "characters")
	x := &twinTask{acc: a, chars: chars, price: price(m.t, tts, billing.Usage{billing.TTSChars: int64(chars)}), state: tasks.Pending, touched: m.now}
	node, fenced := m.someNode()
	m.expire() // as for start
	unfinished := 0
	for _, y := range m.tasks {
		if y.acc == a && y.open() {
			unfinished++
		}
	}
	var want error
	switch spendable := a.pots().Spendable(false); {
	case a.suspended:
		want = store.ErrSuspended
	case a.frozen():
		want = store.ErrDisputed
	case spendable < 25*billing.Cent, spendable-a.held-x.price < -2*usd:
		want = store.ErrInsufficientBalance
	case fenced:
		want = store.ErrFenced
	case unfinished >= tasks.MaxTasks:
		want = store.ErrTasks
	}
	s := tasks.Submission{Node: node, Account: a.id, Card: card, Chars: int64(chars),
		Script: tasks.Script{Text: "x", Voice: "F1", Language: "en", Format: "wav"}}
	task, err := m.db.Tasks.Submit(m.ctx(), s, ledgertest.Nowhere)
	if m.is(err, want); want != nil {
		return
	}
	x.id = task.ID
	a.held += x.price
	m.tasks = append(m.tasks, x)
}

// someNode is a node that lives, or sometimes a life that is over.
func (m *machine) someNode() (n store.Node, fenced bool) {
	if len(m.past) > 0 && rapid.IntRange(0, 9).Draw(m.t, "zombie") == 0 {
		return rapid.SampledFrom(m.past).Draw(m.t, "past"), true
	}
	return rapid.SampledFrom(m.nodes).Draw(m.t, "node"), false
}

// task picks one of the latest tasks and, if it was ever claimed, one of its
// claims; nil when there is none.
func (m *machine) task() (*twinTask, *tasks.Task) {
	if len(m.tasks) == 0 {
		return nil, nil
	}
	x := m.tasks[max(0, len(m.tasks)-1-rapid.IntRange(0, 6).Draw(m.t, "task"))]
	if len(x.claims) == 0 {
		return x, nil
	}
	return x, x.claims[max(0, len(x.claims)-1-rapid.IntRange(0, 2).Draw(m.t, "claim"))]
}

func (m *machine) claim() {
	x, _ := m.task()
	if x == nil {
		return
	}
	node, fenced := m.someNode()
	free := x.node == store.Node{} || !slices.Contains(m.nodes, x.node) || x.touched.Before(m.now.Add(-tasks.Lease))
	var want error
	switch {
	case fenced:
		want = store.ErrFenced
	case !x.open(), !free:
		want = store.ErrNotFound
	}
	c, err := m.db.Tasks.Claim(m.ctx(), node, x.acc.id, x.id)
	if m.is(err, want); want == nil {
		x.state, x.node, x.touched = tasks.Processing, node, m.now
		x.claims = append(x.claims, c)
	}
}

// verdict is what becomes of an attempt to end x by the claim c. It counts for the
// latest claim even when that has been released.
func (x *twinTask) verdict(c *tasks.Task) error {
	if x.state == "" || c != x.claims[len(x.claims)-1] {
		return store.ErrFenced
	}
	return nil
}

func (m *machine) complete() {
	x, c := m.task()
	if c == nil {
		return
	}
	want := x.verdict(c)
	m.is(m.db.Tasks.Complete(m.ctx(), c, time.Second, time.Hour), want)
	if want == nil {
		m.endTask(x, tasks.Completed)
	}
}

func (m *machine) failTask() {
	x, c := m.task()
	if c == nil {
		return
	}
	want := x.verdict(c)
	m.is(m.db.Tasks.Fail(m.ctx(), c, "code", "why"), want)
	if want == nil {
		m.endTask(x, tasks.Failed)
	}
}

func (m *machine) cancel() {
	x, _ := m.task()
	if x == nil {
		return
	}
	var want error
	switch {
	case x.state == "":
		want = store.ErrNotFound
	case !x.open():
		want = store.ErrTaskEnded
	}
	m.expire() // as for start
	if m.is(m.db.Tasks.Cancel(m.ctx(), x.acc.id, x.id), want); want == nil {
		m.endTask(x, "")
	}
}

// endTask settles credit, as every locked transaction does, and the hold.
func (m *machine) endTask(x *twinTask, state tasks.Status) {
	m.settle(x.acc)
	if !x.open() {
		return
	}
	x.state, x.node = state, store.Node{}
	x.acc.held -= x.price
	if state == tasks.Completed {
		m.post(&twinSession{Session: &ledger.Session{Terms: tts}, acc: x.acc, used: billing.Usage{billing.TTSChars: int64(x.chars)}})
	}
}

func (m *machine) release() {
	x, c := m.task()
	if c == nil {
		return
	}
	m.ok(m.db.Tasks.Release(m.ctx(), c, true))
	if c == x.claims[len(x.claims)-1] {
		x.node = store.Node{}
	}
}

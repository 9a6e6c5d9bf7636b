package telephony

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/billing"
)

// batchView is a batch as it goes.
type batchView struct {
	wire.BatchDetail
	Cost  billing.Money
	From  string // the number that callees see; empty: there are several
	Agent string // who speaks; empty: several, or deleted
	// Again is what the page asks for next: what differs from what it shows.
	Again  string
	Chunks []batchChunk
	now    time.Time
}

// chunkRows is how many rows of a batch are sent again when one of them has changed.
const chunkRows = 50

// batchChunk is a part of a batch's rows.
type batchChunk struct {
	*batchView
	At      int // which part, from 0
	Rows    []wire.BatchRow
	Version string // another when something else is shown
	New     bool   // the page has no such part yet
}

// chunks divides the rows.
func (v *batchView) chunks() (list []batchChunk) {
	for rows := range slices.Chunk(v.BatchDetail.Rows, chunkRows) {
		shown := make([]struct {
			wire.BatchRow
			Later bool
		}, len(rows))
		for i, r := range rows {
			if v.Runs(r) {
				r.Duration = 0 // the page counts it
			}
			shown[i].BatchRow, shown[i].Later = r, v.Later(r)
		}
		list = append(list, batchChunk{v, len(list), rows, page.VersionOf(shown), false})
	}
	return list
}

// versions are those of what stands above the rows, and of each part of them.
func (v *batchView) versions() []string {
	all := []string{page.VersionOf([]any{v.Batch, v.Cost, v.From, v.Agent, v.Talking(), v.Moves()})}
	for _, c := range v.chunks() {
		all = append(all, c.Version)
	}
	return all
}

// Runs says whether the length of a row grows: the call is in progress.
func (v *batchView) Runs(r wire.BatchRow) bool { return r.AnsweredAt != nil && r.EndedAt == nil }

// Later says whether a row waits for its time.
func (v *batchView) Later(r wire.BatchRow) bool {
	return r.Status == "pending" && r.ScheduledAt != nil && r.ScheduledAt.After(v.now)
}

// Machines is what a machine that answers gets, in words.
func (v *batchView) Machines() string {
	return map[string]string{"continue": "the agent talks", "hangup": "hang up", "message": "leave a message"}[v.OnMachine]
}

// Repeats describes the retry rules of the batch in words.
func (v *batchView) Repeats() string {
	var words []string
	for _, r := range v.Retries {
		apart := fmt.Sprintf("%d minutes", r.After/60)
		if r.After%60 != 0 {
			apart = fmt.Sprintf("%d seconds", r.After)
		}
		words = append(words, fmt.Sprintf("%s: %d calls at most, %s apart.", page.EndWords[r.On], r.Attempts, apart))
	}
	return strings.Join(words, " ")
}

// Answerer is who answered a call, in words.
func (v *batchView) Answerer(r wire.BatchRow) string {
	if r.AnsweredBy == nil {
		return "–"
	}
	return page.AnswererWords[*r.AnsweredBy]
}

// Done is how much of a hundred is over: called, or not to be called.
func (v *batchView) Done() int {
	if v.Total == 0 {
		return 100
	}
	return (v.Called() + v.Counts.Failed) * 100 / v.Total
}

// Called is how many calls are over.
func (v *batchView) Called() int { return v.Counts.Sent - v.Talking() }

// InProgress is how many ring or talk.
func (v *batchView) InProgress() int { return v.Counts.Dialing + v.Talking() }

// Talking is how many are called and still talk.
func (v *batchView) Talking() (n int) {
	for _, r := range v.BatchDetail.Rows {
		if r.Status == "sent" && r.CallID != nil && r.EndedAt == nil {
			n++
		}
	}
	return n
}

// Going says whether further calls may begin.
func (v *batchView) Going() bool { return v.State == "running" || v.State == "paused" }

// Moves says whether something will change by itself: calls that began go on when the batch
// is cancelled.
func (v *batchView) Moves() bool {
	return v.Going() || slices.ContainsFunc(v.BatchDetail.Rows, func(r wire.BatchRow) bool { return r.CallID != nil && r.EndedAt == nil })
}

// Outcome is a row in words.
func (v *batchView) Outcome(r wire.BatchRow) string {
	switch {
	case r.Error != nil:
		return r.Error.Message
	case r.EndReason != nil:
		return page.Ending(true, *r.EndReason, r.EndDetail)
	}
	return map[string]string{"pending": "Queued", "dialing": "Being called", "sent": "Talking"}[r.Status]
}

// Tone is its colour.
func (v *batchView) Tone(r wire.BatchRow) string {
	switch {
	case r.Error != nil:
		return "bad"
	case r.AnsweredAt != nil && r.EndReason != nil && *r.EndReason != "failed":
		return "good"
	case r.EndReason != nil:
		return "warn"
	case r.Status == "pending":
		return ""
	}
	return "info"
}

// Talk is the length of the conversation.
func (v *batchView) Talk(r wire.BatchRow) time.Duration {
	return time.Duration(r.Duration) * time.Second
}

func newBatchView(q *page.Request) (*batchView, error) {
	d, err := page.Read[wire.BatchDetail](q, page.Path("/callcenter/bulk-dial/", q.ID("id")))
	if err != nil {
		return nil, err
	}
	v := &batchView{BatchDetail: d, now: q.DB.Now()}
	agent := ""
	for i, r := range v.BatchDetail.Rows {
		v.Cost += billing.Money(r.Cost)
		if i == 0 {
			v.From, agent = r.From, r.AgentID
		}
		if r.From != v.From {
			v.From = ""
		}
		if r.AgentID != agent {
			agent = ""
		}
	}
	names, _, err := page.AgentNames(q)
	if err != nil {
		return nil, err
	}
	v.Agent, v.Chunks = names[agent], v.chunks()
	v.Again = page.Path(bulkAt+"/", v.ID, "/progress?seen=") + strings.Join(v.versions(), ".")
	return v, nil
}

func batchPage(q *page.Request) error {
	v, err := newBatchView(q)
	if err != nil {
		return err
	}
	title := strings.TrimSpace("Batch " + v.Name)
	return q.Page("batch", title, v)
}

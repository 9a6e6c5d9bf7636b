package dashboard

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api/callcenter"
	"parley/billing"
)

// batchView is a batch as it goes.
type batchView struct {
	callcenter.BatchDetail
	Cost  billing.Money
	From  string // the number that callees see; empty: there are several
	Agent string // who speaks; empty: several, or deleted
	now   time.Time
}

// Later says whether a row waits for its time.
func (v *batchView) Later(r callcenter.BatchRow) bool {
	return r.Status == "pending" && r.ScheduledAt != nil && r.ScheduledAt.After(v.now)
}

// Machines is what a machine that answers gets, in words.
func (v *batchView) Machines() string {
	return map[string]string{"continue": "talked to", "hangup": "hung up on", "message": "left a message"}[v.OnMachine]
}

// Answerer is who answered a call, in words.
func (v *batchView) Answerer(r callcenter.BatchRow) string {
	if r.AnsweredBy == nil {
		return "–"
	}
	return answererWords[*r.AnsweredBy]
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
	return v.Going() || slices.ContainsFunc(v.BatchDetail.Rows, func(r callcenter.BatchRow) bool { return r.CallID != nil && r.EndedAt == nil })
}

// Outcome is a row in words.
func (v *batchView) Outcome(r callcenter.BatchRow) string {
	switch {
	case r.Error != nil:
		return r.Error.Message
	case r.EndReason != nil:
		return ending(true, *r.EndReason, r.EndDetail)
	}
	return map[string]string{"pending": "Waits", "dialing": "Being called", "sent": "Talking"}[r.Status]
}

// Tone is its colour.
func (v *batchView) Tone(r callcenter.BatchRow) string {
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

// Talk is how long somebody talked.
func (v *batchView) Talk(r callcenter.BatchRow) time.Duration {
	return time.Duration(r.Duration) * time.Second
}

func (q *Request) batchView() (*batchView, error) {
	v := &batchView{now: q.Now()}
	if err := q.Call(http.MethodGet, Path("/callcenter/bulk-dial/", q.ID("id")), nil, &v.BatchDetail); err != nil {
		return nil, err
	}
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
	names, _, err := q.agentNames()
	v.Agent = names[agent]
	return v, err
}

func batchPage(q *Request) error {
	v, err := q.batchView()
	if err != nil {
		return err
	}
	title := strings.TrimSpace("Batch " + v.Name)
	return q.Page("batch", title, v)
}

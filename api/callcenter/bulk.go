package callcenter

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
)

// Batches dial in bulk; cmd provides it.
type Batches interface {
	// Check refuses what Dial would of an account's orders whatever happens meanwhile:
	// numbers, agents, destinations. It brings their numbers into E.164. at is the place
	// of the order that it refuses.
	Check(ctx context.Context, account string, orders []Order) (at int, err error)
	// CheckEach checks every order by itself, with few questions for all: refused has why
	// each is, nil where it is not. err is about none of them.
	CheckEach(ctx context.Context, account string, orders []Order) (refused []error, err error)
	// Wake says that there may be something to dial.
	Wake()
}

// MountBulk adds the routes of batches.
func MountBulk(a *api.API, db *store.DB, card func() *billing.RateCard, b Batches) {
	s := &bulk{Batches: b, db: db, card: card, rate: api.NewBuckets(queueEvery, queueBurst)}
	api.Register(a, callRoutes.Post("/callcenter/bulk-dial", "bulk-dial", "Call up to 500 numbers",
		"Queues a batch of calls, each as `POST /callcenter/dial` would place it, at its own time or at once, and none more than once. The server goes on "+
			"by itself: as many at a time as the account may have sessions, less one line that is kept for callers. A call that no line or no balance is "+
			"there for waits and is tried for 24 hours after its time. `consent_confirmed` is given once for all and recorded with each call. "+
			"One bad row refuses the whole batch; `detail` names it, counted from 0: `rows[3]`. "+
			"With an `Idempotency-Key` header the first answer is repeated for 24 hours.", http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusConflict).OwnChecks().Within(maxBatch), s.create)
	api.Register(a, callRoutes.Get("/callcenter/bulk-dial", "list-batches", "List the batches",
		"Every batch of the account, newest first, with its number of calls by status."), s.list)
	api.Register(a, callRoutes.Get("/callcenter/bulk-dial/{id}", "get-batch", "Read a batch",
		"A batch with the state of each call. A call is summarized by the agent's model soon after its end; that costs tokens and is part of the call's cost.",
		http.StatusNotFound), s.read)
	for _, turn := range []struct{ verb, summary, text string }{
		{"pause", "Pause a batch", "No further call of the batch begins; those in progress go on. Pausing again changes nothing."},
		{"resume", "Resume a batch", "Goes on with a batch that is paused. The 24 hours for which calls are tried begin anew."},
		{"cancel", "Cancel a batch", "Calls that have not begun fail, for good; those in progress go on. A batch that is done stays done."},
	} {
		r := callRoutes.Post("/callcenter/bulk-dial/{id}/"+turn.verb, turn.verb+"-batch", turn.summary, turn.text, http.StatusNotFound)
		api.Register(a, r, func(ctx context.Context, in *batchInput) (*batchOutput, error) { return s.turn(ctx, turn.verb, in.ID) })
	}
}

// maxBatch bounds a batch's request, in bytes: 500 rows have 1 KB each.
const maxBatch = 512 << 10

// bulk are the routes of batches.
type bulk struct {
	Batches
	db   *store.DB
	card func() *billing.RateCard
	rate *api.Buckets
}

// CallWindow is the time of day in which people are called.
type CallWindow struct {
	Start    string `json:"start" doc:"When it begins, by a clock of 24 hours." example:"09:00"`
	End      string `json:"end" doc:"When it ends; before the start, it goes on past midnight." example:"20:00"`
	Timezone string `json:"timezone" doc:"By whose clocks: a time zone as IANA names it, or destination, where the number called is. Where a number may be in several zones, it must be within the window in all of them." example:"destination"`
}

// Counts says how many calls of a batch are how far.
type Counts struct {
	Pending int `json:"pending" doc:"Not dialled yet." example:"12"`
	Dialing int `json:"dialing" doc:"Being dialled." example:"3"`
	Sent    int `json:"sent" doc:"Placed: answered or not, as end_reason says." example:"24"`
	Failed  int `json:"failed" doc:"Not placed, as error says." example:"1"`
}

// Batch is a batch of calls.
type Batch struct {
	ID         string      `json:"id" doc:"Names the batch in paths." example:"bulk_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name       string      `json:"name" doc:"As it was given; may be empty." example:"Reminders"`
	State      string      `json:"state" doc:"done: every call has ended." enum:"running,paused,cancelled,done"`
	CreatedAt  time.Time   `json:"created_at" doc:"When it was queued."`
	Total      int         `json:"total" doc:"How many calls it has." example:"40"`
	Counts     Counts      `json:"counts" doc:"Calls by status; together the total."`
	CallWindow *CallWindow `json:"call_window,omitempty" doc:"When people are called; absent: at any time."`
	OnMachine  string      `json:"on_machine" doc:"What a machine that answers gets." enum:"continue,hangup,message"`
}

// BatchRow is a call of a batch.
type BatchRow struct {
	ID          string     `json:"id" doc:"Names the row." example:"row_06er5bt0v9k1o7m2q3s4t5u6v0"`
	To          string     `json:"to" doc:"The number called, in international format." example:"+34612345678"`
	From        string     `json:"from" doc:"The number that the callee sees." example:"+34911234567"`
	AgentID     string     `json:"agent_id" doc:"The agent that speaks." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	ScheduledAt *time.Time `json:"scheduled_at" doc:"When it is to be called; null: at once."`
	Status      string     `json:"status" doc:"Status of the row. sent: the call was placed, whether or not it was answered." enum:"pending,dialing,sent,failed"`
	CallID      *string    `json:"call_id" doc:"Its call, for the monitor; null: it was not dialled." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	StartedAt   *time.Time `json:"started_at" doc:"When it was dialled."`
	AnsweredAt  *time.Time `json:"answered_at" doc:"When it was answered; null: it was not."`
	EndedAt     *time.Time `json:"ended_at" doc:"When the call ended; null while it lasts, or when there was none."`
	Duration    int64      `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"42"`
	EndReason   *string    `json:"end_reason" doc:"Why the call ended; null while it lasts, or when there was none." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown"`
	EndDetail   *string    `json:"end_detail" doc:"The finer cause, if there is one." example:"invalid_number"`
	AnsweredBy  *string    `json:"answered_by" doc:"Who answered; null: nobody, or it is not known yet." enum:"human,machine,screening,unknown"`
	Cost        wire.USD   `json:"cost" doc:"What the call has cost so far, its summary included."`
	Summary     *string    `json:"summary" doc:"What the call came to; null: there is no summary, or not yet." example:"They confirmed the appointment on Friday."`
	Error       *RowError  `json:"error,omitempty" doc:"Only when it failed: why."`
}

// RowError is why a row was not dialled.
type RowError struct {
	Code    string `json:"code" doc:"As the request for a single call would be refused with, or callcenter.not_placed, callcenter.batch_cancelled." example:"callcenter.not_placed"`
	Message string `json:"error" doc:"The same for people."`
}

// BatchDetail is a batch with its rows.
type BatchDetail struct {
	Batch
	Rows []BatchRow `json:"rows" doc:"Its calls, in the order in which they were given." nullable:"false"`
}

type batchOutput struct{ Body BatchDetail }

type batchInput struct {
	ID string `path:"id" doc:"The batch's identifier." maxLength:"100" example:"bulk_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type batchesOutput struct {
	Body struct {
		Batches []Batch `json:"batches" doc:"All of them, newest first." nullable:"false"`
	}
}

func (s *bulk) list(ctx context.Context, _ *struct{}) (*batchesOutput, error) {
	found, err := s.db.Campaigns(ctx, api.AccountOf(ctx), store.Page{})
	if err != nil {
		return nil, err
	}
	out := &batchesOutput{}
	out.Body.Batches = make([]Batch, len(found))
	for i := range found {
		out.Body.Batches[i] = batchOf(&found[i])
	}
	return out, nil
}

func (s *bulk) read(ctx context.Context, in *batchInput) (*batchOutput, error) {
	d, err := s.detail(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &batchOutput{d}, nil
}

// detail is a batch as clients see it.
func (s *bulk) detail(ctx context.Context, account, id string) (d BatchDetail, err error) {
	c, err := s.db.Campaign(ctx, account, id)
	if err != nil {
		return d, err
	}
	d = BatchDetail{Batch: batchOf(c), Rows: make([]BatchRow, len(c.Rows))}
	at := s.db.Now()
	for i := range c.Rows {
		d.Rows[i] = rowOf(&c.Rows[i], at)
	}
	return d, nil
}

// Why a row of a cancelled batch failed.
const (
	cancelledCode = "callcenter.batch_cancelled"
	cancelledText = "The batch was cancelled before this call began."
)

func (s *bulk) turn(ctx context.Context, verb, id string) (*batchOutput, error) {
	account := api.AccountOf(ctx)
	var err error
	switch verb {
	case "pause":
		err = s.db.PauseCampaign(ctx, account, id)
	case "resume":
		err = s.db.ResumeCampaign(ctx, account, id, s.db.Now())
		s.Wake()
	case "cancel":
		err = s.db.CancelCampaign(ctx, account, id, cancelledCode, cancelledText, s.db.Now())
	default:
		err = fmt.Errorf("%q is no turn of a batch", verb)
	}
	if err != nil {
		return nil, err
	}
	return s.read(ctx, &batchInput{id})
}

func batchOf(c *store.Campaign) Batch {
	b := Batch{ID: c.ID, Name: c.Name, State: string(c.State), CreatedAt: c.CreatedAt, Total: c.Pending + c.Dialing + c.Sent + c.Failed,
		Counts: Counts{c.Pending, c.Dialing, c.Sent, c.Failed}, OnMachine: c.OnMachine}
	if b.OnMachine == "" {
		b.OnMachine = onMachineContinue
	}
	if c.Hours != nil {
		from, to := c.Hours.Strings()
		b.CallWindow = &CallWindow{from, to, c.Zone}
	}
	return b
}

func rowOf(r *store.CampaignRow, at time.Time) BatchRow {
	v := BatchRow{ID: r.ID, To: r.To, From: r.From, AgentID: r.Agent, ScheduledAt: r.ScheduledAt, Status: string(r.Status), Summary: r.Summary}
	if r.ErrorCode != "" {
		v.Error = &RowError{r.ErrorCode, r.ErrorMessage}
	}
	c := r.Call
	if c == nil {
		return v
	}
	v.CallID, v.StartedAt, v.AnsweredAt, v.EndedAt, v.Cost = &c.ID, &c.OpenedAt, c.StartedAt, c.EndedAt, wire.USD(c.Cost)
	v.EndReason, v.EndDetail, v.AnsweredBy = some(c.EndReason), some(c.EndDetail), some(c.AnsweredBy)
	if c.StartedAt != nil {
		if c.EndedAt != nil {
			at = *c.EndedAt
		}
		v.Duration = max(0, int64(at.Sub(*c.StartedAt)/time.Second))
	}
	return v
}

// some is a text, nil when there is none.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

package wire

import (
	"encoding/json"
	"time"
)

// CallWindow is the time of day in which people are called.
type CallWindow struct {
	Start    string `json:"start" doc:"When it begins, by a clock of 24 hours." example:"09:00"`
	End      string `json:"end" doc:"When it ends; before the start, it goes on past midnight." example:"20:00"`
	Timezone string `json:"timezone" doc:"By whose clocks: a time zone as IANA names it, or destination, where the number called is. Where a number may be in several zones, it must be within the window in all of them." example:"destination"`
}

// Retry repeats calls that end with one outcome.
type Retry struct {
	On       string `json:"on" doc:"How the call ended. failed: the carrier could not place it; a number that does not exist is not called again." enum:"no_answer,busy,rejected,voicemail,failed" example:"busy"`
	Attempts int    `json:"attempts" doc:"How many calls a callee gets in all, the first and those after other outcomes included." minimum:"2" maximum:"10" example:"3"`
	After    int    `json:"after_seconds" doc:"How long after its end the next call is placed, in seconds; with a call_window, within it." minimum:"60" maximum:"604800" example:"900"`
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
	Total      int         `json:"total" doc:"How many calls it has, those that call again included." example:"40"`
	Counts     Counts      `json:"counts" doc:"Calls by status; together the total."`
	CallWindow *CallWindow `json:"call_window,omitempty" doc:"When people are called; absent: at any time."`
	Retries    []Retry     `json:"retries,omitempty" doc:"The retry rules, one for each outcome; absent: each number is called once."`
	OnMachine  string      `json:"on_machine" doc:"What a machine that answers gets." enum:"continue,hangup,message"`
	Metadata   Metadata    `json:"metadata,omitempty"`
}

// BatchRow is a call of a batch.
type BatchRow struct {
	ID          string            `json:"id" doc:"Names the row." example:"row_06er5bt0v9k1o7m2q3s4t5u6v0"`
	To          string            `json:"to" doc:"The number called, in international format." example:"+34612345678"`
	From        string            `json:"from" doc:"The number that the callee sees." example:"+34911234567"`
	AgentID     string            `json:"agent_id" doc:"The agent that speaks." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	ScheduledAt *time.Time        `json:"scheduled_at" doc:"When it is to be called; null: at once."`
	Vars        map[string]string `json:"variables,omitempty" doc:"Values of the agent's variables, as they were given for this call."`
	Headers     CallHeaders       `json:"headers,omitempty"`
	Metadata    Metadata          `json:"metadata,omitempty"`
	Status      string            `json:"status" doc:"Status of the row. sent: the call was placed, whether or not it was answered." enum:"pending,dialing,sent,failed"`
	CallID      *string           `json:"call_id" doc:"Its call, for the monitor; null: it was not dialled." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	StartedAt   *time.Time        `json:"started_at" doc:"When it was dialled."`
	AnsweredAt  *time.Time        `json:"answered_at" doc:"When it was answered; null: it was not."`
	EndedAt     *time.Time        `json:"ended_at" doc:"When the call ended; null while it lasts, or when there was none."`
	Duration    int64             `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"42"`
	EndReason   *string           `json:"end_reason" doc:"Why the call ended; null while it lasts, or when there was none." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown"`
	EndDetail   *string           `json:"end_detail" doc:"The finer cause, if there is one." example:"invalid_number"`
	AnsweredBy  *string           `json:"answered_by" doc:"Who answered; null: nobody, or it is not known yet." enum:"human,machine,screening,unknown"`
	Cost        USD               `json:"cost" doc:"What the call has cost so far, its summary included."`
	Summary     *string           `json:"summary" doc:"The outcome of the call in a few sentences; null: there is no summary, or not yet." example:"They confirmed the appointment on Friday."`
	Attempt     int               `json:"attempt" doc:"Which call of its callee it is, from 1." example:"1"`
	RetryOf     *string           `json:"retry_of,omitempty" doc:"The row after whose call this one calls again; absent: it is the first." example:"row_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Error       *RowError         `json:"error,omitempty" doc:"Only when it failed: why."`
}

// RowError is why a row was not dialled.
type RowError struct {
	Code    string `json:"code" doc:"As the request for a single call would be refused with, or callcenter.not_placed, callcenter.batch_cancelled." example:"callcenter.not_placed"`
	Message string `json:"error" doc:"The same for people."`
}

// BatchDetail is a batch with its rows.
type BatchDetail struct {
	Batch
	Rows []BatchRow `json:"rows" doc:"Its calls, in the order in which they were given, behind them those that call again." nullable:"false"`
}

// Placed is a call that has begun.
type Placed struct {
	CallID    string    `json:"call_id" doc:"Names the call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Status    string    `json:"status" doc:"dialing." enum:"dialing"`
	From      string    `json:"from" doc:"The number that the callee sees." example:"+34911234567"`
	To        string    `json:"to" doc:"The number called, in international format." example:"+34612345678"`
	AgentID   string    `json:"agent_id" doc:"The agent that speaks." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CreatedAt time.Time `json:"created_at" doc:"When the call began."`
}

// SpokenLine is one thing that was said.
type SpokenLine struct {
	Role string  `json:"role" doc:"Who said it." enum:"user,agent,supervisor"`
	Text string  `json:"text" doc:"The words; of the agent's those that were heard." example:"We are open until eight."`
	At   float64 `json:"at" doc:"Seconds since the answer." example:"3.2"`
}

// CallState is how a call stands.
type CallState struct {
	Status     string       `json:"status" doc:"Status of the call. It only goes forward; a state may be skipped." enum:"dialing,ringing,connected,ended"`
	Transcript []SpokenLine `json:"transcript" doc:"The words so far." nullable:"false"`
	Duration   int64        `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"12"`
	AnsweredBy string       `json:"answered_by,omitempty" doc:"Who answered, once it is known: at most four seconds after the answer." enum:"human,machine,screening,unknown"`
	EndReason  string       `json:"end_reason,omitempty" doc:"Why it ended." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown"`
	EndDetail  string       `json:"end_detail,omitempty" doc:"The finer cause, if there is one." example:"no_ack"`
}

// RowCheck is what a row of a batch comes to.
type RowCheck struct {
	Row         int        `json:"row" doc:"Its place, counted from 0." example:"3"`
	To          string     `json:"to" doc:"The number in international format; as it was sent when it is none." example:"+34612345678"`
	OK          bool       `json:"ok" doc:"Whether it would be called."`
	Error       *RowFault  `json:"error,omitempty" doc:"Why not."`
	DueAt       *time.Time `json:"due_at" doc:"When it would be called at the earliest, given a free line; null when it would not."`
	PerMinute   *USD       `json:"per_minute" nullable:"true" doc:"Line and agent, without the language model's tokens; null when it would not be called."`
	DuplicateOf *int       `json:"duplicate_of" nullable:"true" doc:"An earlier row with the same number: it would be called twice. Null: there is none." example:"1"`
}

// RowFault is why a row would be refused.
type RowFault struct {
	Code    string `json:"code" doc:"As the request for the batch would be refused with, or the call." example:"callcenter.destination_not_allowed"`
	Message string `json:"error" doc:"The same for people." example:"This number cannot be called."`
	Detail  string `json:"detail,omitempty" doc:"What exactly, where there is more to say."`
}

// BatchCheck is what a batch comes to.
type BatchCheck struct {
	Rows  []RowCheck `json:"rows" doc:"All rows, in their order." nullable:"false"`
	Good  int        `json:"good" doc:"How many would be called." example:"498"`
	Wrong int        `json:"wrong" doc:"How many would not: as long as there is one, the batch is refused." example:"2"`
	// PerMinute is the sum over the good rows.
	PerMinute USD `json:"per_minute" doc:"What it costs when all who would be called talk for a minute each; every started minute of a line counts."`
}

// NewBatch asks to call many numbers.
type NewBatch struct {
	Name    string          `json:"name,omitempty" required:"false" doc:"For people." maxLength:"200" example:"Reminders"`
	From    string          `json:"from,omitempty" required:"false" doc:"A number of the account, or local: for each row the one that looks nearest to the callee's. Needed unless every row has one." example:"+34911234567"`
	AgentID string          `json:"agent_id,omitempty" required:"false" doc:"The agent that speaks; needed unless every row has one." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Consent json.RawMessage `json:"consent_confirmed" doc:"true: all callees have agreed to be called. Nothing else is accepted."`
	Rows    []NewRow        `json:"rows" doc:"Whom to call." minItems:"1" maxItems:"500" nullable:"false"`
	Window  *CallWindow     `json:"call_window,omitempty" required:"false" doc:"The time of day in which people are called; without it, that of the account, or any."`
	Retries []Retry         `json:"retries,omitempty" required:"false" doc:"The retry rules, one for each outcome. Without them each number is called once. A retry is a row of its own." maxItems:"5"`
	Ring    *int            `json:"ring_timeout_seconds,omitempty" required:"false" doc:"How long each may ring." minimum:"5" maximum:"120" default:"60"`
	Machine string          `json:"on_machine,omitempty" required:"false" doc:"What a machine that answers gets, as with a single call." enum:"continue,hangup,message" default:"continue"`
	Message string          `json:"message,omitempty" required:"false" doc:"What is said to a machine; needed with on_machine message, and only there." maxLength:"1000"`
	Longest *int            `json:"max_duration_seconds,omitempty" required:"false" doc:"How long each call may last; the agent's own limit counts too." minimum:"10" maximum:"7200"`
	// Metadata is of the batch and of each of its calls.
	Metadata Metadata `json:"metadata,omitempty" required:"false"`
}

// NewRow is one of them.
type NewRow struct {
	To          string            `json:"to" doc:"The number to call, in international format; spaces and hyphens are ignored." example:"+34612345678"`
	ScheduledAt *string           `json:"scheduled_at,omitempty" required:"false" doc:"When to call, with its zone (RFC 3339), a year ahead at most; without it, or in the past, at once." format:"date-time" example:"2026-11-23T10:00:00+01:00"`
	From        string            `json:"from,omitempty" required:"false" doc:"Instead of the batch's." example:"+34911234567"`
	AgentID     string            `json:"agent_id,omitempty" required:"false" doc:"Instead of the batch's." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Vars        map[string]string `json:"variables,omitempty" required:"false" doc:"Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each."`
	// Headers are of the row's call.
	Headers CallHeaders `json:"headers,omitempty" required:"false"`
	// Metadata is of the row's call, beside the batch's: of one name the row's value counts.
	Metadata Metadata `json:"metadata,omitempty" required:"false"`
}

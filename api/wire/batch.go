package wire

import "time"

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
	Cost        USD        `json:"cost" doc:"What the call has cost so far, its summary included."`
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
	Role string  `json:"role" doc:"Who said it." enum:"user,agent"`
	Text string  `json:"text" doc:"The words; of the agent's those that were heard." example:"We are open until eight."`
	At   float64 `json:"at" doc:"Seconds since the answer." example:"3.2"`
}

// CallState is how a call stands.
type CallState struct {
	Status     string       `json:"status" doc:"Status of the call. It only goes forward; a state may be skipped." enum:"dialing,ringing,connected,ended"`
	Transcript []SpokenLine `json:"transcript" doc:"What was said so far." nullable:"false"`
	Duration   int64        `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"12"`
	AnsweredBy string       `json:"answered_by,omitempty" doc:"Who answered, once it is known: at most four seconds after the answer." enum:"human,machine,screening,unknown"`
	EndReason  string       `json:"end_reason,omitempty" doc:"Why it ended." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown"`
	EndDetail  string       `json:"end_detail,omitempty" doc:"The finer cause, if there is one." example:"no_ack"`
}

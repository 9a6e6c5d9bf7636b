package wire

// IncomingCall is a call that rings, as the webhook of the called number is asked about it.
type IncomingCall struct {
	NumberID   string      `json:"number_id" doc:"The called number's id." example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	From       string      `json:"from" doc:"Who calls; empty when it is withheld." example:"+34612345678"`
	To         string      `json:"to" doc:"The called number." example:"+34911234567"`
	CallerName string      `json:"caller_name" doc:"The caller's name as the trunk asserts it, where it is trusted, else as the caller's telephone shows it; empty: there is none." example:"Ann"`
	Verstat    *string     `json:"verstat" doc:"What the carrier says of the caller's number (ATIS-1000074); null: nothing." example:"TN-Validation-Passed"`
	Attested   *string     `json:"attestation" doc:"How well the carrier where the call began knows the caller (ATIS-1000074); null: nobody says, or nobody vouches for the trunk." enum:"A,B,C" example:"A"`
	Headers    CallHeaders `json:"headers,omitempty"`
	// Origin is of calls that came in.
	Origin  *CallOrigin `json:"origin,omitempty" doc:"Where the call was before, as the far end says; absent: it says nothing."`
	AgentID *string     `json:"agent_id" doc:"The agent that answers by default; null: none." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// IncomingAnswer says who answers a call. Everything in it may be absent.
type IncomingAnswer struct {
	AgentID   string            `json:"agent_id,omitempty" doc:"The agent of the account that answers; absent: the number's own." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Variables map[string]string `json:"variables,omitempty" doc:"Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each."`
	Metadata  Metadata          `json:"metadata,omitempty"`
	Refuse    bool              `json:"refuse,omitempty" doc:"true: the call is refused (603), and nothing else counts."`
}

// CallAsked is how the webhook of the called number was asked about a call.
type CallAsked struct {
	WebhookID string  `json:"webhook_id" doc:"The webhook. It may have been deleted since." example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Outcome   string  `json:"outcome" doc:"answered: what it said counts. refused: it refused the call. failed: it did not answer in time, or not as it should, and the number's own agent answered." enum:"answered,refused,failed" example:"answered"`
	Status    int     `json:"status" doc:"HTTP status of its answer; 0: there was none." example:"200"`
	LatencyMS int64   `json:"latency_ms" doc:"Until its answer, or the failure, in milliseconds." example:"140"`
	Error     *string `json:"error" doc:"What went wrong; null: nothing." example:"no answer in time"`
}

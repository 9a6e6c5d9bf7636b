package wire

import (
	"encoding/json"
	"time"
)

// Status says whether calling works.
type Status struct {
	Enabled   bool     `json:"enabled" doc:"Whether the server has telephony."`
	Carrier   string   `json:"carrier" doc:"Through which carrier. simulated: its numbers reach nobody outside this server." example:"simulated"`
	Countries []string `json:"countries" doc:"Where numbers can be searched for." nullable:"false" example:"[\"US\",\"ES\"]"`
}

// Agent is one who can answer. What it says is managed under /v1/agents.
type Agent struct {
	ID       string `json:"id" doc:"Send it as agent_id." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name     string `json:"name" doc:"For people." example:"Lola"`
	Voice    string `json:"voice" doc:"The voice it speaks with." example:"F1"`
	Language string `json:"language" doc:"The language it speaks." example:"es"`
}

// NewCall asks to call a number.
type NewCall struct {
	From     string            `json:"from" doc:"A number of the account; or local, the one that looks nearest to the callee's: the one that begins like it for longest." example:"+34911234567"`
	To       string            `json:"to" doc:"The number to call, in international format; spaces and hyphens are ignored." example:"+34612345678"`
	AgentID  string            `json:"agent_id" doc:"The agent that speaks." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Consent  json.RawMessage   `json:"consent_confirmed" doc:"true: the callee has agreed to be called. Nothing else is accepted."`
	Ring     *int              `json:"ring_timeout_seconds,omitempty" required:"false" doc:"How long it may ring." minimum:"5" maximum:"120" default:"60"`
	Machine  string            `json:"on_machine,omitempty" required:"false" doc:"What a machine that answers gets: the agent, as a person does (continue); nothing, the call ends (hangup); or the message after its tone (message). With the last two the agent keeps silent until it is known who answered, at most four seconds; a person who says hello waits one. An assistant that screens calls hears the agent's first message. Without it: as the agent's settings say." enum:"continue,hangup,message"`
	Message  string            `json:"message,omitempty" required:"false" doc:"What is said to a machine, in the agent's voice; needed with on_machine message, and only there." maxLength:"1000"`
	Longest  *int              `json:"max_duration_seconds,omitempty" required:"false" doc:"How long the call may last; the agent's own limit counts too." minimum:"10" maximum:"7200"`
	Vars     map[string]string `json:"variables,omitempty" required:"false" doc:"Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each."`
	Headers  CallHeaders       `json:"headers,omitempty" required:"false"`
	Metadata Metadata          `json:"metadata,omitempty" required:"false"`
}

// HungUp is the answer to a hang-up.
type HungUp struct {
	CallID string `json:"call_id" doc:"The call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Status string `json:"status" doc:"ended." enum:"ended"`
}

// Offer is a number for sale.
type Offer struct {
	PhoneNumber string   `json:"phone_number" doc:"Send exactly this to buy it." example:"+34911234567"`
	MonthlyCost USD      `json:"monthly_cost" doc:"What the carrier asks a month, which is not what is charged."`
	UpfrontCost USD      `json:"upfront_cost" doc:"What the carrier asks once, likewise."`
	CountryCode string   `json:"country_code" doc:"ISO code: GB for those found under UK." example:"ES"`
	Region      string   `json:"region" doc:"As the carrier names it; may be empty." example:"Madrid"`
	Locality    string   `json:"locality" doc:"Likewise." example:"Madrid"`
	NumberType  string   `json:"number_type" doc:"There are only local ones." enum:"local"`
	Features    []string `json:"features" doc:"Capabilities of the number, in the carrier's words." nullable:"false"`
}

// Number is a number of the account.
type Number struct {
	ID           string     `json:"id" doc:"Names the number in paths." example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	PhoneNumber  string     `json:"phone_number" doc:"In international format." example:"+34911234567"`
	CountryCode  string     `json:"country_code" doc:"ISO code; prices its calls." example:"ES"`
	AgentID      *string    `json:"agent_id" doc:"Who answers; null: nobody." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentName    *string    `json:"agent_name" doc:"The name of the agent." example:"Lola"`
	WebhookID    *string    `json:"webhook_id,omitempty" doc:"The webhook that is asked about each call, while it rings; absent: none is." example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CallsPerHour *int       `json:"calls_per_hour,omitempty" doc:"How many calls the account places from it in an hour; absent: as many as it likes." example:"30"`
	TrunkID      *string    `json:"trunk_id,omitempty" doc:"The trunk of the account that brings and carries its calls; absent: the operator's lines do." example:"trk_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Status       string     `json:"status" doc:"pending: the carrier has not activated it yet. past_due: a month is unpaid; it works, and is lost at release_at." enum:"active,pending,past_due"`
	MonthlyPrice USD        `json:"monthly_price" doc:"What a month of it costs now. 0: it was given by the operator and costs nothing."`
	PurchasedAt  time.Time  `json:"purchased_at" doc:"When it was bought or given."`
	NextChargeAt *time.Time `json:"next_charge_at" doc:"When the next month begins, or the unpaid one began; null when nothing will be charged."`
	ReleaseAt    *time.Time `json:"release_at,omitempty" doc:"Only when it is past_due: when it is lost."`
}

// Released is a number that the account has given back.
type Released struct {
	ID          string `json:"id" doc:"Its id, which names nothing any more." example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	PhoneNumber string `json:"phone_number" doc:"In international format." example:"+34911234567"`
	Released    bool   `json:"released" doc:"Always true." enum:"true"`
}

// DoNotCall is an entry of the do-not-call list.
type DoNotCall struct {
	Number string    `json:"number" doc:"In international format." example:"+34612345678"`
	Reason string    `json:"reason" doc:"Why, in somebody's words; may be empty." example:"asked for in a call"`
	Source string    `json:"source" doc:"Who put it on the list: a client of this interface, an agent that was asked to, the operator, or the number itself, with a text message such as STOP." enum:"api,agent,operator,message" example:"agent"`
	CallID *string   `json:"call_id" doc:"The call in which it was asked for; null when it was in none." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Since  time.Time `json:"since" doc:"When it was put there."`
}

type NewListed struct {
	Number string `json:"number" doc:"In international format; spaces and hyphens are ignored." maxLength:"64" example:"+34612345678"`
	Reason string `json:"reason,omitempty" required:"false" doc:"Why, in one line." maxLength:"200" example:"wrote to us"`
}

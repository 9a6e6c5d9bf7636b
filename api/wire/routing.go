package wire

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// NumberRulesRef is where the OpenAPI document describes the rules of numbers. Its schema comes from the JSON Schema of rules, when
// the routes of numbers are mounted.
const NumberRulesRef = "#/components/schemas/NumberRules"

// NumberRules say where calls to a number go, an object as it is kept.
type NumberRules struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (NumberRules) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Ref: NumberRulesRef} }

// RoutingTrial asks where a call would go.
type RoutingTrial struct {
	At    string       `json:"at,omitempty" required:"false" doc:"When the call comes: with an offset as in RFC 3339, or without one in the time zone of the rules. Absent: now." maxLength:"40" example:"2026-12-25T10:00"`
	Out   string       `json:"out,omitempty" required:"false" doc:"What the call finds exhausted: all lines of the account are busy, its balance is too low, or the agent cannot be reached. Absent: nothing." enum:"lines,balance,agent"`
	Keys  string       `json:"keys,omitempty" required:"false" doc:"The keys that the caller presses in the menu, one each time it is asked. Absent: the decision is the menu." maxLength:"16" example:"2"`
	Rules *NumberRules `json:"rules,omitempty" required:"false"` // absent: those of the number
}

// Routed is where a call would go.
type Routed struct {
	NumberID    string    `json:"number_id" doc:"The number that is called." example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	PhoneNumber string    `json:"phone_number" doc:"The same in international format." example:"+34911234567"`
	At          time.Time `json:"at" doc:"When the call comes, in the time zone of the rules." example:"2026-12-25T10:00:00+01:00"`
	Open        bool      `json:"open" doc:"Whether that is in the opening hours."`
	Action      string    `json:"action" doc:"agent: an agent answers. forward: another number is called, and connected when it answers. message: it is said, and the call ends. menu: the caller is asked for a key. redirect: the caller's side is asked to call another number (SIP 302). refuse: nobody answers." enum:"agent,forward,message,menu,redirect,refuse"`
	AgentID     *string   `json:"agent_id,omitempty" doc:"With agent: who answers." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Number      string    `json:"number,omitempty" doc:"With forward and redirect: the other number." example:"+34911234568"`
	Message     string    `json:"message,omitempty" doc:"With message and menu: what is said." example:"We are closed on Sundays."`
	Reasons     []string  `json:"reasons" doc:"Why, step by step, for people." nullable:"false" example:"[\"It is Friday 2026-12-25, 10:00 in Europe/Madrid.\"]"`
}

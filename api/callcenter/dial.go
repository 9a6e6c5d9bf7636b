package callcenter

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

// NewCall asks to call a number.
type NewCall struct {
	From    string            `json:"from" doc:"A number of the account." example:"+34911234567"`
	To      string            `json:"to" doc:"The number to call, in international format; spaces and hyphens are ignored." example:"+34612345678"`
	AgentID string            `json:"agent_id" doc:"The agent that speaks." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Consent json.RawMessage   `json:"consent_confirmed" doc:"true: the callee has agreed to be called. Nothing else is accepted."`
	Ring    *int              `json:"ring_timeout_seconds,omitempty" required:"false" doc:"How long it may ring." minimum:"5" maximum:"120" default:"60"`
	Machine string            `json:"on_machine,omitempty" required:"false" doc:"What a machine that answers gets: the agent, as a person does (continue); nothing, the call ends (hangup); or the message after its tone (message). With the last two the agent keeps silent until it is known who answered, at most four seconds; a person who says hello waits one. An assistant that screens calls is told the agent's first message. Without it: as the agent's settings say." enum:"continue,hangup,message"`
	Message string            `json:"message,omitempty" required:"false" doc:"What is said to a machine, in the agent's voice; needed with on_machine message, and only there." maxLength:"1000"`
	Longest *int              `json:"max_duration_seconds,omitempty" required:"false" doc:"How long the call may last; the agent's own limit counts too." minimum:"10" maximum:"7200"`
	Vars    map[string]string `json:"variables,omitempty" required:"false" doc:"Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each."`
}

type dialInput struct {
	Key     string `header:"Idempotency-Key" doc:"Of your choice, up to 255 characters; makes it safe to send the request again." maxLength:"255" example:"call-42"`
	RawBody []byte
	Body    NewCall
}

type dialOutput struct{ Body wire.Placed }

// order checks the body alone: what does not depend on whose it is.
func (n *NewCall) order() (Order, error) {
	o := Order{From: strings.TrimSpace(n.From), To: strings.TrimSpace(n.To), Agent: n.AgentID, Variables: n.Vars}
	what := ""
	switch {
	case o.From == "":
		what = "from: say which of your numbers calls"
	case o.To == "":
		what = "to: say whom to call"
	case o.Agent == "":
		what = "agent_id: say which agent speaks"
	case n.Ring != nil && (*n.Ring < 5 || *n.Ring > 120):
		what = "ring_timeout_seconds: from 5 to 120"
	case n.Longest != nil && (*n.Longest < 10 || *n.Longest > 7200):
		what = "max_duration_seconds: from 10 to 7200"
	case string(n.Consent) != "true":
		return o, api.ErrConsent
	}
	if what == "" {
		what = n.onMachine(&o)
	}
	if what != "" {
		return o, api.Bad("%s", what)
	}
	if n.Ring != nil {
		o.RingTimeout = time.Duration(*n.Ring) * time.Second
	}
	if n.Longest != nil {
		o.MaxDuration = time.Duration(*n.Longest) * time.Second
	}
	return o, nil
}

// maxMessage bounds what a machine is told, in characters: a minute.
const maxMessage = 1000

// onMachine reads what a machine gets; it returns what is wrong with it.
func (n *NewCall) onMachine(o *Order) string {
	o.OnMachine, o.Message = n.Machine, strings.TrimSpace(n.Message)
	switch {
	case n.Machine != "" && n.Machine != "continue" && n.Machine != "hangup" && n.Machine != onMachineMessage:
		return "on_machine: continue, hangup or message"
	case n.Machine == onMachineMessage && o.Message == "":
		return "message: say what to leave when a machine answers"
	case n.Machine != onMachineMessage && n.Message != "":
		return "message: only with on_machine message"
	case utf8.RuneCountInString(n.Message) > maxMessage:
		return "message: 1000 characters at most"
	}
	return ""
}

// onMachineMessage is the one word of on_machine that needs a text.
const onMachineMessage = "message"

func (s *calls) dial(ctx context.Context, in *dialInput) (*dialOutput, error) {
	o, err := in.Body.order()
	if err != nil {
		return nil, err
	}
	p := api.PrincipalOf(ctx)
	if a := api.AddressOf(ctx); a.IsValid() {
		o.IP = a.String()
	}
	_, placed, err := once(ctx, s.db, store.IdempotencyKey{Account: p.Account, Route: "POST /callcenter/dial", Key: in.Key}, in.RawBody,
		func(first *store.IdempotencyKey) (int, wire.Placed, error) {
			if first != nil && first.Subject != "" { // a process began it and died: nobody is called twice
				was, err := s.Placed(ctx, p.Account, first.Subject)
				if err != nil {
					return 0, wire.Placed{}, err
				}
				return http.StatusOK, *was, nil
			}
			o.Once, o.Paced = first, true
			now, err := s.Dial(ctx, p, o)
			if err != nil {
				return 0, wire.Placed{}, err
			}
			return http.StatusOK, *now, nil
		})
	if err != nil {
		return nil, err
	}
	return &dialOutput{placed}, nil
}

type monitorInput struct {
	ID string `query:"call_id" required:"true" doc:"The call's identifier, as dial answered." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type monitorOutput struct{ Body wire.CallState }

func (s *calls) monitor(ctx context.Context, in *monitorInput) (*monitorOutput, error) {
	if in.ID == "" {
		return nil, api.Bad("call_id: say which call")
	}
	seen, err := s.Look(ctx, api.AccountOf(ctx), in.ID)
	if errors.Is(err, store.ErrNotFound) {
		seen, err = unknown(), nil
	}
	if err != nil {
		return nil, err
	}
	return &monitorOutput{*seen}, nil
}

// HungUp is the answer to a hang-up.
type HungUp struct {
	CallID string `json:"call_id" doc:"The call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Status string `json:"status" doc:"ended." enum:"ended"`
}

type hangupOutput struct{ Body HungUp }

func (s *calls) hangup(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*hangupOutput, error) {
	if err := s.Hangup(ctx, api.AccountOf(ctx), in.ID); err != nil {
		return nil, err
	}
	return &hangupOutput{HungUp{in.ID, ended}}, nil
}

package callcenter

import (
	"context"
	"crypto/sha256"
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

type dialInput struct {
	Key     string `header:"Idempotency-Key" doc:"Of your choice, up to 255 characters; makes it safe to send the request again." maxLength:"255" example:"call-42"`
	RawBody []byte
	Body    wire.NewCall
}

// orderOf checks the body alone: what does not depend on the account.
func orderOf(n *wire.NewCall) (Order, error) {
	o := Order{From: strings.TrimSpace(n.From), To: strings.TrimSpace(n.To), Agent: n.AgentID, Variables: n.Vars, Metadata: n.Metadata}
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
		what = onMachine(n, &o)
	}
	if what == "" {
		what = n.Metadata.Check()
	}
	if what == "" {
		o.Headers, what = n.Headers.Read()
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

// maxMessage bounds the message for a machine, in characters: a minute.
const maxMessage = 1000

// onMachine reads what a machine gets; it returns what is wrong with it.
func onMachine(n *wire.NewCall, o *Order) string {
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

func (s *calls) dial(ctx context.Context, in *dialInput) (*api.Reply[wire.Placed], error) {
	o, err := orderOf(&in.Body)
	if err != nil {
		return nil, err
	}
	p := api.PrincipalOf(ctx)
	if a := api.AddressOf(ctx); a.IsValid() {
		o.IP = a.String()
	}
	return api.Found(once(ctx, s.db, store.IdempotencyKey{Account: p.Account, Route: "POST /callcenter/dial", Key: in.Key}, in.RawBody,
		func(first *store.IdempotencyKey) (*wire.Placed, error) {
			if first != nil && first.Subject != "" { // a process began it and died: no second call is placed
				return s.Placed(ctx, p.Account, first.Subject)
			}
			o.Once, o.Paced = first, true
			return s.Dial(ctx, p, o)
		}))
}

type monitorInput struct {
	ID string `query:"call_id" required:"true" doc:"The call's identifier, as dial answered." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (s *calls) monitor(ctx context.Context, in *monitorInput) (*api.Reply[wire.CallState], error) {
	if in.ID == "" {
		return nil, api.Bad("call_id: say which call")
	}
	seen, err := s.Look(ctx, api.AccountOf(ctx), in.ID)
	if errors.Is(err, store.ErrNotFound) {
		seen, err = unknown(), nil
	}
	return api.Found(seen, err)
}

func (s *calls) hangup(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*api.Reply[wire.HungUp], error) {
	if err := s.Hangup(ctx, api.AccountOf(ctx), in.ID); err != nil {
		return nil, err
	}
	return api.Body(wire.HungUp{CallID: in.ID, Status: ended}), nil
}

// once answers a request that may have an idempotency key: what it was answered with
// the first time, or what do makes of it now. Errors are not kept: where nothing was begun
// the request may be sent again, and where something was begun the answer says so. The Once that do is given is nil without a key; what is begun is to be
// entered in it, and its Subject is what a process that died has begun.
func once[T any](ctx context.Context, db *store.DB, o store.IdempotencyKey, body []byte, do func(*store.IdempotencyKey) (*T, error)) (*T, error) {
	if o.Key == "" {
		return do(nil)
	}
	for i := range len(o.Key) {
		if o.Key[i] < ' ' || o.Key[i] > '~' || len(o.Key) > maxKey {
			return nil, api.Bad("Idempotency-Key: up to 255 printable characters of ASCII")
		}
	}
	o.Hash = sha256.Sum256(body)
	was, err := db.BeginRequest(ctx, &o)
	if err != nil {
		return nil, err
	}
	if was != nil {
		out := new(T)
		return out, json.Unmarshal(was.Body, out)
	}
	// The answer is kept although the client may have gone: it will ask again.
	kept := context.WithoutCancel(ctx)
	out, err := do(&o)
	if err != nil {
		if drop := db.DropRequest(kept, &o); drop != nil {
			return nil, drop
		}
		return nil, err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return out, db.FinishRequest(kept, &o, store.Answer{Status: statusOf(out), Body: text})
}

// statusOf is the status of an answer: 202 says that a number is ordered and does not work yet.
func statusOf(answer any) int {
	if n, ok := answer.(*wire.Number); ok && n.Status != active {
		return http.StatusAccepted
	}
	return http.StatusOK
}

const maxKey = 255

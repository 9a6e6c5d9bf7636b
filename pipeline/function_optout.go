package pipeline

import (
	"context"
	"encoding/json"
	"errors"

	"parley/inference"
	"parley/pipeline/tool"
)

// OptOut is the function that keeps the caller from being called again.
const OptOut = "opt_out"

// DoNotCall puts the other party of a call on the account's do-not-call list.
type DoNotCall func(context.Context) error

// errNotListed is the result where the number could not be put on the list.
var errNotListed = errors.New("the number could not be put on the list; it may be withheld")

func optOut(list DoNotCall) builtin {
	return builtin{Function: tool.Function{
		Spec: inference.Tool{Name: OptOut,
			Description: "The person you talk to does not want to be called again: put their number on the do-not-call list. Only when they ask for it; then tell them that it is done.",
			Parameters:  []byte(`{"type":"object","properties":{},"additionalProperties":false}`)},
		Run: func(ctx context.Context, _ json.RawMessage) (string, error) {
			if list(ctx) != nil {
				return "", errNotListed
			}
			return `{"listed":true}`, nil
		},
	}}
}

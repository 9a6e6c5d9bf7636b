package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/tool"
)

// HandOver is the function that passes the caller to another agent.
const HandOver = "hand_over"

const (
	// handOverMost is how long another agent may take until it can conduct: it is read, and its functions may have to be asked for.
	handOverMost = 10 * time.Second
	// handOverGap is the silence between the last word and the hand-over.
	handOverGap = 200 * time.Millisecond
	maxName     = 100 // bytes of a name that is not on the list, in an error
)

var errHandOver = errors.New("the arguments do not fit the function's parameters")

// ToHandOver is HandOver to one of list, in which no two have one name. take has the other agent conduct the call, or returns an error that the
// model reads. The result is for the other agent's model.
func ToHandOver(list []agent.Successor, take func(context.Context, *agent.Successor) error) Function {
	return Function{After: true, Gap: handOverGap, Alone: true, Most: handOverMost, Function: tool.Function{Spec: handOverSpec(list), Timeout: handOverMost,
		Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			to, result, err := Successor(list, arguments)
			if err == nil {
				err = take(ctx, to)
			}
			return result, err
		}}}
}

// Successor is whom the model wants to hand over to, and the result that this one's model reads.
func Successor(list []agent.Successor, arguments json.RawMessage) (to *agent.Successor, result string, err error) {
	var in struct{ To, Summary string }
	if json.Unmarshal(arguments, &in) != nil {
		return nil, "", errHandOver
	}
	i := slices.IndexFunc(list, func(to agent.Successor) bool { return strings.EqualFold(to.Name, strings.TrimSpace(in.To)) })
	if i < 0 {
		return nil, "", fmt.Errorf("%q is not on the list", tool.Clip(in.To, maxName))
	}
	return &list[i], takenOver(list[i].Name, in.Summary), nil
}

// handOverSpec is the function as the model sees it.
func handOverSpec(list []agent.Successor) inference.Tool {
	var names []string
	colleagues := ""
	for i := range list {
		names = append(names, list[i].Name)
		colleagues += "\n- " + list[i].Name
		if list[i].Description != "" {
			colleagues += ": " + list[i].Description
		}
	}
	text := func(about string) map[string]any { return map[string]any{"type": "string", "description": about} }
	to := text("Whom to hand over to: a name of the list.")
	to["enum"] = names
	parameters, _ := json.Marshal(map[string]any{"type": "object", "additionalProperties": false, "required": []string{"to", "summary"},
		"properties": map[string]any{"to": to, "summary": text("What your colleague must know of this call, in one or two sentences.")}}) // texts can be written
	return inference.Tool{Name: HandOver, Parameters: parameters,
		Description: "Hand the caller over to a colleague, who goes on with this call in your place. Tell the caller first, without a goodbye; it begins when your words have been heard. Your colleagues:" + colleagues}
}

// takenOver is the result of a hand-over.
func takenOver(name, summary string) string {
	b, _ := json.Marshal(struct {
		Done    bool   `json:"handed_over"`
		Name    string `json:"you_are"`
		Note    string `json:"note"`
		Summary string `json:"summary,omitempty"`
	}{true, name, "The caller was handed over to you and hears you from now on. What was said before this was said by another agent. Go on from here in your own role.", summary}) // texts can be written
	return string(b)
}

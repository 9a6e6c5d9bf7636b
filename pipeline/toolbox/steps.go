package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/tool"
)

// NextStep is the function that goes on to another step of the conversation.
const NextStep = "next_step"

var errStep = errors.New("the arguments do not fit the function's parameters")

// Steps are where an agent is in its steps. Its methods may be called from any goroutine.
type Steps struct {
	prompt string
	list   []agent.Step

	mu sync.Mutex
	at int
}

// NewSteps begins at the first step of an agent with a prompt, which has one at least.
func NewSteps(prompt string, list []agent.Step) *Steps { return &Steps{prompt: prompt, list: list} }

// Prompt is what the agent goes by now.
func (s *Steps) Prompt() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[s.at].At(s.prompt)
}

// Go goes on as the model wrote, and returns the result for it. The text of the error is for the model, too.
func (s *Steps) Go(arguments json.RawMessage) (result string, err error) {
	var in struct{ To string }
	if json.Unmarshal(arguments, &in) != nil {
		return "", errStep
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	here := &s.list[s.at]
	to := slices.IndexFunc(s.list, func(x agent.Step) bool { return strings.EqualFold(x.Name, strings.TrimSpace(in.To)) })
	if to < 0 || !slices.ContainsFunc(here.Next, func(w agent.Way) bool { return w.To == s.list[to].Name }) {
		return "", fmt.Errorf("no way leads from %q to %q", here.Name, tool.Clip(in.To, maxName))
	}
	s.at = to
	b, _ := json.Marshal(map[string]string{"step": s.list[to].Name}) // texts can be written
	return string(b), nil
}

// Function is NextStep. changed has the agent go by another prompt from its next reply on.
func (s *Steps) Function(changed func(prompt string)) tool.Function {
	return tool.Function{Spec: s.spec(), Run: func(_ context.Context, arguments json.RawMessage) (string, error) {
		result, err := s.Go(arguments)
		if err == nil {
			changed(s.Prompt())
		}
		return result, err
	}}
}

// spec is the function as the model sees it.
func (s *Steps) spec() inference.Tool {
	var names []string
	for i := range s.list {
		names = append(names, s.list[i].Name)
	}
	parameters, _ := json.Marshal(map[string]any{"type": "object", "additionalProperties": false, "required": []string{"to"},
		"properties": map[string]any{"to": map[string]any{"type": "string", "enum": names, "description": "The step to go on to."}}}) // texts can be written
	return inference.Tool{Name: NextStep, Parameters: parameters,
		Description: "Go on to another step of this conversation, when your instructions say so. Say nothing of it to the caller."}
}

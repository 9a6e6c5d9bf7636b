package inference

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrStalled is the cause to cancel a context with when an engine has been
// silent for too long. A failover takes it as that engine's failure; any other
// cause (the caller interrupted, the call ended) is nobody's fault.
var ErrStalled = errors.New("nothing came in time")

// FaultOf is the fault of the first *Error in err's chain; ErrFailed for any
// other error and 0 for nil.
func FaultOf(err error) Fault {
	if err == nil {
		return 0
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Fault
	}
	return ErrFailed
}

// CountTokens is the estimate used where no provider counts: a quarter of the
// characters (Unicode code points), rounded up.
func CountTokens(characters int) int { return (characters + 3) / 4 }

// Instructions is the prompt and what else the model has to know of the call.
func (r Request) Instructions() string {
	if r.Unheard == "" {
		return r.System
	}
	return strings.TrimSpace(r.System + "\n\nThe caller interrupted your first message before this part of it was heard: \"" + r.Unheard +
		"\" Answer the caller first, then say what of it they still have to know, unless you have done so since.")
}

// Characters is the length in code points of all that a request gives a model to
// read: prompt, messages, tool calls and tool definitions.
func (r Request) Characters() int {
	n := utf8.RuneCountInString(r.Instructions())
	for _, m := range r.Messages {
		n += utf8.RuneCountInString(m.Text)
		for _, c := range m.ToolCalls {
			n += utf8.RuneCountInString(c.Name) + utf8.RuneCountInString(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += utf8.RuneCountInString(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Parameters)
	}
	return n
}

package talk

import (
	"errors"
	"net/http"

	"parley/api"
	"parley/media"
)

// Codes of a goodbye: those of WebSocket close frames (RFC 6455 section 7.4.1 and the
// registry it opened), whatever carries it.
const (
	CodeNormal      = 1000
	CodeGoingAway   = 1001
	CodePolicy      = 1008
	CodeServerError = 1011
	CodeTryLater    = 1013
)

// Goodbye is the close code and the sentence that end a conversation. Sentences are for
// people: which limit the conversation reached, the client is told first, by an error.
func (c *Client) Goodbye(e *media.Ended) (code int, why string) {
	code, why = closing(e)
	if code == CodePolicy {
		p := api.ProblemOf(api.Stopped(e))
		c.send(message{Type: "error", Data: fault{Code: p.Code, Message: why, Retryable: p.Retryable}})
	}
	return code, why
}

// closing maps the end of a conversation to a close code and a sentence.
func closing(e *media.Ended) (int, string) {
	switch e.Reason {
	case media.AgentHangup, media.UserHangup, media.Completed:
		return CodeNormal, "the conversation has ended"
	case media.BalanceExhausted:
		switch e.Detail {
		case media.Disputed:
			return CodePolicy, "a payment of the account is disputed"
		case media.Spending:
			return CodePolicy, "the day's limit of spending is reached"
		case media.TicketSpent:
			return CodePolicy, "the conversation has cost as much as its ticket allows"
		}
		return CodePolicy, "the balance is exhausted"
	case media.MaxDuration:
		return CodePolicy, "the conversation has reached its longest duration"
	case media.APIHangup:
		if e.Detail == "drain" {
			return CodeGoingAway, "the server is stopping"
		}
		if e.Detail == media.Suspended {
			return CodePolicy, "the account is suspended"
		}
		return CodeNormal, "the conversation was ended"
	}
	return CodeServerError, "the conversation has failed"
}

// Refusal is the close code and sentence for a conversation that is not admitted.
// Clients connect again after every code but the policy one.
func Refusal(err error) (code int, why string) {
	p := api.ProblemOf(err)
	switch {
	case errors.Is(err, api.ErrDraining):
		return CodeGoingAway, p.Message
	case p.Status == http.StatusServiceUnavailable:
		return CodeTryLater, p.Message
	case p.Status >= 500:
		return CodeServerError, p.Message
	}
	return CodePolicy, p.Message
}

package sip

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/rtpport"
	"parley/sip/trunk"
)

// NotAnswered is why a call that we placed did not come up.
type NotAnswered struct {
	Code   int           // the final response, 0 when there was none
	Phrase string        // its text
	Rang   bool          // 180 or 183 had come before
	Err    error         // of the transport or the negotiation, when Code does not tell
	Spam   bool          // an analytics service refused, not the callee
	q850   int           // from the Reason header, 0: none
	rest   time.Duration // the target asks to be left alone; 0: it does not
	heard  progress
}

func (e *NotAnswered) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("sip: not answered: %v", e.Err)
	}
	return fmt.Sprintf("sip: not answered: %d %s", e.Code, e.Phrase)
}

func (e *NotAnswered) Unwrap() error { return e.Err }

// unreached is the failure of a call that did not get out. A timeout below us,
// of a name or a connection, must not be taken for the end of the caller's
// patience, which is no_answer.
func unreached(ctx context.Context, err error) *NotAnswered {
	if ctx.Err() != nil {
		return &NotAnswered{Err: context.Cause(ctx)}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New(err.Error())
	}
	return &NotAnswered{Err: err}
}

// notAnswered reads a final response other than 2xx.
func notAnswered(res *gosip.Response, heard progress) *NotAnswered {
	e := &NotAnswered{Code: res.StatusCode, Phrase: res.Reason, Rang: heard >= heardProgress, heard: heard, Spam: res.StatusCode == 608, rest: trunk.Rest(res)}
	for _, h := range res.GetHeaders("reason") {
		for _, c := range header.ParseReason(h.Value()) {
			if c.Q850 {
				e.q850 = c.Code
			} else if c.Code >= 300 {
				e.Code = c.Code
			}
			if strings.Contains(strings.ToLower(c.Text), "analytics") {
				e.Spam = true
			}
		}
	}
	return e
}

// Retry says whether the next target of the trunk should be tried: this one
// could not be reached or could not take the call, and no phone rang.
func (e *NotAnswered) Retry() bool {
	here := errors.Is(e.Err, rtpport.ErrExhausted) // the target is not to blame
	return e.heard < heardRinging && !here && (e.Code == 0 && !e.Rang || trunk.Unavailable(e.Code)) && e.Ended().Detail == DetailUnavailable
}

// Ended names the outcome in the words that the rest of the server uses. The
// Q.850 cause of a Reason header wins over the response: it comes from the
// telephone network, the response from the gateway in front of it.
func (e *NotAnswered) Ended() *media.Ended {
	if ended, ok := errors.AsType[*media.Ended](e.Err); ok {
		return ended // the cause of the context that ended the ringing
	}
	switch {
	case e.Spam:
		return &media.Ended{Reason: media.Rejected, Detail: DetailSpam}
	case errors.Is(e.Err, dialog.ErrAuth):
		return &media.Ended{Reason: media.Failed, Detail: DetailAuth}
	case errors.Is(e.Err, context.DeadlineExceeded): // our ring timeout
		return &media.Ended{Reason: media.NoAnswer}
	}
	end, ok := endsOfQ850[e.q850]
	if !ok && e.Rang {
		end, ok = endsAfterRinging[e.Code]
	}
	if !ok {
		end, ok = endsOfCode[e.Code]
	}
	switch {
	case ok:
	case e.Code >= 300 && e.Code < 400: // not followed: that is how toll fraud is done
		end = media.Ended{Reason: media.Failed, Detail: DetailRedirected}
	default:
		end = media.Ended{Reason: media.Failed, Detail: DetailUnavailable}
	}
	return &end
}

// How calls end by the Q.850 cause, by a response that comes when it has rung (the callee's
// then, not the trunk's), and by any other.
var (
	busy          = media.Ended{Reason: media.Busy}
	noAnswer      = media.Ended{Reason: media.NoAnswer}
	declined      = media.Ended{Reason: media.Rejected, Detail: DetailDeclined}
	notAccepted   = media.Ended{Reason: media.Failed, Detail: DetailAuth}
	invalidNumber = media.Ended{Reason: media.Failed, Detail: DetailInvalidNumber}
	noCodec       = media.Ended{Reason: media.Failed, Detail: DetailNoCodec}

	endsOfQ850       = map[int]media.Ended{1: invalidNumber, 17: busy, 18: noAnswer, 19: noAnswer, 20: noAnswer, 21: declined, 22: invalidNumber, 28: invalidNumber}
	endsAfterRinging = map[int]media.Ended{403: declined, 408: noAnswer}
	endsOfCode       = map[int]media.Ended{
		401: notAccepted, 403: notAccepted, 407: notAccepted, 404: invalidNumber, 410: invalidNumber, 484: invalidNumber, 604: invalidNumber,
		415: noCodec, 488: noCodec, 606: noCodec, 480: noAnswer, 486: busy, 600: busy, 603: declined, 607: declined,
	}
)

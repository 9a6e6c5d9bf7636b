package remote

import (
	"errors"
	"net/http"
	"strings"

	"parley/api/client"
	wsclient "parley/api/wsagent/client"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/account"
	"parley/cmd/parley/remote/speech"
)

// ExitStatus is the exit status for what a server refuses, 0 for other errors.
func ExitStatus(err error) int {
	if errors.Is(err, account.ErrNotSold) {
		return command.ExitNotFound
	}
	if e, ok := errors.AsType[*speech.EndError](err); ok {
		return answerStatus(0, e.Code)
	}
	if e, ok := errors.AsType[*wsclient.Refused](err); ok {
		return answerStatus(e.Status, e.Code)
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return answerStatus(e.Status, e.Code)
	}
	return command.ExitDone
}

// answerStatus is the same for what a server answered: the status of HTTP, 0 on a
// socket, and the code.
func answerStatus(status int, code string) int {
	switch family, what, _ := strings.Cut(code, "."); {
	case status == http.StatusPaymentRequired, status == http.StatusForbidden, status == http.StatusTooManyRequests,
		family == "billing", family == "limit", code == "tts.session_limit_reached", code == "auth.rate_limited",
		code == "callcenter.consent_required", code == "callcenter.destination_not_allowed",
		code == "callcenter.emergency_number", code == "callcenter.do_not_call":
		return command.ExitRefused
	case status == http.StatusNotFound, what == "not_found":
		return command.ExitNotFound
	}
	return command.ExitFailed
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/inference"
	"parley/store"
)

// TestProblemOf has every error that the packages below may return.
func TestProblemOf(t *testing.T) {
	fault := func(f inference.Fault) error {
		return &inference.Error{Engine: "some-engine", Fault: f, Err: errors.New("inner text")}
	}
	for _, tt := range []struct {
		err       error
		status    int
		code      string
		retryable bool
	}{
		{ErrMissingKey, 401, "auth.missing_key", false},
		{ErrRateLimited, 429, "auth.rate_limited", true},
		{ErrBackOff, 429, "auth.rate_limited", true},
		{ErrBusy, 503, "service.unavailable", true},
		{ErrDraining, 503, "service.unavailable", true},
		{ErrBadRequest, 400, "validation.invalid_request_format", false},
		{ErrVoice, 400, "validation.invalid_voice", false},
		{ErrLanguage, 400, "validation.invalid_language", false},
		{ErrCannotHear, 503, "stt.not_configured", false},
		{ErrNoAgent, 404, "agent.not_found", false},
		{ErrTooLarge, 413, "request.too_large", false},
		{ErrNotFound, 404, "request.not_found", false},
		{ErrWrongMethod, 405, "request.method_not_allowed", false},
		{ErrSessionStart, 503, "agent.session_failed", true},
		{ErrTicketScope, 403, "auth.ticket_not_allowed", false},
		{ErrMediaType, 415, "request.unsupported_media_type", false},
		{ErrTextLength, 400, "validation.text_too_long", false},
		{ErrSpeed, 400, "validation.speed_out_of_range", false},
		{ErrSteps, 400, "validation.steps_out_of_range", false},
		{ErrSynthesis, 500, "tts.synthesis_failed", true},
		{ErrVoiceAway, 503, "tts.voice_unavailable", true},
		{ErrModel, 404, "tts.model_not_found", false},
		{ErrJobs, 429, "tts.session_limit_reached", true},
		{ErrDeaf, 503, "stt.not_configured", false},
		{ErrUnheard, 400, "stt.language_not_supported", false},
		{ErrRecognition, 503, "stt.stream_create_failed", true},
		{ErrNotReady, 409, "task.not_ready", false},
		{ErrTaskOver, 409, "task.ended", false},
		{ErrExpired, 410, "task.expired", false},

		{store.ErrNotFound, 404, "request.not_found", false},
		{store.ErrUnauthorized, 401, "auth.invalid_key", false},
		{store.ErrInvalid, 400, "validation.invalid_request_format", false},
		{store.ErrVersion, 412, "request.precondition_failed", false},
		{store.ErrNumberTaken, 400, "callcenter.number_not_available", false},
		{store.ErrSuspended, 402, "billing.account_disputed", false},
		{store.ErrDisputed, 402, "billing.account_disputed", false},
		{store.ErrTopUps, 429, "auth.rate_limited", true},
		{ErrPayments, 503, "service.unavailable", true},
		{store.ErrTopupRequired, 402, "billing.topup_required", false},
		{store.ErrInsufficientBalance, 402, "billing.insufficient_balance", false},
		{store.ErrSpending, 402, "limit.spending", false},
		{store.ErrConcurrency, 429, "limit.concurrency", true},
		{store.ErrTicketUsed, 403, "auth.time_limited", false},
		{store.ErrIdempotency, 409, "request.idempotency_conflict", false},
		{store.ErrRateCardChanged, 500, "internal.error", true}, // the operator's business
		{store.ErrFenced, 503, "service.unavailable", true},
		{store.ErrUnavailable, 503, "service.unavailable", true},

		{fault(inference.ErrFailed), 503, "agent.provider_error", true},
		{fault(inference.ErrLanguage), 400, "validation.invalid_language", false},
		{fault(inference.ErrVoice), 400, "validation.invalid_voice", false},
		{fault(inference.ErrUnavailable), 503, "agent.provider_error", true},
		{fault(inference.ErrRefused), 503, "agent.provider_error", true},

		{context.DeadlineExceeded, 504, "internal.timeout", true},
		{context.Canceled, 499, "internal.cancelled", false},
		{errors.New("password of the database"), 500, "internal.error", true},
		{fmt.Errorf("%w: %w", ErrNoAgent, store.ErrNotFound), 404, "agent.not_found", false},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("inner text: %w", tt.err)} {
			p := ProblemOf(err)
			if p.Status != tt.status || p.Code != tt.code || p.Retryable != tt.retryable {
				t.Errorf("%v: %+v, want %d %s, retryable %v", err, p, tt.status, tt.code, tt.retryable)
			}
			if p.Message == "" || len(p.Message) > 123 {
				t.Errorf("%v: the sentence %q is none for a close frame", err, p.Message)
			}
			if strings.Contains(p.Message, "inner") || strings.Contains(p.Message, "password") || strings.Contains(p.Message, "some-engine") {
				t.Errorf("%v: the sentence %q tells what is inside", err, p.Message)
			}
		}
	}
}

// TestTableIsReachable: no row stands behind one that takes its errors.
func TestTableIsReachable(t *testing.T) {
	for _, row := range table {
		if got := ProblemOf(row.err); got != row.Problem {
			t.Errorf("%v is answered with %+v, its row says %+v", row.err, got, row.Problem)
		}
	}
}

func TestWriteError(t *testing.T) {
	for _, tt := range []struct {
		err   error
		body  string
		after string
	}{
		{store.ErrInsufficientBalance, `{"code":"billing.insufficient_balance","error":"The balance is too low to start.","retryable":false}`, ""},
		{ErrBackOff, `{"code":"auth.rate_limited","error":"Too many attempts failed; wait and try again.","retryable":true}`, "30"},
		{store.ErrConcurrency, `{"code":"limit.concurrency","error":"The account has as many sessions as it may have at once.","retryable":true}`, "5"},
		{ErrRateLimited, `{"code":"auth.rate_limited","error":"Too many requests; wait and try again.","retryable":true}`, "1"},
	} {
		w := httptest.NewRecorder()
		WriteError(w, tt.err)
		if got := strings.TrimSpace(w.Body.String()); got != tt.body || !json.Valid([]byte(got)) {
			t.Errorf("body %s, want %s", got, tt.body)
		}
		if w.Code != ProblemOf(tt.err).Status || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Retry-After") != tt.after {
			t.Errorf("status %d, header %v", w.Code, w.Header())
		}
	}
}

package inference

import (
	"errors"
	"time"
)

// Fault says why an engine refused or failed, for the one error table.
type Fault uint8

// The faults of engines.
const (
	ErrFailed      Fault = iota + 1 // the engine or its server failed; trying again may help
	ErrLanguage                     // this engine does not know the language
	ErrVoice                        // or the voice
	ErrUnavailable                  // not reachable, not started, no slot
	ErrRefused                      // the server refused our credentials or request: no retry
)

// Error is an engine's fault. Its text never holds a secret or caller's words.
type Error struct {
	Engine string
	Fault  Fault
	Err    error
	// RetryAfter is how long the server wants to be left alone; 0: it does not say.
	RetryAfter time.Duration
	// Key says of ErrRefused that it is about the key: that is wrong, is not paid for, or may not do this.
	Key bool
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Engine + ": " + e.Fault.String()
	}
	return e.Engine + ": " + e.Fault.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func (f Fault) String() string {
	switch f {
	case ErrLanguage:
		return "language not supported"
	case ErrVoice:
		return "unknown voice"
	case ErrUnavailable:
		return "not available"
	case ErrRefused:
		return "refused"
	}
	return "failed"
}

// KeyRefused says whether an engine's server refused the key.
func KeyRefused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Key
}

// Reason is what an engine's server has said of a request that it refused.
func Reason(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return ErrRefused.String()
}

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

package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Error is why the store refused; compare with errors.Is. An error that wraps none
// of these is a fault of ours.
type Error string

func (e Error) Error() string { return string(e) }

// What the store refuses with.
const (
	// ErrNotFound is also what belongs to another account.
	ErrNotFound     Error = "not found"
	ErrUnauthorized Error = "unknown or revoked credential"
	// ErrInvalid is wrapped by an error that says what.
	ErrInvalid Error = "invalid"
	// ErrVersion: an agent's version is not the expected one.
	ErrVersion             Error = "changed by someone else"
	ErrNumberTaken         Error = "the number is in use already"
	ErrTrunkSource         Error = "a trunk of another account has a source of this one"
	ErrSuspended           Error = "the account is suspended"
	ErrDisputed            Error = "a payment of the account is disputed"
	ErrTopupRequired       Error = "a first top-up is required"
	ErrInsufficientBalance Error = "the balance is too low"
	// ErrSpending: what the account, the key or the agent may spend in a day is spent.
	ErrSpending    Error = "the day's limit of spending is reached"
	ErrConcurrency Error = "too many sessions at once"
	// ErrDialRate: the account places calls, or sends messages, too fast.
	ErrDialRate Error = "too many calls or messages a second"
	// ErrPace: the number has placed as many calls within the last hour as its account allows.
	ErrPace Error = "the number has placed its calls of this hour"
	// ErrDoNotCall: the account's list of numbers not to call has the callee.
	ErrDoNotCall Error = "the number is on the do-not-call list"
	// ErrTopUps: MaxTopUps of the account were begun within the hour.
	ErrTopUps Error = "too many top-ups an hour"
	// ErrStaleRead: a payment was read before what is known of it.
	ErrStaleRead Error = "a later read of the payment was applied"
	// ErrTicketUsed: the session ticket has started as many conversations as it may.
	ErrTicketUsed Error = "the ticket is used up"
	// ErrTasks: MaxTasks of the account wait or run.
	ErrTasks Error = "too many tasks at once"
	// ErrTaskEnded: a task that has ended cannot be cancelled.
	ErrTaskEnded Error = "the task has ended"
	// ErrCampaigns: MaxCampaigns of the account are unfinished.
	ErrCampaigns Error = "too many unfinished batches"
	// ErrClaimLost: the row of a batch is not the caller's to dial: it was dialled, its
	// batch was paused or cancelled, or another node has it.
	ErrClaimLost   Error = "the row is not to be dialled"
	ErrIdempotency Error = "the key was used for something else"
	// ErrInProgress: the request with this key is being worked on.
	ErrInProgress      Error = "the request is being worked on"
	ErrRateCardChanged Error = "the rate card changed but its version did not"
	// ErrFenced: the session is closed, or a younger process has the node's name.
	// Hang up.
	ErrFenced      Error = "another process owns this now"
	ErrUnavailable Error = "the database is away"
	ErrUnsealed    Error = "sealed by another master key"
)

// Invalid says what about an argument is wrong.
func Invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// IfUnchanged is e for a command that changed no row.
func (e Error) IfUnchanged(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.RowsAffected() == 0 {
		err = e
	}
	return err
}

// Fail explains err of a query: which operation, and one of our errors where it
// means one. It keeps the cause, whose text holds no values of ours.
func Fail(op string, err error) error {
	if err == nil {
		return nil
	}
	var ours Error
	switch {
	case errors.As(err, &ours):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%s: %w", op, ErrNotFound)
	case unstorable(err):
		return fmt.Errorf("%s: %w: text that is not valid UTF-8", op, ErrInvalid)
	case away(err):
		return fmt.Errorf("%s: %w: %w", op, ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// SQLSTATEs that mean: not now.
const (
	readOnly     = "25006" // a primary that has become a standby
	idleTooLong  = "25P03" // idle_in_transaction_session_timeout
	lockNotThere = "55P03" // lock_timeout
)

// Locked says whether err is a wait for a lock that was given up, and not a database that
// is away: the next statement may go through.
func Locked(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == lockNotThere
}

// away says whether the database could not be reached, was lost, is stopping, or cannot
// do it now.
func away(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pe.Code {
		case readOnly, idleTooLong, lockNotThere:
			return true
		}
		// Classes 08 connection, 53 resources, 57P shutdown and start-up (SQLSTATE).
		return strings.HasPrefix(pe.Code, "08") || strings.HasPrefix(pe.Code, "53") || strings.HasPrefix(pe.Code, "57P")
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	// pgx reports a connection that broke under a query as an unexpected end.
	return pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "conn closed")
}

// unstorable says whether a value from the network holds bytes that no text can
// (SQLSTATE 22021, and 22P05 in JSON): the sender's mistake, not ours.
func unstorable(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "22021" || pe.Code == "22P05")
}

// Unfit says whether the database refuses the values themselves (SQLSTATE classes 22
// data and 23 integrity), and will again.
func Unfit(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(pe.Code, "22") || strings.HasPrefix(pe.Code, "23"))
}

// Uncertain says whether err is of a commit that may have happened.
func Uncertain(err error) bool {
	_, perhaps := errors.AsType[unknownOutcome](err)
	return perhaps
}

// Violates says whether err is a broken constraint of that name.
func Violates(err error, constraint string) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.ConstraintName == constraint
}

package ledgertest

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/tasks"
)

// Nowhere is a queue that forgets.
func Nowhere(context.Context, pgx.Tx, string, string) error { return nil }

// Submission asks for the synthesis of so many characters.
func (f *Fixture) Submission(account string, chars int) tasks.Submission {
	return tasks.Submission{Node: f.Node, Account: account, Card: Card, Chars: int64(chars),
		Script: tasks.Script{Text: strings.Repeat("a", chars), Voice: "F1", Language: "en", Format: "wav", Speed: 1.05, Steps: 6}}
}

// Submit takes it on.
func (f *Fixture) Submit(account string, chars int) *tasks.Task {
	f.T.Helper()
	t, err := f.Tasks.Submit(f.Context(), f.Submission(account, chars), Nowhere)
	f.OK(err)
	return t
}

// Claim makes a node the one that works on a task.
func (f *Fixture) Claim(t *tasks.Task, n store.Node, now time.Time) *tasks.Task {
	f.T.Helper()
	c, err := f.Tasks.Claim(f.At(now), n, t.Account, t.ID)
	f.OK(err)
	return c
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// The ledger as a server uses it: the meter of a node is the one writer of its
// sessions' checkpoints, and stores in one transaction whatever was asked for while
// the last one ran.

// books is the store of a node whose meter is measured: it says which sessions'
// checkpoints are stored, and keeps nothing of what was said.
type books struct {
	*store.DB
	*ledger.Ledger
	mu     sync.Mutex
	waits  map[string]chan error // session to who asked for its checkpoint
	rounds int                   // transactions
}

func (b *books) Checkpoints(ctx context.Context, cs []ledger.Checkpoint) ([]ledger.CheckpointResult, error) {
	results, err := b.Ledger.Checkpoints(ctx, cs)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rounds++
	for i := range cs {
		outcome := err
		if results != nil && !errors.Is(results[i].Err, ledger.ErrLater) {
			outcome = errors.Join(err, results[i].Err)
		}
		select {
		case b.waits[cs[i].Session.ID] <- outcome:
		default: // of a round that was not asked for
		}
	}
	return results, err
}

func (b *books) SaveConversation(context.Context, string, string, history.Conversation) error {
	return nil
}

func (b *books) SaveEvents(context.Context, []history.Happened) error { return nil }

func (b *books) Unfinished(context.Context, string, string) (u history.Unfinished, err error) {
	return u, nil
}

// metered is a session whose completions are stored at once.
type metered struct {
	*session.Session
	manager *session.Manager
	stored  chan error
}

// ask uses some tokens and returns when they are in the books.
func (m *metered) ask(ctx context.Context) error {
	select {
	case <-m.stored: // of an earlier round
	default:
	}
	m.Observe(event.Event{Kind: event.Used, Usage: reply.Usage{Kind: "reply", Outcome: reply.Committed,
		Tokens: inference.Usage{In: 500, Out: 50, Source: inference.UsageProvider}}})
	m.manager.Goodbye(m.Account()) // completions wait for others, for up to a second
	select {
	case err := <-m.stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// meter has sessions on each of some wallets, all of one node, report one completion
// after the other. The floor is one connection that commits bare updates.
func (b *ledgerBench) meter(name string, accounts []*account, each int, bar float64) func(context.Context) ([]Row, error) {
	return func(ctx context.Context) ([]Row, error) {
		kept := &books{DB: b.DB, Ledger: b.Ledger, waits: map[string]chan error{}}
		m := session.NewManager(kept, b.node, func() *billing.RateCard { return b.card }, 0, slog.New(slog.DiscardHandler))
		var sessions []*metered
		defer func() {
			for _, s := range sessions {
				s.End(media.Ended{Reason: media.UserHangup})
			}
		}()
		for _, a := range accounts {
			for range each {
				s, err := m.Admit(ctx, session.Admission{Start: ledger.Start{Account: a.id, Terms: billing.Terms{Kind: billing.Web}}})
				if err != nil {
					return nil, err
				}
				s.Begin()
				sessions = append(sessions, &metered{s, m, make(chan error, 1)})
				kept.waits[s.ID()] = sessions[len(sessions)-1].stored
			}
		}
		ctx, fail := context.WithCancelCause(ctx)
		stop := begin(func(running context.Context) { fail(m.Run(running)) })
		r, err := b.drive(ctx, len(sessions), func(ctx context.Context, i, _ int) error { return sessions[i].ask(ctx) })
		stop()
		g := group("ledger, one node, " + name)
		return append(r.rows(g, "checkpoints", bar, b.floors[1]), g.row("in a transaction", float64(len(r.took))/float64(max(1, kept.rounds)), "")), err
	}
}

// bare measures how many commits a second the database does for so many connections,
// of an update that changes nothing in each of some wallets in turn.
func (b *ledgerBench) bare(writers int, accounts []*account) func(context.Context) ([]Row, error) {
	return func(ctx context.Context) ([]Row, error) {
		r, err := b.drive(ctx, writers, func(ctx context.Context, writer, n int) error {
			_, err := b.pool.Exec(ctx, "update wallets set held_nano = held_nano where account_id = $1", accounts[(writer+n*writers)%len(accounts)].id)
			return err
		})
		b.floors[writers] = r.rate()
		return r.rows("ledger, floor", fmt.Sprintf("bare updates, %d at once", writers), 0, r.rate())[:1], err
	}
}

package ledger

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Closing is how a session ended.
type Closing struct {
	Reason    string        // one of the words of media.EndReason
	Detail    string        // the finer cause; may be empty
	StartedAt time.Time     // when its clock started; zero when it never did and no checkpoint said so
	EndedAt   time.Time     // when it ended; zero: now
	Usage     billing.Usage // final; zero counters leave what checkpoints said
	Uses      []store.EngineUse
}

// anyEpoch closes a session of any node.
const anyEpoch = -1

// CloseSession ends a session, posts what it owes to the ledger and returns the
// amount. Closing again changes nothing and returns the same. ErrFenced: another
// process owned it; what that one stored stands.
func (l *Ledger) CloseSession(ctx context.Context, s *Session, c Closing) (billing.Money, error) {
	return l.close(ctx, s.Account, s.ID, s.Node.Epoch, c)
}

func (l *Ledger) close(ctx context.Context, account, id string, epoch int64, c Closing) (amount billing.Money, err error) {
	if c.Reason == "" {
		return 0, store.Invalid("a session ends for a reason")
	}
	err = l.Locked(ctx, "close session", account, func(w *Tx) error {
		s, err := w.lockSession(ctx, id)
		if err != nil {
			return err
		}
		if epoch != anyEpoch && s.epoch != epoch {
			return store.ErrFenced
		}
		if !s.open {
			amount = s.amount
			return nil
		}
		err = w.end(ctx, s, c)
		amount = s.amount
		return err
	})
	return amount, err
}

// end closes an open session and does what follows from that: both it and its wallet are
// locked.
func (w *Tx) end(ctx context.Context, s *session, c Closing) error {
	if err := w.closeAndPost(ctx, s, c, cmp.Or(c.EndedAt, w.now)); err != nil {
		return err
	}
	summarized, err := w.wantAnalysis(ctx, s)
	if err != nil {
		return err
	}
	if s.terms.Kind == billing.Outbound {
		if err := w.endRow(ctx, s, c, summarized, w.now); err != nil {
			return err
		}
	}
	return w.enqueueEnd(ctx, s)
}

// closeAndPost closes an open session, which ended at a time, and posts its usage now.
func (w *Tx) closeAndPost(ctx context.Context, s *session, c Closing, ended time.Time) error {
	if s.startedAt == nil {
		s.startedAt = optional(c.StartedAt)
	}
	s.usage = s.usage.Max(owed(s.terms.Kind, s.startedAt != nil, c.Usage))
	b := &pgx.Batch{}
	if err := w.postUsage(ctx, b, s); err != nil {
		return err
	}
	if s.counted {
		w.live--
	}
	w.pots.Held -= s.held
	if err := w.countSpending(ctx, s.key, s.agent, dayOf(w.now), 0, -s.held); err != nil {
		return err
	}
	s.open, s.held = false, 0
	s.save(b)
	b.Queue("update sessions set state = 'closed', ended_at = $2, end_reason = $3, end_detail = $4 where id = $1",
		s.id, ended, c.Reason, c.Detail)
	store.SaveUses(b, s.id, c.Uses)
	return w.Conclude(ctx, b)
}

// session is a session's rows while this transaction holds the lock of its usage.
type session struct {
	id        string
	terms     billing.Terms
	version   string
	epoch     int64
	open      bool
	counted   bool // among the account's sessions at once
	startedAt *time.Time
	usage     billing.Usage
	held      billing.Money
	amount    billing.Money // of usage
	posted    billing.Money // part of amount that is in the ledger
	postingNo int
	// The API key that asked for it and the agent that talks in it; empty: none, or not known.
	key, agent string
	spentDay   *time.Time // the last on which anything was charged
	spent      billing.Money
}

var (
	selectSession = `select s.kind, s.country, s.mobile, s.own_trunk, s.price_version, u.node_epoch, u.open, s.counted, u.started_at,
		u.held_nano, u.amount_nano, u.posted_nano, u.posting_no, coalesce(u.key_id, ''), coalesce(u.agent_id, ''), u.spent_day, u.spent_nano, u.` + strings.Join(Counters[:], ", u.") + `
		from session_usage u join sessions s on s.id = u.session_id
		where u.session_id = $1 and u.account_id = $2 for no key update of u`

	updateSession = func() string {
		var set strings.Builder
		for i, c := range Counters {
			fmt.Fprintf(&set, ", %s = $%d", c, 10+i)
		}
		return `update session_usage set open = $2, started_at = $3, held_nano = $4, amount_nano = $5, posted_nano = $6,
			posting_no = $7, spent_day = $8, spent_nano = $9` + set.String() + ` where session_id = $1`
	}()
)

// lockSession reads and locks a session of an account whose wallet is locked.
func (w *Tx) lockSession(ctx context.Context, id string) (*session, error) {
	s := &session{id: id}
	into := []any{&s.terms.Kind, &s.terms.Country, &s.terms.Mobile, &s.terms.OwnTrunk, &s.version, &s.epoch, &s.open, &s.counted, &s.startedAt,
		&s.held, &s.amount, &s.posted, &s.postingNo, &s.key, &s.agent, &s.spentDay, &s.spent}
	for i := range s.usage {
		into = append(into, &s.usage[i])
	}
	return s, w.QueryRow(ctx, selectSession, id, w.account).Scan(into...)
}

func (s *session) save(b *pgx.Batch) {
	args := []any{s.id, s.open, s.startedAt, s.held, s.amount, s.posted, s.postingNo, s.spentDay, s.spent}
	for _, n := range s.usage {
		args = append(args, n)
	}
	b.Queue(updateSession, args...)
}

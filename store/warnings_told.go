package store

import (
	"context"
	"fmt"
	"time"
)

const selectWarning = `select x.id, x.account_id, x.kind, x.about, x.data, x.created_at, x.cleared_at, x.published_at, x.mailed_at
	from warnings x where `

// Warnings lists what the account was warned of, newest first.
func (db *DB) Warnings(ctx context.Context, account string, p Page) ([]Warning, error) {
	return ListPage[Warning](ctx, db, "list warnings", p, "x.id", selectWarning+"x.account_id = $1", account)
}

// WarningUnpublished is the condition, of SQL, under which UnpublishedWarnings finds any.
const WarningUnpublished = "exists (select from warnings where published_at is null)"

// UnpublishedWarnings are those of all accounts that were not published, oldest
// first, at most limit.
func (db *DB) UnpublishedWarnings(ctx context.Context, limit int) ([]Warning, error) {
	return List[Warning](ctx, db, "list warnings", selectWarning+"x.published_at is null order by x.id limit $1", limit)
}

// WarningPublished notes that a warning was published. It may have been several
// times: a node may die after it has published a warning and before it notes that.
func (db *DB) WarningPublished(ctx context.Context, account, id string) error {
	return db.Must(ctx, "note a warning", "update warnings set published_at = coalesce(published_at, $3) where account_id = $1 and id = $2", account, id, db.Time(ctx))
}

// mailLease is how long the claimant of a warning has to mail it: longer than a mail
// server may take, shorter than a customer should wait.
const mailLease = 3 * time.Minute

// WarningMail is a warning that is to be mailed.
type WarningMail struct {
	Warning
	Name       string // of the account
	To         string // its address; empty when it has none
	Recharging bool   // automatic recharge is on
	Try        int    // 1 is the first
}

// ClaimMail hands out a warning that is to be mailed now, to one caller; ErrNotFound
// when there is none. The claim is a lease of three minutes, until WarningMailed,
// MailLater or MailNever; then another node may claim it.
func (db *DB) ClaimMail(ctx context.Context) (*WarningMail, error) {
	now := db.Time(ctx)
	return First[WarningMail](ctx, db, "claim mail",
		`update warnings x set mail_at = $2, mail_tries = mail_tries + 1 from accounts a join wallets w on w.account_id = a.id
		where x.id = (select id from warnings where mail_at <= $1 order by mail_at, id limit 1 for update skip locked) and a.id = x.account_id
		returning x.id, x.account_id, x.kind, x.about, x.data, x.created_at, x.cleared_at, x.published_at, x.mailed_at, a.name, coalesce(a.email, ''),
			w.recharge_below_nano is not null, x.mail_tries`, now, now.Add(mailLease))
}

// MailDue is the condition, of SQL, in which $1 is the time, under which ClaimMail finds one that has been due for so long.
func MailDue(since time.Duration) string {
	return fmt.Sprintf("exists (select from warnings where mail_at <= $1 - interval '%d seconds')", int(since.Seconds()))
}

// WarningMailed notes that a mail server has taken the mail.
func (db *DB) WarningMailed(ctx context.Context, m *WarningMail) error {
	return db.Must(ctx, "note mail", "update warnings set mail_at = null, mailed_at = $3 where account_id = $1 and id = $2", m.Account, m.ID, db.Time(ctx))
}

// MailLater has the mail claimed again at a time.
func (db *DB) MailLater(ctx context.Context, m *WarningMail, at time.Time) error {
	return db.Must(ctx, "note mail", "update warnings set mail_at = $3 where account_id = $1 and id = $2 and mailed_at is null", m.Account, m.ID, at)
}

// MailNever gives a mail up.
func (db *DB) MailNever(ctx context.Context, m *WarningMail) error {
	return db.Must(ctx, "note mail", "update warnings set mail_at = null where account_id = $1 and id = $2", m.Account, m.ID)
}

// ForgetMail gives up the mail of warnings from before a time, and returns how many.
func (db *DB) ForgetMail(ctx context.Context, before time.Time) (int64, error) {
	return db.Exec(ctx, "forget mail", "update warnings set mail_at = null where mail_at is not null and created_at < $1", before)
}

// WarningsAt are the warnings of a statement's account whose condition lasts at a time,
// newest first.
func (s *Statement) WarningsAt(ctx context.Context, at time.Time) ([]Warning, error) {
	return Rows[Warning](ctx, s.Tx, selectWarning+`x.account_id = $1 and (x.cleared_at is null or x.cleared_at > $2)
		order by x.id desc limit $3`, s.account, at, maxHolding)
}

// maxHolding bounds what a banner is made of.
const maxHolding = 100

// WarningOf returns a warning of the account.
func (db *DB) WarningOf(ctx context.Context, account, id string) (*Warning, error) {
	return First[Warning](ctx, db, "read warning", selectWarning+"x.account_id = $1 and x.id = $2", account, id)
}

package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// How long a sign-in lasts: from its last use, and at most.
const (
	BrowserIdle = 24 * time.Hour
	BrowserMost = 14 * 24 * time.Hour
)

// Browser is a sign-in that lasts, of one browser.
type Browser struct {
	ID string
	User
	Account    string // that is looked at; empty: none, or no longer theirs
	Membership string // the user's role in it
	Listens    bool   // they may listen in on its calls
	Speaks     bool   // and speak in them
	Demo       bool   // opened without a password
	Notice     string // to be shown once
	CreatedAt  time.Time
	SeenAt     time.Time // to the minute
}

// Principal is whom the sign-in speaks for towards the account's things. Its key names
// the user, who stays, and the session, which ends.
func (b *Browser) Principal() Principal {
	owner := b.Account != "" && b.Membership == RoleOwner
	return Principal{Account: b.Account, Key: b.User.ID + browserSeparator + b.ID, User: b.User.ID,
		Owner: owner, Money: owner, Listens: b.Listens, Speaks: b.Speaks, Operator: b.User.Operator()}
}

const browserSeparator = "-"

// SignedIn says whether p is a user who has signed in, and no key.
func (p Principal) SignedIn() bool { return strings.HasPrefix(p.Key, store.UserID) }

// newToken makes a secret of 256 random bits for a cookie or a link, and its hash.
func newToken() (token string, hash []byte) {
	b := make([]byte, 32)
	rand.Read(b)
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, hashOf(token)
}

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// OpenBrowser begins a session of the user and returns its secret, which is stored only
// as a hash. It looks at the account that the user's last session looked at, else at
// the first of theirs. Sessions that have run out are deleted on the way.
func (s *Store) OpenBrowser(ctx context.Context, user string, demo bool) (token string, err error) {
	now := s.db.Time(ctx)
	token, hash := newToken()
	err = s.db.Tx(ctx, "open browser session", func(tx pgx.Tx) error {
		// An account that is looked at may have been lost since.
		account, err := store.Scalar[*string](ctx, tx, `select (select m.account_id from memberships m left join lateral (
				select max(b.seen_at) as at from browser_sessions b where b.user_id = m.user_id and b.account_id = m.account_id) s on true
			where m.user_id = $1 order by s.at desc nulls last, m.created_at, m.account_id limit 1)`, user)
		if err != nil {
			return err
		}
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx,
			"update users set signed_in_at = $2 where id = $1 and disabled_at is null", user, now)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "delete from browser_sessions where seen_at < $1 or created_at < $2",
			now.Add(-BrowserIdle), now.Add(-BrowserMost)); err != nil {
			return err
		}
		return store.Do(ctx, tx, `insert into browser_sessions (id, hash, user_id, account_id, demo, created_at, seen_at)
			values ($1, $2, $3, $4, $5, $6, $7)`, store.NewID(store.BrowserID, now), hash, user, account, demo, now, now.Truncate(time.Minute))
	})
	return token, err
}

// Browser finds the session that a secret opens and notes its use, once a minute;
// ErrUnauthorized when there is none or it has run out.
func (s *Store) Browser(ctx context.Context, token string) (*Browser, error) {
	now := s.db.Time(ctx)
	b, err := store.First[Browser](ctx, s.db, "read browser session",
		`select b.id, u.id, u.email, u.role, u.created_at, u.signed_in_at, u.password is not null, u.disabled_at, coalesce(m.account_id, ''), coalesce(m.role, ''), coalesce(m.listens, false), coalesce(m.speaks, false),
		b.demo, b.notice, b.created_at, b.seen_at
		from browser_sessions b join users u on u.id = b.user_id
		left join memberships m on m.user_id = b.user_id and m.account_id = b.account_id
		where b.hash = $1 and u.disabled_at is null and b.seen_at >= $2 and b.created_at >= $3`, hashOf(token), now.Add(-BrowserIdle), now.Add(-BrowserMost))
	if errors.Is(err, store.ErrNotFound) {
		return nil, store.Fail("read browser session", store.ErrUnauthorized)
	}
	if err != nil {
		return nil, err
	}
	if minute := now.Truncate(time.Minute); b.SeenAt.Before(minute) {
		if _, err := s.db.Exec(ctx, "read browser session", "update browser_sessions set seen_at = $2 where id = $1 and seen_at < $2", b.ID, minute); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// SwitchAccount has a session look at another account of its user.
func (s *Store) SwitchAccount(ctx context.Context, b *Browser, account string) error {
	return s.db.Must(ctx, "switch account", `update browser_sessions b set account_id = m.account_id from memberships m
		where b.id = $1 and b.user_id = $2 and m.user_id = $2 and m.account_id = $3`, b.ID, b.User.ID, account)
}

// PutNotice keeps a sentence to be shown on the session's next page; empty takes it away.
func (s *Store) PutNotice(ctx context.Context, b *Browser, notice string) error {
	return s.db.Must(ctx, "keep notice", "update browser_sessions set notice = $3 where id = $1 and user_id = $2", b.ID, b.User.ID, notice)
}

// CloseBrowser ends the session that a secret opens, if there is one.
func (s *Store) CloseBrowser(ctx context.Context, token string) error {
	return s.db.Do(ctx, "close browser session", "delete from browser_sessions where hash = $1", hashOf(token))
}

// CloseBrowsers ends all sessions of a user.
func (s *Store) CloseBrowsers(ctx context.Context, user string) error {
	return s.db.Do(ctx, "close browser sessions", "delete from browser_sessions where user_id = $1", user)
}

// checkBrowser is CheckKey for credentials that were made from a sign-in.
func (s *Store) checkBrowser(ctx context.Context, p Principal) (bool, error) {
	user, id, _ := strings.Cut(p.Key, browserSeparator)
	return store.Value[bool](ctx, s.db, "check sign-in", `select exists (select from browser_sessions b join memberships m on m.user_id = b.user_id
		where b.id = $1 and b.user_id = $2 and m.account_id = $3)`, id, user, p.Account)
}

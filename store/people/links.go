package people

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// How long links are good.
const (
	SignInLinkLife = 30 * time.Minute
	InvitationLife = 7 * 24 * time.Hour
)

// NewSignInLink makes the secret of a link with which a user chooses a password, once,
// within SignInLinkLife. Earlier links of theirs are dead. An empty user makes the link
// with which the first user of a server is made; a disabled one is ErrNotFound.
func (s *Store) NewSignInLink(ctx context.Context, user string) (token string, err error) {
	now := s.db.Time(ctx)
	token, hash := newToken()
	err = s.db.Tx(ctx, "make link", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "delete from sign_in_links where user_id = $1 or ($1 = '' and user_id is null) or expires_at <= $2", user, now); err != nil {
			return err
		}
		if user == "" {
			return store.Do(ctx, tx, "insert into sign_in_links (hash, created_at, expires_at) values ($1, $2, $3)", hash, now, now.Add(SignInLinkLife))
		}
		return store.ErrNotFound.IfUnchanged(tx.Exec(ctx,
			"insert into sign_in_links (hash, user_id, created_at, expires_at) select $1, id, $3, $4 from users where id = $2 and disabled_at is null",
			hash, user, now, now.Add(SignInLinkLife)))
	})
	return token, err
}

// SignInLink says whom a link is for: nil for the first user. ErrNotFound when it is
// unknown, used or too old. Looking does not use it.
func (s *Store) SignInLink(ctx context.Context, token string) (*User, error) {
	var id, email *string
	err := s.db.One(ctx, "read link", `select u.id, u.email from sign_in_links l left join users u on u.id = l.user_id
		where l.hash = $1 and l.expires_at > $2`, []any{hashOf(token), s.db.Time(ctx)}, &id, &email)
	if err != nil || id == nil {
		return nil, err
	}
	return &User{ID: *id, Email: *email}, nil
}

// useLink takes a link out of the world, and says whose it was.
func useLink(ctx context.Context, tx pgx.Tx, token string, now time.Time) (user *string, err error) {
	return store.Scalar[*string](ctx, tx, "delete from sign_in_links where hash = $1 and expires_at > $2 returning user_id", hashOf(token), now)
}

// ChoosePassword uses a link: its user has the password whose hash is given, and all
// their sessions end.
func (s *Store) ChoosePassword(ctx context.Context, token, password string) (user string, err error) {
	err = s.db.Tx(ctx, "choose password", func(tx pgx.Tx) error {
		id, err := useLink(ctx, tx, token, s.db.Time(ctx))
		if err != nil {
			return err
		}
		if id == nil {
			return store.ErrNotFound // for the first user
		}
		user = *id
		return setPassword(ctx, tx, user, password, "")
	})
	return user, err
}

// FirstUser uses the link of a new server: its user is an operator with the password
// whose hash is given. ErrNotFound when the link is dead or was used.
func (s *Store) FirstUser(ctx context.Context, token, email, password string) (*User, error) {
	now := s.db.Time(ctx)
	var u *User
	err := s.db.Tx(ctx, "make first user", func(tx pgx.Tx) error {
		id, err := useLink(ctx, tx, token, now)
		if err != nil {
			return err
		}
		taken, err := store.Scalar[bool](ctx, tx, "select exists (select from users where password is not null)")
		if err != nil {
			return err
		}
		if id != nil || taken {
			return store.ErrNotFound
		}
		u, err = addUser(ctx, tx, email, RoleOperator, password, now)
		return err
	})
	return u, err
}

// Invitation lets the owner of an address join an account.
type Invitation struct {
	ID, Account, Name string // the account's name
	Email, Role       string
	InvitedBy         string // address; empty: an API key, or a user who has gone
	CreatedAt         time.Time
	ExpiresAt         time.Time
}

const selectInvitation = `select i.id, i.account_id, a.name, i.email, i.role, coalesce(u.email, ''), i.created_at, i.expires_at
	from invitations i join accounts a on a.id = i.account_id left join users u on u.id = i.invited_by where `

// Invite makes the secret of a link with which the person with this address joins the
// account, within InvitationLife. An earlier one for the same address is dead. by is the
// user who invites, empty for an API key.
func (s *Store) Invite(ctx context.Context, account, email, role, by string) (inv *Invitation, token string, err error) {
	now := s.db.Time(ctx)
	email, err = NormalEmail(email)
	if err != nil {
		return nil, "", err
	}
	if err := checkMemberRole(role); err != nil {
		return nil, "", err
	}
	token, hash := newToken()
	inv = &Invitation{ID: store.NewID(store.InvitedID, now), Account: account, Email: email, Role: role, CreatedAt: now, ExpiresAt: now.Add(InvitationLife)}
	err = s.db.Tx(ctx, "invite", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "delete from invitations where account_id = $1 and (email = $2 or expires_at <= $3)", account, email, now); err != nil {
			return err
		}
		var there bool
		var people int
		err := tx.QueryRow(ctx, `select exists (select from memberships m join users u on u.id = m.user_id where m.account_id = $1 and u.email = $2),
			(select count(*) from memberships where account_id = $1) + (select count(*) from invitations where account_id = $1)`,
			account, email).Scan(&there, &people)
		switch {
		case err != nil:
			return err
		case there:
			return store.Invalid("%s belongs to the account already", email)
		case people >= MaxMembers:
			return store.Invalid("an account has at most %d people", MaxMembers)
		}
		return tx.QueryRow(ctx, `insert into invitations (id, hash, account_id, email, role, invited_by, created_at, expires_at)
			select $1, $2, id, $4, $5, nullif($6, ''), $7, $8 from accounts where id = $3
			returning coalesce((select email from users where id = invited_by), '')`,
			inv.ID, hash, account, email, role, by, now, inv.ExpiresAt).Scan(&inv.InvitedBy)
	})
	return inv, token, err
}

// Invitations lists those of an account that were not accepted yet and are still good.
func (s *Store) Invitations(ctx context.Context, account string, p store.Page) ([]Invitation, error) {
	return store.ListPage[Invitation](ctx, s.db, "list invitations", p, "i.id",
		selectInvitation+"i.account_id = $1 and i.expires_at > $2", account, s.db.Time(ctx))
}

// RevokeInvitation takes an invitation of the account back.
func (s *Store) RevokeInvitation(ctx context.Context, account, id string) error {
	return s.db.Must(ctx, "revoke invitation", "delete from invitations where account_id = $1 and id = $2", account, id)
}

// Invitation finds the one that a link is for; ErrNotFound when it is unknown, used or
// too old. Looking does not use it.
func (s *Store) Invitation(ctx context.Context, token string) (*Invitation, error) {
	return store.First[Invitation](ctx, s.db, "read invitation", selectInvitation+"i.hash = $1 and i.expires_at > $2", hashOf(token), s.db.Time(ctx))
}

// AcceptInvitation uses a link: the person belongs to the account. by is the user who
// is signed in, who must have the address that was invited; when empty, a user is made
// with the password whose hash is given. Who is a user already must sign in first,
// also one without a password, for the inviter sees the link: ErrUserExists.
func (s *Store) AcceptInvitation(ctx context.Context, token, by, password string) (user string, err error) {
	now := s.db.Time(ctx)
	err = s.db.Tx(ctx, "accept invitation", func(tx pgx.Tx) error {
		var account, email, role string
		err := tx.QueryRow(ctx, "delete from invitations where hash = $1 and expires_at > $2 returning account_id, email, role", hashOf(token), now).
			Scan(&account, &email, &role)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, "select id from users where email = $1", email).Scan(&user)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && by == "":
			u, err := addUser(ctx, tx, email, RoleMember, password, now)
			if err != nil {
				return err
			}
			user = u.ID
		case errors.Is(err, pgx.ErrNoRows):
			return store.ErrNotFound // it is for another user
		case err != nil:
			return err
		case by == "":
			return ErrUserExists
		case by != user:
			return store.ErrNotFound
		}
		return store.Do(ctx, tx, `insert into memberships (user_id, account_id, role, created_at) values ($1, $2, $3, $4)
			on conflict (user_id, account_id) do update set role = excluded.role`, user, account, role, now)
	})
	return user, err
}

package people

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/mail"
)

// Roles of users, and of users in an account.
const (
	RoleOperator = "operator" // of the server: sees its accounts
	RoleMember   = "member"   // of a user: only the accounts they belong to; in an account: its work
	RoleOwner    = "owner"    // of an account: its people and what is paid, too
)

// User is a person who signs in to the dashboard.
type User struct {
	ID         string
	Email      string // in small letters
	Role       string // RoleOperator or RoleMember
	CreatedAt  time.Time
	SignedInAt *time.Time // nil: never
	Password   bool       // has one
	DisabledAt *time.Time // since when they may not sign in; nil: they may
}

// Operator says whether the user is an operator.
func (u User) Operator() bool { return u.Role == RoleOperator }

func checkUserRole(role string) error {
	if role != RoleOperator && role != RoleMember {
		return store.Invalid("a user is an operator or a member")
	}
	return nil
}

func checkMemberRole(role string) error {
	if role != RoleOwner && role != RoleMember {
		return store.Invalid("in an account one is an owner or a member")
	}
	return nil
}

// ErrUserExists: there is a user with this address.
const ErrUserExists store.Error = "there is a user with this address already"

// NormalEmail is how an address is stored and compared: without spaces around it,
// in small letters; ErrInvalid when it is none.
func NormalEmail(email string) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if mail.CheckAddress(email) != nil {
		return "", store.Invalid("%s: write one such as ana@example.com, without a name", mail.ErrAddress)
	}
	return email, nil
}

// selectUser reads the fields of a User, in their order.
const selectUser = "select id, email, role, created_at, signed_in_at, password is not null, disabled_at from users where "

// CreateUser makes a user who cannot sign in yet: see NewSignInLink.
func (s *Store) CreateUser(ctx context.Context, email, role string) (*User, error) {
	var u *User
	err := s.db.Tx(ctx, "create user", func(tx pgx.Tx) (err error) {
		u, err = addUser(ctx, tx, email, role, "", s.db.Time(ctx))
		return err
	})
	return u, err
}

// addUser makes a user with a hashed password, or none.
func addUser(ctx context.Context, tx pgx.Tx, email, role, password string, now time.Time) (*User, error) {
	email, err := NormalEmail(email)
	if err != nil {
		return nil, err
	}
	if err := checkUserRole(role); err != nil {
		return nil, err
	}
	u := &User{ID: store.NewID(store.UserID, now), Email: email, Role: role, CreatedAt: now, Password: password != ""}
	_, err = tx.Exec(ctx, "insert into users (id, email, password, role, created_at) values ($1, $2, nullif($3, ''), $4, $5)",
		u.ID, u.Email, password, u.Role, now)
	if store.Violates(err, "users_email_key") {
		err = ErrUserExists
	}
	return u, err
}

// UserByEmail finds a user and the hash of their password, which is empty when they
// have none or may not use it.
func (s *Store) UserByEmail(ctx context.Context, email string) (u *User, password string, err error) {
	email, err = NormalEmail(email)
	if err != nil {
		return nil, "", store.Fail("read user", store.ErrNotFound)
	}
	found, err := store.First[struct {
		User
		Hash string
	}](ctx, s.db, "read user", `select id, email, role, created_at, signed_in_at, password is not null, disabled_at,
		case when disabled_at is null then coalesce(password, '') else '' end from users where email = $1`,
		email)
	if err != nil {
		return nil, "", err
	}
	return &found.User, found.Hash, nil
}

// Users lists all users, the newest first.
func (s *Store) Users(ctx context.Context, p store.Page) ([]User, error) {
	return store.ListPage[User](ctx, s.db, "list users", p, "id", selectUser+"true")
}

// AnybodySignsIn says whether there is a user with a password: then the server has
// been set up.
func (s *Store) AnybodySignsIn(ctx context.Context) (bool, error) {
	return store.Value[bool](ctx, s.db, "look for users", "select exists (select from users where password is not null)")
}

// ChangePassword gives a user another password, whose hash it takes, and ends all
// their sessions but the one named keep.
func (s *Store) ChangePassword(ctx context.Context, user, password, keep string) error {
	return s.db.Tx(ctx, "change password", func(tx pgx.Tx) error {
		return setPassword(ctx, tx, user, password, keep)
	})
}

func setPassword(ctx context.Context, tx pgx.Tx, user, password, keep string) error {
	if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "update users set password = $2 where id = $1", user, password)); err != nil {
		return err
	}
	return store.Do(ctx, tx, "delete from browser_sessions where user_id = $1 and id <> $2", user, keep)
}

package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parley/store/mail"
)

// Roles of users, and of users in an account.
const (
	RoleOperator = "operator" // of the server: sees its accounts
	RoleMember   = "member"   // of a user: only the accounts they belong to; in an account: its work
	RoleOwner    = "owner"    // of an account: its people and what is paid, too
)

// User is somebody who signs in to the dashboard.
type User struct {
	ID         string
	Email      string // in small letters
	Role       string // RoleOperator or RoleMember
	CreatedAt  time.Time
	SignedInAt *time.Time // nil: never
	Password   bool       // has one
	DisabledAt *time.Time // since when they may not sign in; nil: they may
}

// Operator says whether the user runs the server.
func (u User) Operator() bool { return u.Role == RoleOperator }

// ErrUserExists: there is a user with this address.
const ErrUserExists Error = "there is a user with this address already"

// NormalEmail is how an address is stored and compared: without spaces around it,
// in small letters; ErrInvalid when it is none.
func NormalEmail(email string) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if mail.CheckAddress(email) != nil {
		return "", invalid("%s: write one such as ana@example.com, without a name", mail.ErrAddress)
	}
	return email, nil
}

const selectUser = "select id, email, role, created_at, signed_in_at, password is not null, disabled_at from users where "

func scanUser(row pgx.CollectableRow) (User, error) {
	var u User
	return u, row.Scan(&u.ID, &u.Email, &u.Role, &u.CreatedAt, &u.SignedInAt, &u.Password, &u.DisabledAt)
}

// CreateUser makes a user who cannot sign in yet: see NewSignInLink.
func (db *DB) CreateUser(ctx context.Context, email, role string, now time.Time) (*User, error) {
	var u *User
	err := db.tx(ctx, "create user", func(tx pgx.Tx) (err error) {
		u, err = addUser(ctx, tx, email, role, "", now)
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
	if role != RoleOperator && role != RoleMember {
		return nil, invalid("a user is an operator or a member")
	}
	u := &User{ID: newID(userID, now), Email: email, Role: role, CreatedAt: now, Password: password != ""}
	_, err = tx.Exec(ctx, "insert into users (id, email, password, role, created_at) values ($1, $2, nullif($3, ''), $4, $5)",
		u.ID, u.Email, password, u.Role, now)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.ConstraintName == "users_email_key" {
		err = ErrUserExists
	}
	return u, err
}

// UserByEmail finds a user and the hash of their password, which is empty when they
// have none or may not use it.
func (db *DB) UserByEmail(ctx context.Context, email string) (u *User, password string, err error) {
	email, err = NormalEmail(email)
	if err != nil {
		return nil, "", fail("read user", ErrNotFound)
	}
	u = new(User)
	err = db.one(ctx, "read user", `select id, email, role, created_at, signed_in_at, password is not null, disabled_at,
		case when disabled_at is null then coalesce(password, '') else '' end from users where email = $1`,
		[]any{email}, &u.ID, &u.Email, &u.Role, &u.CreatedAt, &u.SignedInAt, &u.Password, &u.DisabledAt, &password)
	if err != nil {
		return nil, "", err
	}
	return u, password, nil
}

// Users lists all users, the newest first.
func (db *DB) Users(ctx context.Context, p Page) ([]User, error) {
	where, args := p.clause("id", nil)
	return list(ctx, db, "list users", scanUser, selectUser+"true"+where, args...)
}

// AnybodySignsIn says whether there is a user with a password: then the server has
// been set up.
func (db *DB) AnybodySignsIn(ctx context.Context) (bool, error) {
	var yes bool
	err := db.one(ctx, "look for users", "select exists (select from users where password is not null)", nil, &yes)
	return yes, err
}

// ChangePassword gives a user another password, whose hash it takes, and ends all
// their sessions but the one named keep.
func (db *DB) ChangePassword(ctx context.Context, user, password, keep string) error {
	return db.tx(ctx, "change password", func(tx pgx.Tx) error {
		return setPassword(ctx, tx, user, password, keep)
	})
}

func setPassword(ctx context.Context, tx pgx.Tx, user, password, keep string) error {
	tag, err := tx.Exec(ctx, "update users set password = $2 where id = $1", user, password)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrNotFound
	}
	_, err = tx.Exec(ctx, "delete from browser_sessions where user_id = $1 and id <> $2", user, keep)
	return err
}

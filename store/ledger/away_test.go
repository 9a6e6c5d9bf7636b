package ledger_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/ledger"
	"parley/store/storetest"
)

// A primary that has become a standby takes no writes, which is as if it were away.
func TestAStandbyIsADatabaseThatIsAway(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.account(0)
	conn, err := pgx.Connect(t.Context(), url)
	f.ok(err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`)
	f.ok(err)
	standby := storetest.Open(t, url)
	if _, err := ledger.New(standby).StartSession(storetest.At(t.Context(), t0), f.request(acc, web)); !errors.Is(err, store.ErrUnavailable) || store.Locked(err) {
		t.Errorf("a start on a standby: %v", err)
	}
}

// A wallet that somebody has locked and does not give back is waited for briefly.
func TestALockIsWaitedForBriefly(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.account(0)
	s := f.start(acc, web)
	release := f.lock(url, acc)
	end := ledger.Closing{Reason: "user_hangup"}
	if _, err := f.CloseSession(f.ctx(), s, end); !errors.Is(err, store.ErrUnavailable) || !store.Locked(err) {
		t.Errorf("a close of an account that is locked: %v", err)
	}
	release()
	_, err := f.CloseSession(f.ctx(), s, end)
	f.ok(err)
	f.verified()
}

// lock has another transaction hold an account's wallet until release is called.
func (f *fixture) lock(url, account string) (release func()) {
	f.t.Helper()
	conn, err := pgx.Connect(f.ctx(), url)
	f.ok(err)
	tx, err := conn.Begin(f.ctx())
	f.ok(err)
	_, err = tx.Exec(f.ctx(), "select from wallets where account_id = $1 for update", account)
	f.ok(err)
	return func() {
		f.t.Helper()
		f.ok(tx.Rollback(f.ctx()))
		f.ok(conn.Close(f.ctx()))
	}
}

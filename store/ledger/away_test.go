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
	acc := f.NewAccount(0)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`)
	f.OK(err)
	standby := storetest.Open(t, url)
	if _, err := ledger.New(standby).StartSession(storetest.At(t.Context(), t0), f.Request(acc, web)); !errors.Is(err, store.ErrUnavailable) || store.Locked(err) {
		t.Errorf("a start on a standby: %v", err)
	}
}

// A wallet that somebody has locked and does not give back is waited for briefly.
func TestALockIsWaitedForBriefly(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.NewAccount(0)
	s := f.Start(acc, web)
	release := f.lock(url, acc)
	end := ledger.Closing{Reason: "user_hangup"}
	if _, err := f.CloseSession(f.Context(), s, end); !errors.Is(err, store.ErrUnavailable) || !store.Locked(err) {
		t.Errorf("a close of an account that is locked: %v", err)
	}
	release()
	_, err := f.CloseSession(f.Context(), s, end)
	f.OK(err)
	f.Verified()
}

// lock has another transaction hold an account's wallet until release is called.
func (f *fixture) lock(url, account string) (release func()) {
	f.T.Helper()
	conn, err := pgx.Connect(f.Context(), url)
	f.OK(err)
	tx, err := conn.Begin(f.Context())
	f.OK(err)
	_, err = tx.Exec(f.Context(), "select from wallets where account_id = $1 for update", account)
	f.OK(err)
	return func() {
		f.T.Helper()
		f.OK(tx.Rollback(f.Context()))
		f.OK(conn.Close(f.Context()))
	}
}

package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/private"
)

// books are a server's database, read beside it.
type books struct {
	t   *testing.T
	ctx context.Context
	db  *store.DB
	sql *pgx.Conn
}

func openBooks(t *testing.T, s *server) *books {
	t.Helper()
	url, err := private.Locate(filepath.Join(s.dir, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return readBooks(t, url)
}

// reopenBooks are those of a server that has ended.
func reopenBooks(t *testing.T, s *server) *books {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cluster, err := private.Start(ctx, private.Options{Dir: filepath.Join(s.dir, "postgres"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	return readBooks(t, cluster.URL())
}

func readBooks(t *testing.T, url string) *books {
	t.Helper()
	b := &books{t: t, ctx: context.Background()}
	var err error
	if b.sql, err = pgx.Connect(b.ctx, url); err != nil {
		t.Fatal(err)
	}
	if b.db, err = store.Open(b.ctx, url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

// bill is a session's row in the books.
type bill struct {
	ID, State      string
	Reason, Detail string
	Terms          billing.Terms
	Usage          billing.Usage
	Amount, Posted billing.Money
	Postings       int // ledger transfers of the session
	Checkpoints    int64
	Epoch          int64
	Account        string
}

const selectBills = `select s.account_id, s.id, s.state, coalesce(s.end_reason, ''), coalesce(s.end_detail, ''), s.kind, s.country, s.mobile,
	u.agent_ms, u.line_ms, u.reply_in, u.reply_out, u.speculative_in, u.speculative_out, u.summary_in, u.summary_out, u.audio_in, u.audio_cached, u.audio_out, u.own_in, u.own_out, u.amount_nano, u.posted_nano,
	(select coalesce(sum(amount_nano), 0) from ledger_transfers t where t.session_id = s.id),
	(select count(distinct idem) from ledger_transfers t where t.session_id = s.id), u.ckpt_seq, s.node_epoch
	from sessions s join session_usage u on u.session_id = s.id join calls c on c.session_id = s.id where `

// bills lists the conversations of an account, or those from a telephone number,
// the oldest first.
func (b *books) bills(whose string) []bill {
	b.t.Helper()
	return b.query("s.account_id = $1 or c.from_number = $1", whose)
}

func (b *books) query(which string, args ...any) []bill {
	b.t.Helper()
	rows, err := b.sql.Query(b.ctx, selectBills+which+" order by s.opened_at", args...)
	if err != nil {
		b.t.Fatal(err)
	}
	var list []bill
	for rows.Next() {
		var x bill
		var said billing.Money
		u := &x.Usage
		err := rows.Scan(&x.Account, &x.ID, &x.State, &x.Reason, &x.Detail, &x.Terms.Kind, &x.Terms.Country, &x.Terms.Mobile,
			&u[billing.AgentTime], &u[billing.LineTime], &u[billing.ReplyIn], &u[billing.ReplyOut], &u[billing.SpeculativeIn],
			&u[billing.SpeculativeOut], &u[billing.SummaryIn], &u[billing.SummaryOut], &u[billing.AudioIn], &u[billing.AudioCached], &u[billing.AudioOut], &u[billing.OwnIn], &u[billing.OwnOut], &x.Amount, &said, &x.Posted, &x.Postings, &x.Checkpoints, &x.Epoch)
		if err != nil {
			b.t.Fatal(err)
		}
		if x.State == "closed" && x.Posted != said {
			b.t.Errorf("session %s: %s is in the ledger, and %s is said to be", x.ID, x.Posted, said)
		}
		list = append(list, x)
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	return list
}

// closed waits until an account, or a telephone number, has n conversations, all
// closed, and returns them.
func (b *books) closed(whose string, n int) []bill {
	b.t.Helper()
	var list []bill
	eventually(b.t, fmt.Sprintf("%d closed sessions of %s", n, whose), func() bool {
		list = b.bills(whose)
		for _, x := range list {
			if x.State != "closed" {
				return false
			}
		}
		return len(list) >= n
	})
	if len(list) != n {
		b.t.Fatalf("%d sessions, want %d: %+v", len(list), n, list)
	}
	return list
}

// checkAmount recomputes what a closed session costs by the built-in rate card
// and compares it with what was taken for it.
func (b *books) checkAmount(x bill) {
	b.t.Helper()
	b.checkAmountBy(billing.DefaultRateCard(), x)
}

func (b *books) checkAmountBy(card *billing.RateCard, x bill) {
	b.t.Helper()
	tariff, err := card.Tariff(x.Terms)
	if err != nil {
		b.t.Fatal(err)
	}
	owed, err := tariff.Price(x.Usage)
	if err != nil {
		b.t.Fatal(err)
	}
	if x.Amount != owed.Total() || x.Posted != x.Amount {
		b.t.Errorf("session %s: usage comes to %s, the session says %s, the ledger has %s", x.ID, owed.Total(), x.Amount, x.Posted)
	}
}

// checkSeconds compares the seconds charged with the length that the caller
// measured; a second is started in full.
func (b *books) checkSeconds(x bill, measured time.Duration) {
	b.t.Helper()
	charged := (x.Usage[billing.AgentTime] + 999) / 1000
	least := int64((measured - time.Second).Seconds())
	most := int64((measured + 2*time.Second - 1).Seconds())
	if charged < least || charged > most {
		b.t.Errorf("session %s: %d s charged, the caller measured %s", x.ID, charged, measured.Round(time.Millisecond))
	}
}

// checkTokens compares the tokens charged with what the call's completions
// reported, and returns the number of completions.
func (b *books) checkTokens(x bill) int {
	b.t.Helper()
	c, err := history.New(b.db).Call(b.ctx, x.Account, x.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	var in, out int64
	for _, g := range c.Generations {
		in += g.InTokens
		out += g.OutTokens
	}
	if u := x.Usage; u[billing.ReplyIn]+u[billing.SpeculativeIn]+u[billing.OwnIn] != in || u[billing.ReplyOut]+u[billing.SpeculativeOut]+u[billing.OwnOut] != out {
		b.t.Errorf("session %s: charged %v, the completions used %d and %d", x.ID, x.Usage, in, out)
	}
	if in == 0 || out == 0 {
		b.t.Errorf("session %s: no tokens were counted: %+v", x.ID, c.Generations)
	}
	return len(c.Generations)
}

// line is one line of a stored transcript.
type line = history.TranscriptLine

// transcript is what was said in a session.
func (b *books) transcript(x bill) []line {
	b.t.Helper()
	c, err := history.New(b.db).Call(b.ctx, x.Account, x.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.Transcript
}

// verification is the answer of parley admin ledger verify --json.
type verification struct {
	OK         bool     `json:"ok"`
	Sessions   int      `json:"sessions"`
	Violations []string `json:"violations"`
}

// verify runs parley admin ledger verify and returns its exit status.
func verify(t *testing.T, dir string) (int, verification) {
	t.Helper()
	var v verification
	o := do(t, command(dir, nil, "admin", "ledger", "verify", "--json"))
	if err := json.Unmarshal([]byte(o.out), &v); err != nil {
		t.Fatalf("ledger verify: exit status %d, %v: %s%s", o.status, err, o.out, o.errOut)
	}
	return o.status, v
}

// checkBooks wants a clean verification.
func checkBooks(t *testing.T, dir string) {
	t.Helper()
	if status, v := verify(t, dir); status != 0 || !v.OK || len(v.Violations) != 0 {
		t.Errorf("the ledger is not in order: exit status %d, %v", status, v.Violations)
	}
}

// live lists all conversations in progress.
func (b *books) live() []bill {
	b.t.Helper()
	return b.query("s.state = 'live'")
}

// close closes the books before the end of the test.
func (b *books) close() {
	b.db.Close()
	_ = b.sql.Close(b.ctx) // the server may have gone
}

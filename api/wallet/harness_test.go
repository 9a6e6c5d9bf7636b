package wallet_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/export"
	"parley/api/ticket"
	"parley/api/wallet"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var card = billing.DefaultRateCard()

// bank is a server with the routes, a node that runs sessions, and two accounts.
type bank struct {
	*testing.T
	db     *store.DB
	node   store.Node
	server *httptest.Server
	signer *ticket.Signer
	a, b   owner
}

type owner struct{ account, keyID, key, agent string }

func open(t *testing.T) *bank {
	t.Helper()
	o := &bank{T: t, db: storetest.New(t)}
	var err, err2 error
	o.signer, err = ticket.NewSigner("a master secret of a test, long enough")
	o.ok(errors.Join(err, o.db.PutRateCard(t.Context(), card, began)))
	o.node, _, err2 = ledger.New(o.db).RegisterNode(t.Context(), "node", "127.0.0.1:1", began)
	o.ok(err2)
	o.a, o.b = o.owner("A"), o.owner("B")
	a := api.New(ticket.Keys{Signer: o.signer, Store: o.db, People: people.New(o.db)})
	wallet.Mount(a, o.db, export.New(o.db), func() *billing.RateCard { return card })
	o.server = httptest.NewServer(apitest.Judged(t, a, a.Handler(api.Options{})))
	t.Cleanup(o.server.Close)
	return o
}

// began is when the accounts are made; nothing in the store reads a clock.
var began = time.Now().UTC().Add(-60 * 24 * time.Hour).Truncate(24 * time.Hour)

func (o *bank) ok(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *bank) owner(name string) owner {
	o.Helper()
	acc, err := ledger.New(o.db).CreateAccount(o.Context(), name, card, began)
	o.ok(err)
	key, secret, err1 := people.New(o.db).MakeKey(storetest.At(o.Context(), began), people.NewKey{Account: acc.ID, Name: "first", Role: people.RoleMember})
	agent, err2 := o.db.CreateAgent(o.Context(), acc.ID, store.Agent{Name: "=Ana", Voice: "F1", Language: "es"}, began)
	o.ok(errors.Join(err1, err2))
	return owner{acc.ID, key.ID, secret, agent.ID}
}

// credit moves money.
func (o *bank) credit(c ledger.Credit, at time.Time) {
	o.Helper()
	c.Source = "sim"
	_, _, err := ledger.New(o.db).Credit(o.Context(), c, at)
	o.ok(err)
}

func (o *bank) topup(account string, amount billing.Money) {
	o.Helper()
	o.credit(ledger.Credit{Account: account, Kind: ledger.Topup, Amount: amount, Key: "topup:" + account}, began)
}

// start begins a session; agent may be empty.
func (o *bank) start(account, agent string, terms billing.Terms, at time.Time) *ledger.Session {
	o.Helper()
	s, err := ledger.New(o.db).StartSession(o.Context(), ledger.Start{Node: o.node, Account: account, Terms: terms, Card: card, Agent: agent}, at)
	o.ok(err)
	return s
}

func (o *bank) use(s *ledger.Session, seq int64, u billing.Usage, at time.Time) {
	o.Helper()
	_, err := ledger.New(o.db).Checkpoint(o.Context(), ledger.Checkpoint{Session: s, Seq: seq, StartedAt: at, Usage: u}, at)
	o.ok(err)
}

func (o *bank) end(s *ledger.Session, u billing.Usage, at time.Time) {
	o.Helper()
	_, err := ledger.New(o.db).CloseSession(o.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: at, Usage: u}, at)
	o.ok(err)
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   string
}

func (o *bank) get(who owner, target string) reply {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), http.MethodGet, o.server.URL+target, nil)
	o.ok(err)
	r.Header.Set("Authorization", "Bearer "+who.key)
	res, err := o.server.Client().Do(r)
	o.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	o.ok(err)
	return reply{res.StatusCode, res.Header, string(text)}
}

// read gets target into v.
func (o *bank) read(who owner, target string, v any) {
	o.Helper()
	r := o.get(who, target)
	if r.status != http.StatusOK {
		o.Fatalf("%s: %d %s", target, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		o.Fatalf("%s: %v in %s", target, err, r.body)
	}
}

// table gets a CSV file: its rows by column.
func (o *bank) table(who owner, target string) []map[string]string {
	o.Helper()
	r := o.get(who, target)
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
		o.Fatalf("%s: %d %s %s", target, r.status, r.header, r.body)
	}
	if strings.Count(r.body, "\n") != strings.Count(r.body, "\r\n") || !strings.HasSuffix(r.body, "\r\n") {
		o.Fatalf("%s: lines do not end with CRLF", target)
	}
	rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	o.ok(err)
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = cell
			if cell != "" && strings.Contains("=+-@\t", cell[:1]) {
				o.money(cell)
			}
		}
		out = append(out, m)
	}
	return out
}

func (o *bank) money(text string) billing.Money {
	o.Helper()
	m, err := billing.ParseMoney(text)
	if err != nil {
		o.Fatal(err)
	}
	return m
}

// verified wants all invariants but the 26th: its sessions have used at random, whatever
// time they took.
func (o *bank) verified() {
	o.Helper()
	r, err := ledger.New(o.db).Verify(context.WithoutCancel(o.Context()))
	o.ok(err)
	for _, v := range r.Violations {
		if v.Invariant != 26 {
			o.Error(v)
		}
	}
}

// What tests read of the answers. Amounts are read exactly.
type (
	entry struct {
		ID           int64
		Kind, Pot    string
		Amount       billing.Money
		BalanceAfter billing.Money `json:"balance_after"`
		Component    *string
		SessionID    *string `json:"session_id"`
		PriceVersion *string `json:"price_version"`
		At           time.Time
	}
	more struct {
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	}
	ledgerPage struct {
		Data []entry
		more
	}
	group struct {
		Key        *string
		Amount     billing.Money
		Components []struct {
			Component, Unit string
			Quantity        int64
			Amount          billing.Money
		}
	}
	usagePage struct {
		Data []group
		more
		Total   *billing.Money
		Accrued billing.Money
	}
	receipt struct {
		SessionID      string `json:"session_id"`
		Kind           string
		Lines          []line
		Total, Accrued billing.Money
		PriceVersion   string     `json:"price_version"`
		EndedAt        *time.Time `json:"ended_at"`
	}
	line struct {
		Component, Unit string
		Quantity        int64
		UnitPrice       billing.Money `json:"unit_price"`
		Per             int64         `json:"unit_price_per"`
		Amount          billing.Money
		PriceVersion    string `json:"price_version"`
	}
	balance struct {
		Balance, Paid, Bonus, Posted, Accrued, Held billing.Money
		BonusLots                                   []struct {
			Left, Granted billing.Money
			ExpiresAt     time.Time `json:"expires_at"`
		} `json:"bonus_lots"`
		Concurrency struct{ Live, Limit int }
		Disputed    bool
		Suspended   bool
		FirstTopup  *time.Time `json:"first_topup_at"`
		Warnings    []struct{ Kind, Message string }
	}
)

// entries walks the ledger's pages.
func (o *bank) entries(who owner, query string) (all []entry) {
	o.Helper()
	for cursor := ""; ; {
		var p ledgerPage
		o.read(who, "/v1/ledger?limit=100"+query+cursor, &p)
		all = append(all, p.Data...)
		if !p.HasMore {
			return all
		}
		cursor = "&cursor=" + *p.NextCursor
	}
}

// groups walks the pages of usage.
func (o *bank) groups(who owner, by, query string) (all []group, total, accrued billing.Money) {
	o.Helper()
	for cursor := ""; ; {
		var p usagePage
		o.read(who, "/v1/usage?limit=100&group_by="+by+query+cursor, &p)
		if (p.Total == nil) != (cursor != "") {
			o.Fatalf("the total is %v after %q", p.Total, cursor)
		}
		if p.Total != nil {
			total, accrued = *p.Total, p.Accrued
		}
		all = append(all, p.Data...)
		if !p.HasMore {
			return all, total, accrued
		}
		cursor = "&cursor=" + *p.NextCursor
	}
}

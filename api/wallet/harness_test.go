package wallet_test

import (
	"encoding/csv"
	"net/http"
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
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var card = billing.DefaultRateCard()

// bank is a world with the routes, and a node that runs sessions.
type bank struct {
	*apitest.World
	node   store.Node
	signer *ticket.Signer
}

type owner = apitest.Owner

// reply is an answer as it came.
type reply struct {
	Status int
	Header http.Header
	Body   string
}

func open(t *testing.T) *bank {
	t.Helper()
	o := &bank{World: apitest.Open(t, apitest.Options{Began: began, Agent: "=Ana"})}
	var err error
	o.signer, err = ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	o.node, _, err = o.Ledger.RegisterNode(storetest.At(t.Context(), began), "node", "127.0.0.1:1")
	o.OK(err)
	a := api.New(ticket.Keys{Signer: o.signer, Store: o.DB, People: o.People})
	wallet.Mount(a, o.DB, export.New(o.DB), func() *billing.RateCard { return card })
	o.Serve(a, api.Options{})
	return o
}

func (o *bank) get(who owner, target string) reply {
	o.Helper()
	r := o.As(who, http.MethodGet, target, "")
	r = r.Anonymous()
	return reply{r.Status, r.Header, string(r.Body)}
}

// began is when the accounts are made; nothing in the store reads a clock.
var began = time.Now().UTC().Add(-60 * 24 * time.Hour).Truncate(24 * time.Hour)

// credit moves money.
func (o *bank) credit(c ledger.Credit, at time.Time) {
	o.Helper()
	c.Source = "sim"
	_, _, err := o.Ledger.Credit(storetest.At(o.Context(), at), c)
	o.OK(err)
}

func (o *bank) topup(account string, amount billing.Money) {
	o.Helper()
	o.credit(ledger.Credit{Account: account, Kind: ledger.Topup, Amount: amount, Key: "topup:" + account}, began)
}

// start begins a session; agent may be empty.
func (o *bank) start(account, agent string, terms billing.Terms, at time.Time) *ledger.Session {
	o.Helper()
	s, err := o.Ledger.StartSession(storetest.At(o.Context(), at), ledger.Start{Node: o.node, Account: account, Terms: terms, Card: card, Agent: agent})
	o.OK(err)
	return s
}

func (o *bank) use(s *ledger.Session, seq int64, u billing.Usage, at time.Time) {
	o.Helper()
	r, err := o.Ledger.Checkpoints(storetest.At(o.Context(), at), []ledger.Checkpoint{{Session: s, Seq: seq, StartedAt: at, Usage: u}})
	o.OK(err)
	o.OK(r[0].Err)
}

func (o *bank) end(s *ledger.Session, u billing.Usage, at time.Time) {
	o.Helper()
	_, err := o.Ledger.CloseSession(storetest.At(o.Context(), at), s, ledger.Closing{Reason: "user_hangup", StartedAt: at, Usage: u})
	o.OK(err)
}

// table gets a CSV file: its rows by column.
func (o *bank) table(who owner, target string) []map[string]string {
	o.Helper()
	r := o.get(who, target)
	if r.Status != http.StatusOK || r.Header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
		o.Fatalf("%s: %d %s %s", target, r.Status, r.Header, r.Body)
	}
	if strings.Count(r.Body, "\n") != strings.Count(r.Body, "\r\n") || !strings.HasSuffix(r.Body, "\r\n") {
		o.Fatalf("%s: lines do not end with CRLF", target)
	}
	rows, err := csv.NewReader(strings.NewReader(r.Body)).ReadAll()
	o.OK(err)
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
		o.Read(who, "/v1/ledger?limit=100"+query+cursor, &p)
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
		o.Read(who, "/v1/usage?limit=100&group_by="+by+query+cursor, &p)
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

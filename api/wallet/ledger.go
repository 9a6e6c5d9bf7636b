package wallet

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/statement"
)

func viewEntry(t *ledger.Transfer) wire.Entry {
	return wire.Entry{ID: t.Seq, At: t.CreatedAt, Kind: string(t.Kind), Amount: wire.USD(t.Change()), BalanceAfter: wire.USD(t.BalanceAfter), Pot: t.Pot(),
		Component: api.Some(t.Component()), SessionID: t.Session, PriceVersion: t.PriceVersion}
}

// KindFilter picks entries of one kind.
type KindFilter struct {
	Kind string `query:"kind" doc:"Only entries of this kind." maxLength:"32" example:"topup"`
}

// maxKind is the longest kind that is looked for, in bytes.
const maxKind = 32

func (in KindFilter) kind() (ledger.TransferKind, error) {
	if len(in.Kind) > maxKind {
		return "", api.Bad("kind: there is none so long")
	}
	for _, r := range in.Kind {
		if (r < 'a' || r > 'z') && r != '_' {
			return "", api.Bad("kind: a word such as topup")
		}
	}
	return ledger.TransferKind(in.Kind), nil
}

type ledgerInput struct {
	api.Period
	KindFilter
	api.Paging
}

// page is what the query asks for.
func (in *ledgerInput) page() (p statement.Page, err error) {
	if p.Range, err = in.Bounds(); err != nil {
		return p, err
	}
	if p.Kind, err = in.kind(); err != nil {
		return p, err
	}
	p.Before, err = in.Sequence()
	return p, err
}

func (m *wallet) ledger(ctx context.Context, in *ledgerInput) (*api.Listed[wire.Entry], error) {
	p, err := in.page()
	if err != nil {
		return nil, err
	}
	p.Limit = in.Limit + 1 // whether there is one more decides has_more
	var found []ledger.Transfer
	err = m.db.Statement(ctx, api.AccountOf(ctx), func(s *store.Statement) (err error) {
		found, err = statement.Entries(ctx, s, p)
		return err
	})
	return api.Pages(in.Limit, func(t ledger.Transfer) string { return api.Seq(t.Seq) }, viewEntry)(found, err)
}

var ledgerHeader = []string{"id", "at", "kind", "amount", "balance_after", "pot", "component", "session_id", "price_version"}

func ledgerParams() []*huma.Param {
	return append(rangeParams(), param("kind", "Only entries of this kind.", "topup"))
}

func (m *wallet) ledgerCSV(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	in := ledgerInput{Period: queryRange(q), KindFilter: KindFilter{q.Get("kind")}}
	p, err := in.page()
	if err != nil {
		return err
	}
	p.Limit = export.Batch
	return m.files.Send(w, r, export.Table{Name: "ledger", Header: ledgerHeader, Next: func(ctx context.Context, s *store.Statement) (rows [][]string, more bool, err error) {
		found, err := statement.Entries(ctx, s, p)
		for i := range found {
			rows = append(rows, entryRow(&found[i]))
			p.Before = found[i].Seq
		}
		return rows, len(found) == p.Limit, err
	}})
}

// entryRow has words, identifiers and numbers of ours only: no cell begins with
// what a spreadsheet would compute, but numbers below zero.
func entryRow(t *ledger.Transfer) []string {
	return []string{strconv.FormatInt(t.Seq, 10), export.Time(t.CreatedAt), string(t.Kind), t.Change().String(), t.BalanceAfter.String(), t.Pot(),
		t.Component(), export.Optional(t.Session), export.Optional(t.PriceVersion)}
}

// optional is t, or nothing when it is no bound.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func param(name, doc, example string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
}

func rangeParams() []*huma.Param {
	return []*huma.Param{
		param("from", "Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.", "2026-03-01"),
		param("to", "Before this, likewise: 2026-04-01 includes all of March.", "2026-04-01"),
	}
}

func queryRange(q url.Values) api.Period { return api.Period{From: q.Get("from"), To: q.Get("to")} }

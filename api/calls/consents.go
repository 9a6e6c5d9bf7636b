package calls

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/store"
	"parley/store/ledger"
)

func (m *calls) mountConsents(a *api.API) {
	const chain = " Rows are numbered from 1 without gaps and never change. `seal` is the SHA-256 of the `seal` of the row before it (nothing for row 1), " +
		"`account_id`, `call_id`, `agent_id`, `key_id`, `ip`, `at` as it is written here, and `to_hash`, each preceded by its length in bytes " +
		"as eight bytes, the highest first; seals and hashes count as 32 bytes. So the last seal vouches for all rows. `to_hash` is of the number " +
		"called, keyed by a secret of the server: the evidence can be kept when the call's history is not."
	api.Register(a, routes.Get("/v1/consents", "list-consents", "List the evidence of consent",
		"Who confirmed that the callee of a call had agreed, the oldest first: one row for each call that was placed."+chain), m.consents)
	a.Handle(export.Route(routes.Get("/v1/consents.csv", "export-consents", "Export the evidence of consent",
		"The rows of `GET /v1/consents` with the columns "+export.Columns(consentHeader)+"."), nil), api.HandlerFunc(m.consentsCSV))
}

func (m *calls) consents(ctx context.Context, in *api.Paging) (*api.Listed[wire.Consent], error) {
	after, err := in.Sequence()
	if err != nil {
		return nil, err
	}
	account := api.AccountOf(ctx)
	return api.Pages(in.Limit, func(c ledger.ConsentRecord) string { return api.Seq(c.No) }, func(c *ledger.ConsentRecord) wire.Consent {
		return wire.Consent{No: c.No, AccountID: account, CallID: c.Call, AgentID: c.Agent, ToHash: hex.EncodeToString(c.ToHash), KeyID: c.Key, IP: c.IP, At: c.At.UTC(), Seal: hex.EncodeToString(c.Seal)}
	})(ledger.New(m.db).Consents(ctx, account, after, in.Limit+1))
}

var consentHeader = []string{"no", "account_id", "call_id", "agent_id", "to_hash", "key_id", "ip", "at", "seal"}

func (m *calls) consentsCSV(w http.ResponseWriter, r *http.Request) error {
	account, after := api.PrincipalOf(r.Context()).Account, int64(0)
	return m.files.Send(w, r, export.Table{Name: "consents", Header: consentHeader, Next: func(ctx context.Context, s *store.Statement) (rows [][]string, more bool, err error) {
		found, err := ledger.ConsentsAt(ctx, s, after, export.Batch)
		for _, c := range found {
			rows = append(rows, []string{strconv.FormatInt(c.No, 10), account, c.Call, c.Agent, hex.EncodeToString(c.ToHash), c.Key, c.IP,
				export.Time(c.At), hex.EncodeToString(c.Seal)})
			after = c.No
		}
		return rows, len(found) == export.Batch, err
	}})
}

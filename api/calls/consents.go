package calls

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"parley/api"
	"parley/api/export"
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
		"The rows of `GET /v1/consents` with the columns "+export.Columns(consentHeader)+"."), nil), http.HandlerFunc(m.consentsCSV))
}

// Consent is a row of the evidence.
type Consent struct {
	No        int64     `json:"no" doc:"1, 2, 3… without gaps." example:"1"`
	AccountID string    `json:"account_id" doc:"Your account." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CallID    string    `json:"call_id" doc:"The call that was placed." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID   string    `json:"agent_id" doc:"The agent that spoke." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	ToHash    string    `json:"to_hash" doc:"Stands for the number called; the same for each call to it." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	KeyID     string    `json:"key_id" doc:"The API key that confirmed it, or stands behind the ticket that did." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IP        string    `json:"ip" doc:"Where the request came from." example:"192.0.2.7"`
	At        time.Time `json:"at" doc:"When it was confirmed."`
	Seal      string    `json:"seal" doc:"Vouches for this row and all before it." example:"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"`
}

func (m *calls) consents(ctx context.Context, in *api.Paging) (*api.Listed[Consent], error) {
	after, err := in.Sequence()
	if err != nil {
		return nil, err
	}
	account := api.AccountOf(ctx)
	found, err := ledger.New(m.db).Consents(ctx, account, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(c ledger.ConsentRecord) string { return api.Seq(c.No) }, func(c *ledger.ConsentRecord) Consent {
		return Consent{c.No, account, c.Call, c.Agent, hex.EncodeToString(c.ToHash), c.Key, c.IP, c.At.UTC(), hex.EncodeToString(c.Seal)}
	}), nil
}

var consentHeader = []string{"no", "account_id", "call_id", "agent_id", "to_hash", "key_id", "ip", "at", "seal"}

func (m *calls) consentsCSV(w http.ResponseWriter, r *http.Request) {
	account, after := api.PrincipalOf(r.Context()).Account, int64(0)
	m.files.Send(w, r, export.Table{Name: "consents", Header: consentHeader, Next: func(ctx context.Context, s *store.Statement) (rows [][]string, more bool, err error) {
		found, err := ledger.ConsentsAt(ctx, s, after, export.Batch)
		for _, c := range found {
			rows = append(rows, []string{strconv.FormatInt(c.No, 10), account, c.Call, c.Agent, hex.EncodeToString(c.ToHash), c.Key, c.IP,
				export.Time(c.At), hex.EncodeToString(c.Seal)})
			after = c.No
		}
		return rows, len(found) == export.Batch, err
	}})
}

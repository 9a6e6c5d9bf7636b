package verify

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"parley/store/ledger"
)

// seals finds the rows of the evidence of consent that do not follow from those before
// them.
func (p *portion) seals(ctx context.Context) error {
	rows, err := p.tx.Query(ctx, scope+"select b.account_id, b.consent_no, b.consent_seal, "+ledger.ConsentColumns+` from consent_audit a
		join base b on b.account_id = a.account_id and a.no > b.consent_no order by b.account_id, a.no`, p.accounts, p.Whole)
	if err != nil {
		return err
	}
	var account, of string
	var no int64
	var seal []byte
	var last, c ledger.ConsentRecord
	_, err = pgx.ForEachRow(rows, []any{&of, &no, &seal, &c.No, &c.Call, &c.Agent, &c.ToHash, &c.Key, &c.IP, &c.At, &c.Seal}, func() error {
		if of != account {
			account, last = of, ledger.ConsentRecord{No: no, Seal: slices.Clone(seal)}
		}
		if c.No != last.No+1 || !bytes.Equal(c.Seal, c.Sealed(account, last.Seal)) {
			p.add(23, nameSealed, account, "row %d, of call %s", c.No, c.Call)
		}
		last = c
		return nil
	})
	return err
}

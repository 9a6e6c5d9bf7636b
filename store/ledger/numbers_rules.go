package ledger

import (
	"context"
	"encoding/json"
)

// SetNumberRules says where calls to a number of the account go, by a document that names agents; nil: there are no rules.
// ErrNotFound: there is no such number, or no such agent of the account.
func (l *Ledger) SetNumberRules(ctx context.Context, account, id string, rules json.RawMessage, agents []string) error {
	return l.db.Must(ctx, "set rules of number", `update numbers set rules = $3 where account_id = $1 and id = $2 and `+numberListed+`
		and not exists (select from unnest($4::text[]) as named where not exists (select from agents where account_id = $1 and id = named))`,
		account, id, rules, agents)
}

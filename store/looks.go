package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Look is a question that a node asks the database every few seconds, in one statement with all others: it finds what no hint
// has told of.
type Look struct {
	Expression string              // of SQL, of type text; $1 is the time
	Heard      func(answer string) // is called with each answer but NULL, and must not block
}

// When is a look that calls f while a condition holds, of SQL, in which $1 is the time. f must not block.
func When(condition string, f func()) Look {
	return Look{"case when " + condition + " then '' end", func(string) { f() }}
}

// Look adds a question to those of Ask.
func (h *Hints) Look(l Look) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks = append(h.looks, l)
}

// Ask asks q once what all looks ask, and others, and tells each its answer.
func (h *Hints) Ask(ctx context.Context, q Queryer, now time.Time, others ...Look) error {
	h.mu.Lock()
	looks := slices.Concat(h.looks, others)
	h.mu.Unlock()
	var sql strings.Builder
	answers := make([]*string, len(looks))
	into := []any{new(time.Time)}
	sql.WriteString("select $1::timestamptz") // no look need have a use for it
	for i, l := range looks {
		sql.WriteString(", (" + l.Expression + ")")
		into = append(into, &answers[i])
	}
	if err := q.QueryRow(ctx, sql.String(), now).Scan(into...); err != nil {
		return Fail("look", err)
	}
	for i, answer := range answers {
		if answer != nil {
			looks[i].Heard(*answer)
		}
	}
	return nil
}

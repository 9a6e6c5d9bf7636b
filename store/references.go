package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// references are what an agent's settings name of its account, by identifiers.
type references struct {
	bases  []string // collections of documents
	agents []string // that take callers over
	sounds []string // that callers hear while they wait: one at most
}

// references reads them.
func (a *Agent) references() (r references) {
	var s struct {
		Bases []string                 `json:"knowledge_bases"`
		To    []struct{ Agent string } `json:"hand_over_to"`
		Hold  string                   `json:"hold_sound"`
	}
	if json.Unmarshal(a.Settings, &s) != nil {
		return r // no settings that a conversation can read
	}
	r.bases = s.Bases
	for _, to := range s.To {
		r.agents = append(r.agents, to.Agent)
	}
	if strings.HasPrefix(s.Hold, SoundID) {
		r.sounds = []string{s.Hold}
	}
	return r
}

// ownReferences refuses references to what is not the account's, but for those that the agent had before: what was deleted
// since does not keep it from being changed.
func (a *Agent) ownReferences(ctx context.Context, tx pgx.Tx, account string, before references) error {
	now := a.references()
	i, id, err := foreign(ctx, tx, "select id from knowledge_bases where account_id = $1 and id = any($2::text[])", account, now.bases, before.bases)
	if err == nil && id != "" {
		err = Invalid("settings.knowledge_bases[%d]: the account has no collection %s", i, id)
	}
	if err != nil {
		return err
	}
	i, id, err = foreign(ctx, tx, "select id from agents where account_id = $1 and id = any($2::text[])", account, now.agents, before.agents)
	if err == nil && id != "" {
		err = Invalid("settings.hand_over_to[%d].agent: the account has no agent %s", i, id)
	}
	if err != nil {
		return err
	}
	_, id, err = foreign(ctx, tx, "select id from sounds where account_id = $1 and id = any($2::text[])", account, now.sounds, before.sounds)
	if err == nil && id != "" {
		err = Invalid("settings.hold_sound: the account has no sound %s", id)
	}
	return err
}

// foreign is the first of the names, but for those before, that query does not find in the account, and its place; empty: there is none.
func foreign(ctx context.Context, tx pgx.Tx, query, account string, names, before []string) (place int, id string, err error) {
	asked := slices.DeleteFunc(slices.Clone(names), func(id string) bool { return slices.Contains(before, id) })
	if len(asked) == 0 {
		return 0, "", nil
	}
	own, err := Rows[string](ctx, tx, query, account, asked)
	if err != nil {
		return 0, "", err
	}
	for i, id := range names {
		if slices.Contains(asked, id) && !slices.Contains(own, id) {
			return i, id, nil
		}
	}
	return 0, "", nil
}

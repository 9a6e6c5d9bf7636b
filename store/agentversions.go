package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// keepVersion copies the agent as the transaction left it to its versions, to which
// nothing but this adds and from which nothing is taken.
func keepVersion(ctx context.Context, tx pgx.Tx, id string) error {
	return Do(ctx, tx, `insert into agent_versions (agent_id, version, account_id, name, voice, language, prompt, first_message, tools, settings, created_at)
		select id, version, account_id, name, voice, language, prompt, first_message, tools, settings, updated_at from agents where id = $1`, id)
}

// A version has the times of the agent that it was: when that was made, and when the
// version began.
const selectVersion = `select a.id, v.name, v.voice, v.language, v.prompt, v.first_message, v.tools, v.settings, v.version, a.created_at, v.created_at, null::jsonb
	from agent_versions v join agents a on a.id = v.agent_id and a.account_id = v.account_id
	where v.account_id = $1 and v.agent_id = $2`

// AgentVersion returns an agent of the account as it was. ErrNotFound: it is not there,
// or had no such version.
func (db *DB) AgentVersion(ctx context.Context, account, id string, version int64) (*Agent, error) {
	return First[Agent](ctx, db, "read version", selectVersion+" and v.version = $3", account, id, version)
}

// AgentVersions lists what an agent of the account was, the newest first: at most limit
// versions below before; 0: no bound. An agent has one at least, so none means that
// there is no such agent or that the list is over.
func (db *DB) AgentVersions(ctx context.Context, account, id string, before int64, limit int) ([]Agent, error) {
	return List[Agent](ctx, db, "list versions",
		selectVersion+" and ($3 = 0 or v.version < $3) order by v.version desc limit nullif($4, 0)", account, id, before, limit)
}

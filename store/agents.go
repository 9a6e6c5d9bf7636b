package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Agent is what answers and makes an account's calls.
type Agent struct {
	ID           string
	Name         string
	Voice        string // a voice identifier
	Language     string // two lower-case letters
	Prompt       string
	FirstMessage string // empty: the agent waits for the caller
	// Tools are the functions that it may call, a JSON array: those of the client of
	// the conversation in OpenAI's form,
	// {"type":"function","function":{"name","description","parameters"}}, and those that
	// this server runs, whose other types package tool reads.
	Tools json.RawMessage
	// Settings are timings and flags of the conversation, a JSON object whose keys
	// are the conversation's business.
	Settings json.RawMessage
	// Version grows with every change; it is the agent's ETag.
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
	// Metadata is what programs keep with the agent. It stands beside the document: no conversation reads it, so
	// changing it makes no version, and none brings it back. nil in an agent that is stored: it stays.
	Metadata map[string]string
}

// Bounds of what an account may store in an agent.
const (
	maxPrompt = 100_000 // bytes
	maxName   = 200
	maxTools  = 64
	maxJSON   = 256 << 10
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check fills in defaults and says what is wrong.
func (a *Agent) check() error {
	if len(a.Tools) == 0 {
		a.Tools = json.RawMessage("[]")
	}
	if len(a.Settings) == 0 {
		a.Settings = json.RawMessage("{}")
	}
	switch {
	case strings.TrimSpace(a.Name) == "" || len(a.Name) > maxName:
		return Invalid("name: an agent needs one of at most %d bytes", maxName)
	case !IsObject(a.Settings):
		return Invalid("settings: not a JSON object")
	}
	for _, f := range []struct {
		name, text string
		size       int
	}{
		{"name", a.Name, maxName}, {"voice", a.Voice, maxName}, {"language", a.Language, maxName},
		{"prompt", a.Prompt, maxPrompt}, {"first_message", a.FirstMessage, maxPrompt},
		{"tools", string(a.Tools), maxJSON}, {"settings", string(a.Settings), maxJSON},
	} {
		switch {
		case len(f.text) > f.size:
			return Invalid("%s: more than %d bytes", f.name, f.size)
		case strings.ContainsRune(f.text, 0):
			return Invalid("%s: zero characters are not stored", f.name)
		case !utf8.ValidString(f.text):
			return Invalid("%s: not UTF-8", f.name)
		}
	}
	return checkTools(a.Tools)
}

// toolTypes are the kinds of functions; those after the first are run by the server.
var toolTypes = []string{"function", "http", "mcp", "web_search", "crm"}

// checkTools checks the form of a list of functions. What each kind needs is the
// business of the package that runs it.
func checkTools(raw json.RawMessage) error {
	var tools []struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Function *struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &tools); err != nil || tools == nil {
		return Invalid("tools: not a JSON array of functions")
	}
	if len(tools) > maxTools {
		return Invalid("tools: more than %d", maxTools)
	}
	seen := map[string]bool{}
	for i, t := range tools {
		name := t.Name
		switch {
		case !slices.Contains(toolTypes, t.Type):
			return Invalid("tools[%d].type: must be one of %s", i, strings.Join(toolTypes, ", "))
		case t.Type != "function":
			if name == "" {
				name = t.Type // there is one of these
			}
		case t.Function == nil || !toolName.MatchString(t.Function.Name):
			return Invalid("tools[%d].function.name: must be 1 to 64 letters, digits, _ and -", i)
		case len(t.Function.Parameters) > 0 && !IsObject(t.Function.Parameters):
			return Invalid("tools[%d].function.parameters: must be a JSON Schema object", i)
		default:
			name = t.Function.Name
		}
		if seen[name] {
			return Invalid("tools[%d]: the name %s is taken", i, name)
		}
		seen[name] = true
	}
	return nil
}

func IsObject(raw json.RawMessage) bool {
	return json.Valid(raw) && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))
}

// CreateAgent stores a new agent of the account; identifier, version and times are
// given to it.
func (db *DB) CreateAgent(ctx context.Context, account string, a Agent) (*Agent, error) {
	now := db.Time(ctx)
	if err := a.check(); err != nil {
		return nil, err
	}
	a.ID, a.Version, a.CreatedAt, a.UpdatedAt = NewID(AgentID, now), 1, now, now
	err := db.Tx(ctx, "create agent", func(tx pgx.Tx) error {
		if err := a.ownReferences(ctx, tx, account, references{}); err != nil {
			return err
		}
		err := ErrNotFound.IfUnchanged(tx.Exec(ctx, `insert into agents (id, account_id, name, voice, language, prompt, first_message,
				tools, settings, version, created_at, updated_at, metadata)
			select $1, id, $3, $4, $5, $6, $7, $8, $9, 1, $10, $10, $11 from accounts where id = $2`,
			a.ID, account, a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage, string(a.Tools), string(a.Settings), now, Pairs(a.Metadata)))
		if err != nil {
			return err
		}
		return keepVersion(ctx, tx, a.ID)
	})
	if err != nil {
		return nil, err
	}
	return &a, nil
}

const agentColumns = `id, name, voice, language, prompt, first_message, tools, settings, version, created_at, updated_at, metadata`

// Agent returns an agent of the account.
func (db *DB) Agent(ctx context.Context, account, id string) (*Agent, error) {
	return First[Agent](ctx, db, "read agent", "select "+agentColumns+" from agents where id = $1 and account_id = $2", id, account)
}

// AgentOwner is the account of an agent. Only operators may ask.
func (db *DB) AgentOwner(ctx context.Context, id string) (account string, err error) {
	return Value[string](ctx, db, "read agent's account", "select account_id from agents where id = $1", id)
}

// Agents lists the account's agents, newest first.
func (db *DB) Agents(ctx context.Context, account string, p Page) ([]Agent, error) {
	return db.AgentsWith(ctx, account, nil, p)
}

// AgentsWith lists those of the account's agents that have all of this metadata, newest first. There is no index of it:
// an account has few agents beside its calls.
func (db *DB) AgentsWith(ctx context.Context, account string, metadata map[string]string, p Page) ([]Agent, error) {
	return ListPage[Agent](ctx, db, "list agents", p, "id",
		"select "+agentColumns+" from agents where account_id = $1 and ($2::jsonb is null or metadata @> $2::jsonb)", account, Pairs(metadata))
}

// AgentName is an agent as lists and choices show it.
type AgentName struct{ ID, Name string }

// AgentNames lists the names of the account's agents, newest first: documents of agents are large, and pages ask every few seconds.
func (db *DB) AgentNames(ctx context.Context, account string) ([]AgentName, error) {
	return List[AgentName](ctx, db, "list names of agents", "select id, name from agents where account_id = $1 order by id desc", account)
}

// UpdateAgent replaces what a.ID's owner can set. ErrVersion: a.Version is neither the stored version nor 0, which is any.
// It answers as ChangeAgent does.
func (db *DB) UpdateAgent(ctx context.Context, account string, a Agent) (*Agent, error) {
	return db.ChangeAgent(ctx, account, a.ID, func(stored *Agent) error {
		if a.Version != 0 && a.Version != stored.Version {
			return Fail("agent", ErrVersion)
		}
		stored.Become(&a)
		return nil
	})
}

// Become gives the agent what the owner of another has set; metadata stay where the other has nil.
func (a *Agent) Become(other *Agent) {
	a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage = other.Name, other.Voice, other.Language, other.Prompt, other.FirstMessage
	a.Tools, a.Settings = other.Tools, other.Settings
	if other.Metadata != nil {
		a.Metadata = other.Metadata
	}
}

// ChangeAgent has change change what the owner of an agent can set, within a transaction that others wait for; what it
// returns an error for stays as it is. What the agent was stays a version, and what changes nothing of its document
// makes none.
func (db *DB) ChangeAgent(ctx context.Context, account, id string, change func(*Agent) error) (a *Agent, err error) {
	now := db.Time(ctx)
	err = db.Tx(ctx, "update agent", func(tx pgx.Tx) error {
		was, err := Row[Agent](ctx, tx, "select "+agentColumns+" from agents where id = $1 and account_id = $2 for update", id, account)
		if err != nil {
			return err
		}
		a = new(*was)
		if err := change(a); err != nil {
			return err
		}
		a.ID, a.Version, a.CreatedAt, a.UpdatedAt = was.ID, was.Version, was.CreatedAt, was.UpdatedAt
		if err := a.check(); err != nil {
			return err
		}
		if !maps.Equal(a.Metadata, was.Metadata) {
			if err := Do(ctx, tx, "update agents set metadata = $3 where id = $1 and account_id = $2", id, account, Pairs(a.Metadata)); err != nil {
				return err
			}
		}
		if a.same(was) {
			a.Tools, a.Settings = was.Tools, was.Settings // as they were written
			return nil
		}
		if err := a.ownReferences(ctx, tx, account, was.references()); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `update agents set name = $3, voice = $4, language = $5, prompt = $6, first_message = $7,
				tools = $8, settings = $9, version = version + 1, updated_at = $10
			where id = $1 and account_id = $2 returning version, updated_at`,
			id, account, a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage, string(a.Tools), string(a.Settings), now).Scan(&a.Version, &a.UpdatedAt)
		if err != nil {
			return err
		}
		return keepVersion(ctx, tx, id)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// same says whether two agents are the same document, in whatever order its fields come. The order of a function's
// parameters counts: models are shown it.
func (a *Agent) same(b *Agent) bool {
	return a.Name == b.Name && a.Voice == b.Voice && a.Language == b.Language && a.Prompt == b.Prompt && a.FirstMessage == b.FirstMessage &&
		canonical(a.Tools) == canonical(b.Tools) && canonical(a.Settings) == canonical(b.Settings)
}

// canonical is valid JSON without spaces, its fields sorted, but for those of functions' parameters.
func canonical(raw json.RawMessage) string {
	var b bytes.Buffer
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintf(&b, "%q:", name)
			if name == "parameters" {
				_ = json.Compact(&b, fields[name])
			} else {
				b.WriteString(canonical(fields[name]))
			}
			b.WriteByte(',')
		}
		return "{" + b.String() + "}"
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		for _, value := range list {
			b.WriteString(canonical(value) + ",")
		}
		return "[" + b.String() + "]"
	}
	return string(raw)
}

// DeleteAgent removes an agent and unbinds the numbers it answered; version as for
// UpdateAgent. History keeps its identifier.
func (db *DB) DeleteAgent(ctx context.Context, account, id string, version int64) error {
	err := db.Tx(ctx, "delete agent", func(tx pgx.Tx) error {
		// The lock keeps a number from being bound to it meanwhile.
		err := ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from agents where id = $1 and account_id = $2 and ($3 = 0 or version = $3) for update",
			id, account, version))
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue("update numbers set agent_id = null where account_id = $1 and agent_id = $2", account, id)
		b.Queue("delete from agents where account_id = $1 and id = $2", account, id)
		return Send(ctx, tx, b)
	})
	return db.versionOr(ctx, account, id, err)
}

// versionOr turns "not found" into ErrVersion when the agent is there.
func (db *DB) versionOr(ctx context.Context, account, id string, err error) error {
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if _, missing := db.Agent(ctx, account, id); missing != nil {
		return missing
	}
	return Fail("agent", ErrVersion)
}

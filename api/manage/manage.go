// Package manage serves what the owner of an account keeps there: agents, API keys, people,
// secrets and the do-not-call list.
// Every query names the account, so that what belongs to another account answers
// exactly like what does not exist.
package manage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/api"
	"parley/api/export"
	"parley/store"
	"parley/store/people"
)

// Definition is what makes an agent of a document, which only conversations can judge.
type Definition struct {
	// New is an agent of which nothing was said yet.
	New func() store.Agent
	// Apply changes an agent by a JSON object; what is not mentioned stays. Its error is
	// one of the error table, and names every mistake.
	Apply func(a *store.Agent, document json.RawMessage) error
	// Schema is the JSON Schema of such documents.
	Schema json.RawMessage
}

// Mount adds the routes.
func Mount(a *api.API, db *store.DB, files *export.Sender, define Definition) {
	mountAgents(a, agents{db, define})
	mountKeys(a, keys{people.New(db)})
	mountDoNotCall(a, doNotCall{db, files})
}

// maxBody bounds a request's body, in bytes: an agent's longest texts and lists,
// and room for how JSON writes them.
const maxBody = 1 << 20

// managed is the group of a resource of this package.
func managed(tag string) api.Group {
	return api.Group{Tag: tag, Access: api.Management, OwnPagesOnly: true, MaxBody: maxBody}
}

// ofField says to which field of a request the store's refusal belongs.
func ofField(name string, err error) error {
	if p := api.ProblemOf(err); p.Detail != "" {
		return api.Bad("%s: %s", name, p.Detail)
	}
	return err
}

// etag is a version as HTTP names it (RFC 9110, section 8.8.3).
func etag(version int64) string { return fmt.Sprintf("%q", fmt.Sprint(version)) }

// matches evaluates If-Match (RFC 9110, section 13.1.1); an absent one allows any.
func matches(header string, version int64) bool {
	if header == "" || strings.TrimSpace(header) == "*" {
		return true
	}
	return slices.ContainsFunc(strings.Split(header, ","), func(tag string) bool { return strings.TrimSpace(tag) == etag(version) })
}
